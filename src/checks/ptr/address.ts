import type { MxAddress } from '../../answers/checks.ts'
import type { Ip } from '../../names/ip.ts'
import { looksGeneric } from './generic.ts'
import type { AddressPtr, JudgedAddress, PtrFacts } from './lookup.ts'

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

/** The states of the addresses of the best MX. */
export const bestStates = (facts: PtrFacts): AddressState[] =>
  facts.addresses.filter((ptr) => facts.best.includes(ptr.address)).map(addressState)

/** The entry in the answer for one address of an MX host; of an address without a query, only the address is known. */
export function ptrOf(facts: PtrFacts | undefined, address: Ip): MxAddress {
  const ptr = facts?.addresses.find((other) => other.address === address)
  if (!ptr) return { address, ptr: [], forward_confirmed: null }
  return { address, ptr: ptr.names, forward_confirmed: addressState(ptr).confirmed, reason: ptr.error?.message }
}
