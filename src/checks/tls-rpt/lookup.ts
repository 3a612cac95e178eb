import type { Parsed } from '../../base/parsed.ts'
import type { Domain } from '../../names/domain.ts'
import { DnsError } from '../../net/dns/resolver.ts'
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
  /** A null MX: there is no inbound TLS to report on (RFC 7505). */
  readonly takesNoMail: boolean
}

/** Asks for the TLSRPT record of `domain` (RFC 8460 §3) and whether it takes mail at all. Two questions, one wait. Rejects with DnsError when the record's name gives no answer. */
export async function lookupTlsRpt(ctx: Pick<Ctx, 'resolve' | 'signal'>, domain: Domain): Promise<TlsRptFacts> {
  const [answer, takesNoMail] = await Promise.all([
    ctx.resolve(`_smtp._tls.${domain}`, 'TXT', ctx.signal),
    hasNullMx(ctx, domain),
  ])
  const records = answer.records.filter(isTlsRpt)
  const lookalike = records.length === 0 ? answer.records.find(resemblesTlsRpt) : undefined
  return {
    domain,
    records: records.slice(0, 10),
    count: records.length,
    takesNoMail,
    ...(lookalike === undefined ? {} : { lookalike }),
    ...(records.length === 1 ? { parsed: parseTlsRpt(records[0]!) } : {}),
  }
}

/** Without an answer nothing is said of it: the record's own answer counts. */
async function hasNullMx(ctx: Pick<Ctx, 'resolve' | 'signal'>, domain: Domain): Promise<boolean> {
  try {
    const { records } = await ctx.resolve(domain, 'MX', ctx.signal)
    return records.length === 1 && records[0]!.exchange === ''
  } catch (error) {
    if (error instanceof DnsError) return false
    throw error
  }
}
