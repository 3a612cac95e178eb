import { type ChildProcess, spawn } from 'node:child_process'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { cpuMs } from './figures.ts'

/** A server process that has answered once. */
export type Serving = {
  readonly url: string
  readonly pid: number
  /** From the start of the process to its first answer: wall-clock and processor time, ms. */
  readonly startMs: number
  readonly startCpuMs: number
  readonly stop: () => Promise<void>
}

/**
 * Starts `node <args> --port N` on a free port and waits for its first answer at `/v1/health` (at most 60 s; the
 * process is then ended).
 */
export async function startServing(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Serving> {
  const port = await freePort()
  const begun = performance.now()
  const child = spawn(process.execPath, [...args, '--port', String(port)], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `http://127.0.0.1:${port}`
  await firstAnswer(`${url}/v1/health`, child, begun + 60_000).catch((error: unknown) => {
    child.kill('SIGKILL')
    throw error
  })
  const startMs = performance.now() - begun
  return {
    url,
    pid: child.pid!,
    startMs,
    startCpuMs: cpuMs(child.pid!),
    stop: () => {
      child.kill('SIGTERM')
      return gone
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

async function firstAnswer(url: string, child: ChildProcess, end: number): Promise<void> {
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    if (performance.now() > end) throw new Error('the server does not answer')
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** Uses node:http, because the startup of fetch would be included. */
const answers = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const request = get(url, (response) => {
      response.resume().once('end', () => resolve(response.statusCode === 200))
    })
    request.once('error', () => resolve(false))
  })
