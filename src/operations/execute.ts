import { type Deadline, deadlineOf, firstOf, within } from '../base/deadline.ts'
import { AppError, type ErrorCode } from '../base/errors.ts'
import type { Ctx, World } from '../world.ts'
import type { Call, Caller, Given, Operation, Part, Provide, Question, Raw, Upload } from './operation.ts'
import { questionError } from './problems.ts'

type Service = {
  readonly world: World
  readonly provide: Provide
  /** Called after every execution. */
  readonly onExecuted?: (event: Executed) => void
  /** Validates every answer strictly against its schema: for tests. A mismatch is a fault of ours. */
  readonly strict?: true
}
export type Executed = {
  readonly operation: string
  readonly outcome: 'answered' | ErrorCode
  readonly ms: number
}

/** The caller, and the signal that ends the execution early: the caller disconnected, or an interrupt. */
export type By = {
  readonly caller?: Caller
  readonly signal?: AbortSignal
  readonly upload?: Upload
  /** Identifies the request, if the operation is `idempotent`: 1 to 255 characters. Other operations ignore it. */
  readonly idempotencyKey?: string
  /** Connects in place of the world's `dial`: rows of jobs ask before each connection whether they may. */
  readonly dial?: World['dial']
  /** What was seen of shared hosts is told again: for runs of monitors. */
  readonly seen?: Ctx['seen']
  /** Called with each part of the answer when it ends. */
  readonly onPart?: (part: Part) => void
}

/** The only entry point to operations, for every adapter. */
export type Execute = {
  /**
   * Reads the input and runs the operation until its deadline or until the caller's signal. Rejects with
   * {@link AppError}, or with a fault of ours.
   */
  (operation: Operation, raw: Raw, by: By): Promise<Answered>
  /**
   * The same for an operation whose answer consists of lines: each as it becomes available. The input is read before
   * this resolves.
   */
  readonly lines: (operation: Operation, raw: Raw, by: By) => Promise<AsyncIterable<object>>
}
/** An answer, and its form according to the input. */
export type Answered = Given & Pick<Question, 'format'>

export function executor(service: Service): Execute {
  const sharedContext = contextsForAll(service.world)

  const contextOf = (signal: AbortSignal, { caller, upload, onPart, dial, seen }: By): Call => ({
    ...service.world,
    signal,
    ...(caller && { caller }),
    ...(upload && { upload }),
    ...(onPart && { onPart }),
    ...(dial && { dial }),
    ...(seen && { seen }),
  })

  // An operation without a scope reads no parameter, so none makes it fail.
  const questionOf = (operation: Operation, raw: Raw): Question =>
    operation.ask(operation.scope === undefined ? {} : raw)

  async function execute(operation: Operation, raw: Raw, by: By): Promise<Answered> {
    const question = questionOf(operation, raw)
    const isShared = operation.scope === undefined && by.signal === undefined
    const given = isShared
      ? await question.run(sharedContext(operation), service.provide)
      : await untilDeadline(question.deadlineMs, by.signal, (signal) =>
          answer(operation, raw, question, { ...by, signal }),
        )
    const fault = service.strict && given.check()
    if (fault) throw new Error(`the answer of ${operation.name} does not match its schema: ${fault}`)
    return { ...given, format: question.format }
  }

  /** With an Idempotency-Key, the answer is that of the first request with it. */
  async function answer(operation: Operation, raw: Raw, question: Question, by: Running): Promise<Given> {
    const { idempotencyKey: key, upload, caller, signal } = by
    if (key === undefined || !operation.idempotent) return question.run(contextOf(signal, by), service.provide)
    const [{ answerOnce }, { idempotencyKeys }] = await Promise.all([
      import('./idempotency.ts'),
      service.provide(['idempotencyKeys']),
    ])
    const asked = { operation, raw, key, owner: caller?.key ?? '', ...(upload && { upload }) }
    return answerOnce(idempotencyKeys, service.world.log, asked, async (seed, read, lost) => {
      const either = firstOf([signal, lost])
      const ctx = contextOf(either.signal, { ...by, ...(read && { upload: read }) })
      try {
        return await question.run({ ...ctx, seed }, service.provide)
      } finally {
        either.clear()
      }
    })
  }

  async function lines(operation: Operation, raw: Raw, by: By): Promise<AsyncIterable<object>> {
    const question = questionOf(operation, raw)
    const all = await question.lines(contextOf(within(question.deadlineMs, by.signal), by), service.provide)
    return service.strict ? checked(operation, all) : all
  }

  const { onExecuted } = service
  return onExecuted
    ? Object.assign(measured(execute, onExecuted), { lines: measured(lines, onExecuted) })
    : Object.assign(execute, { lines })
}

type Running = By & { readonly signal: AbortSignal }

/** A stream is produced after this resolves: its deadline stays in force. */
async function untilDeadline(
  ms: number,
  caller: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<Given>,
): Promise<Given> {
  const deadline: Deadline = deadlineOf(ms, caller)
  let given: Given | undefined
  try {
    given = await run(deadline.signal)
    return given
  } finally {
    if (!given?.stream) deadline.clear()
  }
}

type Step<T> = (operation: Operation, raw: Raw, by: By) => Promise<T>

const measured =
  <T>(step: Step<T>, tell: (event: Executed) => void): Step<T> =>
  async (operation, raw, by) => {
    const begun = performance.now()
    const told = (outcome: Executed['outcome']): void =>
      tell({ operation: operation.name, outcome, ms: performance.now() - begun })
    try {
      const result = await step(operation, raw, by)
      told('answered')
      return result
    } catch (error) {
      told(error instanceof AppError ? error.code : 'internal')
      throw error
    }
  }

async function* checked({ name, line }: Operation, lines: AsyncIterable<object>): AsyncIterable<object> {
  for await (const one of lines) {
    const read = line?.safeParse(JSON.parse(JSON.stringify(one)))
    if (read?.error) throw new Error(`a line of ${name} does not match its schema: ${read.error.message}`)
    yield one
  }
}

/**
 * Contexts for operations that need no key and are called often: a signal and its timer for each request would cost
 * more than the answer. Requests within the same tenth of the deadline share theirs, which therefore fires up to a
 * tenth early.
 */
function contextsForAll(world: World): (operation: Operation) => Call {
  const kept = new Map<Operation, { readonly ctx: Call; readonly untilMs: number }>()
  return (operation) => {
    const known = kept.get(operation)
    if (known && performance.now() < known.untilMs) return known.ctx
    const ctx = { ...world, signal: within(operation.deadlineMs) }
    kept.set(operation, { ctx, untilMs: performance.now() + operation.deadlineMs / 10 })
    return ctx
  }
}

/**
 * The events of a running operation: its parts as they end, and finally its answer, or why there is none (any fault, as
 * it was thrown).
 */
export type Told =
  | { readonly kind: 'part'; readonly part: Part }
  | { readonly kind: 'answer'; readonly given: Answered }
  | { readonly kind: 'error'; readonly error: unknown }

/** Maximum number of parts that wait for a slow reader; further ones are skipped, since the answer contains all. */
const MAX_WAITING = 200

/**
 * Executes an operation and yields its parts as they end. Throws only AppError for invalid input, before the first
 * event. Ending the iteration early ends the operation.
 */
export function inParts(execute: Execute, operation: Operation, raw: Raw, by: By): AsyncIterable<Told> {
  operation.ask(raw)
  return told(execute, operation, raw, by)
}

async function* told(execute: Execute, operation: Operation, raw: Raw, by: By): AsyncGenerator<Told, void, undefined> {
  const waiting: Told[] = []
  let wake = (): void => {}
  const put = (one: Told): void => {
    if (waiting.length < MAX_WAITING || one.kind !== 'part') waiting.push(one)
    wake()
  }
  const left = new AbortController()
  const signal = by.signal ? AbortSignal.any([by.signal, left.signal]) : left.signal
  execute(operation, raw, { ...by, signal, onPart: (part) => put({ kind: 'part', part }) }).then(
    (given) => put({ kind: 'answer', given }),
    (error: unknown) => put({ kind: 'error', error }),
  )
  try {
    for (;;) {
      const one = waiting.shift()
      if (one) yield one
      if (one && one.kind !== 'part') return
      if (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    left.abort(questionError('disconnected'))
  }
}
