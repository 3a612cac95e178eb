import { expect, it } from 'vitest'
import { labCtx } from '../../test/lab/world.ts'
import { ip } from '../names/ip.ts'
import type { Entry } from './ask.ts'
import { createBlacklists } from './blacklists.ts'
import { presentBlacklist, presentBlacklists, summarize } from './present.ts'
import type { ListStatus } from './read.ts'
import type { Tier } from './zone-type.ts'
import { BUILT_IN_LISTS } from './zones.ts'

/** 29 entries: `not_listed` but for those written. */
const entries = (...written: readonly (readonly [ListStatus, Tier])[]): Entry[] =>
  BUILT_IN_LISTS.map((list, i) => {
    const [status, tier] = written[i] ?? ['not_listed', list.tier]
    return {
      list,
      zone: list.zone,
      txt: null,
      durationMs: 1,
      reading: { status, tier, scope: 'ip', codes: [], meaning: [] },
    }
  })

it.each([
  [[], 'clean', 0, 29, null],
  [[['listed', 'A']], 'listed', 1, 29, 'A'],
  [
    [
      ['listed', 'C'],
      ['listed', 'B'],
    ],
    'listed',
    2,
    29,
    'B',
  ],
  [[['listed', 'D']], 'clean', 1, 29, 'D'], // policy is no evidence
  [
    [
      ['listed', 'D'],
      ['timeout', 'A'],
    ],
    'incomplete',
    1,
    28,
    'D',
  ],
  [[['blocked', 'A']], 'incomplete', 0, 28, null],
  [
    [
      ['error', 'A'],
      ['unsupported', 'B'],
      ['timeout', 'C'],
    ],
    'incomplete',
    0,
    26,
    null,
  ],
  [
    [
      ['listed', 'C'],
      ['blocked', 'A'],
    ],
    'listed',
    1,
    28,
    'C',
  ], // listed beats incomplete
] as const)('%j: %s', (written, verdict, listed, answered, worstTier) => {
  expect(summarize({ entries: entries(...written) })).toMatchObject({ verdict, listed, answered, worstTier, total: 29 })
})

it('has the shape of the API: the fields of the contract first, 29 results in order', async () => {
  const ctx = labCtx({ '1.5.53.45.dnsbl-3.uceprotect.net': { A: ['127.0.0.2'], TXT: ['AS64500'] } })
  const shown = presentBlacklist(await createBlacklists({ now: ctx.now }).lookup(ctx, ip('45.53.5.1')), ctx)
  expect(Object.keys(shown)).toEqual([
    'ip',
    'total',
    'listed',
    'results',
    'answered',
    'verdict',
    'worst_tier',
    'list_version',
    'observed_at',
  ])
  const { results } = shown
  expect(results.map(({ blacklist }) => blacklist)).toEqual(BUILT_IN_LISTS.map(({ name }) => name))
  expect(results[7]).toEqual({
    blacklist: 'UCEPROTECT Level 3',
    listed: true,
    zone: 'dnsbl-3.uceprotect.net',
    status: 'listed',
    tier: 'D',
    scope: 'asn',
    scope_text: expect.stringContaining('Only the operator of the network'),
    codes: ['127.0.0.2'],
    meaning: ['the whole network (AS) is listed'],
    txt: 'AS64500',
    delist_url: 'https://uceprotect.net/en/rblcheck.php',
    duration_ms: 0,
    reason: undefined,
  })
})

it('shows how every list stands', async () => {
  const ctx = labCtx({ '2.0.0.127.psbl.surriel.com': { A: ['127.0.0.2'] } })
  const lists = createBlacklists({ now: ctx.now })
  expect(presentBlacklists(lists.set, lists.states()).data[3]).toMatchObject({
    state: 'untested',
  })
  await lists.test(ctx)
  const { data } = presentBlacklists(lists.set, lists.states())
  expect(data).toHaveLength(29)
  expect(data.map(({ requires_key }) => requires_key)).toEqual(
    BUILT_IN_LISTS.map(({ keyForm }) => keyForm !== undefined),
  )
  expect(new Set(data.map(({ requires_key }) => requires_key))).toEqual(new Set([true, false]))
  expect(data[3]).toMatchObject({
    blacklist: 'PSBL',
    state: 'healthy',
    tested_at: '2026-01-02T03:04:05.000Z',
    test_codes: ['127.0.0.2'],
    ipv6: { supported: 'no', state: 'unsupported' },
    allowance: { per_second: 50 },
    history: [{ at: '2026-01-02T03:04:05.000Z', state: 'healthy', reason: null }],
  })
  expect(data[2]).toMatchObject({ state: 'failing', reason: 'test_point_missing', ipv6: { state: 'failing' } })
})
