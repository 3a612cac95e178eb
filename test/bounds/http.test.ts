import { EventEmitter } from 'node:events'
import { isTooMuch, loopWatch } from '../../src/http/overload.ts'
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
let columns = 0
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
const page = async (url: string): Promise<string> => (await app.inject({ url, headers: { ...HTML, cookie } })).body

/** Whether the body of a form is taken, whatever is then said of it. */
async function isTaken(url: string, payload: string, type = 'application/x-www-form-urlencoded'): Promise<boolean> {
  const headers = { ...HTML, cookie, 'sec-fetch-site': 'same-origin', 'content-type': type, 'x-csrf-token': token }
  const { statusCode } = await app.inject({ method: 'POST', url, headers, payload })
  if (statusCode === 403) throw new Error('the form was taken for forged')
  return statusCode !== 413
}
const form = (size: number): string => `text=${text(size - 5)}`
function upload(size: number): string {
  const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
  const end = '\r\n--x--\r\n'
  return `${head}${'a@b.example\n'.repeat(size / 12 + 1).slice(0, size - head.length - end.length)}${end}`
}

function namesLogged(n: number): number {
  let [nowMs, logged] = [0, 0]
  const warn = ({ operations }: Readonly<Record<string, unknown>>): void => {
    logged = (operations as readonly string[]).length
  }
  const watch = loopWatch({ warn, now: () => nowMs, cpuMs: () => nowMs })
  watch.stop()
  for (const name of names(n)) watch.begin(name)
  nowMs = 1_000
  watch.look()
  return logged
}

function streamsOpened(n: number): number {
  const streams = openStreams()
  return times(n, () => streams('a key', new EventEmitter())).filter(Boolean).length
}

async function columnsShown(n: number): Promise<number> {
  columns = n
  return (await page(`/jobs/${labJob.id}`)).match(/<th scope="col">own\d+\.<\/th>/g)?.length ?? 0
}

testBounds([
  ['src/http/overload.ts MAX_NAMES', 10, (n) => namesLogged(n) === n],
  ['src/http/overload.ts MAX_DELAY_MS', 150, (n) => !isTooMuch(n, 1_000)],
  ['src/http/streams.ts MAX_STREAMS', 64, (n) => streamsOpened(n) === n],
  ['src/http/site.ts MAX_FIELDS', 200, (n) => isTaken('/logout', times(n, (i) => `f${i}=`).join('&'))],
  ['src/pages/job.ts MAX_COLUMNS', 6, async (n) => (await columnsShown(n)) === n],
  ['src/pages/jobs.ts BODY_LIMIT', 3 * 1_048_576 + 65_536, (n) => isTaken('/jobs/preview', form(n))],
  // The other fields of the form have 16 KiB beside the list.
  [
    'src/pages/list-form.ts MAX_PASTED',
    1_048_576,
    (n) => isTaken('/jobs/upload', upload(n + 16_384), 'multipart/form-data; boundary=x'),
  ],
  ['src/pages/domain.ts BODY_LIMIT', 131_072, (n) => isTaken('/domain/a.example/try', form(n))],
])
