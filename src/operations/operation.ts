import { z } from 'zod'
import type { AnswerOf } from '../answers/answer.ts'
import { readOpen } from '../answers/read-answer.ts'
import { type Parsed, parsed, problem } from '../base/parsed.ts'
import type { Scope } from '../store/key-file.ts'
import type { Ctx } from '../world.ts'
import type { DepName, Deps } from './deps.ts'
import { CONTENT_TYPES, DOCUMENT_FORMATS, isDocumentFormat } from './documents.ts'
import { type Answering, boundedBy, type Given, given, streaming, type TextStream } from './given.ts'
import type { InputOf, Param, Params } from './param.ts'
import type { PathParams } from './path.ts'
import { readInput, schemaOf } from './read-input.ts'
import { refuseToStore, type Saves, savedAnswer, wishOf } from './saving.ts'
import type { Vantage } from './vantage.ts'

export type { Scope } from '../store/key-file.ts'

/** Who asks, as far as an operation may care. */
export type Caller = {
  /** The id of the node that proved itself; its call is never passed on again. */
  readonly peer?: string
  /** The id of the key that it showed; what it makes belongs to that key. */
  readonly key?: string
  /** It may do what the scope `admin` allows; everybody may while no key is in force. */
  readonly isAdmin: boolean
  /** False for a key without the scope `verify`. */
  readonly mayVerify?: false
}
/** The body of a request that an operation reads as it comes. */
export type Upload = { readonly octets: AsyncIterable<Uint8Array>; readonly contentType: string }
/** A part of an answer that is known before the whole: what it is of, and its fields. The answer may judge it otherwise. */
export type Part = { readonly check: string } & Readonly<Record<string, unknown>>
/** The world for one call. Without a caller it is this machine's command line. `onPart` is told of parts as they end, by operations that have some. */
export type Call = Ctx & {
  readonly caller?: Caller
  readonly upload?: Upload
  /** With an Idempotency-Key: 22 random characters (base64url) by which the operation names what it makes. A request that is run again after a crash has the same. */
  readonly seed?: string
  readonly onPart?: (part: Part) => void
}

/** What `run` gives: the answer and its HTTP status. Problems are thrown as AppError. */
export type Reply<A> = { readonly status: 200 | 201 | 202 | 503; readonly answer: A } | Streamed
export const ok = <A>(answer: A): Reply<A> => ({ status: 200, answer })
/** An answer that is sent as it is made, in place of one JSON value: it has no end that memory must hold. */
export type Streamed = { readonly status: 200; readonly stream: TextStream }

/** What is said of an operation, whatever its input and answer. */
export type OperationFacts = {
  /** The command's name and the operationId. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly summary: string
  /** The command whose flags lead here; it has no command of its own. */
  readonly partOf?: string
  /** The scope that a key needs; undefined: no key is ever asked for, and no parameter is read. */
  readonly scope: Scope | undefined
  /** No key is needed, and one that is shown is honoured: `run` is told who asks. */
  readonly open?: true
  /** People open it in a browser: a link of another site may lead here, and without `format` the form of the answer follows the Accept field. */
  readonly isPage?: true
  /** Pages of other sites may show it: it is an image. */
  readonly embeddable?: true
  /** The body is of no interest, and may be of any type. */
  readonly ignoresBody?: true
  /** Header fields of every answer over HTTP. */
  readonly headers?: Readonly<Record<string, string>>
  /** Nodes of the cluster call it: it takes their proof, or a key of its scope; while there are neither secret nor key, loopback alone. */
  readonly forPeers?: true
  /** The body is an upload that `run` reads as it comes (`ctx.upload`); the parameters are in the query. */
  readonly uploads?: true
  /** It takes an `Idempotency-Key`: a request that is repeated within 24 h gets the same answer, and makes nothing twice. Its `run` names what it makes by `ctx.seed`. */
  readonly idempotent?: true
  /** Over HTTP it can be asked for as server-sent events, which tell its parts as they end. */
  readonly live?: true
  /** The values of `format` with which the answer comes as a stream. */
  readonly streams?: readonly string[]
  /** The operation that says how far the work has come that this one began: the command line follows it with `--wait`. */
  readonly followedBy?: string
  /** Bytes of a body; 64 KiB where it is left out. */
  readonly bodyLimit?: number
  /** What HTTP statuses beside 200 stand for. */
  readonly statuses?: Readonly<Record<number, string>>
  readonly example: { readonly input: Readonly<Record<string, unknown>>; readonly output: object }
  /** Milliseconds that the operation may take; a `timeout` in the input takes its place. */
  readonly deadlineMs: number
  /** Milliseconds more for an operation that keeps the deadline by itself and hands over what it has. */
  readonly graceMs?: number
}

/** An operation as its module writes it. */
export type Definition<Path extends string, P extends Params, S extends z.ZodType, D extends DepName> = OperationFacts &
  Answering<S> & {
    /** `{name}` in it is a parameter. */
    readonly path: Path
    readonly params: P
    /** The parts of {@link Deps} that `run` receives. */
    readonly uses: readonly D[]
    readonly run: (ctx: Call, deps: Pick<Deps, D>, input: InputOf<P>) => Promise<Reply<AnswerOf<S>>>
    /** Where the answer is many of a kind: each as it comes, one line each over HTTP. `run` gives them all in one. */
    readonly lines?: Lines<P, S, D>
    /** How other nodes are asked the same, where the input has a `vantage`. */
    readonly vantage?: Vantage<InputOf<P>, AnswerOf<S>>
    /** How the answer is stored, where the input has `save`. */
    readonly saves?: Saves<AnswerOf<S>>
  }

export type Lines<P extends Params, S extends z.ZodType, D extends DepName> = {
  /** The schema of one line. */
  readonly item: z.ZodType
  readonly run: (ctx: Call, deps: Pick<Deps, D>, input: InputOf<P>) => AsyncIterable<object>
  readonly of: (answer: AnswerOf<S>) => readonly object[]
  /** The answer as `run` gives it, of lines that came from a service. */
  readonly join: (lines: readonly unknown[]) => unknown
}

/** Gives the named parts of {@link Deps}; one that is not there yet is made. */
export type Provide = <D extends DepName>(names: readonly D[]) => Promise<Pick<Deps, D>>

/** Parameters as an adapter was given them, by name. */
export type Raw = Readonly<Record<string, unknown>>

/** An operation whatever its input and answer: what adapters know of it. `execute.ts` runs it. */
export type Operation = OperationFacts & {
  readonly path: string
  readonly params: Params
  readonly answer: z.ZodType
  /** The schema of one line, where the answer comes in lines. */
  readonly line?: z.ZodType
  /** The formats that its document is written in. */
  readonly formats: readonly string[]
  /** The content types of those that the parameter `format` offers. */
  readonly documentTypes: readonly string[]
  /** It has a score that `--min-score` can be held against. */
  readonly hasScore: boolean
  /** It has findings that `--fail-on` can be held against. */
  readonly hasFindings: boolean
  /** Its answers are good, bad or not to be told; those of others are plain information. */
  readonly judges: boolean
  /** The services that it uses: what the options are that concern it follows from them. */
  readonly uses: readonly DepName[]
  /** Reads the input. Throws AppError. */
  readonly ask: (raw: Raw) => Question
  /** Reads an answer that a service gave: the open form of the schema. `value` is a list of lines where the answer comes in lines. */
  readonly receive: (value: unknown) => Parsed<Given>
}

/** An operation with its input, ready to be run. */
export type Question = {
  /** The whole time it may take, ms. */
  readonly deadlineMs: number
  /** The form that the input asks for: `json` or the name of a document. */
  readonly format: string
  readonly run: (ctx: Call, provide: Provide) => Promise<Given>
  readonly lines: (ctx: Call, provide: Provide) => Promise<AsyncIterable<object>>
}

/** An operation with its types, for the module that defines it and for tests. */
export type Defined<P extends Params, S extends z.ZodType, D extends DepName> = Operation & {
  readonly params: P
  readonly answer: S
  readonly read: (raw: Raw) => InputOf<P>
} & Pick<Definition<string, P, S, D>, 'run' | 'verdict' | 'score'>

/** Closes an operation over its types, so that adapters need none of them. */
export function defineOperation<
  const Path extends `/${string}`,
  P extends Params,
  S extends z.ZodType,
  const D extends DepName,
>(definition: Definition<Path, P, S, D> & { readonly params: Record<PathParams<Path>, Param> }): Defined<P, S, D> {
  const { params, answer: schema, lines, document, vantage: _vantage, saves: _saves, ...facts } = definition
  const input = schemaOf<P>(params)
  const read = (raw: Raw): InputOf<P> => readInput<P>(params, input, raw)
  return {
    ...facts,
    params,
    answer: schema,
    ...(lines && { line: lines.item }),
    formats: DOCUMENT_FORMATS,
    documentTypes: (params.format?.choices ?? []).filter(isDocumentFormat).map((format) => CONTENT_TYPES[format]),
    hasScore: definition.score !== undefined,
    hasFindings: schema instanceof z.ZodObject && 'findings' in schema.shape,
    judges: definition.verdict !== undefined || definition.score !== undefined,
    read,
    ask: (raw) => questionOf<P, S, D>(definition, read(raw)),
    receive: (value) => {
      if (lines && !Array.isArray(value)) return problem('it is not a list of lines')
      const answer = readOpen(schema, lines && Array.isArray(value) ? lines.join(value) : value)
      return answer.ok ? parsed(given<S>(definition, 200, answer.value)) : answer
    },
  }
}

function questionOf<P extends Params, S extends z.ZodType, D extends DepName>(
  definition: Definition<string, P, S, D>,
  input: InputOf<P>,
): Question {
  const { name, deadlineMs, graceMs = 0, lines, uses } = definition
  const [timeout, format]: unknown[] = [Reflect.get(input, 'timeout'), Reflect.get(input, 'format')]
  return {
    deadlineMs: (typeof timeout === 'number' ? timeout : deadlineMs) + graceMs,
    format: typeof format === 'string' ? format : 'json',
    run: async (ctx, provide) => {
      const storeMs = definition.saves && wishOf(input)
      if (storeMs !== undefined) refuseToStore(ctx)
      const reply = await answerOf<P, S, D>(definition, input, ctx, provide)
      if ('stream' in reply) return streaming(reply)
      const { saves } = definition
      if (!saves || storeMs === undefined) return given<S>(definition, reply.status, reply.answer)
      const { stored } = await provide(['stored'])
      const sent = boundedBy(definition.answer, reply.answer)
      return given<S>(definition, reply.status, await savedAnswer(ctx, stored, saves, sent, storeMs))
    },
    lines: async (ctx, provide) => {
      if (!lines) throw new Error(`${name} has no lines`)
      return lines.run(ctx, await provide(uses), input)
    },
  }
}

/** The answer of this node, with those of others where the input asks for them. */
async function answerOf<P extends Params, S extends z.ZodType, D extends DepName>(
  definition: Definition<string, P, S, D>,
  input: InputOf<P>,
  ctx: Call,
  provide: Provide,
): Promise<Reply<AnswerOf<S>>> {
  const { vantage, uses } = definition
  const here = async () => definition.run(ctx, await provide(uses), input)
  const node = vantage?.node(input)
  if (!vantage || node === undefined || ctx.caller?.peer !== undefined) return here()
  const [{ peers }, { fromVantages }] = await Promise.all([provide(['peers']), import('./vantage.ts')])
  const question = { ...vantage.question(input), path: definition.path, schema: definition.answer }
  return ok(await fromVantages(ctx, peers, node, { ...vantage, ...question }, async () => whole(await here())))
}

function whole<A>(reply: Reply<A>): A {
  if ('answer' in reply) return reply.answer
  throw new Error('an answer that other nodes give too is no stream')
}
