import { unicodeOf } from '../../names/domain.ts'

/** A mailbox, or a domain with the mailboxes of it. `value` is in the canonical form: a local part that needs quotes has them, the domain is an A-label. */
export type Forgotten = { readonly name: 'email' | 'domain'; readonly value: string }

/** What stands in the place of a text that was removed. */
export const REMOVED = '[removed]'

/** Where a name may begin: not inside a longer one, but behind a character that is percent-encoded and belongs to no name, or behind an escaped line end of JSON. */
const ENCODED_END = '%(?:[01][0-9a-f]|2[0-46-9acf]|3[a-f]|40|5[b-e]|60|7[b-f])'
const before = (letters: string): string => `(?:(?<![[:alnum:]${letters}])|(?<=${ENCODED_END})|(?<=\\\\[nrtbf]))`
const AFTER = '(?=\\.?(?:$|[^[:alnum:].-]))'

/**
 * The name as a whole word, as a regular expression of PostgreSQL (without regard to case): `joe@a.example` is not in `xjoe@a.example.org`. It is found in all of its forms: percent-encoded
 * as in URLs, with and without quotes (RFC 5321 §4.1.2), the domain in ASCII and in Unicode. In `json`, a quote is only one of the text, not of JSON.
 */
export function forgetPattern({ name, value }: Forgotten, form: 'text' | 'json'): string {
  const at = value.lastIndexOf('@')
  const domain = value.slice(at + 1)
  const unicode = unicodeOf(domain)
  const domains = `(?:${[...new Set([domain, unicode])].map(spelled).join('|')})`
  if (name === 'domain') return `${before('.-')}${domains}${AFTER}`
  const quote = form === 'json' ? '(?:\\\\+"|%22)?' : '(?:"|%22)?'
  return `${before('._%+-')}${quote}${spelled(unquoted(value.slice(0, at)))}${quote}${spelled('@')}${domains}${AFTER}`
}

const unquoted = (local: string): string =>
  local.startsWith('"') ? local.slice(1, -1).replaceAll(/\\(.)/g, '$1') : local

/** Every form in which the characters of a text may be written. */
const spelled = (text: string): string => Array.from(text, spelledCharacter).join('')

function spelledCharacter(character: string): string {
  const cases = [...new Set([character, character.toLowerCase(), character.toUpperCase()])]
  const forms = cases.flatMap((one) => [literal(one), encoded(one)])
  if (character === ' ') forms.push('\\+')
  // Inside quotes it may be escaped, and in JSON once more.
  const escapes = /["\\ ]/.test(character) ? '\\\\*' : ''
  return `${escapes}(?:${[...new Set(forms)].join('|')})`
}

const literal = (character: string): string => (/[a-z0-9]/i.test(character) ? character : `\\${character}`)
const encoded = (character: string): string =>
  Array.from(Buffer.from(character), (octet) => `%${octet.toString(16).padStart(2, '0')}`).join('')
