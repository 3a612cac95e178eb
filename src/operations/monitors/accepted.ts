import { z } from 'zod'
import { type AcceptedAnswer, acceptedAnswer, acceptedListAnswer } from '../../answers/accepted.ts'
import { parsed, problem } from '../../base/problem.ts'
import { nearest, valueProblem } from '../../base/value-problems.ts'
import { acceptedDocument, acceptedListDocument } from '../../documents/accepted.ts'
import { ownerOf } from '../../names/owner.ts'
import { FINDING_IDS, severityOfFinding } from '../../score/accepted.ts'
import { endOf, MAX_REASON, parseUntil } from '../accept.ts'
import { formatParam } from '../documents.ts'
import { defineOperation, ok } from '../operation.ts'
import { cursorParam, domainParam, limitParam, lineParam, optional, pageOf, positional, textParam } from '../params.ts'
import { acceptedInputError, acceptedProblem } from '../problems.ts'
import { refuseOthers } from '../reports/shared.ts'

const exampleId = { id: 'acc_AAAAAAAAAAAAAAAAAAAAAA' }
const example: AcceptedAnswer = {
  ...exampleId,
  finding: 'dmarc.policy_quarantine',
  severity: severityOfFinding('dmarc.policy_quarantine') ?? 'low',
  domain: 'example.org',
  label: null,
  by: 'joe@example.org',
  reason: 'lists of the faculty still rewrite From',
  until: '2026-06-30T23:59:59.999Z',
  state: 'active',
  created_at: '2026-01-02T03:04:05.000Z',
}

const idParam = textParam<string>(
  'not_found',
  (text) => (/^acc_[\w-]{22}$/.test(text) ? parsed(text) : problem(valueProblem('id', { text, kind: 'acceptance' }))),
  { description: 'id of the accepted finding', example: exampleId.id },
)
/** The id of one finding that exists. */
export const findingParam = textParam<string>(
  'invalid_parameter',
  (text) =>
    severityOfFinding(text) === undefined
      ? problem(acceptedProblem('finding', { text, meant: nearest(text, FINDING_IDS) }))
      : parsed(text),
  { description: 'id of a finding, as docs/findings.md lists them', example: example.finding },
)
const untilParam = textParam<Date>(
  'invalid_parameter',
  (text) => {
    const until = parseUntil(text)
    return until ? parsed(until) : problem(acceptedProblem('until', { text }))
  },
  {
    description: 'last day (UTC) or time; without one five years, which a critical finding needs',
    example: '2026-06-30',
  },
)
const labelParam = lineParam('label of monitors of your key', 60)

/** A key with domains accepts for these alone, and for no label, whose monitors may have others. */
export const acceptedCreate = defineOperation({
  name: 'accepted create',
  method: 'POST',
  path: '/v1/accepted',
  summary: 'Accept a finding of a domain, or of the monitors with a label, until a day',
  scope: 'jobs',
  params: {
    finding: positional(findingParam),
    domain: optional(domainParam('domain whose finding is accepted, without those below it')),
    label: optional(labelParam),
    reason: lineParam('why it is accepted', MAX_REASON),
    until: optional(untilParam),
    by: optional(lineParam('who accepts it; default the id of the key', 200)),
  },
  answer: acceptedAnswer,
  document: acceptedDocument,
  statuses: { 201: 'it is accepted; 200: reason, author and end of an earlier acceptance are replaced' },
  example: {
    input: {
      finding: example.finding,
      domain: 'example.org',
      reason: example.reason,
      until: '2026-06-30',
      by: example.by,
    },
    output: example,
  },
  uses: ['accepted'],
  run: async (ctx, { accepted }, { finding, domain, label = '', reason, until, by = '' }) => {
    if ((domain === undefined) === (label === ''))
      throw acceptedInputError('subject', undefined, { parameter: 'domain' })
    if (domain !== undefined) refuseOthers(ctx, domain)
    else if (ctx.caller?.domains !== undefined) throw acceptedInputError('label', undefined, { parameter: 'label' })
    const end = endOf(finding, until, ctx.now())
    if ('error' in end) throw end.error
    if (end.end.getTime() <= ctx.now()) throw acceptedInputError('past', undefined, { parameter: 'until' })
    const owner = ownerOf(ctx)
    const about = { finding, reason, by: by || owner.id || 'operator', until: end.end }
    const subject = domain === undefined ? { ...about, label } : { ...about, domain }
    const { answer, isNew } = await (await accepted()).create(subject, owner)
    return { status: isNew ? 201 : 200, answer }
  },
})

export const acceptedList = defineOperation({
  name: 'accepted list',
  method: 'GET',
  path: '/v1/accepted',
  summary: 'List your accepted findings, newest first (all with scope admin)',
  scope: 'jobs',
  params: {
    finding: optional(findingParam),
    domain: optional(domainParam('of this domain')),
    label: optional(labelParam),
    limit: limitParam({ max: 200, fallback: 50 }),
    cursor: cursorParam(z.int()),
    format: formatParam,
  },
  answer: acceptedListAnswer,
  document: acceptedListDocument,
  example: { input: {}, output: { data: [example], has_more: false, next_cursor: null } },
  uses: ['accepted'],
  run: async (ctx, { accepted }, { finding, domain, label, limit, cursor }) => {
    const page = {
      limit: limit + 1,
      ...(finding !== undefined && { finding }),
      ...(domain !== undefined && { domain }),
      ...(label !== undefined && { label }),
      ...(cursor !== undefined && { before: cursor }),
    }
    const rows = await (await accepted()).list(page, ownerOf(ctx))
    return ok(pageOf(rows, limit, 'number', ({ answer }) => answer))
  },
})

export const acceptedDelete = defineOperation({
  name: 'accepted delete',
  method: 'DELETE',
  path: '/v1/accepted/{id}',
  summary: 'End an acceptance now: the finding counts again',
  scope: 'jobs',
  params: { id: idParam },
  answer: acceptedAnswer,
  document: acceptedDocument,
  example: { input: exampleId, output: example },
  uses: ['accepted'],
  run: async (ctx, { accepted }, { id }) => ok(await (await accepted()).remove(id, ownerOf(ctx))),
})
