import { z } from 'zod'
import type { AnswerOf } from '../answers/answer.ts'
import { boundAnswer, readOpen, readStrict } from '../answers/read-answer.ts'
import { AppError, ERRORS, type ErrorCode } from '../base/errors.ts'
import { type Parsed, type Problem, parsed, problem } from '../base/problem.ts'
import { problemOf } from '../base/schema-problems.ts'
import { nearest } from '../base/value-problems.ts'
import type { Document } from '../documents/block.ts'
import { plainDocument } from '../documents/plain.ts'
import type { Vantage } from '../peers/vantage.ts'
import type { Scope } from '../store/key-file.ts'
import type { Ctx } from '../world.ts'
import type { DepName, Deps } from './deps.ts'
import { CONTENT_TYPES, DOCUMENT_FORMATS, isDocumentFormat, type Rendered, render } from './documents.ts'
import { DEADLINE_MS, type InputOf, type Param, type Params, type ShapeOf } from './params.ts'
import type { PathParams } from './path.ts'
import { inputError, paramProblem } from './problems.ts'
import { refuseToStore, type Saves, savedAnswer, wishOf } from './saving.ts'

export type { Scope } from '../store/key-file.ts'

/** The caller, as far as operations need it. */
export type Caller = {
  /** The id of the node that proved its identity; its call is never forwarded. */
  readonly peer?: string
  /** The id of its key; what it creates belongs to that key. */
  readonly key?: string
  /** It has the permissions of the scope `admin`; everybody has while no key is in force. */
  readonly isAdmin: boolean
  /** No key is in force, and it does not call from this machine: mailboxes of stored answers are masked for it. */
  readonly isRemote?: true
  /** The domains whose reports its key sees; absent: all. */
  readonly domains?: readonly string[]
  /** False for a key without the scope `reports`. */
  readonly maySeeReports?: false
  /** False for a key without the scope `verify`. */
  readonly mayVerify?: false
}
/** The body of a request that an operation reads as a stream. */
export type Upload = {
  readonly octets: AsyncIterable<Uint8Array>
  readonly contentType: string
  readonly contentEncoding?: string
}
/**
 * A part of an answer that is known before the whole: its name and its fields. The complete answer may judge it
 * differently.
 */
export type Part = { readonly check: string } & Readonly<Record<string, unknown>>
/**
 * The world for one call. Without a caller it is this machine's command line. `onPart` is called with parts as they
 * end, by operations that have parts.
 */
export type Call = Ctx & {
  readonly caller?: Caller
  readonly upload?: Upload
  /**
   * With an Idempotency-Key: 22 random characters (base64url) by which the operation names what it creates. A request
   * that is run again after a crash has the same.
   */
  readonly seed?: string
  readonly onPart?: (part: Part) => void
}

/** The result of `run`: the answer and its HTTP status. Problems are thrown as AppError. */
export type Reply<A> = { readonly status: 200 | 201 | 202 | 503; readonly answer: A } | Streamed
export const ok = <A>(answer: A): Reply<A> => ({ status: 200, answer })
/** An answer that is sent as it is produced, in place of one JSON value: memory does not have to hold all of it. */
type Streamed = { readonly status: 200; readonly stream: TextStream }

/** The properties of an operation that do not depend on its input and answer. */
type OperationFacts = {
  /** The command's name and the operationId. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly summary: string
  /** Its commands where they are several: each with what stands in the place of some parameters. */
  readonly commands?: Readonly<Record<string, { readonly summary: string; readonly input: Raw }>>
  /** The command whose flags lead here; it has no command of its own. */
  readonly partOf?: string
  /** The scope that a key needs; undefined: no key is ever required, and no parameter is read. */
  readonly scope: Scope | undefined
  /** No key is required, but a given key is used: `run` gets the caller. */
  readonly open?: true
  /**
   * People open it in a browser: a link of another site may lead here, and without `format` the form of the answer
   * follows the Accept field.
   */
  readonly isPage?: true
  /** Pages of other sites may show it: it is an image. */
  readonly embeddable?: true
  /** The body is ignored, and may be of any type. */
  readonly ignoresBody?: true
  /** Header fields of every answer over HTTP. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Nodes of the cluster call it: it accepts their proof, or a key of its scope; while there are neither secret nor
   * key, only loopback.
   */
  readonly forPeers?: true
  /** The body is an upload that `run` reads as a stream (`ctx.upload`); the parameters are in the query. */
  readonly uploads?: 'list' | 'message' | 'report'
  /** Throws AppError for an upload of a type that `run` does not read: before any of it has come. */
  readonly refuseType?: (upload: Pick<Upload, 'contentType'>) => void
  /** Another path of its method: a body of one of these media types leads here. */
  readonly bodiesOf?: { readonly path: string; readonly types: readonly string[] }
  /**
   * It accepts an `Idempotency-Key`: a request that is repeated within 24 h gets the same answer, and creates nothing
   * twice. Its `run` names what it creates by `ctx.seed`.
   */
  readonly idempotent?: true
  /** Over HTTP it can be requested as server-sent events, with its parts as they end. */
  readonly live?: true
  /** The values of `format` with which the answer is a stream. */
  readonly streams?: readonly string[]
  /**
   * The operation that returns the progress of the work that this one starts: the command line follows it with
   * `--wait`.
   */
  readonly followedBy?: string
  /** Maximum size of the body, bytes; default 64 KiB. */
  readonly bodyLimit?: number
  /** The meaning of HTTP statuses other than 200. */
  readonly statuses?: Readonly<Record<number, string>>
  readonly example: { readonly input: Readonly<Record<string, unknown>>; readonly output: object }
  /** Maximum duration of the operation, ms; a `timeout` in the input replaces it. */
  readonly deadlineMs: number
  /** Parameters of the body that may be in the query instead. */
  readonly alsoInQuery?: readonly string[]
  /** Additional ms for an operation that observes the deadline itself and returns what it has. */
  readonly graceMs?: number
}

/** An operation as its module defines it. */
type Definition<Path extends string, P extends Params, S extends z.ZodType, D extends DepName> = Omit<
  OperationFacts,
  'deadlineMs'
> &
  Answering<S> & {
    /** Default 20 s. */
    readonly deadlineMs?: number
    /** `{name}` in it is a parameter. */
    readonly path: Path
    readonly params: P
    /** The parts of {@link Deps} that `run` receives. */
    readonly uses: readonly D[]
    readonly run: (ctx: Call, deps: Pick<Deps, D>, input: InputOf<P>) => Promise<Reply<AnswerOf<S>>>
    /**
     * For an answer of many items: each as it becomes available, one line each over HTTP. `run` returns all of them
     * together.
     */
    readonly lines?: Lines<P, S, D>
    /** How other nodes are asked the same question, if the input has a `vantage`. */
    readonly vantage?: Vantage<InputOf<P>, AnswerOf<S>>
    /** How the answer is stored, if the input has `save`. */
    readonly saves?: Saves<AnswerOf<S>>
  }

type Lines<P extends Params, S extends z.ZodType, D extends DepName> = {
  readonly item: z.ZodType
  readonly run: (ctx: Call, deps: Pick<Deps, D>, input: InputOf<P>) => AsyncIterable<object>
  readonly of: (answer: AnswerOf<S>) => readonly object[]
  /** The answer in the form of `run`, from lines of a service. */
  readonly join: (lines: readonly unknown[]) => unknown
}

/** Returns the named parts of {@link Deps}; creates those that do not exist yet. */
export type Provide = <D extends DepName>(names: readonly D[]) => Promise<Pick<Deps, D>>

/** The parameters that an adapter received, by name. */
export type Raw = Readonly<Record<string, unknown>>

/** An operation as adapters see it, independent of its input and answer. `execute.ts` runs it. */
export type Operation = OperationFacts & {
  readonly path: string
  readonly params: Params
  readonly answer: z.ZodType
  /** The schema of one line, if the answer consists of lines. */
  readonly line?: z.ZodType
  /** The formats that its document is written in. */
  readonly formats: readonly string[]
  /** The content types of those that the parameter `format` offers. */
  readonly documentTypes: readonly string[]
  /** It has a score for the comparison with `--min-score`. */
  readonly hasScore: boolean
  /** It has findings for the comparison with `--fail-on`. */
  readonly hasFindings: boolean
  /** Its document has a short form for terminals. */
  readonly hasBrief: boolean
  /** Its answers are good, bad or unknown; those of others are only information. */
  readonly judges: boolean
  /** The services that it uses; they determine which options concern it. */
  readonly uses: readonly DepName[]
  /** Reads the input. Throws AppError. */
  readonly ask: (raw: Raw) => Question
  /**
   * Reads an answer of a service: the open form of the schema. `value` is a list of lines if the answer consists of
   * lines.
   */
  readonly receive: (value: unknown) => Parsed<Given>
}

/** An operation with its input, ready to be run. */
export type Question = {
  /** The total time limit, ms. */
  readonly deadlineMs: number
  /** The form that the input requests: `json` or the name of a document. */
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
  const {
    params,
    answer: schema,
    deadlineMs = DEADLINE_MS,
    lines,
    document,
    brief: _brief,
    vantage: _vantage,
    saves: _saves,
    ...facts
  } = definition
  const input = schemaOf<P>(params)
  const read = (raw: Raw): InputOf<P> => readInput<P>(params, input, raw)
  return {
    ...facts,
    params,
    deadlineMs,
    answer: schema,
    ...(lines && { line: lines.item }),
    formats: DOCUMENT_FORMATS,
    documentTypes: (params.format?.choices ?? []).filter(isDocumentFormat).map((format) => CONTENT_TYPES[format]),
    hasScore: definition.score !== undefined,
    hasBrief: definition.brief !== undefined,
    hasFindings: hasField(schema, 'findings'),
    judges: definition.verdict !== undefined || definition.score !== undefined,
    read,
    ask: (given) => {
      const raw = withImplied(params, given)
      return questionOf<P, S, D>(definition, read(raw), hasField(schema, 'asked') ? askedOf(params, raw) : undefined)
    },
    receive: (value) => {
      if (lines && !Array.isArray(value)) return problem(paramProblem('lines'))
      const answer = readOpen(schema, lines && Array.isArray(value) ? lines.join(value) : value)
      return answer.ok ? parsed(given<S>(definition, 200, answer.value)) : answer
    },
  }
}

const hasField = (schema: z.ZodType, name: string): boolean =>
  schema instanceof z.ZodUnion
    ? schema.options.some((one) => hasField(one as z.ZodType, name))
    : schema instanceof z.ZodObject && name in schema.shape

/** The input with what its values name beside themselves. */
function withImplied(params: Params, raw: Raw): Raw {
  const implied = Object.entries(params).map(([name, { gives }]) => {
    const text = raw[name]
    return typeof text === 'string' ? gives?.(text) : undefined
  })
  const given = Object.assign({}, ...implied) as Raw
  const missing = Object.entries(given).filter(([name]) => Object.hasOwn(params, name) && isEmpty(raw[name]))
  return missing.length === 0 ? raw : { ...raw, ...Object.fromEntries(missing) }
}

/** The first value that was not asked as it was given, as it was given. */
function askedOf(params: Params, raw: Raw): string | undefined {
  for (const [name, { pasted }] of Object.entries(params)) {
    const text = raw[name]
    const read = typeof text === 'string' ? pasted?.(text) : undefined
    if (read?.ok && read.value.taken.length > 0) return String(text).trim()
  }
  return undefined
}

function questionOf<P extends Params, S extends z.ZodType, D extends DepName>(
  definition: Definition<string, P, S, D>,
  input: InputOf<P>,
  asked: string | undefined,
): Question {
  const { name, deadlineMs = DEADLINE_MS, graceMs = 0, lines, uses } = definition
  const [timeout, format]: unknown[] = [Reflect.get(input, 'timeout'), Reflect.get(input, 'format')]
  return {
    deadlineMs: (typeof timeout === 'number' ? timeout : deadlineMs) + graceMs,
    format: typeof format === 'string' ? format : 'json',
    run: async (ctx, provide) => {
      const storeMs = definition.saves && wishOf(input)
      if (storeMs !== undefined) refuseToStore(ctx)
      const answered = await answerOf<P, S, D>(definition, input, ctx, provide)
      if ('stream' in answered) return streaming(answered)
      const reply =
        asked === undefined
          ? answered
          : { ...answered, answer: { ...(answered.answer as object), asked } as AnswerOf<S> }
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

/** The answer of this node, with those of others if the input requests them. */
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
  const [{ peers }, { fromVantages }] = await Promise.all([provide(['peers']), import('../peers/vantage.ts')])
  const question = { ...vantage.question(input), path: definition.path, schema: definition.answer }
  return ok(await fromVantages(ctx, peers, node, { ...vantage, ...question }, async () => whole(await here())))
}

function whole<A>(reply: Reply<A>): A {
  if ('answer' in reply) return reply.answer
  throw new Error('an answer that other nodes give too is no stream')
}

/** Whether an operation reads its parameters from the query; otherwise from the body. */
export const readsQuery = ({
  method,
  uploads,
  ignoresBody,
}: Pick<Operation, 'method' | 'uploads' | 'ignoresBody'>): boolean =>
  method === 'GET' || method === 'DELETE' || uploads !== undefined || ignoresBody === true

/** The schema of the whole input. */
const schemaOf = <P extends Params>(params: P): z.ZodObject<ShapeOf<P>> => {
  const shape = Object.entries(params).map(([name, { schema }]) => [name, schema])
  return z.object(Object.fromEntries(shape) as ShapeOf<P>) // one schema for each name of P
}

/** Maximum number of problems that an error names. */
const MAX_PROBLEMS = 20

/**
 * Reads the input of an adapter as the input of an operation. Throws {@link AppError} for parameters that are missing,
 * unknown, given twice or invalid: the first one, with all of them if there are several. Unknown ones and those given
 * twice come first, in the order of the input, then missing ones, then invalid ones.
 */
function readInput<P extends Params>(
  params: P,
  schema: z.ZodObject<ShapeOf<P>>,
  raw: Readonly<Record<string, unknown>>,
): InputOf<P> {
  const wrong: AppError[] = []
  for (const name in raw) {
    const value = raw[name]
    if (wrong.length === MAX_PROBLEMS) break
    if (!Object.hasOwn(params, name)) {
      const known = Object.keys(params)
      const parameter = name.slice(0, 60)
      wrong.push(inputError('unknown', { name, known, meant: nearest(name, known) }, { parameter }))
    } else if (Array.isArray(value) && params[name]?.kind !== 'list')
      wrong.push(inputError('twice', { name, count: value.length }, { parameter: name }))
  }
  for (const name in params) {
    if (params[name]?.required && isEmpty(raw[name])) wrong.push(inputError('missing', { name }, { parameter: name }))
  }
  const result = schema.safeParse(raw)
  if (result.success && wrong.length === 0) return result.data
  const named = new Set(wrong.map(({ parameter }) => parameter))
  for (const issue of result.error?.issues ?? []) {
    const error = asAppError(issue)
    if (!named.has(error.parameter)) wrong.push(error)
  }
  throw firstOf(wrong)
}

/** The first error, which names all if there are several. */
function firstOf(wrong: readonly AppError[]): AppError {
  const [first] = wrong
  if (!first) throw new Error('an input without a problem was refused')
  if (wrong.length === 1) return first
  const { code, problem, parameter, at } = first
  const place = { ...(parameter !== undefined && { parameter }), ...(at !== undefined && { at }) }
  return new AppError(code, problem, { ...place, all: wrong.slice(0, MAX_PROBLEMS) })
}

const isEmpty = (value: unknown): boolean => value === undefined || (typeof value === 'string' && value.trim() === '')

function asAppError(issue: z.core.$ZodIssue): AppError {
  const parameter = String(issue.path[0] ?? '')
  const at = issue.path.map(String).join('.')
  const { code, problem }: { code?: unknown; problem?: Problem } = (issue.code === 'custom' && issue.params) || {}
  const why = problem ?? problemOf(issue)
  if (issue.code === 'unrecognized_keys') return new AppError('unknown_parameter', why, { parameter, at })
  return new AppError(isErrorCode(code) ? code : 'invalid_parameter', why, { parameter, at })
}

const isErrorCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(ERRORS, code)

/** The verdict of the command line about an answer: good (exit status 0), bad (1) or unknown (3). */
export type Verdict = 'good' | 'bad' | 'unclear'

/** `version` is the program's. */
type About = { readonly version: string }

/**
 * A score for the comparison with `--min-score`: `least` and `most` are the worst and the best case if something is
 * unknown.
 */
export type ScoreRange = { readonly score: number; readonly least: number; readonly most: number }

/** Work in the background: the question about its progress, a line with the progress, and whether it has ended. */
export type Progress = {
  readonly raw: Readonly<Record<string, unknown>>
  readonly line: string
  readonly hasEnded: boolean
}

/** Text that is sent as it is produced. */
export type TextStream = { readonly contentType: string; readonly text: AsyncIterable<string> }

/** An answer with its derived forms. */
export type Given = {
  readonly status: number
  /** The answer was given before, to the first request with the same Idempotency-Key. */
  readonly isRepeated?: true
  /** Within 1 MiB of JSON (answers/read-answer.ts); the verdict and the lines are those of the complete answer. */
  readonly answer: unknown
  /** Text to send as it is produced, in place of the answer. */
  readonly stream?: TextStream
  /** The answer as lines, if it consists of lines. */
  readonly lines: () => readonly object[] | undefined
  /** A problem if the answer does not match its schema (strictly). */
  readonly check: () => string | undefined
  readonly verdict: (minScore?: number) => Verdict
  readonly progress: () => Progress | undefined
  /** The answer as a document for the renderers of src/documents; undefined for a stream. */
  readonly document: (about: About & { readonly brief?: boolean }) => Document | undefined
  /** The document as a page or as Markdown; undefined for a stream, or for another format. */
  readonly rendered: (format: string, about: About) => Rendered | undefined
}

/** The properties of an operation's answers. */
type Answering<S extends z.ZodType> = {
  /** The wire schema of its answer (src/answers). */
  readonly answer: S
  readonly verdict?: (answer: AnswerOf<S>) => Verdict
  readonly progress?: (answer: AnswerOf<S>) => Progress
  readonly score?: (answer: AnswerOf<S>) => ScoreRange
  /**
   * The answer as a document: the readable form, in every format except JSON; default: the plain fields. `version` is
   * the program's.
   */
  readonly document?: (answer: AnswerOf<S>, version: string) => Document
  /** The first screen of the document, for a terminal. */
  readonly brief?: (answer: AnswerOf<S>, version: string) => Document
  readonly lines?: { readonly of: (answer: AnswerOf<S>) => readonly object[] }
}

/** An answer within 1 MiB of JSON; an answer that was cut is validated against the schema. */
const boundedBy = <S extends z.ZodType>(schema: S, answer: AnswerOf<S>): AnswerOf<S> =>
  boundAnswer(answer, (copy) => readOpen(schema, copy))

/** An answer closed over its type. */
const given = <S extends z.ZodType>(
  { name, answer: schema, lines, verdict, score, progress, document, brief }: Answering<S> & { readonly name: string },
  status: number,
  answer: AnswerOf<S>,
  bound: AnswerOf<S> = boundedBy(schema, answer),
): Given => {
  const title = name.replace(/^./, (first) => first.toUpperCase())
  const documentOf = (version: string): Document =>
    document ? document(bound, version) : plainDocument(title, bound, version)
  return {
    status,
    answer: bound,
    lines: () => lines?.of(answer),
    check: () => {
      const read = readStrict(schema, JSON.parse(JSON.stringify(bound)))
      return read.ok ? undefined : read.problem.text
    },
    verdict: (minScore) =>
      minScore !== undefined && score ? scoreVerdict(score(answer), minScore) : (verdict?.(answer) ?? 'good'),
    progress: () => progress?.(answer),
    document: ({ version, brief: isBrief }) => (isBrief && brief ? brief(bound, version) : documentOf(version)),
    rendered: (format, { version }) => (isDocumentFormat(format) ? render(format, documentOf(version)) : undefined),
  }
}

/** A score below the wanted one is bad; if an unknown part decides, it is unknown. */
function scoreVerdict({ least, most }: ScoreRange, wanted: number): Verdict {
  if (least >= wanted) return 'good'
  return most < wanted ? 'bad' : 'unclear'
}

/** An answer that is sent as it is produced: it has no verdict. */
export const streaming = ({ status, stream }: Required<Pick<Given, 'status' | 'stream'>>): Given => ({
  status,
  stream,
  answer: undefined,
  lines: () => undefined,
  check: () => undefined,
  verdict: () => 'good',
  progress: () => undefined,
  document: () => undefined,
  rendered: () => undefined,
})
