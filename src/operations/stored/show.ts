import { blacklistAnswer } from '../../answers/blacklist.ts'
import { checkAnswer } from '../../answers/check.ts'
import { readOpen } from '../../answers/read-answer.ts'
import { reportAnswer } from '../../answers/report.ts'
import { type StoredAnswer, type StoredEntry, storedAnswer, storedEntry } from '../../answers/stored.ts'
import { verifyAnswer } from '../../answers/verify.ts'
import { whatIfAnswer } from '../../answers/what-if.ts'
import { parsed, problem } from '../../base/parsed.ts'
import { valueProblem } from '../../base/value-problems.ts'
import { blacklistDocument } from '../../documents/blacklist.ts'
import type { Block, Document } from '../../documents/block.ts'
import { checkDocument } from '../../documents/check/check-document.ts'
import { plainDocument } from '../../documents/plain.ts'
import { verifyDocument } from '../../documents/verify.ts'
import { whatIfDocument } from '../../documents/what-if.ts'
import { ownerOf } from '../../names/owner.ts'
import { formatParam } from '../documents.ts'
import checkExample from '../examples/check.json' with { type: 'json' }
import { type Call, defineOperation, ok } from '../operation.ts'
import { textParam } from '../params.ts'
import { storedInputError } from './problems.ts'

const DEADLINE_MS = 10_000
/** The header fields of a page that must not be indexed or followed. */
const PRIVATE_HEADERS = {
  'x-robots-tag': 'noindex, nofollow',
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, no-store',
} as const

export const storedIdParam = textParam<string>(
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
export const storedEntryExample = entryExample
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
    ok(await (await stored()).read(id, isLoggedIn(ctx) ? ownerOf(ctx) : undefined)),
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

/** A stored answer as a document: that of its kind, with its date. An answer of an earlier version without all present fields is shown as a plain list. */
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
  } else {
    const read = readOpen(answer.kind === 'report' ? reportAnswer : checkAnswer, answer)
    if (read.ok) return checkDocument(read.value, version)
  }
  return plainDocument('Stored answer', answer, version)
}
