import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { peerAnswer } from '../answers/peers.ts'
import { peerDocument } from '../documents/peers.ts'
import { parseOrigin } from '../peers/origin.ts'
import { CAPABILITIES, MAX_PEERS, MAX_PER_HOST } from '../peers/peer.ts'
import { defineOperation } from './operation.ts'
import { lineParam, listParam, optional, textParam } from './params.ts'
import { answerPeer, peerExample } from './peer-answer.ts'
import { addressesParam, idParam, ownId } from './peer-input.ts'
import { refusePrivateUrl } from './peer-url.ts'
import { nodeError } from './problems.ts'

/** Registers a node, or renews its registration. */
export const peerRegister = defineOperation({
  name: 'peer-register',
  method: 'POST',
  path: '/v1/peer/register',
  summary: 'Register a node or renew its registration',
  scope: 'admin',
  forPeers: true,
  params: {
    id: optional(idParam('id of the node; generated if omitted')),
    url: textParam<string>('invalid_parameter', parseOrigin, {
      description: 'URL of the node: HTTPS and a public address, except in networks that the operator allowed',
      example: 'https://node-1.example',
    }),
    name: optional(lineParam('display name; default the id', 100)),
    region: optional(lineParam('location, as free text', 100)),
    addresses: addressesParam,
    version: optional(lineParam('version of its software', 100)),
    capabilities: listParam(z.enum(CAPABILITIES), CAPABILITIES.length, {
      description: 'operations that the node offers',
      choices: CAPABILITIES,
      fallback: CAPABILITIES.join(),
    }),
  },
  answer: peerAnswer,
  document: peerDocument,
  statuses: { 201: 'The node was not registered before' },
  example: {
    input: { id: 'node-1', url: 'https://node-1.example', region: 'eu-west', addresses: ['203.0.113.7'] },
    output: peerExample,
  },
  deadlineMs: 10_000,
  uses: ['peers', 'geo', 'mayCall'],
  run: async (ctx, deps, input) => {
    const id = ownId(ctx.caller, input.id) ?? randomUUID()
    if (id === deps.peers.self.id) throw nodeError('own_id', { id }, { parameter: 'id' })
    if (input.url === deps.peers.self.url) throw nodeError('own_url', { url: input.url }, { parameter: 'url' })
    await refusePrivateUrl(ctx, deps, input.url)
    const { url, name = id, region = '', version = '', addresses = [], capabilities = CAPABILITIES } = input
    const change = await deps.peers.apply({
      kind: 'register',
      peer: { id, url, name, region, version, addresses: [...new Set(addresses)], capabilities },
    })
    if (change.outcome === 'taken') throw nodeError('id_taken', { id }, { parameter: 'id' })
    if (change.outcome === 'url_taken') throw nodeError('url_taken', { url }, { parameter: 'url' })
    if (change.outcome === 'crowded') throw nodeError('crowded', { max: MAX_PER_HOST, host: new URL(url).hostname })
    if (!('peer' in change)) throw nodeError('full', { max: MAX_PEERS })
    const answer = await answerPeer(ctx, deps, change.peer)
    return { status: change.outcome === 'created' ? 201 : 200, answer }
  },
})
