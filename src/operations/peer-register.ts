import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { peerAnswer } from '../answers/peers.ts'
import { AppError } from '../base/errors.ts'
import { peerDocument } from '../documents/peers.ts'
import { parseOrigin } from '../peers/origin.ts'
import { CAPABILITIES, MAX_PEERS, MAX_PER_HOST } from '../peers/peer.ts'
import { defineOperation } from './operation.ts'
import { lineParam, listParam, optional, textParam } from './params.ts'
import { answerPeer, peerExample } from './peer-answer.ts'
import { addressesParam, idParam, ownId } from './peer-input.ts'
import { refusePrivateUrl } from './peer-url.ts'

/** Registers a node, or renews its registration. */
export const peerRegister = defineOperation({
  name: 'peer-register',
  method: 'POST',
  path: '/v1/peer/register',
  summary: 'Register a node or renew its registration',
  scope: 'admin',
  forPeers: true,
  params: {
    id: optional(idParam('id of the node; made up when left out')),
    url: textParam<string>('invalid_parameter', parseOrigin, {
      description: 'where the node is reached: HTTPS, and a public address, but in networks that were allowed',
      example: 'https://node-1.example',
    }),
    name: optional(lineParam('name for people; default the id', 100)),
    region: optional(lineParam('where it stands, in words of its own', 100)),
    addresses: addressesParam,
    version: optional(lineParam('version of its program', 100)),
    capabilities: listParam(z.enum(CAPABILITIES), CAPABILITIES.length, {
      description: 'what it may be asked',
      choices: CAPABILITIES,
      fallback: CAPABILITIES.join(),
    }),
  },
  answer: peerAnswer,
  document: peerDocument,
  statuses: { 201: 'The node is new here' },
  example: {
    input: { id: 'node-1', url: 'https://node-1.example', region: 'eu-west', addresses: ['203.0.113.7'] },
    output: peerExample,
  },
  deadlineMs: 10_000,
  uses: ['peers', 'geo', 'mayCall'],
  run: async (ctx, deps, input) => {
    const id = ownId(ctx.caller, input.id) ?? randomUUID()
    if (id === deps.peers.self.id)
      throw new AppError('forbidden', `${id} is the id of this node itself; give each node its own`, {
        parameter: 'id',
      })
    if (input.url === deps.peers.self.url)
      throw new AppError('forbidden', `${input.url} is the URL of this node itself`, { parameter: 'url' })
    await refusePrivateUrl(ctx, deps, input.url)
    const { url, name = id, region = '', version = '', addresses = [], capabilities = CAPABILITIES } = input
    const change = await deps.peers.apply({
      kind: 'register',
      peer: { id, url, name, region, version, addresses: [...new Set(addresses)], capabilities },
    })
    if (change.outcome === 'taken')
      throw new AppError('forbidden', `the id ${id} belongs to a living node at another URL`, { parameter: 'id' })
    if (change.outcome === 'url_taken')
      throw new AppError('forbidden', `${url} belongs to a living node with another id`, { parameter: 'url' })
    if (change.outcome === 'crowded')
      throw new AppError(
        'overloaded',
        `${MAX_PER_HOST} nodes are known at ${new URL(url).hostname}; no more are accepted`,
      )
    if (!('peer' in change)) throw new AppError('overloaded', `${MAX_PEERS} nodes are known; no more are accepted`)
    const answer = await answerPeer(ctx, deps, change.peer)
    return { status: change.outcome === 'created' ? 201 : 200, answer }
  },
})
