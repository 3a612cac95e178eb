import { type Parsed, parsed, problem } from '../../base/parsed.ts'

/** A BIMI assertion record (draft-brand-indicators §4.3). An empty `logo` with an empty `authority` declines to publish one. */
export type BimiRecord = {
  /** The `https:` URL of an SVG, or "". */
  readonly logo: string
  /** The `https:` URL of a mark certificate (PEM), or "". */
  readonly authority: string
  /** Names of other tags, which are ignored, at most 20; `avp` and `lps` are known and not needed to find the logo. */
  readonly others: readonly string[]
}

/** Maximum number of tags of a record. */
const MAX_TAGS = 50
/** Maximum number of names of unknown tags that are kept. */
const MAX_OTHERS = 20

/** Whether a text is a BIMI record at all: others at the name are discarded (draft-brand-indicators §7.2 step 4). */
export const isBimi = (text: string): boolean => /^v[ \t]{0,20}=[ \t]{0,20}BIMI1[ \t]{0,20}(?:;|$)/.test(text)

/** Whether a text was probably meant to be a BIMI record. */
export const resemblesBimi = (text: string): boolean => /^["\s]{0,8}v\s{0,8}=?\s{0,8}bimi/i.test(text.slice(0, 64))

/** Reads a BIMI assertion record: a list of tag=value that begins with the version and contains `l` (draft-brand-indicators §4.3, RFC 6376 §3.2). */
export function parseBimi(text: string): Parsed<BimiRecord, string> {
  if (!isBimi(text)) return problem('the record does not begin with "v=BIMI1;"', 0)
  const items = text.split(';')
  if (items.length > MAX_TAGS) return problem(`the record has more than ${MAX_TAGS} tags`)
  const tags = new Map<string, string>()
  let next = items[0]!.length + 1
  for (const [i, item] of items.slice(1).entries()) {
    const body = item.trim()
    const at = next + item.indexOf(body)
    next += item.length + 1
    if (body === '' && i === items.length - 2) break // one ";" may end the record
    const equals = body.indexOf('=')
    const name = body.slice(0, Math.max(0, equals)).trimEnd()
    if (!/^[A-Za-z][A-Za-z0-9_]{0,30}$/.test(name))
      return problem(`${JSON.stringify(body.slice(0, 60))} is not a tag of the form name=value`, at)
    if (tags.has(name)) return problem(`the tag ${name} occurs twice`, at) // RFC 6376 §3.2
    tags.set(name, body.slice(equals + 1).trim())
  }
  const logo = tags.get('l')
  if (logo === undefined) return problem('the tag l is missing')
  const others = [...tags.keys()].filter((name) => !['l', 'a', 'avp', 'lps'].includes(name)).slice(0, MAX_OTHERS)
  return parsed({ logo, authority: tags.get('a') ?? '', others })
}

/** Formats a record; `parseBimi` of the result returns the same record, except `others`. */
export const formatBimi = (record: Pick<BimiRecord, 'logo' | 'authority'>): string =>
  `v=BIMI1; l=${record.logo}; a=${record.authority}`

/** Why a URL cannot be that of a logo or a certificate; undefined if it can (draft-brand-indicators §4.3: HTTPS only). */
export function locationProblem(text: string): string | undefined {
  if (text.length > 2_000) return 'longer than 2000 characters'
  if (text.includes(',')) return 'only one URL is allowed; write a comma in it as %2C'
  if (!/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return 'not a URL'
  const url = new URL(text)
  if (url.protocol !== 'https:') return 'not an https URL'
  if (url.username !== '' || url.password !== '') return 'it contains a user name'
  return url.hostname.includes('.') ? undefined : 'not a full host name'
}

/** Whether the URL of a logo ends like that of another image format, which is a permanent error (draft-brand-indicators §4.3.2). */
export const otherImage = (text: string): boolean =>
  /\.(?:png|apng|jpe?g|gif|webp|avif|heic|bmp|ico|tiff?|pdf|eps)$/i.test(new URL(text).pathname)
