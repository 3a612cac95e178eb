import { type Parsed, parsed, problem } from '../../../base/parsed.ts'
import { rememberedTexts } from '../../../base/remembered-texts.ts'
import { MAX_RECORD, parseSpf } from '../parse.ts'
import { spfTextProblem } from '../problems.ts'
import type { SpfRecord } from '../terms.ts'
import { isTerm, joinedTerms, misread, respelt } from './terms.ts'

/** The kinds of typing errors in a published text. */
export type Slip =
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

/** Typing errors of single characters: the character, and what was meant. In this order, because quotes hide a space. */
const CHARACTERS: readonly (readonly [Slip, RegExp, string])[] = [
  ['invisible', /[\u00ad\u200b-\u200f\u2060\ufeff]/g, ''],
  ['quotes', /\\?["“”„‟«»]|^\s*['‘’]|['‘’]\s*$/g, ' '],
  ['no_break_space', /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g, ' '],
  ['white_space', /[\t\n\v\f\r]/g, ' '],
  ['dash', /[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g, '-'],
  ['dash', /[\u02dc\u223c\uff5e]/g, '~'],
  ['leading_space', /^ +/, ''],
]

/** Misspellings of the version: spaces in it, without its 1, a separator after it, or no space before the next term. */
const VERSION =
  /^(?:v ?= ?spf(?= [+\-~?]?(?:a|mx|all|include:|ip4:|ip6:))|(?:v ?= ?)?spf ?1)(?:[;,:.]+(?= |$)|[;,:.]*(?=[a-z+\-~?])(?![a-z]*=)|(?= |$))/i
const NEXT_VERSION = /(?<=.)v=spf1(?![0-9.])/gi

/**
 * Reads a text that receivers do not recognize as a record, or not completely, as its owner meant it. A text without a fault has no typing errors. Fails if a
 * fault remains that only its owner can correct. Linear time; at most 8,192 characters.
 */
export const mend = rememberedTexts(readMeant)

function readMeant(text: string): Parsed<Mended> {
  if (text.length > MAX_RECORD) return problem(spfTextProblem('too_long', { max: MAX_RECORD }))
  const slips = new Set<Slip>()
  const plain = CHARACTERS.reduce((rest, [slip, shape, meant]) => {
    const next = rest.replace(shape, meant)
    // White space at the end, and within quotes at the beginning, is not a separate fault.
    if (next.trimEnd() !== rest.trimEnd() && !(slip === 'leading_space' && slips.has('quotes'))) slips.add(slip)
    return next
  }, text)
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
    if (other) slips.add(other.slip)
    return other?.terms ?? [term]
  })

/** The words, with a space after a colon or a qualifier removed: `include: x`, `- all`. */
function rejoined(words: readonly string[], slips: Set<Slip>): readonly string[] {
  const whole: string[] = []
  let open = ''
  for (const word of words) {
    if (word === '') continue
    if (open !== '') slips.add('split')
    const text = open + word
    open = /^[+\-~?]$|^[+\-~?]?[a-z][a-z0-9]*[:=]$/i.test(text) ? text : ''
    if (open === '') whole.push(text)
  }
  return open === '' ? whole : [...whole, open]
}
