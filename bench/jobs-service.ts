import { spawn } from 'node:child_process'
import { chmodSync, createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { embeddedConnection } from '../src/store/postgres/embedded.ts'
import { cpuMs, residentMiB } from './figures.ts'
import { type Serving, startServing } from './serving.ts'

/** A service with its private database, in a folder of its own. */
export type JobsService = Serving & {
  /** The private database, as its owner. */
  readonly database: () => Promise<pg.Client>
  /** GET as JSON. */
  readonly get: <T>(path: string) => Promise<T>
}

/** A folder that the user of a private database may enter; `remove` deletes it. */
export function benchFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'mailsonde-bench-'))
  chmodSync(path, 0o711)
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** Starts `serve` with a data folder. */
export async function startJobsService(dataDir: string, flags: readonly string[] = []): Promise<JobsService> {
  const fixed = ['--data-dir', dataDir, '--rate', '1000000', '--log-level', 'warn']
  const serving = await startServing(['src/main.js', 'serve', ...fixed, ...flags])
  return {
    ...serving,
    database: async () => {
      const client = new pg.Client(await embeddedConnection(dataDir, 'nobody'))
      client.on('error', () => {}) // the statement rejects with it
      await client.connect()
      return client
    },
    get: async <T>(path: string) => (await (await fetch(`${serving.url}${path}`)).json()) as T,
  }
}

/** The rows of a list: different mailboxes, one mailbox repeated, or rows without an address. */
export type ListKind = 'other' | 'equal' | 'bad'
const LINES: Readonly<Record<ListKind, (n: number, domains: number) => string>> = {
  other: (n, domains) => `Person ${n},user${n}@domain${n % domains}.example\r\n`,
  equal: (n) => `Person ${n},user@domain.example\r\n`,
  bad: (n) => `Person ${n},\r\n`,
}

/**
 * Writes a CSV of `rows` mailboxes at `domains` domains, each with a name. In a list of bad rows, the last row has an
 * address.
 */
export async function writeList(path: string, rows: number, domains: number, kind: ListKind = 'other'): Promise<void> {
  async function* lines(): AsyncIterable<string> {
    yield 'name,email\r\n'
    for (let from = 0; from < rows; from += 10_000) {
      const numbers = Array.from({ length: Math.min(10_000, rows - from) }, (_, i) => from + i)
      yield numbers.map((n) => LINES[n === rows - 1 ? 'other' : kind](n, domains)).join('')
    }
  }
  await pipeline(lines, createWriteStream(path))
}

/** Runs curl, which costs little compared with the service; returns its standard output. */
export function curl(args: readonly string[]): Promise<string> {
  const child = spawn('curl', ['-sS', '--fail-with-body', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => (code === 0 ? resolve(text) : reject(new Error(text))))
  })
}

/** Samples the resident memory of a process every 50 ms; `now` returns the current value, `end` the maximum, MiB. */
export function watchMemory(pid: number): { readonly now: () => number; readonly end: () => number } {
  let most = 0
  const look = (): void => {
    most = Math.max(most, residentMiB(pid).now)
  }
  const timer = setInterval(look, 50)
  return {
    now: () => residentMiB(pid).now,
    end: () => {
      clearInterval(timer)
      look()
      return most
    },
  }
}

/** Total processor time of all past and present processes of the private server of a data folder, ms. */
export const serverCpuMs = (dataDir: string): number => treeCpuMs(postmasterOf(dataDir))

const postmasterOf = (dataDir: string): number =>
  Number(readFileSync(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')[0])

/** The processes of the private server of a data folder: the first one and its children. */
export function serverPids(dataDir: string): readonly number[] {
  const postmaster = postmasterOf(dataDir)
  return [postmaster, ...childrenOf(postmaster)]
}

/** The same for the private server that this process has started; 0 before that. */
export function serverOfCpuMs(servicePid: number): number {
  const postmaster = childrenOf(servicePid).find((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'postgres\n')
  return postmaster === undefined ? 0 : treeCpuMs(postmaster)
}

const childrenOf = (pid: number): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number)

const parentOf = (pid: string): number => {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1])
  } catch {
    return 0
  }
}

/** Processor time of a process and its children, ms; the process includes its ended children. */
function treeCpuMs(pid: number): number {
  const ended = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  const endedMs = (Number(ended[13]) + Number(ended[14])) * 10 // proc(5): cutime and cstime
  return endedMs + [pid, ...childrenOf(pid)].reduce((sum, one) => sum + cpuMs(one), 0)
}
