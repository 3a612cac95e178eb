import { type Parsed, parsed, problem } from '../base/parsed.ts'
import { signatureProblem } from './problems.ts'

/** Maximum number of tags of a signature. */
const MAX_TAGS = 100
/** Maximum number of characters of a signature; one of 1,000 signed names has 15,000. */
const MAX_LENGTH = 65_536
const NAME = /^[A-Za-z][A-Za-z0-9_]*$/
const FWS = /(?:\r\n)?[ \t]+/g

/**
 * The tag list of a signature (RFC 6376 §3.2): names are case-sensitive, white space around names and values is left out, and a name may occur once. Values
 * keep their inner white space.
 */
export function parseTagList(text: string): Parsed<ReadonlyMap<string, string>> {
  if (text.length > MAX_LENGTH) return problem(signatureProblem('too_long', { max: MAX_LENGTH }))
  const items = text.split(';', MAX_TAGS + 2)
  if (items.length > MAX_TAGS + 1) return problem(signatureProblem('too_many_tags', { max: MAX_TAGS }))
  const tags = new Map<string, string>()
  for (const [i, item] of items.entries()) {
    const trimmed = item.trim()
    if (trimmed === '' && i === items.length - 1) continue // one final ";" (RFC 6376 §3.2)
    const equals = trimmed.indexOf('=')
    const name = equals < 0 ? '' : trimmed.slice(0, equals).trim()
    if (!NAME.test(name)) return problem(signatureProblem('not_a_tag', { text: trimmed }))
    if (tags.has(name)) return problem(signatureProblem('tag_twice', { tag: name }))
    tags.set(name, trimmed.slice(equals + 1).trim())
  }
  return parsed(tags)
}

/** A value without any white space (RFC 6376 §3.5: base64 and lists ignore it). */
export const withoutSpace = (value: string): string => value.replace(FWS, '').replace(/[ \t\r\n]/g, '')

/** A field with the value of its tag `b` removed, everything else as it is (RFC 6376 §3.7). */
export function withoutSignature(raw: string): string {
  const colon = raw.indexOf(':') + 1
  const items = raw.slice(colon).split(';')
  const emptied = items.map((item) =>
    /^[ \t\r\n]*b[ \t\r\n]*=/.test(item) ? item.slice(0, item.indexOf('=') + 1) : item,
  )
  return raw.slice(0, colon) + emptied.join(';')
}
