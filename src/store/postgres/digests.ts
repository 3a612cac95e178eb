import { type Kysely, sql, type Transaction } from 'kysely'
import type { ConsentState, Schema } from './schema.ts'

/** How often a key sends digests, and when the next one is due. */
export type DigestSetting = {
  readonly owner: string
  readonly every: 'day' | 'week'
  readonly next_at: Date
  /** Changes from before are told in none. */
  readonly since: Date
}

/** An address that is responsible for monitors of a key. */
export type DigestReader = {
  /** Lower case. */
  readonly address: string
  readonly monitors: number
  /** Monitors with a change that no digest has told. */
  readonly changed: number
  readonly is_stopped: boolean
  readonly consent: ConsentState | null
}

export type DigestMonitor = {
  readonly number: number
  readonly address: string
  readonly kind: string
  readonly target: string
  readonly domain: string
  readonly state: string
  readonly facts: unknown
  /** Its changes that no digest has told, oldest first; the newest {@link CHANGES}. */
  readonly changes: readonly unknown[]
}

/** Runs with changes of a monitor that a digest tells. */
const CHANGES = 20

/** Who reads digests, and who has asked for none. */
const digestReadersOf = (db: Kysely<Schema>) => ({
  /** The addresses that are responsible for monitors of a key, in their order. */
  readers: async (
    owner: string,
    page: { readonly since: Date; readonly after?: string; readonly limit: number },
  ): Promise<readonly DigestReader[]> => {
    const { rows } = await sql<DigestReader>`
      SELECT m.address, m.monitors, m.changed, r.stopped_at IS NOT NULL AS is_stopped, c.state AS consent
      FROM (
        SELECT lower(contact) AS address, count(*)::int AS monitors,
          (count(*) FILTER (WHERE changed_at > coalesce(told_at, ${page.since})))::int AS changed
        FROM mailsonde.monitors
        WHERE owner = ${owner} AND contact <> '' AND lower(contact) > ${page.after ?? ''} GROUP BY 1 ORDER BY 1 LIMIT ${page.limit}) AS m
      LEFT JOIN mailsonde.digest_readers r ON r.owner = ${owner} AND r.address = m.address
      LEFT JOIN mailsonde.mail_consents c ON c.owner = ${owner} AND c.address = m.address
      ORDER BY m.address`.execute(db)
    return rows
  },
  /** How many addresses are responsible for monitors of a key, how many monitors have nobody, and their domains. */
  counts: async (
    owner: string,
  ): Promise<{ readonly owners: number; readonly without: number; readonly domains: readonly string[] }> => {
    const { rows } = await sql<{ owners: number; without: number; domains: string[] }>`
      SELECT (count(DISTINCT lower(contact)) FILTER (WHERE contact <> ''))::int AS owners,
        (count(*) FILTER (WHERE contact = ''))::int AS without,
        coalesce(array_agg(DISTINCT domain) FILTER (WHERE domain <> ''), '{}') AS domains
      FROM mailsonde.monitors WHERE owner = ${owner}`.execute(db)
    return rows[0]!
  },
  /**
   * Those of a key that have neither said whether they want mail nor were asked, with a domain of theirs; none at or
   * below a domain of `recipients`.
   */
  unasked: async (
    owner: string,
    recipients: readonly string[],
    limit: number,
  ): Promise<readonly { readonly address: string; readonly about: string }[]> => {
    const { rows } = await sql<{ address: string; about: string }>`
      SELECT lower(contact) AS address, min(CASE WHEN domain = '' THEN target ELSE domain END) AS about FROM mailsonde.monitors m
      WHERE owner = ${owner} AND contact <> '' AND NOT EXISTS (
        SELECT FROM mailsonde.mail_consents c WHERE c.address = lower(m.contact) AND (c.owner = m.owner OR c.state = 'refused'))
        AND NOT EXISTS (
          SELECT FROM unnest(${recipients}::text[]) AS d WHERE right('.' || split_part(lower(contact), '@', -1), length(d) + 1) = '.' || d)
      GROUP BY 1 ORDER BY 1 LIMIT ${limit}`.execute(db)
    return rows
  },

  /** Whether the reader of a token still wants digests; undefined: there is none. */
  reader: async (token: string): Promise<{ readonly owner: string; readonly isStopped: boolean } | undefined> => {
    const { rows } = await sql<{ owner: string; isStopped: boolean }>`
      SELECT owner, stopped_at IS NOT NULL AS "isStopped" FROM mailsonde.digest_readers WHERE token = ${token}`.execute(
      db,
    )
    return rows[0]
  },
  /** The reader of a token gets no more digests; false: there is none. */
  stop: async (token: string, now: Date): Promise<boolean> => {
    const { rows } = await sql`
      UPDATE mailsonde.digest_readers SET stopped_at = coalesce(stopped_at, ${now}) WHERE token = ${token} RETURNING token`.execute(
      db,
    )
    return rows.length > 0
  },
})

/** Digests of a database: their settings, and what their readers got and said. */
export type Digests = ReturnType<typeof digestsOf>

export const digestsOf = (db: Kysely<Schema>) => ({
  ...digestReadersOf(db),
  setting: async (owner: string): Promise<DigestSetting | undefined> => {
    const { rows } = await sql<DigestSetting>`
      SELECT owner, every, next_at, since FROM mailsonde.digests WHERE owner = ${owner}`.execute(db)
    return rows[0]
  },
  /** Turns digests of a key on, or with null off. */
  set: async (owner: string, to: Omit<DigestSetting, 'owner'> | null): Promise<void> => {
    if (to === null) await sql`DELETE FROM mailsonde.digests WHERE owner = ${owner}`.execute(db)
    else
      await sql`
        INSERT INTO mailsonde.digests (owner, every, next_at, since) VALUES (${owner}, ${to.every}, ${to.next_at}, ${to.since})
        ON CONFLICT (owner) DO UPDATE SET every = excluded.every, next_at = excluded.next_at`.execute(db)
  },

  /**
   * A setting that is due, locked until the end of `tx`: one node works on the digests of a key. One further ahead than
   * any comes from a clock that stepped back.
   */
  due: async (tx: Transaction<Schema>, now: Date): Promise<DigestSetting | undefined> => {
    const { rows } = await sql<DigestSetting>`
      SELECT owner, every, next_at, since FROM mailsonde.digests
      WHERE next_at <= ${now} OR next_at > ${now}::timestamptz + interval '8 days'
      ORDER BY next_at LIMIT 1 FOR UPDATE SKIP LOCKED`.execute(tx)
    return rows[0]
  },
  setNext: async (tx: Transaction<Schema>, owner: string, next: Date): Promise<void> => {
    await sql`UPDATE mailsonde.digests SET next_at = ${next} WHERE owner = ${owner}`.execute(tx)
  },

  /** Addresses of a key whose digest of the time `due` was not made yet, at most `limit`. */
  open: async (
    tx: Transaction<Schema>,
    owner: string,
    { due, now, limit }: { readonly due: Date; readonly now: Date; readonly limit: number },
  ): Promise<readonly string[]> => {
    const { rows } = await sql<{ address: string }>`
      SELECT DISTINCT lower(contact) AS address FROM mailsonde.monitors m
      WHERE owner = ${owner} AND contact <> '' AND NOT EXISTS (
        SELECT FROM mailsonde.digest_readers r
        WHERE r.owner = m.owner AND r.address = lower(m.contact) AND r.made_for >= ${due} AND r.made_for <= ${now})
      ORDER BY 1 LIMIT ${limit}`.execute(tx)
    return rows.map(({ address }) => address)
  },

  /** Notes that the digests of `due` are made, and returns the readers that want them, with the token of their link. */
  made: async (
    tx: Transaction<Schema>,
    owner: string,
    due: Date,
    readers: readonly { readonly address: string; readonly token: string }[],
  ): Promise<ReadonlyMap<string, string>> => {
    const { rows } = await sql<{ address: string; token: string; stopped: boolean }>`
      INSERT INTO mailsonde.digest_readers (owner, address, token, made_for)
      SELECT ${owner}, address, token, ${due}::timestamptz
      FROM jsonb_to_recordset(${JSON.stringify(readers)}::jsonb) AS r (address text, token text)
      ON CONFLICT (owner, address) DO UPDATE SET made_for = excluded.made_for
      RETURNING address, token, stopped_at IS NOT NULL AS stopped`.execute(tx)
    return new Map(rows.flatMap(({ address, token, stopped }) => (stopped ? [] : [[address, token] as const])))
  },

  /**
   * The monitors of addresses with their changes since the last digest (else since `since`) until `until`, by target.
   * With `isTold` no later digest tells these changes again, whoever is responsible then.
   */
  monitors: async (
    tx: Kysely<Schema>,
    owner: string,
    addresses: readonly string[],
    { since, until, isTold }: { readonly since: Date; readonly until: Date; readonly isTold: boolean },
  ): Promise<readonly DigestMonitor[]> => {
    const { rows } = await sql<DigestMonitor>`
      SELECT number, lower(contact) AS address, kind, target, domain, state, facts, (
        SELECT coalesce(jsonb_agg(jsonb_build_object('at', c.at, 'changes', c.changes) ORDER BY c.at), '[]') FROM (
          SELECT at, changes FROM mailsonde.monitor_points p
          WHERE p.monitor = m.number AND p.changes IS NOT NULL AND p.at > coalesce(m.told_at, ${since}) AND p.at <= ${until}
          ORDER BY at DESC LIMIT ${CHANGES}) AS c) AS changes
      FROM mailsonde.monitors m WHERE owner = ${owner} AND lower(contact) = ANY (${addresses}::text[])
      ORDER BY target, number ${isTold ? sql`FOR UPDATE` : sql``}`.execute(tx)
    if (isTold && rows.length > 0)
      await sql`
        UPDATE mailsonde.monitors SET told_at = ${until}
        WHERE number = ANY (${rows.map(({ number }) => number)}::bigint[])`.execute(tx)
    return rows
  },
})
