import type { Domain } from '../../names/domain.ts'
import type { Ctx } from '../../world.ts'
import { type OneRecord, oneRecord } from '../one-record.ts'
import { isTlsRpt, parseTlsRpt, resemblesTlsRpt, type TlsRptRecord } from './parse.ts'

/** The TLSRPT records at `_smtp._tls`. */
export type TlsRptFacts = OneRecord<TlsRptRecord> & { readonly domain: Domain }

/** Queries the TLSRPT record of `domain` (RFC 8460 §3). Rejects with DnsError if the record's name gives no answer. */
export async function lookupTlsRpt(ctx: Pick<Ctx, 'resolve' | 'signal'>, domain: Domain): Promise<TlsRptFacts> {
  const answer = await ctx.resolve(`_smtp._tls.${domain}`, 'TXT', ctx.signal)
  const found = oneRecord(answer.records, { is: isTlsRpt, resembles: resemblesTlsRpt, parse: parseTlsRpt })
  return { domain, ...found }
}
