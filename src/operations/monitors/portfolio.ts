import {
  monitorFacts,
  monitorImportAnswer,
  monitorKind,
  monitorSummaryAnswer,
  monitorsChangedAnswer,
} from '../../answers/monitors.ts'
import { AppError } from '../../base/errors.ts'
import { isJsonRecord } from '../../base/json.ts'
import { parsed, problem } from '../../base/problem.ts'
import { printable } from '../../base/text.ts'
import { parseDuration } from '../../base/time.ts'
import { valueProblem } from '../../base/value-problems.ts'
import { monitorSummaryDocument } from '../../documents/monitors.ts'
import { type Layout, readList } from '../../jobs/intake/intake.ts'
import type { IntakeRow } from '../../jobs/intake/row.ts'
import type { ImportRow } from '../../monitors/portfolio.ts'
import { ownerOf } from '../../names/owner.ts'
import { PROFILE_NAMES } from '../../profiles/domain.ts'
import { FILTERED_FACTS, type MonitorFilter } from '../../store/postgres/portfolio.ts'
import type { Deps } from '../deps.ts'
import { formatParam } from '../documents.ts'
import { uploadOf } from '../jobs/show.ts'
import { type Call, defineOperation, ok } from '../operation.ts'
import {
  choiceParam,
  durationParam,
  flagParam,
  type InputOf,
  lineParam,
  objectParam,
  optional,
  textParam,
} from '../params.ts'
import { monitorInputError, monitorProblem } from '../problems.ts'
import { findingParam } from './accepted.ts'
import { checkKind, EVERY, EVERY_MS, labelsOf, manySettings, readOwner, readTarget, usualConditions } from './shared.ts'

const DAY_MS = 86_400_000
/** A domain without a report for so long has none coming in. */
const NO_REPORTS_MS = 30 * DAY_MS
const MAX_ROWS = 10_000
/** Maximum size of an import, octets, as it comes and unpacked. */
const MAX_OCTETS = 16 * 1024 * 1024
const MOST_BAD_ROWS = 1_000

const wordParam = (words: readonly string[], description: string) =>
  optional(
    textParam<string>(
      'invalid_parameter',
      (text) => {
        const unknown = text.split(',').find((word) => !words.includes(word))
        return unknown === undefined ? parsed(text) : problem(valueProblem('choice', { text: unknown, known: words }))
      },
      { description, group: 'answer', choices: words },
    ),
  )
const { policy, phase, mta_sts, dnssec } = monitorFacts.shape
const dateParam = (description: string) =>
  optional(
    textParam<Date>(
      'invalid_parameter',
      (text) => {
        const ms = /^\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : Number.NaN
        return Number.isNaN(ms) ? problem(monitorProblem('date')) : parsed(new Date(ms))
      },
      { description, group: 'answer', example: '2026-01-01' },
    ),
  )
function lineFilter(description: string, max: number) {
  const { bounds: _bounds, unit: _unit, ...param } = optional(lineParam(description, max)) // help fits a screen
  return { ...param, group: 'answer' as const }
}

/** Which monitors (a word may be several, divided by commas): parameters that lists, counts, exports and changes of many have in common. */
export const filterParams = {
  label: lineFilter('with this label', 60),
  organization: lineFilter('at or below this domain', 253),
  owner: lineFilter('of this owner', 320),
  state: wordParam(['ok', 'bad', 'unknown'], 'in this state'),
  grade: wordParam(['A+', 'A', 'B', 'C', 'D', 'F', 'unknown'], 'grade'),
  role: lineFilter('role, such as parked', 40),
  provider: lineFilter('mail provider, other or none', 60),
  policy: wordParam(policy.options, 'DMARC policy, or several'),
  phase: wordParam(phase.options, 'phase of DMARC'),
  mta_sts: wordParam(mta_sts.options, 'with this mode of MTA-STS'),
  dnssec: wordParam(dnssec.options, 'with this state of DNSSEC'),
  finding: { ...optional(findingParam), description: 'with this finding', group: 'answer' as const },
  profile_not_met: { ...lineFilter('with an unmet rule of', 500), choices: PROFILE_NAMES },
  accepted: { ...flagParam('with a finding that is accepted', 'answer') },
  no_reports: { ...flagParam('without a DMARC report for 30 days', 'answer') },
  changed_since: dateParam('changed since this day or time'),
  q: lineFilter('text in target, name, note or a label', 200),
} as const

type FilterInput = InputOf<typeof filterParams>

/** The filter that a caller asks for. Throws AppError. */
export function filterOf({ caller, now }: Pick<Call, 'caller' | 'now'>, input: FilterInput): MonitorFilter {
  const { label, organization, owner, state, finding, profile_not_met, accepted, no_reports, changed_since, q } = input
  if (no_reports && (caller?.maySeeReports === false || caller?.domains !== undefined))
    throw monitorInputError('reports_filter', undefined, { parameter: 'no_reports', at: 'no_reports' })
  const facts = Object.fromEntries(
    FILTERED_FACTS.flatMap((fact) => {
      const value = input[fact]
      if (value === undefined) return []
      return [[fact, fact === 'provider' || fact === 'role' ? [value] : value.split(',')]]
    }),
  )
  return {
    facts,
    ...(label !== undefined && { label }),
    ...(organization !== undefined && { organization: organization.toLowerCase() }),
    ...(owner !== undefined && { contact: owner.toLowerCase() }),
    ...(state !== undefined && { states: state.split(',') }),
    ...(finding !== undefined && { finding }),
    ...(profile_not_met !== undefined && { profileNotMet: profile_not_met }),
    ...(accepted && { acceptedAt: new Date(now()) }),
    ...(no_reports && { noReportsSince: new Date(now() - NO_REPORTS_MS) }),
    ...(changed_since !== undefined && { changedSince: changed_since }),
    ...(q !== undefined && q !== '' && { text: q }),
  }
}

/** The filter of a change: one that selects everything is refused, because it is most often a mistake. */
function narrowed(ctx: Call, input: FilterInput): MonitorFilter {
  const filter = filterOf(ctx, input)
  if (Object.keys(filter).length === 1 && Object.keys(filter.facts).length === 0)
    throw monitorInputError('no_filter', { known: Object.keys(filterParams) })
  return filter
}

export const monitorSummary = defineOperation({
  name: 'monitors summary',
  method: 'GET',
  path: '/v1/monitors/summary',
  summary: 'Count monitors by grade, state, phase of DMARC, provider and findings',
  scope: 'jobs',
  params: {
    ...filterParams,
    compare: dateParam('also count as of the end of this day (UTC)'),
    format: formatParam,
  },
  answer: monitorSummaryAnswer,
  document: monitorSummaryDocument,
  example: {
    input: { label: 'customers' },
    output: {
      ...{ total: 2, organizations: 1, below: 1 },
      ...{
        grade: [],
        state: [],
        policy: [],
        mta_sts: [],
        dnssec: [],
        provider: [],
        role: [],
        findings: [],
        profiles: [],
      },
      phase: [
        { value: 'enforced', count: 1, change_7_days: 1, change_28_days: 1 },
        { value: 'unknown', count: 1, change_7_days: -1, change_28_days: -1 },
      ],
    },
  },
  uses: ['monitors'],
  run: async (ctx, { monitors }, input) => {
    const compare = input.compare?.toISOString().slice(0, 10)
    return ok(await (await monitors()).summary(filterOf(ctx, input), compare, ownerOf(ctx)))
  },
})

export const monitorsChange = defineOperation({
  name: 'monitors change-many',
  method: 'PATCH',
  path: '/v1/monitors',
  summary: 'Change all monitors that a filter selects',
  scope: 'jobs',
  alsoInQuery: Object.keys(filterParams),
  params: {
    ...filterParams,
    set: objectParam(manySettings, {
      description: 'what to change: labels, add_labels, remove_labels, owner, note, every, enabled',
    }),
  },
  answer: monitorsChangedAnswer,
  example: { input: { label: 'customers', set: { add_labels: ['checked'], every: '12h' } }, output: { changed: 12 } },
  uses: ['monitors'],
  run: async (ctx, { monitors }, { set, ...input }) => {
    const { labels, add_labels, remove_labels, owner, note, every, enabled } = set
    const edit = {
      ...(labels && { labels: labelsOf(labels) }),
      ...(add_labels && { addLabels: labelsOf(add_labels) }),
      ...(remove_labels && { removeLabels: remove_labels }),
      ...(owner !== undefined && { contact: readOwner(owner) }),
      ...(note !== undefined && { note }),
      ...(every !== undefined && { everyMs: every }),
      ...(enabled !== undefined && { enabled }),
    }
    return ok({ changed: await (await monitors()).changeMany(narrowed(ctx, input), edit, ownerOf(ctx)) })
  },
})

/** Actions on all monitors that a filter selects. */
const MANY = {
  method: 'POST',
  scope: 'jobs',
  ignoresBody: true,
  params: filterParams,
  answer: monitorsChangedAnswer,
  example: { input: { label: 'customers' }, output: { changed: 12 } },
  uses: ['monitors'],
} as const
const turnMany =
  (enabled: boolean) =>
  async (ctx: Call, { monitors }: Pick<Deps, 'monitors'>, input: FilterInput) =>
    ok({ changed: await (await monitors()).changeMany(narrowed(ctx, input), { enabled }, ownerOf(ctx)) })

export const monitorsPause = defineOperation({
  ...MANY,
  name: 'monitors pause-many',
  path: '/v1/monitors/pause',
  summary: 'Pause all monitors that a filter selects',
  run: turnMany(false),
})
export const monitorsResume = defineOperation({
  ...MANY,
  name: 'monitors resume-many',
  path: '/v1/monitors/resume',
  summary: 'Resume all monitors that a filter selects; they run at once',
  run: turnMany(true),
})
export const monitorsRun = defineOperation({
  ...MANY,
  name: 'monitors run-many',
  path: '/v1/monitors/run',
  summary: 'Run all monitors that a filter selects, each at most once a minute',
  run: async (ctx, { monitors }, input) =>
    ok({ changed: await (await monitors()).runMany(narrowed(ctx, input), ownerOf(ctx)) }),
})

/** Domains with their labels and owners as a list: CSV, NDJSON or JSON. */
export const monitorsImport = defineOperation({
  name: 'monitors import',
  method: 'POST',
  path: '/v1/monitors/import',
  summary: 'Create and update monitors from a list of domains',
  scope: 'jobs',
  uploads: 'list',
  bodiesOf: { path: '/v1/monitors', types: ['text/csv', 'application/x-ndjson', 'application/jsonl'] },
  params: {
    kind: choiceParam(['check', 'report', 'reports'], 'report', {
      description: 'what each run does, for rows without a kind',
      group: 'question',
    }),
    every: optional(
      durationParam(EVERY, { description: 'interval of new monitors, for rows without one', fallback: '24h' }),
    ),
    dry_run: flagParam('tell what would change, and store nothing'),
  },
  answer: monitorImportAnswer,
  example: { input: {}, output: { created: 2, updated: 1, unchanged: 0, bad_rows: [], dry_run: false } },
  deadlineMs: 120_000,
  uses: ['monitors'],
  run: async (ctx, { monitors }, { kind, every = EVERY_MS, dry_run }) => {
    const { rows, bad, ignored } = await rowsOf(ctx, kind)
    const counts = await (await monitors()).importRows(rows, { everyMs: every, isDryRun: dry_run }, ownerOf(ctx))
    const { changes, ...rest } = counts
    return ok({
      ...rest,
      bad_rows: bad.slice(0, MOST_BAD_ROWS),
      ...(bad.length > MOST_BAD_ROWS && { bad_rows_left_out: bad.length - MOST_BAD_ROWS }),
      ...(ignored.length > 0 && { ignored_columns: ignored }),
      dry_run,
      ...(changes && { changes }),
    })
  },
})

type Cells = Readonly<Record<string, unknown>>
/** The columns beside that of the domains. */
const COLUMNS: readonly string[] = ['kind', 'name', 'labels', 'owner', 'note', 'every']
type BadRow = { readonly line: number; readonly reason: string }

/** Reads the whole list before anything is stored. A bad row is told with its line and ends no other. */
async function rowsOf(
  ctx: Call,
  kind: string,
): Promise<{
  readonly rows: readonly ImportRow[]
  readonly bad: readonly BadRow[]
  readonly ignored: readonly string[]
}> {
  const upload = uploadOf(ctx)
  const rows: ImportRow[] = []
  const bad: BadRow[] = []
  let header: readonly string[] = []
  let ignored: readonly string[] = []
  const found = (layout: Layout): void => {
    if (layout.format !== 'csv') return
    header = (layout.header ?? []).map((name) => name.trim().toLowerCase())
    ignored = header.filter((name, place) => place !== layout.index && name !== '' && !COLUMNS.includes(name))
  }
  const list = readList(upload.octets, { ...upload, kind: 'check', bounds: { maxUpload: MAX_OCTETS }, found })
  for await (const row of list) {
    if (rows.length + bad.length >= MAX_ROWS) throw monitorInputError('rows', { max: MAX_ROWS })
    const read = readRow(ctx, row, { kind, header })
    if ('reason' in read) bad.push(read)
    else rows.push(read)
  }
  return { rows, bad, ignored: ignored.slice(0, MOST_BAD_ROWS).map((name) => printable(name, 60)) }
}

function readRow(
  ctx: Call,
  row: IntakeRow,
  { kind, header }: { readonly kind: string; readonly header: readonly string[] },
): ImportRow | BadRow {
  if (!row.ok) return { line: row.line, reason: row.detail }
  const cells: Cells = Array.isArray(row.columns)
    ? Object.fromEntries(header.map((name, place) => [name, (row.columns as readonly string[])[place] ?? '']))
    : (row.columns as Cells)
  try {
    return { line: row.line, ...importedRow(ctx, row.input, cells, kind) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { line: row.line, reason: error.message }
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value.trim() : undefined)
const NAME = lineParam('name', 200).schema
const NOTE = lineParam('note', 500).schema

function importedRow(ctx: Call, input: string, cells: Cells, kindOfAll: string): Omit<ImportRow, 'line'> {
  const kindText = textOf(cells.kind) || kindOfAll
  const known = monitorKind.safeParse(kindText)
  if (!known.success || known.data === 'verify' || known.data === 'blacklist')
    throw monitorInputError('row_kind', { text: kindText })
  const { kind, target, domain } = readTarget(known.data, input, {})
  const when = usualConditions(kind)
  checkKind(ctx, kind, target, { when, isPublic: undefined })
  const [name, note, owner, every] = [cells.name, cells.note, cells.owner, cells.every].map(textOf)
  return {
    kind,
    target,
    domain,
    when,
    ...(name !== undefined && { name: lineOf(NAME, name, 'name') }),
    ...(note !== undefined && { note: lineOf(NOTE, note, 'note') }),
    ...(owner !== undefined && { contact: readOwner(owner) }),
    ...(every !== undefined && every !== '' && { every_ms: everyOf(every) }),
    ...(cells.labels !== undefined && { labels: labelsOf(labelCells(cells.labels)) }),
  }
}

function lineOf(schema: typeof NAME, text: string, column: string): string {
  const read = schema.safeParse(text)
  if (read.success) return read.data
  throw monitorInputError('row_text', { column })
}

function everyOf(text: string): number {
  const read = parseDuration(text)
  if (read.ok && read.value >= EVERY.minMs && read.value <= EVERY.maxMs) return read.value
  throw monitorInputError('row_every', { text })
}

/** Labels of a cell, divided by `;`, or of a list in NDJSON. */
function labelCells(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(String)
  return isJsonRecord(value) ? [] : String(value).split(';')
}
