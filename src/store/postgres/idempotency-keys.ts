import { randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { told } from './connect.ts'
import type { Schema } from './schema.ts'

/** A caller's key. Each caller has its own keys. */
type KeyOfCaller = { readonly owner: string; readonly key: string }

/** A stored answer, and the request that it answers. */
type KeptAnswer = {
  readonly status: number
  readonly answer: string
  /** SHA-256 of the streamed body, and its size in octets; undefined if the request had none. */
  readonly body: BodyDigest | undefined
}
export type BodyDigest = { readonly sha256: string; readonly octets: number }

/**
 * The state of a key for a request: `mine` (this caller runs it now), `running` (another call processes it),
 * `answered`, `other_request` (the key belongs to another one), `full` (the caller has the maximum number of keys).
 */
export type Claim =
  | {
      readonly is: 'mine'
      readonly claim: string
      /**
       * 22 random characters that stay the same if the request is run again after a crash: they can name what it
       * creates.
       */
      readonly seed: string
    }
  | { readonly is: 'running'; readonly retryAfterSeconds: number }
  | ({ readonly is: 'answered' } & KeptAnswer)
  | { readonly is: 'other_request' }
  | { readonly is: 'full' }

export type IdempotencyKeys = ReturnType<typeof idempotencyKeysOf>

/** A running request is considered dead if its claim was not renewed for this long. */
const LEASE_SECONDS = 30
/** Maximum number of keys of one caller within 24 hours. */
export const MAX_KEYS = 10_000
/** Number of expired keys that are removed with each new one. */
const SWEPT = 100

export const idempotencyKeysOf = (open: () => Promise<Kysely<Schema>>) => ({
  /** Claims a key for a request (`request` is its digest), for {@link LEASE_SECONDS} s at a time. */
  claim: told(async (of: KeyOfCaller, request: string) => claim(await open(), of, request)),
  /** Renews a claim; false if it was lost: another call works on the request. */
  hold: async (claim: string): Promise<boolean> => {
    const { numAffectedRows } = await sql`
      UPDATE mailsonde.idempotency_keys SET leased_until = now() + make_interval(secs => ${LEASE_SECONDS})
      WHERE claim = ${claim}::uuid`.execute(await open())
    return Number(numAffectedRows) > 0
  },
  /** Stores the answer for 24 h, if the claim was not lost in the meantime. */
  keep: async (claim: string, { status, answer, body }: KeptAnswer): Promise<void> => {
    await sql`
      UPDATE mailsonde.idempotency_keys SET status = ${status}, answer = ${answer}, body_sha256 = ${body?.sha256 ?? null},
        body_octets = ${body?.octets ?? null}, expires_at = now() + interval '24 h'
      WHERE claim = ${claim}::uuid AND status IS NULL`.execute(await open())
  },
  /** Removes expired keys, at most {@link SWEPT}; returns whether there may be more. */
  sweep: async () => sweep(await open()),
  /** Releases a key: its request failed and may be repeated. */
  release: async (claim: string): Promise<void> => {
    await sql`DELETE FROM mailsonde.idempotency_keys WHERE claim = ${claim}::uuid AND status IS NULL`.execute(
      await open(),
    )
  },
})

async function sweep(db: Kysely<Schema>): Promise<boolean> {
  const { numAffectedRows } = await sql`
    DELETE FROM mailsonde.idempotency_keys WHERE (owner, key) IN (
      SELECT owner, key FROM mailsonde.idempotency_keys WHERE expires_at <= now() LIMIT ${SWEPT} FOR UPDATE SKIP LOCKED)`.execute(
    db,
  )
  return Number(numAffectedRows) === SWEPT
}

async function claim(db: Kysely<Schema>, { owner, key }: KeyOfCaller, request: string): Promise<Claim> {
  await sweep(db)
  // A key that was released between the two queries is free: the second attempt claims it.
  for (let attempt = 0; attempt < 3; attempt++) {
    const seed = randomBytes(16).toString('base64url')
    const { rows } = await sql<{ claim: string; seed: string }>`
      INSERT INTO mailsonde.idempotency_keys AS k (owner, key, request, seed, leased_until, expires_at)
      SELECT ${owner}, ${key}, ${request}, ${seed}, now() + make_interval(secs => ${LEASE_SECONDS}), now() + interval '24 h'
      WHERE (SELECT count(*) FROM mailsonde.idempotency_keys WHERE owner = ${owner}) < ${MAX_KEYS}
         OR EXISTS (SELECT FROM mailsonde.idempotency_keys WHERE owner = ${owner} AND key = ${key})
      ON CONFLICT (owner, key) DO UPDATE SET claim = gen_random_uuid(), leased_until = excluded.leased_until,
        expires_at = excluded.expires_at, request = excluded.request, status = NULL, answer = NULL,
        seed = CASE WHEN k.expires_at > now() THEN k.seed ELSE excluded.seed END
      WHERE k.expires_at <= now() OR (k.status IS NULL AND k.leased_until <= now() AND k.request = excluded.request)
      RETURNING claim, seed`.execute(db)
    if (rows[0]) return { is: 'mine', ...rows[0] }
    const known = await stateOf(db, owner, key, request)
    if (known) return known
  }
  return { is: 'full' }
}

async function stateOf(db: Kysely<Schema>, owner: string, key: string, request: string): Promise<Claim | undefined> {
  const row = await db
    .selectFrom('mailsonde.idempotency_keys')
    .select(['request', 'status', 'answer', 'body_sha256', 'body_octets'])
    .where('owner', '=', owner)
    .where('key', '=', key)
    .executeTakeFirst()
  if (!row) return undefined
  if (row.request !== request) return { is: 'other_request' }
  if (row.status === null || row.answer === null) return { is: 'running', retryAfterSeconds: RETRY_SECONDS }
  const body = row.body_sha256 === null ? undefined : { sha256: row.body_sha256, octets: row.body_octets ?? 0 }
  return { is: 'answered', status: row.status, answer: row.answer, body }
}

/**
 * When a caller whose first request is still running may try again: late enough for most, and not later than a dead
 * claim expires.
 */
const RETRY_SECONDS = 5
