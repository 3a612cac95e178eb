import { runInNewContext } from 'node:vm'
import { vi } from 'vitest'
import type { Told } from '../../src/operations/execute.ts'
import { allOperations } from '../../src/operations/registry.ts'
import { classify } from '../../src/pages/home.ts'
import { jobPages } from '../../src/pages/job.ts'
import { previewOf } from '../../src/pages/list-form.ts'
import type { Visit } from '../../src/pages/page.ts'
import { type Parts, streamTokens } from '../../src/pages/parts.ts'
import { recordForms } from '../../src/pages/record-forms.ts'
import { runsOf } from '../../src/pages/runs.ts'
import { showStored } from '../../src/pages/stored.ts'
import { readIslands } from '../../src/start/pages.ts'
import { labDeps, labExecutor } from '../lab/app.ts'
import { labStored } from '../lab/stored.ts'
import { labWorld } from '../lab/world.ts'
import { isTaken, testBounds, times } from './table.ts'

/** Bounds of pages: what they show, and what is kept for them. */
const operations = await allOperations()
const operation: Parts['operation'] = (name) => operations.find((one) => one.name === name)!
/** What pages are made with, over a lab world. */
function partsOf(deps: Parameters<typeof labDeps>[1] = {}): Parts {
  const world = labWorld({}, { fetch: () => Promise.reject(new Error('nothing is fetched')) })
  const execute = labExecutor(world, labDeps(world, deps))
  const assets = { style: '', icon: '', typeface: undefined, islands: {}, hasPeers: () => false }
  return { ...({} as Parts), assets, execute, operation, has: () => true, version: '0' }
}
const visit = (over: Partial<Visit>): Visit => ({
  ...{ params: {}, query: {}, form: {}, url: '/', by: { caller: { isAdmin: false } }, who: 'x', login: 'in' },
  ...{ may: (scope) => scope !== 'admin', token: 't', from: 'own' as const, logIn: () => false, logOut: () => {} },
  contentType: '',
  ...over,
})

const classified = (n: number): string => {
  const found = classify('a.example'.padStart(n))
  return 'value' in found ? found.value : ''
}

/** What the start page of a browser remembers after `n` answers. */
function remembered(n: number): number {
  let kept = '[]'
  const localStorage = { getItem: () => kept, setItem: (_key: string, value: string) => void (kept = value) }
  for (const i of Array(n).keys()) {
    const main = { dataset: { answer: `/domain/d${i}.example`, title: 'x' } }
    const document = { querySelector: () => main, addEventListener: () => {} }
    runInNewContext(readIslands().answer!, { document, localStorage })
  }
  return JSON.parse(kept).length
}

/** Whether a page is told of a running job for so long. */
async function isFollowed(ms: number): Promise<boolean> {
  vi.useFakeTimers({ now: 0 })
  try {
    const page = jobPages(partsOf()).find(({ path }) => path === '/jobs/:id/events')!
    const answer = await page.visit(visit({ params: { id: 'job_AAAAAAAAAAAAAAAAAAAAAA' } }))
    if (!('events' in answer)) throw new Error('it is no stream')
    const { events } = answer
    let endedAtMs = Number.POSITIVE_INFINITY
    const reading = (async () => {
      for await (const _ of events);
      endedAtMs = Date.now()
    })()
    await vi.advanceTimersByTimeAsync(3_600_000)
    await reading
    return endedAtMs >= ms
  } finally {
    vi.useRealTimers()
  }
}

const csv = (n: number): string => `${times(n, (i) => `c${i}`).join()}\n${times(n, () => 'a@b.example').join()}\n`
const formsOf = (n: number): number => {
  const findings = times(n, (i) => ({ title: 'x', fix: { name: `n${i}`, rtype: 'TXT', value: 'x' } }))
  return recordForms('a.example', { findings }, { token: '' }).safe.match(/<details/g)!.length - 1
}

const NEVER = new AbortController().signal
const answer = { kind: 'answer', given: {} } as unknown as Told
async function* answered() {
  yield answer
}
async function* unanswered(signal: AbortSignal): AsyncGenerator<Told> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}
async function isKept(questions: number, afterMs: number): Promise<boolean> {
  let nowMs = 0
  const runs = runsOf({ now: () => nowMs })
  for (const i of Array(questions).keys()) for await (const _ of runs.follow(`q${i}`, answered, NEVER));
  nowMs = afterMs
  return runs.known('q0') !== undefined
}

/** Whether a visitor's own answer is found behind newer ones about the same subject. */
async function isOwnFound(n: number): Promise<boolean> {
  const [entry] = await labStored.history('domain', 'a.example', { limit: 1 }, { id: '', isAdmin: true })
  const history: typeof labStored.history = async (_name, _value, { limit }) =>
    times(Math.min(limit, n), (i) => ({
      ...entry!,
      number: n - i,
      ...(i < n - 1 && { id: `r_${String(i).padStart(22, 'A')}` }),
    }))
  const parts = partsOf({ stored: async () => ({ ...labStored, history }) })
  const shown = await showStored(parts, visit({ params: { id: entry!.id } }))
  return 'html' in shown && shown.html.includes('/delete')
}

/** Whether a token can be used after further ones were issued and some time has passed. */
function isUsable(further: number, afterMs: number): boolean {
  let nowMs = 0
  const tokens = streamTokens({ now: () => nowMs })
  const token = tokens.issue('q')
  for (let i = 0; i < further; i++) tokens.issue(`q${i}`)
  nowMs = afterMs
  return tokens.use(token, 'q') === 'starts'
}

testBounds([
  ['src/pages/home.ts MAX_QUERY', 4_096, (n) => classified(n) === 'a.example'],
  ['src/pages/islands/answer.ts MOST', 10, (n) => remembered(n) === n],
  ['src/pages/job.ts LONGEST_MS', 600_000, isFollowed],
  [
    'src/pages/list-form.ts MAX_COLUMNS',
    20,
    async (n) => (await previewOf(csv(n), 'verify', undefined)).columns.length === n,
  ],
  ['src/pages/record-forms.ts MAX_RECORDS', 24, (n) => formsOf(n) === n],
  ['src/pages/runs.ts KEPT_MS', 60_000 - 1, (n) => isKept(1, n)],
  ['src/pages/runs.ts MAX_KEPT', 32, (n) => isKept(n, 0)],
  [
    'src/pages/runs.ts MAX_RUNS',
    256,
    (n) =>
      isTaken(() => {
        const runs = runsOf({ now: () => 0 })
        for (const i of Array(n).keys()) runs.follow(`q${i}`, unanswered, NEVER)
      }),
  ],
  ['src/pages/stored.ts MAX_OWN', 200, isOwnFound],
  ['src/pages/parts.ts LONGEST_TOKEN_MS', 600_000 - 1, (n) => isUsable(0, n)],
  ['src/pages/parts.ts MAX_TOKENS', 10_000 - 1, (n) => isUsable(n, 0)],
])
