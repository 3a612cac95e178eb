import { randomBytes } from 'node:crypto'
import type { MonitorImport, MonitorSummary } from '../answers/monitors.ts'
import { inTurns } from '../base/at-most.ts'
import type { Owner } from '../names/owner.ts'
import { registrableDomain } from '../names/suffix.ts'
import type { MonitorRow, NewMonitor } from '../store/postgres/monitors.ts'
import {
  type ImportedColumn,
  type MonitorCount,
  type MonitorFilter,
  type Portfolio,
  PROFILE,
} from '../store/postgres/portfolio.ts'
import { monitorError } from './problems.ts'

export const MAX_LABELS = 20
/** Maximum number of monitors per key. */
export const MAX_MONITORS = 20_000
const DAY_MS = 86_400_000
/** Values of a dimension that a summary names. */
const MOST_VALUES = 20
/** Changes that a dry run names. */
const MOST_CHANGES = 1_000

/** A row of an import; what is undefined stays as it is, or gets the default of a new monitor. */
export type ImportRow = {
  readonly line: number
  readonly kind: string
  readonly target: string
  readonly domain: string
  readonly when: readonly string[]
} & { readonly [Column in ImportedColumn]?: MonitorRow[Column] }

export type ImportCounts = Omit<MonitorImport, 'bad_rows' | 'bad_rows_left_out' | 'ignored_columns' | 'dry_run'>

export type ManyEdit = Parameters<Portfolio['change']>[1]

/** The organizational domain of a name; '' for none. */
export const organizationOf = (name: string): string => (name === '' ? '' : (registrableDomain(name) ?? name))

/** Counts of monitors by what is known of them; `compare` is a day (UTC), of whose end the values are. */
export async function summaryOf(
  portfolio: Portfolio,
  filter: MonitorFilter,
  compare: string | undefined,
  { nowMs, profiles: names }: { readonly nowMs: number; readonly profiles: readonly string[] },
): Promise<MonitorSummary> {
  const [now, domains, week, month, compared] = await Promise.all([
    portfolio.count(filter),
    portfolio.organizations(filter),
    portfolio.changesSince(filter, new Date(nowMs - 7 * DAY_MS)),
    portfolio.changesSince(filter, new Date(nowMs - 28 * DAY_MS)),
    compare === undefined ? undefined : portfolio.changesSince(filter, new Date(Date.parse(compare) + DAY_MS - 1)),
  ])
  const of = (dimension: string): MonitorSummary['grade'] => {
    const counted = (counts: readonly MonitorCount[] | undefined): ReadonlyMap<string, number> =>
      new Map(counts?.filter((one) => one.dimension === dimension).map(({ value, count }) => [value, count]))
    const [counts, ofWeek, ofMonth, ofDay] = [now, week, month, compared].map(counted)
    return [...new Set([...counts!.keys(), ...ofWeek!.keys(), ...ofMonth!.keys(), ...ofDay!.keys()])]
      .map((value) => {
        const count = counts!.get(value) ?? 0
        const changes = { change_7_days: ofWeek!.get(value) ?? 0, change_28_days: ofMonth!.get(value) ?? 0 }
        return { value, count, ...changes, ...(compared && { compared: count - (ofDay!.get(value) ?? 0) }) }
      })
      .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, MOST_VALUES)
  }
  const state = of('state').map(({ value, count }) => ({ value, count, change_7_days: null, change_28_days: null }))
  const total = state.reduce((sum, { count }) => sum + count, 0)
  const profiles = names.map((name) => {
    const values = of(`${PROFILE}${name}`)
    const none = { count: 0, change_7_days: 0, change_28_days: 0, ...(compared && { compared: 0 }) }
    const { count: met, ...changes } = { ...none, ...values.find(({ value }) => value === 'met') }
    const unmet = values.find(({ value }) => value === 'not_met')?.count ?? 0
    return {
      ...{ name, met, not_met: unmet, unknown: total - met - unmet },
      ...{ change_7_days: changes.change_7_days ?? 0, change_28_days: changes.change_28_days ?? 0 },
      ...(changes.compared !== undefined && { compared: changes.compared }),
    }
  })
  return {
    total,
    ...domains,
    ...(compare !== undefined && { compare }),
    ...{ grade: of('grade'), state, phase: of('phase'), policy: of('policy'), mta_sts: of('mta_sts') },
    ...{ dnssec: of('dnssec'), provider: of('provider'), role: of('role'), findings: of('findings'), profiles },
  }
}

/**
 * Creates and changes monitors, all or none. A row about the kind and target of an earlier one follows it. Rejects with
 * `limit_reached`.
 */
export async function importRows(
  portfolio: Portfolio,
  rows: readonly ImportRow[],
  { everyMs, isDryRun, at }: { readonly everyMs: number; readonly isDryRun: boolean; readonly at: Date },
  owner: Owner,
): Promise<ImportCounts> {
  const stored = await portfolio.existing(owner.id)
  const added = new Map<string, NewMonitor>()
  const changed = new Map<string, MonitorRow>()
  const changes: { line: number; target: string; change: string }[] = []
  let unchanged = 0
  await inTurns(rows, (row) => {
    const key = `${row.kind} ${row.target}`
    const note = (change: string): void => {
      if (isDryRun && changes.length < MOST_CHANGES) changes.push({ line: row.line, target: row.target, change })
    }
    const before = changed.get(key) ?? stored.get(key)
    const made = added.get(key)
    if (!before && !made) {
      added.set(key, newMonitor(row, { at, everyMs, owner: owner.id }))
      return note('create')
    }
    const was = before ?? made!
    const edit = differences(was, row)
    const words = Object.keys(edit).map((name) => WORDS[name as ImportedColumn])
    if (words.length === 0) return void unchanged++
    if (before) changed.set(key, { ...before, ...edit })
    else added.set(key, { ...made!, ...edit })
    note(`update: ${words.join(', ')}`)
  })
  if (stored.size + added.size > MAX_MONITORS) throw monitorError('too_many', { max: MAX_MONITORS })
  const counts = { created: added.size, updated: changed.size, unchanged }
  if (isDryRun) return { ...counts, changes }
  const edits = [...changed.values()].map(({ number, name, labels, contact, note, every_ms }) => ({
    ...{ number, name, labels, contact, note, every_ms },
  }))
  const isStored = await portfolio.store(owner.id, { added: [...added.values()], changed: edits }, MAX_MONITORS)
  if (!isStored) throw monitorError('too_many', { max: MAX_MONITORS })
  return counts
}

const WORDS: Readonly<Record<ImportedColumn, string>> = {
  name: 'name',
  labels: 'labels',
  contact: 'owner',
  note: 'note',
  every_ms: 'every',
}

function differences(was: Pick<NewMonitor, ImportedColumn>, row: ImportRow): Partial<Pick<MonitorRow, ImportedColumn>> {
  const names = Object.keys(WORDS) as ImportedColumn[]
  return Object.fromEntries(
    names
      .filter((name) => row[name] !== undefined && JSON.stringify(row[name]) !== JSON.stringify(was[name]))
      .map((name) => [name, row[name]]),
  )
}

const newMonitor = (
  row: ImportRow,
  { at, everyMs, owner }: { readonly at: Date; readonly everyMs: number; readonly owner: string },
): NewMonitor => ({
  id: `mon_${randomBytes(16).toString('base64url')}`,
  owner,
  name: row.name ?? '',
  kind: row.kind,
  target: row.target,
  domain: row.domain,
  organization: organizationOf(row.domain),
  every_ms: row.every_ms ?? everyMs,
  options: '{}',
  notify: '[]',
  conditions: JSON.stringify(row.when),
  quiet: null,
  is_public: false,
  enabled: true,
  created_at: at,
  next_run: at,
  labels: row.labels ?? [],
  contact: row.contact ?? '',
  note: row.note ?? '',
})
