import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { labFolder } from './folder.ts'

const MAIN = new URL('../../src/main.js', import.meta.url).pathname
/** With compiled code a start takes half the time. */
const COMPILED = { NODE_COMPILE_CACHE: new URL('../../node_modules/.cache/compiled', import.meta.url).pathname }

export type Program = {
  readonly url: string
  readonly pid: number
  /** Everything it has written so far. */
  readonly output: () => string
  /** Bytes of memory that it holds in RAM. */
  readonly residentBytes: () => number
  readonly stop: () => Promise<void>
}

/** As `npm start`, the unit file and the image have them. */
export const V8_FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=40']

/**
 * The real program as a service in a process of its own, on a free port of loopback, with a data folder of its own and
 * a resolver that does not answer unless flags name them.
 */
export async function startProgram(
  flags: readonly string[] = [],
  main = MAIN,
  {
    env = {},
    onSpawn,
  }: { readonly env?: Readonly<Record<string, string>>; readonly onSpawn?: (pid: number) => void } = {},
): Promise<Program> {
  const folder = labFolder()
  const unless = (flag: string, value: string): string[] => (flags.includes(flag) ? [] : [flag, value])
  const own = [
    '--port',
    '0',
    '--log-format',
    'json',
    ...unless('--data-dir', `${folder}/data`),
    ...unless('--resolver', '127.0.0.1:9'),
  ]
  const child = spawn(process.execPath, [...V8_FLAGS, main, 'serve', ...own, ...flags], {
    cwd: folder,
    env: { ...COMPILED, ...env },
  })
  onSpawn?.(child.pid!)
  let written = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (written += chunk))
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', (status) => reject(new Error(`the program ended with ${status}: ${written}`)))
    child.stderr.on('data', () => {
      const found = /"url":"([^"]+)"/.exec(written)?.[1]
      if (found) resolve(found)
    })
  })
  return {
    url,
    pid: child.pid!,
    output: () => written,
    residentBytes: () => Number(readFileSync(`/proc/${child.pid}/statm`, 'utf8').split(' ')[1]) * 4_096,
    stop: () => ended(child),
  }
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  child.kill('SIGKILL')
  return new Promise((resolve) => child.once('exit', () => resolve()))
}
