import { parse } from 'tldts'
import { BRAND_FAMILIES, POPULAR_DOMAINS, SOLE_DOMAINS } from '../../names/popular.ts'
import { freeDomains } from './disposable.ts'
import { isKnownProvider } from './free.ts'

/** Suffixes with which an unknown one is compared. */
const ENDINGS = [
  'com',
  'net',
  'org',
  'de',
  'fr',
  'it',
  'es',
  'nl',
  'pl',
  'ru',
  'eu',
  'info',
  'edu',
  'gov',
  'co.uk',
  'com.br',
  'com.au',
  'co.jp',
  'co.in',
]

/**
 * The domain that was probably meant, or "" if there is no suggestion: a popular domain within one or two typing
 * errors, or the same name with an existing suffix. Never for a domain that is or may be of a known provider. `domain` in lower case.
 * Whether the suggestion accepts mail is not checked here.
 */
export function suggestDomain(domain: string): string {
  if (domain.length > 100 || isKnownProvider(domain) !== false) return ''
  const [name = '', ending = ''] = split(domain)
  const sole = Object.hasOwn(SOLE_DOMAINS, name) ? SOLE_DOMAINS[name] : undefined
  if (sole !== undefined) return sole === domain ? '' : sole
  if (ending === '') return BRAND_FAMILIES.includes(name) ? `${name}.com` : ''
  const close = closest(name, ending)
  // A provider that resembles another one is left alone, unless a single typing error explains it: the shipped list
  // contains squatted names.
  if (close && !(close.slips > 1 && freeDomains()?.has(domain) !== false)) return close.domain
  return withEnding(name, ending)
}

type Close = { readonly domain: string; readonly slips: number }

function closest(name: string, ending: string): Close | undefined {
  let best: Close | undefined
  for (const domain of POPULAR_DOMAINS) {
    const [theirName = '', theirEnding = ''] = split(domain)
    const inName = nameSlips(name, theirName)
    if (inName === Infinity) continue
    // A short name with an existing suffix is a name of its own: web.dk is not a typing error of web.de.
    const own = ending !== theirEnding && theirName.length < 5 && exists(ending)
    const inEnding = own ? Infinity : endingSlips(ending, theirEnding)
    const slips = inName + inEnding
    if (slips > 0 && slips < (best?.slips ?? 4)) best = { domain, slips }
  }
  return best
}

/**
 * Typing errors within a name: at most one, or two if the first letter is right and the name is long enough. Short
 * names: only swaps and doubled letters.
 */
function nameSlips(name: string, theirs: string): number {
  if (name === theirs) return 0
  const slips = editDistance(name, theirs, 2)
  if (theirs.length <= 4) return slips === 1 && sameLetters(name, theirs) ? 1 : Infinity
  if (slips === 1) return 1
  return slips === 2 && name[0] === theirs[0] && theirs.length >= 5 ? 2 : Infinity
}

const sameLetters = (a: string, b: string): boolean => lettersOf(a) === lettersOf(b)
const lettersOf = (word: string): string => [...new Set(word)].sort().join('')

/** Typing errors within a suffix: one if it could be a real suffix, two if it does not exist. */
function endingSlips(ending: string, theirs: string): number {
  if (ending === theirs) return 0
  if (ending === `${theirs}.${theirs}`) return 1
  const slips = editDistance(ending, theirs, 2)
  return slips <= (exists(ending) ? 1 : 2) ? slips : Infinity
}

/**
 * `name` with the suffix that was meant, if the given one does not exist. Only for names of two labels: longer ones
 * show too little.
 */
function withEnding(name: string, ending: string): string {
  if (ending === '' || ending.includes('.') || exists(ending)) return ''
  const meant = ENDINGS.find((one) => editDistance(ending, one, 1) === 1)
  return meant === undefined ? '' : `${name}.${meant}`
}

const exists = (ending: string): boolean => parse(`a.${ending}`, { validateHostname: false }).isIcann === true

const split = (domain: string): [name: string, ending: string] => {
  const dot = domain.indexOf('.')
  return dot < 0 ? [domain, ''] : [domain.slice(0, dot), domain.slice(dot + 1)]
}

/**
 * The edit distance of two words: insertions, deletions, replacements and swaps of neighbours (optimal string
 * alignment). Returns `limit + 1` as soon as it exceeds `limit`. Words of more than 64 characters exceed any limit.
 */
export function editDistance(a: string, b: string, limit: number): number {
  if (a === b) return 0
  if (Math.abs(a.length - b.length) > limit || a.length > 64 || b.length > 64) return limit + 1
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, replaced)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j]!, before[j - 2]! + 1)
    }
    if (Math.min(...row) > limit) return limit + 1
    before = last
    last = row
  }
  return Math.min(last[b.length]!, limit + 1)
}
