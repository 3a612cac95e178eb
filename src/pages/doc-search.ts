import { escapeHtml } from '../base/text.ts'
import { type Html, rendered } from './html.ts'

/** The documents by name, as Markdown. */
export type Texts = Readonly<Record<string, string>>

/** A section that was found; `heading` is empty for the beginning of a document. */
export type Found = {
  readonly name: string
  readonly title: string
  readonly heading: string
  /** A sentence of it, with what was looked for marked. */
  readonly excerpt: Html
}

/** Words and phrases that mean the same: a query with one of them finds the others. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['microsoft 365', 'office 365', 'office365', 'o365', 'm365', 'exchange online', 'outlook 365'],
  ['google workspace', 'g suite', 'gsuite', 'google apps', 'gmail for business'],
  ['spam', 'junk'],
  ['ptr', 'reverse dns', 'rdns', 'reverse lookup'],
  ['container', 'docker', 'podman', 'kubernetes'],
  ['access', 'api key', 'api keys', 'apikey', 'token', 'revoke key', 'rotate key'],
  ['bounce', 'bounced', 'returned', 'undelivered', 'ndr', 'dsn'],
  ['listed', 'blacklisted', 'blocklisted', 'blacklist', 'blocklist', 'dnsbl', 'rbl'],
  ['webhook', 'callback'],
  ['bulk', 'csv', 'list of addresses', 'upload'],
  ['proxy', 'nginx', 'caddy', 'reverse proxy'],
  ['alert', 'notification', 'notify', 'notified'],
  ['price', 'cost', 'free'],
  ['assistant', 'assistants', 'mcp', 'llm', 'claude', 'chatgpt'],
  ['tls', 'ssl', 'certificate'],
  ['lookups', 'lookup limit', 'too many lookups', '10 lookups'],
  ['forwarding', 'forwarded', 'forward'],
  ['mailing list', 'mailing lists', 'mailman', 'listserv'],
  ['ci', 'continuous integration', 'pipeline', 'github action', 'github actions'],
  ['accepted', 'accept', 'ignore', 'suppress', 'known findings', 'false positive'],
  ['parked', 'never sends', 'sends no', 'without mail', 'not used for mail'],
  ['drift', 'drifts', 'as code'],
  ['signature', 'hmac', 'signed'],
  ['forget', 'gdpr', 'personal data', 'privacy', 'erase'],
  ['catch-all', 'catch all', 'accept_all'],
  ['quiet hours', 'at night', 'mute', 'do not disturb'],
  ['login', 'log in', 'sign in'],
  ['new domain', 'from scratch', 'from nothing'],
]
/** Words that say nothing about what is looked for. */
const STOP = new Set(
  'a an and are be by can do does for from how i in is it my of on or our the to what when where which who why will with you your mail email not set up get use run'.split(
    ' ',
  ),
)

/** A term of a query: any of these. */
type Term = readonly string[]

/** Maximum number of terms of a query that are looked for. */
const MAX_TERMS = 20

function termsOf(query: string): readonly Term[] {
  let rest = ` ${query.toLowerCase().replaceAll(/[^\p{L}\p{N}._=:@/+-]+/gu, ' ')} `
  const terms: Term[] = []
  for (const same of SYNONYMS)
    for (const phrase of [...same].sort((a, b) => b.length - a.length))
      if (rest.includes(` ${phrase} `)) {
        terms.push(same)
        rest = rest.replace(` ${phrase} `, ' ')
      }
  for (const number of rest.matchAll(/ (port \d+|p=\w+|\d{3} \d\.\d+\.\d+) /g)) {
    terms.push([number[1]!])
    rest = rest.replace(number[0], ' ')
  }
  const words = rest.split(' ').filter((word) => word !== '')
  const telling = words.filter((word) => !STOP.has(word))
  return [...terms, ...(telling.length + terms.length === 0 ? words : telling).map((word) => [word])].slice(
    0,
    MAX_TERMS,
  )
}

/** The sections of the documents for a query, the best first: a word in a title counts most, then in a heading. */
export function searchDocs(texts: Texts, query: string): readonly Found[] {
  const terms = termsOf(query)
  if (terms.length === 0) return []
  const sections = Object.entries(texts).flatMap(([name, text]) => {
    const title = titleOf(text, name)
    return sectionsOf(text).map((section) => ({ name, title, ...section }))
  })
  const words = terms.map(formsOf)
  const weighed = sections.map((section) => ({ section, weights: words.map((term) => weightOf(section, term)) }))
  // A term that few sections have tells more than one that many have.
  const rarity = terms.map((_, i) => {
    const having = weighed.filter(({ weights }) => weights[i]! > 0).length
    return having === 0 ? 0 : Math.log(1 + sections.length / having)
  })
  const most = sumOf(rarity)
  return weighed
    .filter(({ weights }) => weights.some((weight) => weight > 0))
    .map(({ section, weights }) => ({
      section,
      has: sumOf(rarity.filter((_, i) => weights[i]! > 0)) / most,
      // What people type first they mean most.
      weight: sumOf(weights.map((weight, i) => (weight * rarity[i]!) / (1 + i / 5))) * favour(section),
    }))
    .toSorted((a, b) => b.has ** 3 * b.weight - a.has ** 3 * a.weight)
    .map(({ section: { name, title, heading, text } }) => ({ name, title, heading, excerpt: excerptOf(text, terms) }))
}

const sumOf = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0)

/**
 * A term as it is found at the beginning of words: "drifts" finds "drift" too, "upgrade" "upgrading"; three letters are
 * a whole word.
 */
const formsOf = (term: Term): RegExp => {
  const forms = term.map((word) =>
    word.length < 4
      ? `${escaped(word)}(?![\\p{L}\\p{N}])`
      : escaped(/^\p{L}{6,}$/u.test(word) ? word.replace(/(?:ing|ed|e|(?<!s)s)$/, '') : word),
  )
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${forms.join('|')})`, 'giu')
}

/** Long lists of everything, which have every word, and what is for those who read the code, count less; symptoms more. */
const favour = ({ name, heading }: { readonly name: string; readonly heading: string }): number =>
  LISTS.has(name) ? 0.4 : INSIDE.has(heading) ? 0.6 : name.startsWith('symptoms/') ? 1.3 : 1
const INSIDE: ReadonlySet<string> = new Set(['Procedure', 'Outcome', 'Queries', 'Fixes', 'Scope', 'Choices'])
const LISTS: ReadonlySet<string> = new Set(['errors', 'findings', 'config', 'glossary'])

type Section = { readonly heading: string; readonly text: string }

/** A document cut at its headings; the text is without the signs of Markdown. */
function sectionsOf(text: string): readonly Section[] {
  const [first = '', ...rest] = text.split(/^#{2,3} /m)
  const parts = [
    { heading: '', text: first.replace(/^# .*\n/m, '') },
    ...rest.map((part) => ({ heading: part.split('\n')[0]!, text: part.replace(/^.*\n/, '') })),
  ]
  return parts.map(({ heading, text: part }) => ({
    heading: heading.replaceAll('`', ''),
    text: part
      .replaceAll(/<!--.*?-->|[`*|#]|\]\([^)]*\)/gs, ' ')
      .replaceAll('[', '')
      .replaceAll(/^\s*- /gm, '')
      .replaceAll(/[^\S\n]+/g, ' ')
      .replaceAll(/ (?=[,.;)])/g, ''),
  }))
}

export const titleOf = (text: string, name: string): string => /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? name

function weightOf({ title, heading, text }: Section & { readonly title: string }, term: RegExp): number {
  const has = (where: string): boolean => where.search(term) >= 0
  const inTitle = has(title) ? (heading === '' ? 40 : 16) : 0
  const inHeading = heading !== '' && has(heading) ? 24 : 0
  const count = text.match(term)?.length ?? 0
  return inTitle + inHeading + (count === 0 ? 0 : 2 + Math.min(5, count))
}

const escaped = (word: string): string => word.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')

/** The sentence with most of the terms, marked; at most 220 characters. */
function excerptOf(text: string, terms: readonly Term[]): Html {
  const sentences = text.split(/\n+|(?<=[.!?:]) (?=\p{Lu})/u).filter((one) => one.trim().length > 20)
  const has = (one: string): number =>
    terms.filter((term) => term.some((word) => one.toLowerCase().includes(word))).length
  const best = sentences.toSorted((a, b) => has(b) - has(a))[0]?.trim() ?? ''
  const shown = best.length > 220 ? `${best.slice(0, 217)} …` : best
  const words = terms.flat().toSorted((a, b) => b.length - a.length)
  const parts = shown.split(new RegExp(`(${words.map(escaped).join('|')})`, 'giu'))
  return rendered(
    parts.map((part, i) => (i % 2 === 1 ? `<mark>${escapeHtml(part)}</mark>` : escapeHtml(part))).join(''),
  )
}
