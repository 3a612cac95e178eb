import { z } from 'zod'
import { parsed, problem } from '../base/parsed.ts'
import { valueProblem } from '../base/value-problems.ts'
import { NODE_ID } from '../names/node-id.ts'
import { MAX_ADDRESSES } from '../peers/peer.ts'
import type { Caller } from './operation.ts'
import { ipParam, listParam, objectParam, optional, textParam } from './params.ts'
import { nodeError } from './problems.ts'

/** The fields that register and heartbeat share. */

export const idParam = (description: string) =>
  textParam<string>(
    'invalid_parameter',
    (text) => (NODE_ID.test(text) ? parsed(text) : problem(valueProblem('node_id', { text }))),
    { description, example: 'node-1' },
  )

export const addressesParam = listParam(ipParam('an address').schema, MAX_ADDRESSES, {
  description: 'source addresses that the node verifies from',
})

const count = z.int().min(0).max(1_000_000)
export const loadParam = optional(
  objectParam(z.strictObject({ active: count, capacity: count }), {
    description: 'requests in progress, and how many the node allows',
  }),
)

/** The id of the node in a call: a node with a valid proof may name only its own. Throws AppError `forbidden`. */
export function ownId<Id extends string | undefined>(caller: Caller | undefined, given: Id): Id | string {
  if (caller?.peer === undefined) return given
  if (given !== undefined && given !== caller.peer)
    throw nodeError('acts_for', { id: caller.peer, other: given }, { parameter: 'id' })
  return caller.peer
}
