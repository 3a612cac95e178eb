import { z } from 'zod'
import type { AnswerOf } from '../answers/answer.ts'
import { blacklistAnswer } from '../answers/blacklist.ts'
import { checkAnswer } from '../answers/check.ts'
import { messageAnswer, messageResult } from '../answers/message.ts'
import { readOpen } from '../answers/read-answer.ts'
import { reportAnswer } from '../answers/report.ts'
import {
  type Change,
  type ChangesAnswer,
  changesAnswer,
  historyAnswer,
  type StoredAnswer,
  type StoredEntry,
  type StoredKind,
  storedAnswer,
  storedEntry,
} from '../answers/stored.ts'
import { verifyAnswer } from '../answers/verify.ts'
import { whatIfAnswer } from '../answers/what-if.ts'
import { parsed, problem } from '../base/problem.ts'
import { valueProblem } from '../base/value-problems.ts'
import { blacklistDocument } from '../documents/blacklist.ts'
import type { Block, Document } from '../documents/block.ts'
import { checkDocument } from '../documents/check/check-document.ts'
import { resultDocument } from '../documents/message.ts'
import { plainDocument } from '../documents/plain.ts'
import { changesDocument, historyDocument } from '../documents/stored.ts'
import { verifyDocument } from '../documents/verify.ts'
import { whatIfDocument } from '../documents/what-if.ts'
import { CHECK_NAMES } from '../documents/words.ts'
import {
  blacklistChanges,
  changeLines,
  checkChanges,
  messageChanges,
  reportChanges,
  verifyChanges,
} from '../monitors/changes/changes.ts'
import { parseEmail } from '../names/email.ts'
import { ownerOf } from '../names/owner.ts'
import { formatParam } from './documents.ts'
import checkExample from './examples/check.json' with { type: 'json' }
import { type Call, defineOperation, ok } from './operation.ts'
import { cursorParam, domainParam, ipParam, limitParam, optional, pageOf, textParam } from './params.ts'
import { storedInputError } from './problems.ts'

const DEADLINE_MS = 10_000
/** The header fields of a page that must not be indexed or followed. */
const PRIVATE_HEADERS = {
  'x-robots-tag': 'noindex, nofollow',
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, no-store',
} as const

const storedIdParam = textParam<string>(
  'not_found',
  (text) => (/^[\w-]{22}$/.test(text) ? parsed(text) : problem(valueProblem('id', { text, kind: 'stored' }))),
  { description: 'id of the stored answer', example: 'AAAAAAAAAAAAAAAAAAAAAA' },
)

const exampleId = { id: 'AAAAAAAAAAAAAAAAAAAAAA' }
const entryExample: StoredEntry = {
  ...exampleId,
  url: '/r/AAAAAAAAAAAAAAAAAAAAAA',
  kind: 'check',
  subject: 'neglected.test',
  saved_at: '2026-01-02T03:04:05.000Z',
  expires_at: '2026-04-02T03:04:05.000Z',
  status: 'fail',
  score: 20,
}
const storedEntryExample = entryExample
const answerExample: StoredAnswer = {
  ...checkExample,
  kind: 'check',
  ...exampleId,
  saved_at: entryExample.saved_at,
  expires_at: entryExample.expires_at,
}

/** Whether the caller is authenticated; on the command line, and while no key is in force, every caller is. */
const isLoggedIn = ({ caller }: Call): boolean => caller === undefined || caller.key !== undefined || caller.isAdmin

/** A stored answer, unchanged. Its id is the secret: no key is required. */
export const savedShow = defineOperation({
  name: 'saved show',
  method: 'GET',
  path: '/r/{id}',
  summary: 'Show a stored answer; mailboxes are masked without a key',
  scope: 'read',
  open: true,
  isPage: true,
  headers: PRIVATE_HEADERS,
  params: { id: storedIdParam, format: formatParam },
  answer: storedAnswer,
  example: { input: exampleId, output: answerExample },
  deadlineMs: DEADLINE_MS,
  uses: ['stored'],
  run: async (ctx, { stored }, { id }) =>
    ok(await (await stored()).read(id, isLoggedIn(ctx) && !ctx.caller?.isRemote ? ownerOf(ctx) : undefined)),
  document: storedDocument,
})

/** Removes a stored answer: by the key that stored it, or an admin. */
export const savedDelete = defineOperation({
  name: 'saved delete',
  method: 'DELETE',
  path: '/r/{id}',
  summary: 'Delete a stored answer',
  scope: 'read',
  open: true,
  params: { id: storedIdParam },
  answer: storedEntry,
  example: { input: exampleId, output: entryExample },
  deadlineMs: DEADLINE_MS,
  uses: ['stored'],
  run: async (ctx, { stored }, { id }) => {
    if (!isLoggedIn(ctx)) throw storedInputError('key')
    return ok(await (await stored()).remove(id, ownerOf(ctx)))
  },
})

/**
 * A stored answer as a document: that of its kind, with its date. An answer of an earlier version without all present
 * fields is shown as a plain list.
 */
export function storedDocument(answer: StoredAnswer, version: string): Document {
  const document = documentOf(answer, version)
  const [first, ...rest] = document.blocks
  const date: Block = {
    kind: 'text',
    quiet: true,
    line: [
      'Stored answer of ',
      { time: answer.saved_at },
      '; it expires at ',
      { time: answer.expires_at },
      '. It shows the state at that time.',
    ],
  }
  return { ...document, blocks: [...(first ? [first] : []), date, ...rest] }
}

function documentOf(answer: StoredAnswer, version: string): Document {
  if (answer.kind === 'verify') {
    const read = readOpen(verifyAnswer, answer)
    if (read.ok) return verifyDocument(read.value, version)
  } else if (answer.kind === 'blacklist') {
    const read = readOpen(blacklistAnswer, answer)
    if (read.ok) return blacklistDocument(read.value, version)
  } else if (answer.kind === 'what-if') {
    const read = readOpen(whatIfAnswer, answer)
    if (read.ok) return whatIfDocument(read.value, version)
  } else if (answer.kind === 'message') {
    const read = readOpen(messageResult, answer)
    if (read.ok) return resultDocument(read.value, version)
  } else {
    const read = readOpen(answer.kind === 'report' ? reportAnswer : checkAnswer, answer)
    if (read.ok) return checkDocument(read.value, version)
  }
  return plainDocument('Stored answer', answer, version)
}

const example: ChangesAnswer = {
  from: { ...storedEntryExample, saved_at: '2026-01-01T03:04:05.000Z' },
  to: storedEntryExample,
  lines: ['SPF: include of _spf.mailer.example gone; 7 lookups instead of 12'],
  changes: [
    { id: 'spf.include_removed', area: 'SPF', effect: 'neutral', text: 'include of _spf.mailer.example gone' },
    { id: 'spf.lookups', area: 'SPF', effect: 'better', text: '7 lookups instead of 12' },
  ],
  unknown: [],
}

/** The differences between two stored answers of one kind about one subject, as text. */
export const changes = defineOperation({
  name: 'changes',
  method: 'GET',
  path: '/v1/changes',
  summary: 'Show what differs between two stored answers',
  scope: 'read',
  params: {
    from: { ...storedIdParam, description: 'id of the earlier answer' },
    to: { ...storedIdParam, description: 'id of the later answer' },
  },
  answer: changesAnswer,
  document: changesDocument,
  example: { input: { from: storedEntryExample.id, to: storedEntryExample.id }, output: example },
  deadlineMs: 10_000,
  uses: ['stored'],
  run: async (ctx, deps, input) => {
    const stored = await deps.stored()
    const owner = ownerOf(ctx)
    const [from, to] = await Promise.all([stored.entry(input.from), stored.entry(input.to)])
    if (from.kind !== to.kind) throw storedInputError('kinds', { from: from.kind, to: to.kind }, TO)
    if (from.subject !== to.subject) throw storedInputError('subjects', { from: from.subject, to: to.subject }, TO)
    const [before, after] = await Promise.all([stored.read(input.from, owner), stored.read(input.to, owner)])
    const found = COMPARE[from.kind](before, after)
    return ok({
      from,
      to,
      lines: [...changeLines(found)],
      ...{ changes: found },
      unknown: unknownIn(from.kind, before, after),
    })
  },
})

const TO = { parameter: 'to', at: 'to' } as const

/** Compares two answers after reading them with the schema of their kind. */
const compareAs =
  <S extends z.ZodType>(schema: S, compare: (before: AnswerOf<S>, after: AnswerOf<S>) => readonly Change[]) =>
  (before: StoredAnswer, after: StoredAnswer): readonly Change[] => {
    const [one, two] = [readOpen(schema, before), readOpen(schema, after)]
    if (one.ok && two.ok) return compare(one.value, two.value)
    throw storedInputError('version', undefined, TO)
  }

const COMPARE: Readonly<Record<StoredKind, (before: StoredAnswer, after: StoredAnswer) => readonly Change[]>> = {
  check: compareAs(checkAnswer, checkChanges),
  'what-if': compareAs(checkAnswer, checkChanges),
  report: compareAs(reportAnswer, reportChanges),
  verify: compareAs(verifyAnswer, verifyChanges),
  message: compareAs(messageAnswer, messageChanges),
  blacklist: compareAs(blacklistAnswer, blacklistChanges),
}

/** The parts of the answers that are unknown in one of them. */
function unknownIn(kind: StoredKind, ...answers: readonly StoredAnswer[]): string[] {
  const open = (answer: StoredAnswer): string[] => {
    if (kind === 'verify')
      return ['deferred', 'blocked', 'unreachable'].includes(String(answer.result)) ? ['mailbox'] : []
    if (kind === 'blacklist') {
      const read = readOpen(blacklistAnswer, answer)
      return read.ok
        ? read.value.results.filter(({ status }) => !/listed$/.test(status)).map(({ blacklist }) => blacklist)
        : []
    }
    if (kind === 'message') {
      const read = readOpen(messageAnswer, answer)
      return read.ok
        ? (['spf', 'dmarc'] as const).filter((key) => /^(?:unknown|temperror)$/.test(read.value[key].result))
        : []
    }
    return sectionsUnknown(answer)
  }
  return [...new Set(answers.flatMap(open))]
}

function sectionsUnknown(answer: StoredAnswer): string[] {
  const isOpen = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && Reflect.get(value, 'status') === 'unknown'
  return [
    ...(answer.mx_status === 'unknown' ? ['mx'] : []),
    ...CHECK_NAMES.filter((key) => key !== 'mx' && isOpen(answer[key])),
  ]
}

const emailParam = textParam<string>(
  'invalid_parameter',
  (text) => {
    const email = parseEmail(text)
    return email.ok ? parsed(text.toLowerCase()) : email
  },
  { description: 'answers about this mailbox', example: 'joe@example.org' },
)

/** The stored answers about one name. */
export const history = defineOperation({
  name: 'history',
  method: 'GET',
  path: '/v1/history',
  summary: 'List the stored answers about a name, newest first',
  scope: 'read',
  params: {
    domain: optional(domainParam('answers about this domain and its mailboxes')),
    email: optional(emailParam),
    ip: optional(ipParam('answers about this address')),
    limit: limitParam({ max: 200, fallback: 50 }),
    cursor: cursorParam(z.int()),
  },
  answer: historyAnswer,
  document: historyDocument,
  example: {
    input: { domain: 'neglected.test' },
    output: { data: [storedEntryExample], has_more: false, next_cursor: null },
  },
  deadlineMs: 10_000,
  uses: ['stored'],
  run: async (ctx, { stored }, { limit, cursor, domain, email, ip }) => {
    const named = Object.entries({ domain, email, ip }).filter(([, value]) => value !== undefined)
    if (named.length > 1) throw storedInputError('one_name', undefined, { parameter: named[1]![0] })
    const page = { limit: limit + 1, ...(cursor !== undefined && { before: cursor }) }
    const [name, value] =
      domain !== undefined
        ? (['domain', domain] as const)
        : email !== undefined
          ? (['email', email] as const)
          : (['ip', ip] as const)
    if (value === undefined) throw storedInputError('no_name', undefined, { parameter: 'domain' })
    const rows = await (await stored()).history(name, value, page, ownerOf(ctx))
    return ok(pageOf(rows, limit, 'number', ({ number: _, ...entry }) => entry))
  },
})
