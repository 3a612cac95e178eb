import { type Kysely, type RawBuilder, sql } from 'kysely'
import { APPLIES, HAS_FINDING } from './accepted.ts'
import { COLUMNS, type MonitorRow, type NewMonitor } from './monitors.ts'
import type { Schema } from './schema.ts'

/** Which monitors; every member narrows them. `unknown` of a fact also means those of which nothing is known. */
export type MonitorFilter = {
  /** The key that made them. */
  readonly owner?: string
  readonly label?: string
  /** Targets at or below this organizational domain. */
  readonly organization?: string
  /** Mail address of who is responsible, lower case. */
  readonly contact?: string
  /** In one of these states. */
  readonly states?: readonly string[]
  /** With one of these values of each fact. */
  readonly facts: { readonly [Fact in FilteredFact]?: readonly string[] }
  /** Id of a finding. */
  readonly finding?: string
  /** A profile of which a rule is not met. */
  readonly profileNotMet?: string
  /** With an accepted finding, at this time. */
  readonly acceptedAt?: Date
  /** No report of DMARC about the domain has come in since. */
  readonly noReportsSince?: Date
  readonly changedSince?: Date
  /** A part of the target, name, note or a label; any case. */
  readonly text?: string
}
export const FILTERED_FACTS = ['grade', 'role', 'provider', 'policy', 'phase', 'mta_sts', 'dnssec'] as const
type FilteredFact = (typeof FILTERED_FACTS)[number]

/** The orders of a list. Each key ascends; equal ones follow by number. */
export const MONITOR_SORTS = ['newest', 'name', 'domain', 'score', 'worst', 'changed'] as const
export type MonitorSort = (typeof MONITOR_SORTS)[number]

const RANK = sql`CASE facts #>> '{worst,severity}' WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 WHEN 'low' THEN 3 ELSE 4 END`
const SCORE = sql`coalesce((facts ->> 'score')::int, 101)`
const KEYS: Readonly<Record<MonitorSort, RawBuilder<unknown>>> = {
  newest: sql`(-number)::float8`,
  name: sql`lower(CASE WHEN name = '' THEN target ELSE name END) COLLATE "C"`,
  // the names below an organizational domain follow it
  domain: sql`(organization || ' ' || CASE WHEN target = organization THEN '' ELSE lower(target) END) COLLATE "C"`,
  score: sql`${SCORE}::float8`,
  worst: sql`(${RANK} * 1000 + ${SCORE})::float8`,
  changed: sql`coalesce(-extract(epoch FROM changed_at), 0)::float8`,
}

/** The facts as columns. */
const VALUES = FILTERED_FACTS.map((fact) => sql`coalesce(facts ->> ${sql.lit(fact)}, 'unknown') AS ${sql.ref(fact)}`)

export type MonitorPlace = readonly [key: string | number, number: number]
type ListedMonitor = MonitorRow & { readonly place: MonitorPlace }

const likeText = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

function conditionOf(filter: MonitorFilter): RawBuilder<unknown> {
  const {
    owner,
    label,
    organization,
    contact,
    states,
    facts,
    finding,
    acceptedAt,
    noReportsSince,
    changedSince,
    text,
  } = filter
  const { profileNotMet } = filter
  const all: RawBuilder<unknown>[] = [sql`true`]
  if (owner !== undefined) all.push(sql`owner = ${owner}`)
  if (label !== undefined) all.push(sql`labels @> ARRAY[${label}]::text[]`)
  if (organization !== undefined) all.push(sql`organization = ${organization}`)
  if (contact !== undefined) all.push(sql`lower(contact) = ${contact}`)
  if (states !== undefined) all.push(sql`state = ANY (${states}::text[])`)
  for (const fact of FILTERED_FACTS) {
    const values = facts[fact]
    if (values !== undefined) all.push(sql`coalesce(facts ->> ${sql.lit(fact)}, 'unknown') = ANY (${values}::text[])`)
  }
  if (finding !== undefined) all.push(sql`facts -> 'findings' @> ${JSON.stringify([finding])}::jsonb`)
  if (profileNotMet !== undefined) all.push(sql`facts -> 'profiles' ->> ${profileNotMet} = 'not_met'`)
  if (acceptedAt !== undefined)
    all.push(sql`EXISTS (
      SELECT FROM mailsonde.accepted a WHERE a.until > ${acceptedAt} AND ${APPLIES} AND ${HAS_FINDING})`)
  if (noReportsSince !== undefined)
    all.push(sql`domain <> '' AND NOT EXISTS (
      SELECT FROM mailsonde.reports r WHERE reverse(r.domain) = reverse(m.domain)
        AND r.kind = 'dmarc' AND r.counts AND r.day >= ${noReportsSince}::date)`)
  if (changedSince !== undefined) all.push(sql`changed_at >= ${changedSince}`)
  if (text !== undefined) {
    const like = likeText(text)
    all.push(sql`(target ILIKE ${like} OR name ILIKE ${like} OR note ILIKE ${like}
      OR EXISTS (SELECT FROM unnest(labels) AS l WHERE l ILIKE ${like}))`)
  }
  return sql.join(all, sql` AND `)
}

/** The dimension of a profile is this and its name. */
export const PROFILE = 'profile '
/** How many monitors have a value of a dimension: a fact, `state`, `findings` or a profile. */
export type MonitorCount = { readonly dimension: string; readonly value: string; readonly count: number }

/** What an import can say of a monitor beside its kind and target. */
export type ImportedColumn = 'name' | 'labels' | 'contact' | 'note' | 'every_ms'

type ImportedRows = {
  readonly added: readonly NewMonitor[]
  readonly changed: readonly Pick<MonitorRow, 'number' | ImportedColumn>[]
}

/** Rows of one statement. */
const BATCH = 500

/** Counts over many monitors, now and since a time. */
const monitorCountsOf = (db: Kysely<Schema>) => ({
  /** How many have each value of each dimension. */
  count: async (filter: MonitorFilter): Promise<readonly MonitorCount[]> => {
    const monitors = sql`(SELECT ${sql.join([...VALUES, sql`state`])} FROM mailsonde.monitors m WHERE ${conditionOf(filter)}) AS m`
    const names = [...FILTERED_FACTS, 'state'].map((name) => sql.ref(name))
    const [byFact, byFinding, byProfile] = await Promise.all([
      // one pass over the monitors for all dimensions
      sql<MonitorCount>`
        SELECT CASE ${sql.join(
          names.map(
            (name, place) => sql`WHEN grouping(${name}) = 0 THEN ${sql.lit([...FILTERED_FACTS, 'state'][place]!)}`,
          ),
          sql` `,
        )} END AS dimension, coalesce(${sql.join(names)}) AS value, count(*)::int AS count
        FROM ${monitors} GROUP BY GROUPING SETS (${sql.join(names.map((name) => sql`(${name})`))})`.execute(db),
      sql<MonitorCount>`
        SELECT 'findings' AS dimension, f AS value, count(*)::int AS count
        FROM mailsonde.monitors m CROSS JOIN LATERAL jsonb_array_elements_text(facts -> 'findings') AS f
        WHERE ${conditionOf(filter)} GROUP BY f`.execute(db),
      sql<MonitorCount>`
        SELECT ${PROFILE} || p.key AS dimension, p.value, count(*)::int AS count
        FROM mailsonde.monitors m CROSS JOIN LATERAL jsonb_each_text(facts -> 'profiles') AS p
        WHERE ${conditionOf(filter)} GROUP BY p.key, p.value`.execute(db),
    ])
    return [...byFact.rows, ...byFinding.rows, ...byProfile.rows]
  },

  /**
   * How many more have each value of each dimension but `state` than at a time. Only those are read that have changed
   * or come since.
   */
  changesSince: async (filter: MonitorFilter, time: Date): Promise<readonly MonitorCount[]> => {
    const { rows } = await sql<MonitorCount>`
      WITH changed AS MATERIALIZED (
        SELECT number, facts, created_at > ${time} AS is_new FROM mailsonde.monitors m
        WHERE ${conditionOf(filter)} AND (created_at > ${time} OR number IN (
          SELECT monitor FROM mailsonde.monitor_points WHERE at > ${time} AND facts IS NOT NULL))),
      seen AS (
        SELECT 1 AS sign, facts FROM changed
        UNION ALL
        SELECT -1, (SELECT p.facts FROM mailsonde.monitor_points p
          WHERE p.monitor = number AND p.at <= ${time} AND p.facts IS NOT NULL ORDER BY p.at DESC LIMIT 1)
        FROM changed WHERE NOT is_new),
      valued AS (
        SELECT sign, d.dimension, d.value FROM (SELECT sign, ${sql.join(VALUES)} FROM seen) AS s CROSS JOIN LATERAL (
          VALUES ${sql.join(FILTERED_FACTS.map((fact) => sql`(${sql.lit(fact)}, ${sql.ref(fact)})`))}) AS d (dimension, value)
        UNION ALL
        SELECT sign, 'findings', f FROM seen CROSS JOIN LATERAL jsonb_array_elements_text(facts -> 'findings') AS f
        UNION ALL
        SELECT sign, ${PROFILE} || p.key, p.value FROM seen CROSS JOIN LATERAL jsonb_each_text(facts -> 'profiles') AS p)
      SELECT dimension, value, sum(sign)::int AS count FROM valued GROUP BY dimension, value HAVING sum(sign) <> 0`.execute(
      db,
    )
    return rows
  },
})

/** Lists, counts and changes over many monitors of a database. */
export const portfolioOf = (db: Kysely<Schema>) => ({
  ...monitorCountsOf(db),
  list: async (
    filter: MonitorFilter,
    page: { readonly sort: MonitorSort; readonly after?: MonitorPlace; readonly limit: number },
  ): Promise<readonly ListedMonitor[]> => {
    const key = KEYS[page.sort]
    const type = page.sort === 'name' || page.sort === 'domain' ? sql`text` : sql`float8`
    const after =
      page.after === undefined
        ? sql`true`
        : sql`(${key}, number) > (${page.after[0]}::${type}, ${page.after[1]}::bigint)`
    const { rows } = await sql<MonitorRow & { readonly key: string | number }>`
      SELECT ${sql.join(COLUMNS.map((one) => sql.ref(one)))}, ${key} AS key FROM mailsonde.monitors m
      WHERE ${conditionOf(filter)} AND ${after} ORDER BY ${key}, number LIMIT ${page.limit}`.execute(db)
    return rows.map(({ key, ...row }) => ({ ...row, place: [key, row.number] as const }))
  },

  /** How many organizational domains the targets are at or below, and how many names of them are below. */
  organizations: async (filter: MonitorFilter): Promise<{ readonly organizations: number; readonly below: number }> => {
    const { rows } = await sql<{ organizations: number; below: number }>`
      SELECT (count(DISTINCT organization) FILTER (WHERE organization <> ''))::int AS organizations,
        (count(DISTINCT domain) FILTER (WHERE domain <> organization))::int AS below
      FROM mailsonde.monitors m WHERE ${conditionOf(filter)}`.execute(db)
    return rows[0]!
  },

  /** Changes all that the filter selects; returns their number. */
  change: async (filter: MonitorFilter, edit: ManyEdit, maxLabels: number, now: Date): Promise<number> => {
    const sets = setsOf(edit, maxLabels, now)
    if (sets.length === 0) return 0
    const { numAffectedRows } = await sql`
      UPDATE mailsonde.monitors m SET ${sql.join(sets)}
      WHERE ${conditionOf(filter)} ${edit.enabled === undefined ? sql`` : sql`AND enabled <> ${edit.enabled}`}`.execute(
      db,
    )
    return Number(numAffectedRows ?? 0)
  },

  /** Makes all that the filter selects due that are enabled and have not run since `since`; returns their number. */
  run: async (filter: MonitorFilter, since: Date, now: Date): Promise<number> => {
    const { numAffectedRows } = await sql`
      UPDATE mailsonde.monitors m SET next_run = ${now}
      WHERE ${conditionOf(filter)} AND enabled AND (ran_at IS NULL OR ran_at < ${since})`.execute(db)
    return Number(numAffectedRows ?? 0)
  },

  /** The monitors of a key, by kind and target; the oldest of several with the same. */
  existing: async (owner: string): Promise<ReadonlyMap<string, MonitorRow>> => {
    const rows = await db
      .selectFrom('mailsonde.monitors')
      .select(COLUMNS)
      .where('owner', '=', owner)
      .orderBy('number', 'desc')
      .execute()
    return new Map(rows.map((row) => [`${row.kind} ${row.target}`, row]))
  },

  store: (owner: string, rows: ImportedRows, most: number) => storeImported(db, owner, rows, most),
})
export type Portfolio = ReturnType<typeof portfolioOf>

/** What a change of many sets. */
type ManyEdit = {
  readonly labels?: readonly string[]
  readonly addLabels?: readonly string[]
  readonly removeLabels?: readonly string[]
  readonly contact?: string
  readonly note?: string
  readonly everyMs?: number
  readonly enabled?: boolean
}

/** The columns that a change sets. */
function setsOf(edit: ManyEdit, maxLabels: number, now: Date): readonly RawBuilder<unknown>[] {
  const { labels, addLabels, removeLabels = [], contact, note, everyMs, enabled } = edit
  const sets: RawBuilder<unknown>[] = []
  if (labels || addLabels || removeLabels.length > 0)
    sets.push(sql`labels = (ARRAY(
      SELECT l FROM unnest(${labels === undefined ? sql`labels` : sql`${labels}::text[]`} || ${addLabels ?? []}::text[])
        WITH ORDINALITY AS u (l, place)
      WHERE NOT l = ANY (${removeLabels}::text[]) GROUP BY l ORDER BY min(place)))[1:${sql.lit(maxLabels)}]`)
  if (contact !== undefined) sets.push(sql`contact = ${contact}`)
  if (note !== undefined) sets.push(sql`note = ${note}`)
  if (everyMs !== undefined)
    sets.push(sql`every_ms = ${everyMs}, next_run = greatest(${now}::timestamptz,
      least(next_run, coalesce(ran_at, ${now}::timestamptz) + ${everyMs} * interval '1 millisecond'))`)
  if (enabled !== undefined) sets.push(sql`enabled = ${enabled}`)
  if (enabled) sets.push(sql`next_run = CASE WHEN enabled THEN next_run ELSE ${now}::timestamptz END`)
  return sets
}

/** Adds and changes monitors together, or none of them; false if the key would have more than `most`. */
const storeImported = (
  db: Kysely<Schema>,
  owner: string,
  { added, changed }: ImportedRows,
  most: number,
): Promise<boolean> =>
  db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`monitors of ${owner}`}, 0))`.execute(tx)
    const { rows } = await sql<{ count: number }>`
      SELECT count(*)::int AS count FROM mailsonde.monitors WHERE owner = ${owner}`.execute(tx)
    if ((rows[0]?.count ?? 0) + added.length > most) return false
    for (let at = 0; at < added.length; at += BATCH)
      await tx
        .insertInto('mailsonde.monitors')
        .values(added.slice(at, at + BATCH))
        .execute()
    for (let at = 0; at < changed.length; at += BATCH) {
      const some = changed.slice(at, at + BATCH)
      await sql`
        UPDATE mailsonde.monitors m SET name = c.name, contact = c.contact, note = c.note, every_ms = c.every_ms,
          labels = ARRAY(SELECT jsonb_array_elements_text(c.labels))
        FROM jsonb_to_recordset(${JSON.stringify(some)}::jsonb)
          AS c (number bigint, name text, labels jsonb, contact text, note text, every_ms bigint)
        WHERE m.number = c.number`.execute(tx)
    }
    return true
  })
