import { type Parsed, type Problem, parsed, problem } from '../../base/problem.ts'
import { bimiLocationProblem, bimiProblem } from './problems.ts'

/**
 * A BIMI assertion record (draft-brand-indicators §4.3). An empty `logo` with an empty `authority` declines to publish
 * one.
 */
export type BimiRecord = {
  /** The `https:` URL of an SVG, or "". */
  readonly logo: string
  /** The `https:` URL of a mark certificate (PEM), or "". */
  readonly authority: string
  /** Names of other tags, which are ignored, at most 20; `avp` and `lps` are known and not needed to find the logo. */
  readonly others: readonly string[]
}

const MAX_TAGS = 50
/** Maximum number of names of unknown tags that are kept. */
const MAX_OTHERS = 20
/** Maximum number of characters of a URL. */
const MAX_URL = 2_000

/** Whether a text is a BIMI record at all: others at the name are discarded (draft-brand-indicators §7.2 step 4). */
export const isBimi = (text: string): boolean => /^v[ \t]{0,20}=[ \t]{0,20}BIMI1[ \t]{0,20}(?:;|$)/.test(text)

/** Whether a text was probably meant to be a BIMI record. */
export const resemblesBimi = (text: string): boolean => /^["\s]{0,8}v\s{0,8}=?\s{0,8}bimi/i.test(text.slice(0, 64))

/**
 * Reads a BIMI assertion record: a list of tag=value that begins with the version and contains `l`
 * (draft-brand-indicators §4.3, RFC 6376 §3.2).
 */
export function parseBimi(text: string): Parsed<BimiRecord> {
  if (!isBimi(text)) return problem(bimiProblem('version'), 0)
  const items = text.split(';')
  if (items.length > MAX_TAGS) return problem(bimiProblem('too_many', { max: MAX_TAGS }))
  const tags = new Map<string, string>()
  let next = items[0]!.length + 1
  for (const [i, item] of items.slice(1).entries()) {
    const body = item.trim()
    const at = next + item.indexOf(body)
    next += item.length + 1
    if (body === '' && i === items.length - 2) break // one ";" may end the record
    const equals = body.indexOf('=')
    const name = body.slice(0, Math.max(0, equals)).trimEnd()
    if (!/^[A-Za-z][A-Za-z0-9_]{0,30}$/.test(name)) return problem(bimiProblem('form', { text: body }), at)
    if (tags.has(name)) return problem(bimiProblem('twice', { name }), at) // RFC 6376 §3.2
    tags.set(name, body.slice(equals + 1).trim())
  }
  const logo = tags.get('l')
  if (logo === undefined) return problem(bimiProblem('no_logo'))
  const others = [...tags.keys()].filter((name) => !['l', 'a', 'avp', 'lps'].includes(name)).slice(0, MAX_OTHERS)
  return parsed({ logo, authority: tags.get('a') ?? '', others })
}

/** Formats a record; `parseBimi` of the result returns the same record, except `others`. */
export const formatBimi = (record: Pick<BimiRecord, 'logo' | 'authority'>): string =>
  `v=BIMI1; l=${record.logo}; a=${record.authority}`

/**
 * Why a URL cannot be that of a logo or a certificate; undefined if it can (draft-brand-indicators §4.3: HTTPS only).
 */
export function locationProblem(text: string): Problem | undefined {
  if (text.length > MAX_URL) return bimiLocationProblem('too_long', { max: MAX_URL })
  if (text.includes(',')) return bimiLocationProblem('comma')
  if (!/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return bimiLocationProblem('url')
  const url = new URL(text)
  if (url.protocol !== 'https:') return bimiLocationProblem('https')
  if (url.username !== '' || url.password !== '') return bimiLocationProblem('user')
  return url.hostname.includes('.') ? undefined : bimiLocationProblem('host')
}

/**
 * Whether the URL of a logo ends like that of another image format, which is a permanent error (draft-brand-indicators
 * §4.3.2).
 */
export const otherImage = (text: string): boolean =>
  /\.(?:png|apng|jpe?g|gif|webp|avif|heic|bmp|ico|tiff?|pdf|eps)$/i.test(new URL(text).pathname)
