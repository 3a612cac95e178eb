import type { CheckAnswer } from '../../answers/check.ts'
import type { MxAddress, MxHost } from '../../answers/checks.ts'
import type { GeoAnswer } from '../../answers/peers.ts'
import type { AddressLists } from '../../answers/report.ts'
import { counted } from '../../base/text.ts'
import {
  type Block,
  blocksOf,
  type Line,
  type MailMap,
  type MapAddress,
  type MapHost,
  type Marked,
  text,
} from '../block.ts'
import { wordsFor } from '../words.ts'
import { withoutQuestion } from './sentences.ts'

const KINDS: Readonly<Record<string, string>> = {
  none: 'The domain has no mail server, and does not declare that it accepts no mail.',
  null: 'The domain declares that it accepts no mail (null MX, RFC 7505).',
  implicit: 'No MX record: mail goes to the address of the domain itself.',
}
/** Maximum number of PTR names shown per address. */
const MAX_NAMES = 5

/** The mail hosts: the fields of a check's answer, and the blacklists of a report's. */
type Hosts = Pick<CheckAnswer, 'domain' | 'mx' | 'mx_kind' | 'starttls' | 'ptr'> & {
  readonly blacklists?: readonly AddressLists[] | undefined
}

/** The mail hosts: each with its addresses, their PTR names, location and network, and the blacklists. */
export function hostBlocks({ domain, mx, mx_kind, blacklists, starttls, ptr }: Hosts): readonly Block[] {
  const words = wordsFor(KINDS, mx_kind ?? '')
  const isImplicit = mx_kind === 'implicit'
  // A name that is missing is a fault only where the check of PTR found one.
  const isJudged = ptr.status === 'warn' || ptr.status === 'fail'
  const map: MailMap = {
    label: `${counted(mx.length, 'mail host')}${mx.length > 1 ? ', in order of preference' : ''}`,
    domain,
    hosts: mx.map((host) => hostOf(host, { isImplicit, isJudged }, blacklists, starttls)),
  }
  return blocksOf([words !== undefined && text(words), mx.length > 0 && { kind: 'map', map }])
}

function hostOf(
  { host, priority, addresses, cname, reason }: MxHost,
  { isImplicit, isJudged }: { readonly isImplicit: boolean; readonly isJudged: boolean },
  blacklists: Hosts['blacklists'],
  starttls: Hosts['starttls'],
): MapHost {
  const alias = cname.at(-1)
  const problem: Marked | undefined =
    addresses.length === 0
      ? reason === undefined
        ? { mark: 'bad', text: 'no address' }
        : { mark: 'open', text: withoutQuestion(reason) }
      : alias === undefined
        ? undefined
        : { mark: 'bad', text: `an alias of ${alias}` }
  const shown = addresses.map((one) => ({
    ...addressOf(one, isJudged, blacklists),
    ...tlsOf(host, one.address, starttls),
  }))
  const calm = problem === undefined ? calmOf(shown) : undefined
  return {
    ...(isImplicit ? {} : { preference: priority }),
    host,
    ...(problem === undefined ? {} : { problem }),
    ...(calm && { calm }),
    addresses: shown,
  }
}

/** All addresses in a few words, where nothing is wrong with any; undefined where something is. */
function calmOf(addresses: readonly MapAddress[]): Marked | undefined {
  const states = addresses.flatMap(({ back, tls, lists }) => [back, ...(tls ? [tls] : []), ...(lists ? [lists] : [])])
  if (states.some(({ mark }) => mark === 'bad' || mark === 'warn')) return undefined
  const isGood = states.every(({ mark }) => mark === 'good')
  const open = new Set(states.flatMap(({ mark, text: words }) => (mark === 'open' ? [words] : [])))
  const protocols = new Set(addresses.flatMap(({ tls }) => (tls?.mark === 'good' ? [tls.text] : [])))
  const [first, ...others] = addresses.map(({ address }) => address)
  const words = [
    others.length === 0 ? first! : counted(addresses.length, 'address', 'addresses'),
    ...(addresses.every(({ back }) => back.mark === 'good') ? ['resolves back'] : []),
    ...protocols,
    ...(addresses.every(({ lists }) => lists?.mark === 'good') ? ['on no blacklist'] : []),
    ...open,
  ]
  return { mark: isGood ? 'good' : open.size > 0 ? 'open' : 'none', text: words.join(' · ') }
}

function addressOf(
  { address, ptr, forward_confirmed }: MxAddress,
  isJudged: boolean,
  blacklists: Hosts['blacklists'],
): MapAddress {
  const lists = blacklists?.find(({ ip }) => ip === address)
  return {
    address,
    names: ptr.slice(0, MAX_NAMES),
    back: markedAs(backOf(ptr, forward_confirmed), isJudged),
    ...(lists === undefined ? {} : { place: placeLine(lists.geo) }),
    ...(blacklists === undefined
      ? {}
      : { lists: lists ? listedOn(lists) : { mark: 'none', text: 'blacklists not queried' } }),
  }
}

/** STARTTLS of an address, where it was looked at. */
function tlsOf(host: string, address: string, starttls: Hosts['starttls']): Pick<MapAddress, 'tls'> {
  const found = starttls?.hosts.find((one) => one.host === host && one.address === address)
  if (!found) return {}
  if (found.offered === null) return { tls: { mark: 'open', text: 'STARTTLS not known' } }
  if (!found.offered) return { tls: { mark: 'bad', text: 'no STARTTLS' } }
  return { tls: { mark: 'good', text: `STARTTLS${found.protocol ? `, ${found.protocol}` : ''}` } }
}

/** Whether the PTR names of an address resolve back to it. */
export const backOf = (names: readonly string[], confirmed: boolean | null | undefined): Marked =>
  confirmed === true
    ? { mark: 'good', text: 'resolves back' }
    : confirmed === false
      ? { mark: 'bad', text: names.length === 0 ? 'no PTR name' : 'does not resolve back' }
      : { mark: 'open', text: 'could not be checked' }

const markedAs = (back: Marked, isJudged: boolean): Marked =>
  back.mark === 'bad' && !isJudged ? { ...back, mark: 'none' } : back

/** The known location and network of an address. */
export function placeLine(geo: GeoAnswer | undefined): Line {
  if (!geo) return ['–']
  if (geo.bogon !== null) return [`not a public internet address (${geo.bogon})`]
  const place = [geo.city, geo.country_name].filter((part) => part !== null)
  const network = [geo.asn === null ? '' : `AS${geo.asn}`, geo.as_org ?? ''].filter((part) => part !== '')
  const words = [place.join(', '), network.join(' ')].filter((part) => part !== '')
  return [words.length === 0 ? 'location not known' : words.join(' · ')]
}

type Counts = Pick<AddressLists, 'listed' | 'answered' | 'verdict'> & { readonly total: number }

/** A short summary of the lists' answers about an address. */
export const listedOn = ({ listed, answered, total, verdict }: Counts): Marked =>
  listed > 0
    ? { mark: verdict === 'listed' ? 'bad' : 'warn', text: `on ${listed} of ${answered} blacklists that answered` }
    : answered === 0
      ? { mark: 'open', text: 'no blacklist answered' }
      : {
          mark: 'good',
          text:
            answered === total ? `on none of ${total} blacklists` : `on none of ${answered} blacklists that answered`,
        }
