import { expect, it } from 'vitest'
import { ip } from '../names/ip.ts'
import { askAll } from './ask.ts'
import { BUILT_IN_LISTS } from './zones.ts'

it('half of the time is for the first attempt, the other half for a second one', async () => {
  let leftMs = Number.NaN
  const lookup = askAll({
    lists: BUILT_IN_LISTS.slice(0, 1),
    address: ip('45.53.5.1'),
    known: [],
    deadlineMs: 300,
    signal: new AbortController().signal,
    now: () => performance.now(),
    isPatient: () => true,
    ask: (_, signals) => {
      signals.first.addEventListener('abort', () => (leftMs = signals.leftMs()))
      return new Promise(() => {})
    },
  })
  expect((await lookup.result)[0]?.reading).toMatchObject({ status: 'timeout', reason: 'no_answer' })
  expect(leftMs).toBeLessThanOrEqual(160) // a busy machine leaves less
})
