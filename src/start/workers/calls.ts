import { AppError, type ErrorCode, messageOf } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import type { Problem } from '../../base/problem.ts'

/** Functions of another process: what they take and return passes as JSON. */
type Functions = { readonly [name: string]: (...args: never[]) => unknown }
/** The other end of a channel between two processes. */
export type Remote<F extends Functions> = {
  /**
   * Calls a function of the other process. Rejects with its AppError, and when the channel is closed or nothing came
   * for {@link CALL_MS}.
   */
  readonly call: <N extends keyof F & string>(name: N, ...args: Parameters<F[N]>) => Promise<Awaited<ReturnType<F[N]>>>
  /** The same without an answer. Never throws. */
  readonly tell: <N extends keyof F & string>(name: N, ...args: Parameters<F[N]>) => void
  /** Rejects the calls that wait. */
  readonly close: () => void
}
/** A channel that carries messages in their order. */
export type Port = {
  readonly send: (message: readonly Part[]) => void
  readonly onMessage: (listener: (message: unknown) => void) => void
}

/**
 * How long a call waits for its answer, ms: longer than any function of the first process may take but the start of a
 * database.
 */
const CALL_MS = 100_000
const LOOK_EVERY_MS = 5_000

export type Refused = {
  readonly code: ErrorCode | undefined
  readonly problem: Problem | undefined
  readonly text: string
}
/** A call, one without an answer (id 0), or an answer. */
type Part =
  | readonly ['call', number, string, readonly unknown[]]
  | readonly ['answer', number, unknown]
  | readonly ['refused', number, Refused]
type Waiting = {
  readonly resolve: (value: never) => void
  readonly reject: (error: Error) => void
  readonly sentMs: number
}

/**
 * Calls between two processes. What one turn of the event loop sends is one message, because each message costs both of
 * them more than what it carries. As many calls wait as there are requests in progress.
 */
export function remote<F extends Functions>(port: Port, own: Functions): Remote<F> {
  const waiting = new Map<number, Waiting>()
  let last = 0
  let isOver = false
  let parts: Part[] = []
  const flush = (): void => {
    const message = parts
    parts = []
    if (!isOver) port.send(message)
  }
  const send = (part: Part): void => {
    if (parts.length === 0) setImmediate(flush)
    parts.push(part)
  }
  async function answer(id: number, name: string, args: readonly unknown[]): Promise<void> {
    try {
      const value = await own[name]!(...(args as never[]))
      if (id !== 0) send(['answer', id, value])
    } catch (error) {
      if (id !== 0) send(['refused', id, refusedOf(error)])
    }
  }
  function take(part: Part): void {
    if (part[0] === 'call') return void answer(part[1], part[2], part[3])
    const one = waiting.get(part[1])
    waiting.delete(part[1])
    if (part[0] === 'answer') one?.resolve(part[2] as never)
    else one?.reject(errorOf(part[2]))
  }
  const look = setInterval(() => {
    for (const [id, { sentMs, reject }] of waiting) {
      if (performance.now() - sentMs < CALL_MS) return
      waiting.delete(id)
      reject(new Error('the other process does not answer'))
    }
  }, LOOK_EVERY_MS).unref()
  port.onMessage((message) => {
    if (Array.isArray(message)) for (const part of message as readonly Part[]) take(part)
  })
  return {
    call: (name, ...args) =>
      new Promise((resolve, reject) => {
        if (isOver) return reject(new Error('the other process has ended'))
        waiting.set(++last, { resolve, reject, sentMs: performance.now() })
        send(['call', last, name, args])
      }),
    tell: (name, ...args) => {
      if (!isOver) send(['call', 0, name, args])
    },
    close: () => {
      isOver = true
      clearInterval(look)
      for (const { reject } of waiting.values()) reject(new Error('the other process has ended'))
      waiting.clear()
    },
  }
}

export const refusedOf = (error: unknown): Refused => ({
  code: error instanceof AppError ? error.code : undefined,
  problem: error instanceof AppError ? error.problem : undefined,
  text: messageOf(error),
})

export const errorOf = ({ code, problem, text }: Refused): Error =>
  code !== undefined && problem !== undefined ? new AppError(code, problem) : new Error(text)

/** What passes between processes: JSON without the fields that are undefined. */
export const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value))
