import { expect, it } from 'vitest'
import { labDeps } from '../../test/lab/app.ts'
import { labWorld } from '../../test/lab/world.ts'
import type { JobQueue } from '../jobs/service.ts'
import { createMetrics } from './metrics.ts'

/** The metrics of jobs, by name. */
async function jobMetrics(queue: () => Promise<JobQueue | undefined>): Promise<Readonly<Record<string, number>>> {
  const world = labWorld({})
  const deps = labDeps(world)
  const metrics = createMetrics()
  metrics.watch(
    async () => ({ ...deps, jobs: { ...deps.jobs, queue } }),
    world.now,
    () => 0,
    () => ({ done: 0, ended: { time: 0, memory: 0, fault: 0, remembered: 0, full: 0 }, waiting: 0 }),
  )
  const { text } = await metrics.read()
  return Object.fromEntries(
    [...text.matchAll(/^mailsonde_jobs_(\w+) (\S+)$/gm)].map(([, name, value]) => [name, Number(value)]),
  )
}

it.each<[string, () => Promise<JobQueue | undefined>, Readonly<Record<string, number>>]>([
  [
    'tell what waits in the queue',
    async () => ({
      ...{ openRows: 9, dueRows: 4, dueSeconds: 90, due: 1, waiting: 2 },
      ...{ nodes: 3, connections: 5, keys: 6, claimed: 7 },
    }),
    { open_rows: 9, due_rows: 4, due_seconds: 90, waiting_providers: 2, claimed_rows: 7, held_connections: 5 },
  ],
  [
    'are 0 before a database was needed',
    async () => undefined,
    { open_rows: 0, due_rows: 0, due_seconds: 0, waiting_providers: 0, claimed_rows: 0, held_connections: 0 },
  ],
  [
    'are 0 while the database is away',
    () => Promise.reject(new Error('away')),
    { open_rows: 0, due_rows: 0, due_seconds: 0, waiting_providers: 0, claimed_rows: 0, held_connections: 0 },
  ],
])('metrics of jobs %s', async (_, queue, expected) => expect(await jobMetrics(queue)).toEqual(expected))
