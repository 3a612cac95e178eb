import { type Kysely, type RawBuilder, sql } from 'kysely'
import { type Forgotten, forgetPattern, REMOVED } from './forget-pattern.ts'
import type { Schema } from './schema.ts'

/** Texts in which the name stood, by place. */
export type ForgottenTexts = {
  readonly job_texts: number
  readonly monitor_texts: number
  readonly webhooks: number
  readonly deliveries: number
  readonly idempotency_keys: number
}

/**
 * Removes a mailbox or a domain from the texts that callers chose (names, options and header names of jobs; names of monitors), from kept messages and answers for Idempotency-Keys,
 * and removes webhooks whose URL has it.
 */
export async function forgetTexts(db: Kysely<Schema>, what: Forgotten): Promise<ForgottenTexts> {
  const [text, json] = [forgetPattern(what, 'text'), forgetPattern(what, 'json')]
  const inText = (column: string): RawBuilder<unknown> => sql`${sql.ref(column)} ~* ${text}`
  const inJson = (column: string): RawBuilder<unknown> => sql`${sql.ref(column)}::text ~* ${json}`
  const replaced = (column: string): RawBuilder<unknown> =>
    sql`regexp_replace(${sql.ref(column)}, ${text}, ${REMOVED}, 'gi')`
  const replacedIn = (column: string): RawBuilder<unknown> =>
    sql`regexp_replace(${sql.ref(column)}::text, ${json}, ${REMOVED}, 'gi')::jsonb`
  const count = async (statement: RawBuilder<unknown>): Promise<number> =>
    Number((await statement.execute(db)).numAffectedRows ?? 0)
  return {
    job_texts: await count(sql`
      UPDATE mailsonde.jobs SET name = ${replaced('name')}, options = ${replacedIn('options')}, layout = ${replacedIn('layout')}
      WHERE ${inText('name')} OR ${inJson('options')} OR ${inJson('layout')}`),
    monitor_texts: await count(sql`UPDATE mailsonde.monitors SET name = ${replaced('name')} WHERE ${inText('name')}`),
    webhooks: await count(sql`DELETE FROM mailsonde.webhooks WHERE ${inText('url')}`),
    deliveries: await count(sql`
      UPDATE mailsonde.deliveries SET body = regexp_replace(body, ${json}, ${REMOVED}, 'gi') WHERE ${inJson('body')}`),
    idempotency_keys: await count(sql`
      DELETE FROM mailsonde.idempotency_keys WHERE status IS NOT NULL AND (${inJson('answer')} OR ${inText('key')})`),
  }
}
