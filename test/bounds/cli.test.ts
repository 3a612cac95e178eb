import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, vi } from 'vitest'
import { z } from 'zod'
import { askService } from '../../src/cli/ask-service.ts'
import { readFields } from '../../src/cli/fields.ts'
import type { Outcome } from '../../src/cli/machine/outcome.ts'
import { writerOf } from '../../src/cli/machine/writers.ts'
import { severalTargets } from '../../src/cli/operate.ts'
import type { Work } from '../../src/cli/session.ts'
import { createClient } from '../../src/client/client.ts'
import { readPool } from '../../src/config-options.ts'
import { health } from '../../src/operations/health.ts'
import { commandLine } from '../../src/start/command-line.ts'
import { labSetting } from '../lab/setting.ts'
import { isTaken, meter, testBounds, times } from './table.ts'

/** Bounds of the command line, of the client and of the configuration. */
let padding = 0
let asked = ''
const server = createServer(({ url }, response) => {
  asked = new URL(url!, 'http://x').searchParams.get('domain') ?? ''
  response.end('{"status":"ok"}'.padEnd(padding))
})
const origin = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const NEVER = new AbortController().signal
function isAnswerRead(size: number): Promise<boolean> {
  padding = size
  const to = { server: origin(), key: undefined, peerSecret: undefined, nodeId: undefined, now: () => 0 }
  return isTaken(() => askService(health, {}, to, NEVER))
}

/** Whether a line of standard input is read whole. One character more is read, by which a longer line is known. */
async function isLineRead(size: number): Promise<boolean> {
  const input = Readable.from([Buffer.from('a.example'.padStart(size + 1))])
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as unknown as typeof process.stdin)
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const write = (_text: unknown, done: () => void): boolean => {
    done()
    return true
  }
  vi.spyOn(process.stdout, 'write').mockImplementation(write as typeof process.stdout.write)
  for (const name of Object.keys(process.env)) if (name.startsWith('MAILSONDE_')) vi.stubEnv(name, undefined)
  await commandLine(['check', '-', '--server', origin()]) // what answers knows no check
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  return asked === 'a.example'
}

const deep = z.object({
  get a() {
    return deep.optional()
  },
})
const wide = z.object({ a: z.string() })

const outcome = (issues: number): Outcome => ({
  ...{ operation: 'check', target: 'a.example', verdict: 'bad', line: '', checks: [], score: undefined },
  issues: times(issues, (i) => ({
    ...{ id: `spf.x${i}`, severity: 'high', title: 'x', detail: 'x', repair: undefined, reference: undefined },
  })),
})
const commandsOf = (issues: number): number =>
  writerOf('github', { version: '1' }).each(outcome(issues)).match(/^::/gm)?.length ?? 0
const resultsOf = (issues: number): number =>
  JSON.parse(writerOf('sarif', { version: '1' }).end([outcome(issues)])).runs[0].results.length

const given = health.receive({ status: 'ok' })
if (!given.ok) throw new Error(given.problem.text)
/** Targets that each ask once, in a format that is written at its end. */
const work = (targets: number, ask: () => Promise<void>): Work => ({
  asked: {
    operation: health,
    raw: {},
    targets: { name: 'domain', texts: times(targets, (i) => `d${i}.example`) },
  } as unknown as Work['asked'], // the other parts are for other commands
  view: { form: { kind: 'machine', format: 'github' }, wanted: {} } as unknown as Work['view'],
  setting: {
    ...labSetting,
    ...{ version: '0', onTerminal: false, service: undefined, write: async () => {} },
    open: () => Promise.reject(new Error('nothing is run here')),
  },
  session: {
    ask: async () => {
      await ask()
      return given.value
    },
    close: async () => {},
  },
  stopped: NEVER,
})
async function isAskedAtOnce(n: number): Promise<boolean> {
  const { run, most } = meter()
  await severalTargets(work(n, run))
  return most() === n
}

/** A service whose download breaks off so many times. */
const isDownloaded = (breaks: number): Promise<boolean> =>
  isTaken(async () => {
    let left = breaks
    const fetch = async (): Promise<Response> => {
      let isBegun = false
      const pull = (stream: ReadableStreamDefaultController): void => {
        if (!isBegun) stream.enqueue(Buffer.from('{"line":1}\n'))
        else if (left-- > 0) stream.error(new TypeError('terminated'))
        else stream.close()
        isBegun = true
      }
      return new Response(new ReadableStream({ pull }))
    }
    for await (const _ of createClient({ url: 'http://a.example', fetch }).rows('j'));
  })

testBounds([
  ['src/cli/ask-service.ts MAX_ANSWER', 16 * 1024 * 1024, isAnswerRead],
  ['src/cli/fields.ts MAX_FIELDS', 100, (n) => isTaken(() => readFields(times(n, () => 'a').join(), wide))],
  ['src/cli/fields.ts MAX_DEPTH', 10, (n) => isTaken(() => readFields(times(n, () => 'a').join('.'), deep))],
  ['src/cli/machine/writers.ts MAX_ANNOTATIONS', 50, (n) => commandsOf(n) === n],
  ['src/cli/machine/writers.ts MAX_RESULTS', 5_000, (n) => resultsOf(n) === n],
  ['src/cli/operate.ts AT_A_TIME', 8, isAskedAtOnce],
  ['src/cli/operate.ts MAX_KEPT', 10_000, (n) => isTaken(() => severalTargets(work(n, async () => {})))],
  ['src/client/client.ts MAX_RESUMED', 5, isDownloaded],
  ['src/start/command-line.ts MAX_LINE', 4_096, isLineRead],
  ['src/config-options.ts MAX_POOL', 1_024, (n) => readPool(times(n, (i) => `45.53.${i >> 8}.${i & 255}`)).ok],
])
