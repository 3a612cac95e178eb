import { labelsOf } from '../../names/domain.ts'
import { bytesOf, familyOf, type Ip } from '../../names/ip.ts'
import { registrableDomain } from '../../names/suffix.ts'

/** Words that providers use in the names of dynamic addresses; one alone is enough. */
const DYNAMIC = /^(?:dyn|dynamic|dynamicip|dhcp|dialup|dialin|pppoe|adsl|vdsl|xdsl|dsl|cablemodem|broadband)$/
/** Words that count only together with a part of the address. */
const CUSTOMER =
  /^(?:ip|ppp|cable|pool|client|clients|cust|customer|customers|host|static|res|ftth|fiber|fibre|rev|reverse)$/

/**
 * Whether a PTR name appears to be generated from its address (`1-5-53-45.dsl.isp.example`) rather than assigned to a
 * mail host: it contains the whole address in decimal or hexadecimal, or a word of dynamic pools, or a weaker word with
 * half of the address. Only the labels before the registrable domain count, except for the address itself. Names longer
 * than 255 characters are not examined.
 */
export function looksGeneric(name: string, address: Ip): boolean {
  if (name.length > 255) return false
  const own = ownPart(name)
  if (familyOf(address) === 6) return carriesIpv6(name, address) || hasWord(own, DYNAMIC)
  const octets = [...bytesOf(address)]
  if (carriesIpv4(name, octets)) return true
  return hasWord(own, DYNAMIC) || (hasWord(own, CUSTOMER) && octetsIn(own, octets) >= 2)
}

function ownPart(name: string): string {
  const registrable = registrableDomain(name)
  const count = registrable === undefined ? 1 : labelsOf(registrable).length
  return labelsOf(name).slice(0, -count).join('.')
}

const hasWord = (text: string, words: RegExp): boolean => text.split(/[^a-z]+/).some((word) => words.test(word))

/** All four octets as separate numbers, in any order, zero-padded in one run, or in hexadecimal. */
function carriesIpv4(name: string, octets: readonly number[]): boolean {
  if (octetsIn(name, octets) === 4) return true
  const runs = [octets, octets.toReversed()]
  const padded = runs.map((run) => run.map((octet) => String(octet).padStart(3, '0')).join(''))
  const hex = runs.map((run) => run.map((octet) => octet.toString(16).padStart(2, '0')).join(''))
  const bare = name.replace(/[-.]/g, '')
  return padded.some((run) => bare.includes(run)) || name.split(/[^0-9a-f]+/).some((word) => hex.includes(word))
}

/** How many of the octets occur in the text as numbers, each number used once. */
function octetsIn(text: string, octets: readonly number[]): number {
  const numbers = (text.match(/\d+/g) ?? []).map(Number)
  return octets.filter((octet) => {
    const at = numbers.indexOf(octet)
    if (at >= 0) numbers.splice(at, 1)
    return at >= 0
  }).length
}

/** All 32 nibbles in a row, or four or more groups of the address with every nonzero one, in order. */
function carriesIpv6(name: string, address: Ip): boolean {
  const nibbles = [...bytesOf(address)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const bare = name.replace(/[-.]/g, '')
  if (bare.includes(nibbles) || bare.includes([...nibbles].reverse().join(''))) return true
  const groups = (nibbles.match(/.{4}/g) ?? []).map((group) => Number.parseInt(group, 16)).filter((group) => group > 0)
  const words = name.split(/[-.]/).map((word) => (/^[0-9a-f]{1,4}$/.test(word) ? Number.parseInt(word, 16) : -1))
  let at = 0
  for (const word of words) if (word === groups[at]) at++
  return groups.length >= 4 && at === groups.length
}
