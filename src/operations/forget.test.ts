import { expect, it } from 'vitest'
import { answerTo } from '../../test/lab/answer.ts'
import { labDeps } from '../../test/lab/app.ts'
import { labProblem } from '../../test/lab/problem.ts'
import { labCtx } from '../../test/lab/world.ts'
import { FetchError } from '../net/fetch.ts'
import type { Peer } from '../peers/peer.ts'
import { forget } from './forget.ts'

const ctx = labCtx()
const node = (id: string): Peer => ({
  ...{ id, url: `https://${id}.example`, name: '', region: '', addresses: [], version: '0' },
  ...{ capabilities: ['verify'], load: undefined, registeredAtMs: 0, lastSeenAtMs: ctx.now() },
})

it.each<[string, readonly string[], number | undefined, readonly string[] | undefined]>([
  ['no other node is not told', [], undefined, undefined],
  ['one that confirms is counted', ['good'], 2, undefined],
  ['several are summed', ['good', 'good2'], 4, undefined],
  ['one that does not answer is named', ['away'], 0, ['away']],
  ['one that answers something else is named', ['good', 'odd'], 2, ['odd']],
])('%s', async (_, ids, removed, missing) => {
  const deps = labDeps(ctx)
  const tell: typeof deps.peers.tell = async ({ url }) => {
    if (url.includes('away')) throw new FetchError('connect', labProblem('it does not answer'))
    return { status: 200, body: url.includes('odd') ? {} : { removed: 2 } }
  }
  const peers = { ...deps.peers, all: async () => new Map(ids.map((id) => [id, node(id)])), tell }
  const answer = await answerTo(forget, ctx, { ...deps, peers }, { domain: 'a.example' })
  expect([answer.places.other_nodes, answer.not_reached]).toEqual([removed, missing])
})
