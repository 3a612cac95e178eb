import { expect, it } from 'vitest'
import { type IdleJobs, idleJobs } from './idle.ts'

/** A look at a job that found nothing to plan. */
function looked(idle: IdleJobs, job: number, waitMs: number): void {
  idle.begin(job)
  idle.add(job, waitMs)
}

it.each<[string, number, number, number, boolean]>([
  ['is idle while its next row is not due', 10, 60_000, 3_000, true],
  ['is planned when its next row is due', 10, 1_000, 1_001, false],
  ['is looked at again after some seconds', 10, 60_000, 6_001, false],
  ['is looked at less often where many jobs are open', 1_000, 60_000, 6_001, true],
])('a job %s', (_, open, waitMs, atMs, isIdle) => {
  let nowMs = 0
  const idle = idleJobs(() => nowMs)
  idle.keep(Array.from({ length: open }, (_, number) => ({ number })))
  looked(idle, 1, waitMs)
  nowMs = atMs
  expect(idle.has(1)).toBe(isIdle)
})

it('a job that was changed, or is no longer open, is not idle', () => {
  const idle = idleJobs(() => 0)
  for (const job of [1, 2, 3]) looked(idle, job, 9_000)
  idle.remove(1)
  idle.keep([{ number: 1 }, { number: 2 }])
  expect([1, 2, 3].map(idle.has)).toEqual([false, true, false])
})

it('a job whose last rows were answered during a look at it is looked at again at once', () => {
  const idle = idleJobs(() => 0)
  idle.keep([{ number: 1 }])
  idle.begin(1)
  idle.remove(1)
  idle.add(1, 9_000)
  expect(idle.has(1)).toBe(false)
})

it('jobs that were planned together drift apart, including every tenth one', () => {
  let nowMs = 0
  const idle = idleJobs(() => nowMs)
  const jobs = Array.from({ length: 100 }, (_, i) => i * 10 + 1)
  idle.keep(jobs.map((number) => ({ number })))
  for (const job of jobs) looked(idle, job, 60_000)
  const planned: number[] = []
  for (let idleBefore = jobs.length; nowMs < 6_000; nowMs += 1_000) {
    const isIdle = jobs.filter(idle.has).length
    planned.push(idleBefore - isIdle)
    idleBefore = isIdle
  }
  expect(Math.max(...planned)).toBeLessThan(60)
})

it('a job that was never added is not idle, whatever the clock shows', () => {
  for (const nowMs of [-300_000, 0, 300_000]) expect(idleJobs(() => nowMs).has(1)).toBe(false)
})
