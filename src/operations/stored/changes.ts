import type { z } from 'zod'
import type { AnswerOf } from '../../answers/answer.ts'
import { blacklistAnswer } from '../../answers/blacklist.ts'
import { type Change, type ChangesAnswer, changesAnswer } from '../../answers/changes.ts'
import { checkAnswer } from '../../answers/check.ts'
import { messageAnswer } from '../../answers/message.ts'
import { readOpen } from '../../answers/read-answer.ts'
import { reportAnswer } from '../../answers/report.ts'
import type { StoredAnswer, StoredKind } from '../../answers/stored.ts'
import { verifyAnswer } from '../../answers/verify.ts'
import { changesDocument } from '../../documents/stored.ts'
import { CHECK_NAMES } from '../../documents/words.ts'
import {
  blacklistChanges,
  changeLines,
  checkChanges,
  messageChanges,
  reportChanges,
  verifyChanges,
} from '../../monitors/changes/changes.ts'
import { ownerOf } from '../../names/owner.ts'
import { defineOperation, ok } from '../operation.ts'
import { storedInputError } from './problems.ts'
import { storedEntryExample, storedIdParam } from './show.ts'

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
