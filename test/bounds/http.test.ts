import { EventEmitter } from 'node:events'
import { openStreams } from '../../src/http/streams.ts'
import { allOperations } from '../../src/operations/registry.ts'
import { openSite } from '../../src/start/pages.ts'
import { labApp, labDeps, labExecutor } from '../lab/app.ts'
import { labJob, labJobRecord, labJobs } from '../lab/jobs.ts'
import { labWorld } from '../lab/world.ts'
import { testBounds, text, times } from './table.ts'

/** Bounds of the HTTP adapter, and those of pages that are seen from outside alone. */
const world = labWorld()
const operations = await allOperations()
const columns = 0
const row = { line: 1, input: 'a@b.example', columns: [], result: 'accepted', reason: 'mailbox_exists', answer: null }
const jobs: typeof labJobs = {
  ...labJobs,
  show: async () => ({ ...labJob, columns: ['email', ...names(columns)], column: 'email' }),
  results: async () => ({ job: labJobRecord(), layout: undefined, rows: [row] }),
}
const names = (n: number): readonly string[] => times(n, (i) => `own${i}.`)
const execute = labExecutor(world, labDeps(world, { jobs }))
const site = openSite({ operations, world, version: '0', execute })
const app = await labApp(world, { site, execute })

const HTML = { accept: 'text/html,*/*;q=0.8' }
const first = await app.inject({ url: '/', headers: HTML })
const cookie = String(first.headers['set-cookie']).split(';')[0]!
const token = /name="_csrf" value="([\w-]+)"/.exec(first.body)?.[1] ?? ''

/** Whether the body of a form is taken, whatever is then said of it. */
async function isTaken(url: string, payload: string, type = 'application/x-www-form-urlencoded'): Promise<boolean> {
  const headers = { ...HTML, cookie, 'sec-fetch-site': 'same-origin', 'content-type': type, 'x-csrf-token': token }
  const { statusCode } = await app.inject({ method: 'POST', url, headers, payload })
  if (statusCode === 403) throw new Error('the form was taken for forged')
  return statusCode !== 413
}
const form = (size: number): string => `text=${text(size - 5)}`

function streamsOpened(n: number): number {
  const streams = openStreams()
  return times(n, () => streams('a key', new EventEmitter())).filter(Boolean).length
}

testBounds([
  ['src/http/streams.ts MAX_STREAMS', 64, (n) => streamsOpened(n) === n],
  ['src/pages/jobs.ts BODY_LIMIT', 3 * 1_048_576 + 65_536, (n) => isTaken('/jobs/preview', form(n))],
  ['src/pages/domain.ts BODY_LIMIT', 131_072, (n) => isTaken('/domain/a.example/try', form(n))],
])
