import type { z } from 'zod'
import type { JsonObject } from '../base/json.ts'
import type { Scope } from '../store/key-file.ts'
import type { Ctx } from '../world.ts'
import type { Deps } from './deps.ts'

export type { Scope } from '../store/key-file.ts'

/** What one operation gave: the answer, and whether the command line calls it good (0), bad (1) or not to be told (3). */
export type Verdict = 'good' | 'bad' | 'unclear'

/** Who asks, as far as an operation may care. */
export type Caller = {
  /** The id of the node that proved itself; its call is never passed on again. */
  readonly peer?: string
  /** It may do what the scope `admin` allows; everybody may while no key is in force. */
  readonly isAdmin: boolean
}
/** The world for one call. Without a caller it is this machine's command line. */
export type Call = Ctx & { readonly caller?: Caller }

const STATUS = Symbol('status')
/** An answer that HTTP gives another status than 200. Not for problems: those are thrown as AppError. */
export const withStatus = (answer: JsonObject, status: 201 | 503): JsonObject =>
  Object.defineProperty({ ...answer }, STATUS, { value: status })
export const httpStatusOf = (answer: JsonObject): number => (answer as { [STATUS]?: number })[STATUS] ?? 200

/** The formats an answer may be asked in beside JSON. */
export type Document = {
  readonly contentType: string
  /** Header fields that its HTTP answer has beside the usual ones, or in their place. */
  readonly headers?: Readonly<Record<string, string>>
  /** `version` is the program's. */
  readonly render: (answer: JsonObject, about: { readonly version: string }) => string
}

/**
 * One thing the product can do. Query string, body, flags and the OpenAPI document are all made from `input`; faces translate and never decide.
 */
export type Operation<S extends z.ZodObject = z.ZodObject> = {
  /** The command's name and the operationId. */
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: `/${string}`
  readonly summary: string
  /** The command whose flags lead here; it has no command of its own. */
  readonly partOf?: string
  /** The scope that a key needs; undefined: no key is ever asked for. */
  readonly scope: Scope | undefined
  /** Nodes of the cluster call it: it takes their proof, or a key of its scope; while there are neither secret nor key, loopback alone. */
  readonly forPeers?: true
  /** The input that the command line takes by place. */
  readonly positional?: readonly (keyof S['shape'] & string)[]
  readonly input: S
  /** What HTTP statuses beside 200 stand for. */
  readonly statuses?: Readonly<Record<number, string>>
  /** JSON Schema source of the answer. */
  readonly output: z.ZodType
  readonly example: { readonly input: JsonObject; readonly output: JsonObject }
  /** Milliseconds that the operation may take; a `timeout` in the input takes its place. */
  readonly deadlineMs: number
  /** Milliseconds more for an operation that keeps the deadline by itself and hands over what it has. */
  readonly graceMs?: number
  /** What of {@link Deps} it uses unless other nodes are asked too (`vantage`); undefined: all of it. A command makes these rooms alone. */
  readonly needs?: readonly (keyof Deps)[]
  readonly run: (ctx: Call, deps: Deps, input: z.output<S>) => Promise<JsonObject>
  /** The parts of the answer as they come, for faces that can hand them on one by one: HTTP does, a line each. `run` then gives them all in one. */
  readonly stream?: (ctx: Call, deps: Deps, input: z.output<S>) => AsyncIterable<JsonObject>
  readonly verdict?: (answer: JsonObject) => Verdict
  /** Other formats of the answer, by the `format` parameter. */
  readonly documents?: Readonly<Record<string, Document>>
}

export const defineOperation = <S extends z.ZodObject>(operation: Operation<S>): Operation =>
  operation as unknown as Operation
