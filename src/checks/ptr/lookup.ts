import type { MxAddress } from '../../answers/checks.ts'
import type { Problem } from '../../base/problem.ts'
import type { MailHosts } from '../../mailhosts/mailhosts.ts'
import { webProxyOf } from '../../mailhosts/web-proxies.ts'
import type { Domain } from '../../names/domain.ts'
import { familyOf, type Ip, reverseName } from '../../names/ip.ts'
import { isPublic } from '../../names/ip-range.ts'
import { DnsError, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { type CheckInput, mailHostsOf } from '../check.ts'
import { inPart } from '../questions.ts'
import { looksGeneric } from './generic.ts'

/** Maximum number of addresses that are queried; those of the best MX come first. */
export const MAX_ASKED = 30
/** Maximum number of addresses of the best MX that are judged. */
export const MAX_BEST = 10
/** Maximum number of PTR names per address whose addresses are queried. */
export const MAX_NAMES = 10

/** Whether a PTR name resolves back: `other`: only to other addresses; `missing`: to none; `unknown`: no answer. */
export type Forward = {
  readonly name: string
  readonly leads: 'back' | 'other' | 'missing' | 'unknown'
  readonly error?: DnsError
}

export type AddressPtr = {
  readonly address: Ip
  /** The PTR names, without duplicates, at most 100. Empty if there is none, and without an answer. */
  readonly names: readonly string[]
  /** Why the PTR query has no answer. */
  readonly error?: DnsError
  /** The first 10 names. */
  readonly forward: readonly Forward[]
}

export type PtrFacts = {
  readonly domain: Domain
  readonly mail: MailHosts
  /** Those of the mail hosts, best MX first, at most 30. */
  readonly addresses: readonly AddressPtr[]
  /** The addresses of the best MX: the hosts of the best preference that has an address. At most 10. */
  readonly best: readonly Ip[]
  /** Number of addresses beyond the first 30. */
  readonly leftOut: number
  /** Other addresses that SPF names one by one, at most 10. */
  readonly named: readonly AddressPtr[]
  /** The addresses whose names are judged, at most 10; filled in by the judge. */
  readonly judged?: readonly JudgedAddress[]
  /**
   * The addresses that may send, if an answer about SPF is missing and their names are not all in order; with `isMore`
   * others may; filled in by the judge.
   */
  readonly candidates?: readonly JudgedAddress[]
  readonly isMore?: boolean
  /** A mail host whose addresses are not all known, so that more may have to be judged; filled in by the judge. */
  readonly open?: OpenHost
}

/** A mail host for which the lookup of an address family has no answer. */
export type OpenHost = {
  readonly reason: Problem
  /** Number of judged addresses before the unknown ones: they count in any case. 0 to 9. */
  readonly certain: number
  /** It may be the best MX in place of the one whose addresses are known. */
  readonly isOther: boolean
}

/** An address that sends as the domain. The names of a mail provider's addresses are not judged. */
export type JudgedAddress = { readonly ptr: AddressPtr; readonly isProviders: boolean }

type Asker = Pick<Ctx, 'resolve' | 'signal' | 'questions'>

/**
 * The PTR names of every address of the mail hosts and of those that SPF names, and whether they resolve back: at most
 * 40 addresses with 11 queries each, in two rounds after these are known. Missing answers are data. Rejects with
 * DnsError if the mail hosts could not be determined.
 */
export async function lookupPtr(ctx: Asker, domain: Domain, input: CheckInput = {}): Promise<PtrFacts> {
  const mail = await mailHostsOf(ctx, domain, input)
  // The names of a web proxy's addresses are not the domain's.
  const all = [...new Set(mail.hosts.flatMap((host) => (host.proxy === undefined ? host.addresses : [])))]
  const [addresses, named] = await Promise.all([
    lookupAddresses(ctx, all.slice(0, MAX_ASKED)).finally(() => ctx.questions?.end('ptr')),
    lookupNamed(inPart(ctx, 'senders'), input, all),
  ])
  return { domain, mail, addresses, best: bestOf(mail), leftOut: Math.max(0, all.length - MAX_ASKED), named }
}

async function lookupNamed(ctx: Asker, { namedSenders }: CheckInput, known: readonly Ip[]) {
  const named = (await namedSenders?.()) ?? []
  const others = named
    .filter((address) => !known.includes(address) && isPublic(address) && !webProxyOf([address]))
    .slice(0, MAX_BEST)
  return lookupAddresses(ctx, others)
}

/**
 * The PTR names of addresses, and whether they resolve back (FCrDNS, RFC 8601 §2.7.3): at most 11 queries for each, in
 * two rounds. Never rejects with DnsError: that is data.
 */
async function lookupAddresses(ctx: Asker, addresses: readonly Ip[]): Promise<readonly AddressPtr[]> {
  const pointers = await Promise.all(
    addresses.map((address) => settled(ctx.resolve(reverseName(address), 'PTR', ctx.signal))),
  )
  return Promise.all(
    pointers.map(async (answer, i): Promise<AddressPtr> => {
      const address = addresses[i]!
      if (answer instanceof DnsError) return { address, names: [], forward: [], error: answer }
      const names = [...new Set(answer.records)].slice(0, 100)
      const forward = await Promise.all(names.slice(0, MAX_NAMES).map((name) => lookupForward(ctx, name, address)))
      return { address, names, forward }
    }),
  )
}

/** {@link lookupAddresses} for one address. */
export const lookupAddress = async (ctx: Pick<Ctx, 'resolve' | 'signal'>, address: Ip): Promise<AddressPtr> =>
  (await lookupAddresses(ctx, [address]))[0]!

async function lookupForward(ctx: Asker, name: string, address: Ip): Promise<Forward> {
  const answer = await settled(ctx.resolve(name, familyOf(address) === 4 ? 'A' : 'AAAA', ctx.signal))
  if (answer instanceof DnsError) return { name, leads: 'unknown', error: answer }
  if (answer.records.includes(address)) return { name, leads: 'back' }
  return { name, leads: answer.records.length > 0 ? 'other' : 'missing' }
}

function bestOf(mail: MailHosts): Ip[] {
  const own = mail.hosts.filter(({ proxy }) => proxy === undefined)
  const preference = own.find((host) => host.addresses.length > 0)?.preference
  const hosts = own.filter((host) => host.preference === preference)
  return [...new Set(hosts.flatMap((host) => host.addresses))].slice(0, MAX_BEST)
}

/** The state of one address. `confirmed`: a PTR name resolves back to it; null if that could not be determined. */
export type AddressState = {
  readonly address: Ip
  /** Null: no answer. */
  readonly hasPtr: boolean | null
  readonly confirmed: boolean | null
  /**
   * Every name that counts appears to be generated from the address: of those that resolve back, or of all if none
   * does.
   */
  readonly generic: boolean
  readonly names: number
}

/** The computed states, as long as their facts exist. */
const STATES = new WeakMap<AddressPtr, AddressState>()

/**
 * Determines the state of an address, once each. One name that resolves back is enough, whatever the other names do
 * (RFC 8601 §2.7.3).
 */
export function addressState(ptr: AddressPtr): AddressState {
  const known = STATES.get(ptr)
  if (known) return known
  const state = stateOf(ptr)
  STATES.set(ptr, state)
  return state
}

function stateOf(ptr: AddressPtr): AddressState {
  const { address } = ptr
  if (ptr.error) return { address, hasPtr: null, confirmed: null, generic: false, names: 0 }
  const back = ptr.forward.filter((forward) => forward.leads === 'back').map((forward) => forward.name)
  const open = ptr.forward.some((forward) => forward.leads === 'unknown')
  const counting = back.length > 0 ? back : ptr.names
  return {
    address,
    hasPtr: ptr.names.length > 0,
    confirmed: back.length > 0 ? true : open ? null : false,
    generic: counting.length > 0 && counting.every((name) => looksGeneric(name, address)),
    names: ptr.names.length,
  }
}

/** The states of the judged addresses; a provider's own address never counts against the domain. */
export const judgedStates = (judged: readonly JudgedAddress[]): AddressState[] =>
  judged.map(({ ptr, isProviders }) =>
    isProviders ? { ...addressState(ptr), hasPtr: true, confirmed: true, generic: false, names: 1 } : addressState(ptr),
  )

export const bestStates = (facts: PtrFacts): AddressState[] =>
  facts.addresses.filter((ptr) => facts.best.includes(ptr.address)).map(addressState)

/** The entry in the answer for one address of an MX host; of an address without a query, only the address is known. */
export function ptrOf(facts: PtrFacts | undefined, address: Ip): MxAddress {
  const ptr = facts?.addresses.find((other) => other.address === address)
  if (!ptr) return { address, ptr: [], forward_confirmed: null }
  return { address, ptr: ptr.names, forward_confirmed: addressState(ptr).confirmed, reason: ptr.error?.message }
}
