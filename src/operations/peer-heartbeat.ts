import { heartbeatAnswer } from '../answers/peers.ts'
import { heartbeatDocument } from '../documents/peers.ts'
import { statusOf } from '../peers/peer.ts'
import { defineOperation, ok } from './operation.ts'
import { addressesParam, idParam, loadParam, ownId } from './peer-input.ts'
import { nodeError } from './problems.ts'

/** Renews the lease of a node. */
export const peerHeartbeat = defineOperation({
  name: 'peer-heartbeat',
  method: 'POST',
  path: '/v1/peer/heartbeat',
  summary: 'Keep the registration of a node alive',
  scope: 'admin',
  forPeers: true,
  params: {
    id: idParam('id of the node'),
    load: loadParam,
    addresses: addressesParam,
  },
  answer: heartbeatAnswer,
  document: heartbeatDocument,
  example: {
    input: { id: 'node-1', load: { active: 3, capacity: 512 } },
    output: { id: 'node-1', status: 'alive', ttl_ms: 30_000, peers: 3 },
  },
  deadlineMs: 10_000,
  uses: ['peers'],
  run: async (ctx, { peers }, { id: given, load, addresses }) => {
    const id = ownId(ctx.caller, given)
    const change = await peers.apply({
      kind: 'heartbeat',
      id,
      ...(load ? { load } : {}),
      ...(addresses ? { addresses: [...new Set(addresses)] } : {}),
    })
    if (!('peer' in change)) throw nodeError('unknown', { id })
    const status = statusOf(change.peer, ctx.now(), peers.ttlMs)
    return ok({ id, status, ttl_ms: peers.ttlMs, peers: change.peers.size })
  },
})
