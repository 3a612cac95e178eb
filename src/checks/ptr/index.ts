import type { PtrFields } from '../../answers/checks.ts'
import type { Problem } from '../../base/problem.ts'
import { defineCheck, type Outcome } from '../check.ts'
import { ptrProblem } from '../problems.ts'
import { findings } from './findings.ts'
import { bestUnanswered, judgePtr } from './judge.ts'
import { addressState, bestStates, lookupPtr, type PtrFacts } from './lookup.ts'

export { looksGeneric } from './generic.ts'
export {
  type AddressPtr,
  type AddressState,
  addressState,
  judgedStates,
  lookupAddress,
  type PtrFacts,
  ptrOf,
} from './lookup.ts'

export const ptr = defineCheck<PtrFacts, PtrFields>({
  table: findings,
  lookup: lookupPtr,
  judge: judgePtr,
  present: presentPtr,
})

/**
 * The answer's `ptr`: `valid` if every address of the best MX is known and has a PTR record, `reason` whenever it is
 * false; `forward_confirmed` if all of them resolve back.
 */
function presentPtr(outcome: Outcome<PtrFacts>): PtrFields {
  const { facts } = outcome
  if (!facts) return { valid: false, reason: reasonOf(outcome)?.text ?? '', forward_confirmed: null, addresses: [] }
  const states = bestStates(facts)
  const isKnown = bestUnanswered(facts) === undefined
  const valid = isKnown && states.length > 0 && states.every((state) => state.hasPtr)
  const confirmed = [...states.map((state) => state.confirmed), ...(isKnown ? [] : [null])]
  return {
    valid,
    reason: valid ? undefined : reasonOf(outcome)?.text,
    forward_confirmed:
      confirmed.length === 0 ? null : confirmed.includes(false) ? false : confirmed.includes(null) ? null : true,
    addresses: [...facts.addresses, ...facts.named].map((ptr) => {
      const state = addressState(ptr)
      const forward_confirmed = state.confirmed
      return { address: ptr.address, names: ptr.names, forward_confirmed, generic: state.generic }
    }),
  }
}

function reasonOf(outcome: Outcome<PtrFacts>): Problem | undefined {
  if (outcome.reason !== undefined || !outcome.facts) return outcome.reason
  const states = bestStates(outcome.facts)
  if (states.length === 0) return ptrProblem('no_address')
  const without = states.filter((state) => state.hasPtr === false).map((state) => state.address)
  if (without.length > 0) return ptrProblem('missing', { text: without.join(', ') })
  return bestUnanswered(outcome.facts) ?? ptrProblem('unanswered')
}
