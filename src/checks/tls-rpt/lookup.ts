import { lookupNoMail } from '../../mailhosts/no-mail.ts'
import type { Domain } from '../../names/domain.ts'
import type { Ctx } from '../../world.ts'
import { type OneRecord, oneRecord } from '../one-record.ts'
import { isTlsRpt, parseTlsRpt, resemblesTlsRpt, type TlsRptRecord } from './parse.ts'

/** The TLSRPT records at `_smtp._tls`, and where mail goes. */
export type TlsRptFacts = OneRecord<TlsRptRecord> & {
  readonly domain: Domain
  /** Why mail goes nowhere, so that there is no inbound TLS to report on; absent where it goes somewhere, and where that is not known. */
  readonly noMail?: string
}

/** Asks for the TLSRPT record of `domain` (RFC 8460 §3) and whether mail to it goes anywhere. Rejects with DnsError when the record's name gives no answer. */
export async function lookupTlsRpt(ctx: Pick<Ctx, 'resolve' | 'signal'>, domain: Domain): Promise<TlsRptFacts> {
  const [answer, noMail] = await Promise.all([
    ctx.resolve(`_smtp._tls.${domain}`, 'TXT', ctx.signal),
    lookupNoMail(ctx, domain),
  ])
  const found = oneRecord(answer.records, { is: isTlsRpt, resembles: resemblesTlsRpt, parse: parseTlsRpt })
  return { domain, ...found, ...(noMail === undefined ? {} : { noMail }) }
}
