import { parse } from 'tldts'
import { editDistance } from './edit-distance.ts'
import { isKnownProvider } from './free.ts'
import { freeDomains } from './lists.ts'
import { BRAND_FAMILIES, POPULAR_DOMAINS, SOLE_DOMAINS } from './popular.ts'

/** Suffixes that an unknown one is compared with. */
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
 * The domain that was probably meant, or "" when there is nothing to suggest: a popular domain within one or two typing errors, or the same name with a
 * suffix that exists. Never for a domain of a known provider. `domain` in lower case; whether the suggestion takes mail is not checked here.
 */
export function suggestDomain(domain: string): string {
  if (domain.length > 100 || isKnownProvider(domain)) return ''
  const [name = '', ending = ''] = split(domain)
  const sole = Object.hasOwn(SOLE_DOMAINS, name) ? SOLE_DOMAINS[name] : undefined
  if (sole !== undefined) return sole === domain ? '' : sole
  if (ending === '') return BRAND_FAMILIES.includes(name) ? `${name}.com` : ''
  const close = closest(name, ending)
  // A provider of its own that looks like another is left alone, unless a single slip explains it: the shipped list has squatted names.
  if (close && !(close.slips > 1 && freeDomains().has(domain))) return close.domain
  return withEnding(name, ending)
}

type Close = { readonly domain: string; readonly slips: number }

function closest(name: string, ending: string): Close | undefined {
  let best: Close | undefined
  for (const domain of POPULAR_DOMAINS) {
    const [theirName = '', theirEnding = ''] = split(domain)
    const inName = nameSlips(name, theirName)
    // A short name under an ending that exists is a name of its own: web.dk is not web.de.
    const own = ending !== theirEnding && theirName.length < 5 && exists(ending)
    const inEnding = own ? Infinity : endingSlips(ending, theirEnding)
    const slips = inName + inEnding
    if (slips > 0 && slips < (best?.slips ?? 4)) best = { domain, slips }
  }
  return best
}

/** Slips within a name: at most one, or two where the first letter is right and the name long enough to be known by the rest. Short names: swaps and doubled letters only. */
function nameSlips(name: string, theirs: string): number {
  if (name === theirs) return 0
  const slips = editDistance(name, theirs, 2)
  if (theirs.length <= 4) return slips === 1 && sameLetters(name, theirs) ? 1 : Infinity
  if (slips === 1) return 1
  return slips === 2 && name[0] === theirs[0] && theirs.length >= 5 ? 2 : Infinity
}

const sameLetters = (a: string, b: string): boolean => lettersOf(a) === lettersOf(b)
const lettersOf = (word: string): string => [...new Set(word)].sort().join('')

/** Slips within an ending: one where it could be a real ending, two where it exists nowhere. */
function endingSlips(ending: string, theirs: string): number {
  if (ending === theirs) return 0
  if (ending === `${theirs}.${theirs}`) return 1
  const slips = editDistance(ending, theirs, 2)
  return slips <= (exists(ending) ? 1 : 2) ? slips : Infinity
}

/** `name` under the ending that was meant, where the one given exists nowhere. Names of two labels only: more say too little. */
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
