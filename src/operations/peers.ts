import { peersAnswer } from '../answers/peers.ts'
import { atMost } from '../base/at-most.ts'
import { peersDocument } from '../documents/peers.ts'
import { CAPABILITIES, type Peer } from '../peers/peer.ts'
import type { Self } from '../peers/registry.ts'
import { defineOperation, ok } from './operation.ts'
import { answerPeer, peerExample, shownOfEach } from './peer-answer.ts'

/** All nodes that are known to this one, including itself. */
export const peers = defineOperation({
  name: 'peers',
  method: 'GET',
  path: '/v1/peer/peers',
  summary: 'List the registered nodes and their state',
  scope: 'admin',
  forPeers: true,
  params: {},
  answer: peersAnswer,
  document: peersDocument,
  example: { input: {}, output: { peers: [peerExample], total: 1 } },
  deadlineMs: 10_000,
  uses: ['peers', 'geo'],
  run: async (ctx, deps) => {
    const known = [...(await deps.peers.all()).values()]
    const shown = shownOfEach(known.length)
    const answers = await atMost(8, known, (peer) => answerPeer(ctx, deps, peer, shown))
    const own = selfAsPeer(deps.peers.self, ctx.now())
    return ok({
      peers: answers,
      total: known.length,
      ...(own && { node: await answerPeer(ctx, deps, own) }),
    })
  },
})

function selfAsPeer(self: Self, nowMs: number): Peer | undefined {
  if (self.url === undefined) return undefined
  const { id, url, name, region, version } = self
  const addresses = self.addresses()
  const times = { registeredAtMs: nowMs, lastSeenAtMs: nowMs }
  return { id, url, name, region, version, addresses, capabilities: CAPABILITIES, load: undefined, ...times }
}
