import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { mustBeDeclared, mustBePrinted } from '../lab/declared.ts'
import { V8_FLAGS } from '../lab/program.ts'
import { CA_FILE, STATE } from './addresses.ts'
import { logFile } from './processes.ts'

const MAIN = 'src/main.js'
const ENV = { ...process.env, NODE_EXTRA_CA_CERTS: CA_FILE }
let port = 8_100

/** An answer over HTTP: its status, its JSON (the text where it is none), its headers. */
export type Got = { readonly status: number; readonly body: unknown; readonly headers: Headers }
/** What a command printed, and its exit status. */
export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string; readonly body: unknown }

/** The program at work inside the test network. */
export type Program = {
  readonly url: string
  readonly pid: number
  /** GET of a path with its query. */
  readonly get: (path: string) => Promise<Got>
  readonly post: (path: string, body: unknown) => Promise<Got>
  readonly patch: (path: string, body: unknown) => Promise<Got>
  /** Waits until the service has looked at this machine, as it does once after its start (at most 35 s). */
  readonly looked: () => Promise<void>
  /** SIGTERM, then the exit status. */
  readonly stop: () => Promise<number>
}

/** A clock that a test drives. */
export type Clock = {
  readonly file: string
  /** Whether a change is a step of the system's clock; else so much time passes. */
  readonly steps: boolean
  readonly set: (ms: number) => Promise<void>
}

/**
 * A clock that stands at `startMs` now, and goes on from there; `set` is in force in every program that has it when it
 * resolves. With `steps` it is the system's clock alone that changes.
 */
export function drivenClock(startMs: number, { steps = false } = {}): Clock {
  const file = `${mkdtempSync(`${STATE}/clock-`)}/offset`
  const write = (ms: number): void => writeFileSync(file, String(ms - Date.now()))
  write(startMs)
  const set = async (ms: number): Promise<void> => {
    write(ms)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return { file, steps, set }
}

/**
 * Starts `serve` with a data folder of its own on a free port, without limits toward mail hosts, and waits until it is
 * healthy (at most 45 s); with a clock its time is driven, `more` is added to its environment.
 */
export async function startProgram(
  flags: readonly string[] = [],
  clock?: Clock,
  more: NodeJS.ProcessEnv = {},
): Promise<Program> {
  const url = `http://127.0.0.1:${++port}`
  const log = logFile(`program-${port}`)
  const out = openSync(log, 'a')
  const common = ['--port', String(port), '--no-courtesy', '--rate', '1000000', '--data-dir', dataDir()]
  const preload = clock ? ['--import', `${import.meta.dirname}/driven-clock.ts`] : []
  const env = { ...ENV, ...(clock && { LAB_CLOCK: clock.file, ...(clock.steps && { LAB_CLOCK_STEPS: '1' }) }), ...more }
  const words = [...V8_FLAGS, ...preload, MAIN, 'serve', ...common, ...flags]
  const child = spawn(process.execPath, words, { stdio: ['ignore', out, out], env })
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
  await healthy(url, ended)
  const send = (method: 'POST' | 'PATCH') => (path: string, body: unknown) =>
    ask(`${url}${path}`, {
      method,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
  return {
    url,
    pid: child.pid!,
    get: (path) => ask(`${url}${path}`),
    post: send('POST'),
    patch: send('PATCH'),
    looked: async () => {
      for (const end = Date.now() + 35_000; !readFileSync(log, 'utf8').includes('"first look"'); ) {
        if (Date.now() > end) throw new Error(`no first look in ${log}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

/** Runs one command (`check accept.test`) to its end, with JSON out. */
export function cli(...args: readonly string[]): Promise<Ran> {
  const all = [MAIN, ...args, '--format', 'json', '--no-courtesy', '--data-dir', dataDir()]
  return new Promise<Ran>((resolve) => {
    execFile(process.execPath, all, { env: ENV, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? 1)
      resolve({ code, stdout, stderr, body: jsonOf(stdout) })
    })
  }).then((ran) => {
    mustBePrinted(args[0] ?? '', ran.body)
    return ran
  })
}

const dataDir = (): string => mkdtempSync(`${STATE}/data-`)

async function ask(url: string, init: RequestInit = {}): Promise<Got> {
  const response = await fetch(url, init)
  const body = jsonOf(await response.text())
  const { pathname } = new URL(url)
  mustBeDeclared(init.method ?? 'GET', pathname, response.status, body)
  return { status: response.status, body, headers: response.headers }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

async function healthy(url: string, ended: Promise<number>): Promise<void> {
  let over: number | undefined
  void ended.then((code) => {
    over = code
  })
  const end = performance.now() + 45_000
  while (over === undefined && performance.now() < end) {
    const got = await ask(`${url}/v1/health`).catch(() => undefined)
    if (got?.status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const said = readFileSync(logFile(`program-${new URL(url).port}`), 'utf8').slice(-2_000)
  throw new Error(`the program is not healthy at ${url} (exit status ${over ?? 'none'}):\n${said}`)
}
