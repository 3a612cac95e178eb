import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { STATE } from './addresses.ts'

const run = promisify(execFile)

/** Runs a program to its end and gives what it printed. Rejects with its words when it fails. */
export async function runTool(program: string, args: readonly string[], cwd = STATE): Promise<string> {
  return (await run(program, args, { cwd, maxBuffer: 64 << 20 })).stdout
}

/** Starts a server that stays in the foreground; its words go to `/run/lab/log/<name>`. It ends with the lab. */
export function startServer(name: string, program: string, args: readonly string[]): ChildProcess {
  const log = logFile(name)
  const out = openSync(log, 'a')
  const child = spawn(program, args, { cwd: STATE, stdio: ['ignore', out, out] })
  closeSync(out)
  child.on('error', (error) => console.error(`lab: ${program} does not start: ${error.message}`))
  return child
}

/** Where a server's words are kept. */
export function logFile(name: string): string {
  mkdirSync(`${STATE}/log`, { recursive: true })
  return `${STATE}/log/${name}`
}

/** Time for a server to get ready: a machine that is busy with other things takes long, which is no fault. */
const READY_MS = 120_000

/** Asks until `ready` says yes, every 20 ms, for at most 2 minutes; then rejects with the server's last words. */
export async function untilReady(name: string, ready: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + READY_MS
  while (performance.now() < end) {
    if (await ready().catch(() => false)) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(
    `${name} did not get ready in ${READY_MS / 1_000} s:\n${readFileSync(logFile(name), 'utf8').slice(-2_000)}`,
  )
}
