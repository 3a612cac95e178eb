import { type ChildProcess, spawn } from 'node:child_process'
import { connect } from 'node:net'
import { sleep } from './figures.ts'

/** A running smtp-sink(1): it accepts every recipient. */
export type Sink = {
  readonly address: string
  readonly port: number
  /** Number of sessions that have ended. */
  readonly sessions: () => number
  readonly stop: () => Promise<void>
}

/** Starts smtp-sink on an address and waits until it accepts connections. `args`: additional options. */
export async function startSink(address: string, port: number, args: readonly string[] = []): Promise<Sink> {
  const options = ['-c', '-m', '15000', '-u', 'nobody', ...args, `${address}:${port}`, '4096']
  const child: ChildProcess = spawn('/usr/sbin/smtp-sink', options, { stdio: ['ignore', 'pipe', 'inherit'] })
  let sessions = 0
  child.stdout!.setEncoding('latin1').on('data', (text: string) => {
    const last = text.lastIndexOf('sess=')
    const seen = /^sess=(\d+) /.exec(text.slice(last))
    if (seen) sessions = Number(seen[1])
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()))
  await untilTaken(address, port)
  return {
    address,
    port,
    sessions: () => sessions,
    stop: () => {
      child.kill('SIGKILL')
      return gone
    },
  }
}

async function untilTaken(host: string, port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const taken = await new Promise<boolean>((resolve) => {
      const socket = connect({ host, port })
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.end('QUIT\r\n'))
    })
    if (taken) return
    await sleep(50)
  }
  throw new Error('smtp-sink does not take connections')
}
