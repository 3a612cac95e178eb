import { enter, machine } from '../../../bench/figures.ts'
import { type JobAnswer, jobAnswer } from '../../../src/answers/jobs.ts'
import type { Node } from '../nodes.ts'

/** Rows of the chaos: some thousand in the tests; `CHAOS_ROWS=50000` for the long run of contributing/benchmarks.md. */
export const ROWS = Number(process.env.CHAOS_ROWS ?? 2_500)
export const IS_LONG = ROWS > 5_000
/** Rows a second while things break; then as fast as it goes. */
export const PACE = IS_LONG ? 400 : 40
/** Time for a test in the long run: the machine may be busy, ms. */
export const LONG_MS = 3_600_000

/** `CHAOS_POOLER=yes`: the nodes reach the database through pgbouncer. `CHAOS_DELAY=20`: it is so many ms away. */
export const IS_POOLED = process.env.CHAOS_POOLER === 'yes'
export const DELAY_MS = Number(process.env.CHAOS_DELAY ?? 0)

/** What happened in a run. */
export type ChaosRun = {
  readonly seconds: number
  readonly kills: number
  /** Restarts of the database; none on one node, where it is killed. */
  readonly restarts?: number
  readonly again: number
  readonly underWay: number
}

/** Prints what a run has seen; with `CHAOS_WRITE=yes` it replaces the figures of contributing/benchmarks.md. */
export function tellRun(name: string, { seconds, kills, restarts, again, underWay }: ChaosRun): void {
  const number = (value: number): string => value.toLocaleString('en')
  const text = `${number(ROWS)} rows in ${number(seconds)} s, ${kills} kill -9${restarts === undefined ? '' : `, ${restarts} restarts of the database`}: none without a result, none written twice or by a node without the last claim; ${number(again)} queried again, ${number(underWay)} were in progress when nodes failed. ${machine()}.`
  console.log(`chaos ${name}: ${text}`)
  if (process.env.CHAOS_WRITE === 'yes') enter(name, [text])
}

export const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Names of mailboxes that the counting host has. */
export const mailboxesOf = (prefix: string, n: number): string[] =>
  Array.from({ length: n }, (_, i) => `user${prefix}${i}`)

/** Submits a job about mailboxes of the counting host. */
export async function submit({ url, id }: Node, mailboxes: readonly string[]): Promise<JobAnswer> {
  const headers = { authorization: `Bearer key-of-${id}`, 'content-type': 'text/plain' }
  const body = mailboxes.map((mailbox) => `${mailbox}@refusedhost.test`).join('\n')
  for (let tries = 1; ; tries++) {
    const response = await fetch(`${url}/v1/jobs`, { method: 'POST', body, headers })
    const text = await response.text()
    if (response.status === 202) return jobAnswer.parse(JSON.parse(text))
    // After a restart of the database a pooler may give out a connection that it has lost: 503 says that nothing was
    // stored.
    if (response.status !== 503 || tries === 3) throw new Error(`${response.status} ${text}`)
    await wait(1_000)
  }
}
