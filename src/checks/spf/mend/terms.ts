import { parseSpf } from '../parse.ts'

/** Maximum number of characters of a term that is repaired. */
const MAX_TERM = 300

/** The start of a term that cannot be a part of the one before it. `all` occurs only at the end of a term. */
const JOINT = /(?<=[^+\-~?])(?=[+\-~?]?(?:include:|ip[46]:|exists:|redirect=)|[+\-~?]all$)/i

/** The terms that a text without spaces means, if the space between two of them is missing; undefined if it is one term. */
export function joinedTerms(text: string): readonly string[] | undefined {
  if (text.length > MAX_TERM || /^[+\-~?]?(?:a|mx|ptr):/i.test(text)) return splitHost(text)
  const cut = text.split(JOINT)
  const parts = cut.length > 1 ? cut.flatMap((part) => joinedTerms(part) ?? [part]) : cut
  return parts.length > 1 && parts.every(isTerm) ? parts : undefined
}

/** After a name only `all` can be recognized with certainty. */
function splitHost(text: string): readonly string[] | undefined {
  const parts = /^(.{1,250}\.[a-z]{2,20})([+\-~?]all)$/i.exec(text)?.slice(1) ?? []
  return parts.length === 2 && parts.every(isTerm) ? parts : undefined
}

/** Whether a text alone is a readable term. */
export const isTerm = (text: string): boolean => !/[^!-~]/.test(text) && text !== '' && parseSpf(`v=spf1 ${text}`).ok

const IPV4 = '\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}(?:/\\d{1,2})?'
/** Common misspellings, and what is meant. */
const MISSPELT: readonly (readonly [RegExp, string])[] = [
  [/^(.*[^;,])[;,]+$/, '$1'],
  [/^([+\-?~]?)all[.:]$/i, '$1all'],
  [new RegExp(`^([+\\-?~]?)(?:(?:ip|ipv4|ip6|ipv6|a|mx):)?(${IPV4})$`, 'i'), '$1ip4:$2'],
  [new RegExp(`^([+\\-?~]?)ip(?:v?4)?=(${IPV4})$`, 'i'), '$1ip4:$2'],
  [/^([+\-?~]?)(?:ip|ipv6|ip4|ipv4):([0-9a-f:]{2,39}(?:\/\d{1,3})?)$/i, '$1ip6:$2'],
  [/^([+\-?~]?)includes?[:;]+/i, '$1include:'],
  [/^([+\-?~]?)exist:/i, '$1exists:'],
  [/^\+?redirect:/i, 'redirect='],
  [/^\+?exp:/i, 'exp='],
]

/** An unreadable term as it was meant; undefined if only its owner can tell. */
export function respelt(term: string): string | undefined {
  if (term.length > MAX_TERM) return undefined
  let text = term
  // A comma after a misspelled name is two faults.
  for (let i = 0; i < 3 && !isTerm(text); i++) {
    const found = MISSPELT.find(([shape]) => shape.test(text))
    if (!found) return undefined
    text = text.replace(found[0], found[1])
  }
  return isTerm(text) ? text : undefined
}

/** A mechanism that is written like a modifier. */
const EQUALS = /^([+\-~?]?)(include|exists|ip4|ip6|a|mx|ptr)=(.+)$/i
/** A URL or an address in place of a name. */
const URL_OR_ADDRESS = /^([+\-~?]?(?:include:|exists:|a:|mx:|redirect=))(?:https?:\/\/|@|[^@/%]+@)([a-z0-9_.-]+)\/?$/i
/** Several names or networks behind one mechanism. */
const LIST = /^([+\-~?]?(?:include|a|mx|ip4|ip6):)([^,;]+(?:[,;][^,;]+)+)$/i
const OWN_PREFIX = /^[+\-~?]?(?:(?:include|exists|ip4|ip6|a|mx):|redirect=|(?:all|a|mx)$)/i

/** A word that parses as a term but does not work: the terms that were meant. */
export function misread(
  word: string,
): { readonly slip: 'equals' | 'odd_name' | 'separators'; readonly terms: readonly string[] } | undefined {
  if (word.length > MAX_TERM) return undefined
  const colon = word.replace(EQUALS, '$1$2:$3')
  const name = colon.replace(URL_OR_ADDRESS, '$1$2')
  const [, prefix = '', list = ''] = LIST.exec(name) ?? []
  const [first = '', ...others] = list === '' ? [] : list.split(/[,;]/)
  // An item with a mechanism of its own does not get that of the first.
  const terms =
    list === ''
      ? [name]
      : [`${prefix}${first}`, ...others.map((part) => (OWN_PREFIX.test(part) ? part : `${prefix}${part}`))]
  if ((terms.length === 1 && name === word) || !terms.every(isTerm)) return undefined
  if (colon !== word) return { slip: 'equals', terms }
  return { slip: others.length > 0 && others.every((part) => OWN_PREFIX.test(part)) ? 'separators' : 'odd_name', terms }
}
