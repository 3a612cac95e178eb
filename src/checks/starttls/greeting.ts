import { canonicalName } from '../../names/domain.ts'
import type { TranscriptLine } from '../../net/smtp/transcript.ts'
import type { Finding } from '../check.ts'
import type { TlsHost } from '../tls-host.ts'

/** The names in a server's banner and in its reply to EHLO (RFC 5321 §4.2, §4.1.1.1). Absent if there is none. */
export type GreetingNames = { readonly bannerName?: string; readonly ehloName?: string }

/** Reads the names from a transcript: the first word after 220, and after the first 250. */
export function greetingNames(lines: readonly TranscriptLine[]): GreetingNames {
  const said = lines.filter(({ from }) => from === 'server').map(({ text }) => text)
  const bannerName = firstWord(said, /^220[ -](\S{1,255})/)
  const ehloName = firstWord(said, /^250[ -](\S{1,255})/)
  return { ...(bannerName ? { bannerName } : {}), ...(ehloName ? { ehloName } : {}) }
}

const firstWord = (lines: readonly string[], pattern: RegExp): string | undefined =>
  lines.flatMap((line) => pattern.exec(line)?.[1] ?? []).map(canonicalName)[0]

const FULL_NAME = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.){1,126}[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * A greeting without a full host name (RFC 5321 §4.3.1), or with a name that is not among the PTR names of the address.
 * `names`: these PTR names; undefined: not known.
 */
export function greetingFindings(seen: TlsHost, names: readonly string[] | undefined): Finding[] {
  const { host, address = '', bannerName, ehloName } = seen
  const said = bannerName ?? ehloName
  if (said === undefined) return []
  const args = { host, address, name: said }
  if (!FULL_NAME.test(said)) return [{ id: 'starttls.greeting', args }]
  if (names === undefined || names.length === 0) return []
  const known = [...names, host].map(canonicalName)
  const others = [bannerName, ehloName].filter((name) => name !== undefined && !known.includes(name))
  return others.length === 0
    ? []
    : [{ id: 'starttls.greeting_ptr', args: { ...args, name: others[0]!, names: names.slice(0, 5) } }]
}
