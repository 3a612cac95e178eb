import { createHash, randomBytes } from 'node:crypto'
import { AppError, ERRORS } from '../base/errors.ts'
import { isJsonRecord } from '../base/json.ts'
import { ttlCache } from '../base/ttl-cache.ts'
import type { AddressPtr } from '../checks/ptr/index.ts'
import type { Block, Document } from '../documents/block.ts'
import type { Ip } from '../names/ip.ts'
import type { Answered, Execute } from '../operations/execute.ts'
import type { Operation } from '../operations/operation.ts'
import type { StoredReports } from '../operations/reports/shared.ts'
import { type Html, html } from './html.ts'
import type { Assets } from './layout.ts'
import { sentenceOf } from './problems.ts'
import type { Runs } from './runs.ts'

/** The dependencies of all pages. */
export type Parts = {
  readonly assets: Assets
  readonly execute: Execute
  /** The operation of a name. Throws if there is none: pages only name operations of the registry. */
  readonly operation: (name: string) => Operation
  readonly has: (name: string) => boolean
  readonly runs: Runs
  readonly canMail: boolean
  /** Whether this service receives messages. */
  readonly canReceive: () => boolean
  readonly streams: StreamTokens
  readonly storedReports: StoredReports
  readonly version: string
  /** The PTR names of an address, and whether they resolve back. */
  readonly pointers: (ip: Ip, signal: AbortSignal) => Promise<AddressPtr>
  /** Any fault as a message for a visitor; our own faults are logged, and shown without details. */
  readonly faultInWords: (error: unknown) => Html
}

/** The document of an answer; if its operation has none, its plain fields. */
export function documentOf({ version }: Pick<Parts, 'version'>, given: Answered, title: string): Document {
  const document = given.document({ version })
  if (document) return document
  const fields = isJsonRecord(given.answer) ? Object.entries(given.answer) : []
  const rows = fields.flatMap(([name, value]) =>
    typeof value === 'object' || value === undefined
      ? []
      : [[name.replaceAll('_', ' '), [{ code: String(value) }]] as const],
  )
  return {
    title,
    blocks: [
      { kind: 'heading', level: 2, line: [title] },
      { kind: 'facts', rows },
    ],
    footer: [],
  }
}

/** Blocks without the name of their subject, for a page or a part that has a heading of its own. */
export const withoutSubject = (blocks: readonly Block[]): readonly Block[] =>
  blocks.flatMap((block): readonly Block[] => {
    if (block.kind !== 'conclusion') return [block]
    const { mark, badge, words, notes } = block.conclusion
    return [
      { kind: 'text', line: [...(badge === '' ? [] : [{ mark, text: badge }, ' ']), words] },
      ...notes.map((line): Block => ({ kind: 'text', line, quiet: true })),
    ]
  })

/** What was wrong with a form: the sentence stands beside its field, which refers to it. A page has at most one. */
export type FieldProblem = {
  /** The name of the field; undefined: it is about no single one, and stands above the form. */
  readonly field: string | undefined
  readonly words: string
}

/** The attributes of a field, if the problem is about it. */
export const invalid = (name: string, problem: FieldProblem | undefined): Html =>
  problem?.field === name ? html` aria-invalid="true" aria-describedby="problem"` : html``

/** The sentence beside a field, if the problem is about it. */
export const beside = (name: string, problem: FieldProblem | undefined): Html =>
  problem?.field === name ? html`<span class="problem" id="problem" role="alert">${problem.words}</span>` : html``

/** The sentence above a form, if the problem is about no single field. */
export const above = (problem: FieldProblem | undefined): Html =>
  problem !== undefined && problem.field === undefined
    ? html`<p class="problem wide" id="problem" role="alert">${problem.words}</p>`
    : html``

/** Whether what was sent can be corrected in its form: it was refused for its content or its size. */
export const isCorrectable = (error: unknown): error is AppError =>
  error instanceof AppError && [400, 413, 415].includes(ERRORS[error.code].status)

/** The sentence of a problem after a word that says what did not happen: `Not saved`. */
export const refusedWords = (prefix: string, error: AppError): string => `${prefix}: ${sentenceOf(error)}`

/** How long a page may wait before it opens its stream, and reconnect to it, ms. */
const LONGEST_TOKEN_MS = 600_000
/** Maximum number of tokens; the least recently used one ends first. */
const MAX_TOKENS = 10_000

/**
 * Tokens in the stream URLs of pages whose browser sends no `Sec-Fetch-Site` (plain HTTP on a LAN): a page of another
 * site cannot read them. Each starts one question.
 */
type StreamTokens = ReturnType<typeof streamTokens>

export function streamTokens(options: { readonly now: () => number; readonly maxTokens?: number }) {
  type Entry = { readonly question: string; isUsed: boolean }
  const issued = ttlCache<Entry>({ maxEntries: options.maxTokens ?? MAX_TOKENS, now: options.now })
  const questionOf = (key: string): string => createHash('sha256').update(key).digest('base64url')
  return {
    /** A new token for the question of this key. */
    issue: (key: string): string => {
      const token = randomBytes(16).toString('base64url')
      issued.set(token, { question: questionOf(key), isUsed: false }, LONGEST_TOKEN_MS)
      return token
    },
    /**
     * `starts`: the first use. `follows`: a reconnection, which may read a question in progress but start none.
     * `unknown`: expired, or of another question.
     */
    use: (token: string | undefined, key: string): 'starts' | 'follows' | 'unknown' => {
      const entry = token === undefined ? undefined : issued.get(token)?.value
      if (entry?.question !== questionOf(key)) return 'unknown'
      if (entry.isUsed) return 'follows'
      entry.isUsed = true
      return 'starts'
    },
  }
}
