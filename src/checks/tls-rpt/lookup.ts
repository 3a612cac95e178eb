import type { Parsed } from '../../base/parsed.ts'
import { lookupNoMail } from '../../mailhosts/no-mail.ts'
import type { Domain } from '../../names/domain.ts'
import type { Ctx } from '../../world.ts'
import { isTlsRpt, parseTlsRpt, resemblesTlsRpt, type TlsRptRecord } from './parse.ts'

export type TlsRptFacts = {
  readonly domain: Domain
  /** The TLSRPT records at `_smtp._tls`, at most 10, and how many there are. */
  readonly records: readonly string[]
  readonly count: number
  /** A text that was meant to be one, when there is none. */
  readonly lookalike?: string
  /** The one record, read; absent unless there is exactly one. */
  readonly parsed?: Parsed<TlsRptRecord>
  /** Why mail goes nowhere, so that there is no inbound TLS to report on; absent where it goes somewhere, and where that is not known. */
  readonly noMail?: string
}

/** Asks for the TLSRPT record of `domain` (RFC 8460 §3) and whether mail to it goes anywhere. Rejects with DnsError when the record's name gives no answer. */
export async function lookupTlsRpt(ctx: Pick<Ctx, 'resolve' | 'signal'>, domain: Domain): Promise<TlsRptFacts> {
  const [answer, noMail] = await Promise.all([
    ctx.resolve(`_smtp._tls.${domain}`, 'TXT', ctx.signal),
    lookupNoMail(ctx, domain),
  ])
  const records = answer.records.filter(isTlsRpt)
  const lookalike = records.length === 0 ? answer.records.find(resemblesTlsRpt) : undefined
  return {
    domain,
    records: records.slice(0, 10),
    count: records.length,
    ...(noMail === undefined ? {} : { noMail }),
    ...(lookalike === undefined ? {} : { lookalike }),
    ...(records.length === 1 ? { parsed: parseTlsRpt(records[0]!) } : {}),
  }
}
