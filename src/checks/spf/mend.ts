import { type Parsed, type Problem, parsed, problem } from '../../base/problem.ts'
import { isPasted, unpasted } from '../../net/dns/pasted.ts'
import { MAX_RECORD, parseSpf } from './parse.ts'
import { spfSlip, spfTextProblem } from './problems.ts'
import type { SpfRecord } from './terms.ts'

/** The kinds of typing errors in a published text. */
export type Slip =
  | 'front'
  | 'leading_space'
  | 'white_space'
  | 'no_break_space'
  | 'invisible'
  | 'quotes'
  | 'dash'
  | 'version'
  | 'two_records'
  | 'joined'
  | 'split'
  | 'spelling'
  | 'equals'
  | 'odd_name'
  | 'separators'

/** A text as its owner meant it: one record, or several that were pasted together. */
export type Mended = { readonly records: readonly SpfRecord[]; readonly slips: readonly Slip[] }

/**
 * Typing errors of single characters: the character, and what was meant. In this order, because quotes hide a space.
 */
const CHARACTERS: readonly (readonly [Slip, RegExp, string])[] = [
  ['invisible', /[\u00ad\u200b-\u200f\u2060\ufeff]/g, ''],
  ['quotes', /\\?["“”„‟«»]|^\s*['‘’]|['‘’]\s*$/g, ' '],
  ['no_break_space', /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g, ' '],
  ['white_space', /[\t\n\v\f\r]/g, ' '],
  ['dash', /[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g, '-'],
  ['dash', /[\u02dc\u223c\uff5e]/g, '~'],
  ['leading_space', /^ +/, ''],
]

/** The version as it is written inside a longer text. */
export const SPF_VERSION = /v ?= ?spf ?1(?![0-9.])/i
/** Misspellings of the version: spaces in it, without its 1, a separator after it, or no space before the next term. */
const VERSION =
  /^(?:v ?= ?spf(?= [+\-~?]?(?:a|mx|all|include:|ip4:|ip6:))|(?:v ?= ?)?spf ?1)(?:[;,:.]+(?= |$)|[;,:.]*(?=[a-z+\-~?])(?![a-z]*=)|(?= |$))/i
const NEXT_VERSION = /(?<=.)v=spf1(?![0-9.])/gi

/**
 * Reads a text that receivers do not recognize as a record, or not completely, as its owner meant it. A text without a
 * fault has no typing errors. Fails if a fault remains that only its owner can correct. Linear time; at most 8,192
 * characters.
 */
export function mend(text: string): Parsed<Mended> {
  if (text.length > MAX_RECORD) return problem(spfTextProblem('too_long', { max: MAX_RECORD }))
  const isFront = isPasted(text, SPF_VERSION)
  const slips = new Set<Slip>(isFront ? ['front'] : [])
  const plain = CHARACTERS.reduce(
    (rest, [slip, shape, meant]) => {
      const next = rest.replace(shape, meant)
      // White space at the end, and within quotes at the beginning, is not a separate fault.
      if (next.trimEnd() !== rest.trimEnd() && !(slip === 'leading_space' && slips.has('quotes'))) slips.add(slip)
      return next
    },
    isFront ? unpasted(text, SPF_VERSION) : text,
  )
  const version = VERSION.exec(plain)?.[0]
  if (version === undefined) return problem(spfTextProblem('start'))
  if (!/^v=spf1$/i.test(version) || !/^(?: |$)/.test(plain.slice(version.length))) slips.add('version')
  const texts = plain.slice(version.length).split(NEXT_VERSION)
  if (texts.length > 1) slips.add('two_records')
  const records: SpfRecord[] = []
  for (const one of texts) {
    const terms = termsIn(one, slips)
    const record = terms && parseSpf(['v=spf1', ...terms].join(' '))
    if (!record?.ok) return problem(spfTextProblem('term'))
    records.push(record.value)
  }
  return parsed({ records, slips: [...slips] })
}

/** The terms of a record's text, if each is readable; otherwise undefined. */
function termsIn(text: string, slips: Set<Slip>): readonly string[] | undefined {
  const terms: string[] = []
  for (const word of rejoined(text.split(' '), slips)) {
    const found = termsOf(word, slips)
    if (!found) return undefined
    terms.push(...found)
  }
  return terms
}

function termsOf(word: string, slips: Set<Slip>): readonly string[] | undefined {
  const other = misread(word)
  if (other) slips.add(other.slip)
  if (other) return other.terms.flatMap((term) => termsWithin(term, slips))
  const joined = joinedTerms(word)
  if (joined) slips.add('joined')
  if (joined || isTerm(word)) return termsWithin(word, slips)
  const parts = word.split(/[;,]+/).filter((part) => part !== '')
  if (parts.length > 1 && parts.every(isTerm)) {
    slips.add('separators')
    return parts.flatMap((part) => termsWithin(part, slips))
  }
  const meant = respelt(word)
  if (meant === undefined) return undefined
  slips.add('spelling')
  return termsWithin(meant, slips)
}

/** The terms of a readable text: those that are joined, each as it was meant. */
const termsWithin = (text: string, slips: Set<Slip>): readonly string[] =>
  (joinedTerms(text) ?? [text]).flatMap((term) => {
    const other = misread(term)
    if (!other) return [term]
    slips.add(other.slip)
    return other.terms.flatMap((one) => joinedTerms(one) ?? [one])
  })

/** What a term begins with; the value of a modifier that SPF does not know may be empty (RFC 7208 §6). */
const OPEN = /^[+\-~?]$|^[+\-~?]?(?:[a-z][a-z0-9]*:|(?:include|exists|ip4|ip6|a|mx|ptr|redirect|exp)=)$/i

/** A mechanism that is none without what follows its colon, and a name or an address. */
const NEEDS_VALUE = /^[+\-~?]?(?:include|exists|ip4|ip6)$/i
const VALUE = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63}){1,10}(?:\/\d{1,3})?\.?$/i

/** The words, with a space after a colon or a qualifier removed, or in place of a colon: `include: x`, `- all`. */
function rejoined(words: readonly string[], slips: Set<Slip>): readonly string[] {
  const whole: string[] = []
  let open = ''
  const written = words.filter((word) => word !== '')
  for (const [i, word] of written.entries()) {
    if (open !== '') slips.add('split')
    const text = open + word
    const isCut = NEEDS_VALUE.test(text) && VALUE.test(written[i + 1] ?? '')
    open = isCut ? `${text}:` : OPEN.test(text) ? text : ''
    if (open === '') whole.push(text)
  }
  return open === '' ? whole : [...whole, open]
}

/** The typing errors of a text, as parts of a sentence. */
export const slipsIn = ({ slips }: Mended): readonly Problem[] => slips.map((slip) => spfSlip(slip))

/** Maximum number of characters of a term that is repaired. */
const MAX_TERM = 300

/** The start of a term that cannot be a part of the one before it. `all` occurs only at the end of a term. */
const JOINT = /(?<=[^+\-~?])(?=[+\-~?]?(?:include:|ip[46]:|exists:|redirect=)|[+\-~?]all$)/i

/**
 * The terms that a text without spaces means, if the space between two of them is missing; undefined if it is one term.
 */
function joinedTerms(text: string): readonly string[] | undefined {
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
const isTerm = (text: string): boolean => !/[^!-~]/.test(text) && text !== '' && parseSpf(`v=spf1 ${text}`).ok

const IPV4 = '\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}(?:/\\d{1,2})?'
/** Common misspellings, and what is meant. */
const MISSPELT: readonly (readonly [RegExp, string])[] = [
  [/^(.*[^;,])[;,]+$/, '$1'],
  [/^([+\-?~]?)all[.:]$/i, '$1all'],
  [new RegExp(`^([+\\-?~]?)(?:(?:ip|ipv4|ip6|ipv6|a|mx):)?(${IPV4})$`, 'i'), '$1ip4:$2'],
  [new RegExp(`^([+\\-?~]?)ip(?:v?4)?=(${IPV4})$`, 'i'), '$1ip4:$2'],
  [/^([+\-?~]?)(?:ip|ipv6|ip4|ipv4):([0-9a-f:]{2,39}(?:\/\d{1,3})?)$/i, '$1ip6:$2'],
  [/^([+\-?~]?)includes?[:;]+/i, '$1include:'],
  // One letter lost, or two exchanged.
  [
    /^([+\-?~]?)(?:nclude|iclude|inlude|incude|inclde|inclue|includ|niclude|icnlude|inlcude|inculde|incldue|inclued):/i,
    '$1include:',
  ],
  [new RegExp(`^([+\\-?~]?)(?:p4|i4|pi4|i4p|ipv?4?)[:=](${IPV4})$`, 'i'), '$1ip4:$2'],
  [/^([+\-?~]?)exist:/i, '$1exists:'],
  [/^\+?redirect:/i, 'redirect='],
  [/^\+?exp:/i, 'exp='],
]

/** An unreadable term as it was meant; undefined if only its owner can tell. */
function respelt(term: string): string | undefined {
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
const URL_OR_ADDRESS = /^([+\-~?]?(?:include:|exists:|a:|mx:|redirect=))(?:https?:\/\/|@|[^@/%]+@)([a-z0-9_.-]+)\/?$/i
/** Several names or networks behind one mechanism. */
const LIST = /^([+\-~?]?(?:include|a|mx|ip4|ip6):)([^,;]+(?:[,;][^,;]+)+)$/i
const OWN_PREFIX = /^[+\-~?]?(?:(?:include|exists|ip4|ip6|a|mx):|redirect=|(?:all|a|mx)$)/i

/** A word that parses as a term but does not work: the terms that were meant. */
function misread(
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
