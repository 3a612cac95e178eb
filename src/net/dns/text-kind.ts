import { canonicalName } from '../../names/domain.ts'
import { unpasted } from './pasted.ts'

/** The names at which all texts are of one kind, by their first labels. */
const AT: readonly (readonly [RegExp, string])[] = [
  [/^_dmarc\./, 'dmarc'],
  [/(?:^|\.)_domainkey\./, 'dkim'],
  [/^_mta-sts\./, 'mta-sts'],
  [/^_smtp\._tls\./, 'tls-rpt'],
  [/\._bimi\./, 'bimi'],
]

/** Whether all texts at a name are of one kind. */
export const hasOneKind = (name: string): boolean => AT.some(([pattern]) => pattern.test(canonicalName(name)))

/** The tags that records begin with, also as people mistype them. */
const TAGS: readonly (readonly [RegExp, string])[] = [
  [/^(?:v\W{0,3})?spf/, 'spf'],
  [/^(?:v\W{0,3})?dmarc/, 'dmarc'],
  [/^(?:v\W{0,3})?dkim/, 'dkim'],
  [/^(?:v\W{0,3})?sts/, 'mta-sts'],
  [/^(?:v\W{0,3})?tlsrpt/, 'tls-rpt'],
  [/^(?:v\W{0,3})?bimi/, 'bimi'],
]

/** The version of a record, as it is written inside a longer text. */
const VERSION = /v ?= ?(?:spf ?1|dmarc ?1|dkim ?1|sts ?v1|tlsrpt ?v1|bimi ?1)/i

/**
 * What a TXT record at a name is for: `spf`, `dmarc`, `dkim`, `mta-sts`, `tls-rpt`, `bimi`, otherwise its first tag
 * (`google-site-verification`). Publishing a record replaces those of its kind; all others at the name stay.
 */
export function textKind(name: string, text: string): string {
  const at = canonicalName(name)
  const place = AT.find(([pattern]) => pattern.test(at))
  if (place) return place[1]
  const begin = unpasted(text, VERSION)
    .slice(0, 100)
    .toLowerCase()
    .replace(/^[^a-z0-9]{1,20}/, '')
  const tag = TAGS.find(([pattern]) => pattern.test(begin))
  return tag ? tag[1] : (/^[^=:;\s]{1,100}/.exec(begin)?.[0] ?? '')
}
