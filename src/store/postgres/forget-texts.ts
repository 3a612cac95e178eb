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
  /** Stored answers and points about others. */
  readonly texts_of_others: number
}

/**
 * Removes a mailbox or a domain from the texts that callers chose (names, options and header names of jobs; names and options of monitors), from the last known answers and the history of
 * monitors, stored answers about others, kept messages and answers for Idempotency-Keys, and removes webhooks whose URL has it.
 */
export const forgetTexts = (db: Kysely<Schema>, what: Forgotten): Promise<ForgottenTexts> =>
  db.transaction().execute(async (tx) => {
    await sql`SET LOCAL statement_timeout = 0`.execute(tx) // stored answers may have 20 GiB
    return forgetIn(tx, what)
  })

async function forgetIn(db: Kysely<Schema>, what: Forgotten): Promise<ForgottenTexts> {
  const [text, json] = [forgetPattern(what, 'text'), forgetPattern(what, 'json')]
  const inText = (column: string): RawBuilder<unknown> => sql`${sql.ref(column)} ~* ${text}`
  const inJson = (column: string): RawBuilder<unknown> => sql`${sql.ref(column)}::text ~* ${json}`
  const replaced = (column: string): RawBuilder<unknown> => replacedAs(column, text)
  const replacedIn = (column: string): RawBuilder<unknown> =>
    sql`regexp_replace(${sql.ref(column)}::text, ${json}, ${REMOVED}, 'gi')::jsonb`
  const replacedAs = (column: string, pattern: string): RawBuilder<unknown> =>
    sql`regexp_replace(${sql.ref(column)}, ${pattern}, ${REMOVED}, 'gi')`
  const count = async (statement: RawBuilder<unknown>): Promise<number> =>
    Number((await statement.execute(db)).numAffectedRows ?? 0)
  return {
    job_texts: await count(sql`
      UPDATE mailsonde.jobs SET name = ${replaced('name')}, options = ${replacedIn('options')}, layout = ${replacedIn('layout')}
      WHERE ${inText('name')} OR ${inJson('options')} OR ${inJson('layout')}`),
    monitor_texts: await count(sql`
      UPDATE mailsonde.monitors SET name = ${replaced('name')}, options = ${replacedIn('options')}, known = ${replacedAs('known', json)},
        last = ${replacedIn('last')}, notifier = ${replacedIn('notifier')}
      WHERE ${inText('name')} OR ${inJson('options')} OR ${inJson('known')} OR ${inJson('last')} OR ${inJson('notifier')}`),
    webhooks: await count(sql`DELETE FROM mailsonde.webhooks WHERE ${inText('url')}`),
    deliveries: await count(sql`
      UPDATE mailsonde.deliveries SET body = regexp_replace(body, ${json}, ${REMOVED}, 'gi') WHERE ${inJson('body')}`),
    idempotency_keys: await count(sql`
      DELETE FROM mailsonde.idempotency_keys WHERE status IS NOT NULL AND (${inJson('answer')} OR ${inText('key')})`),
    texts_of_others:
      (await count(sql`
        UPDATE mailsonde.stored_answers SET subject = ${replaced('subject')}, answer = ${replacedAs('answer', json)}
        WHERE answer IS NOT NULL AND (${inText('subject')} OR ${inJson('answer')})`)) +
      (await count(sql`
        UPDATE mailsonde.monitor_points SET changes = ${replacedIn('changes')}, reason = ${replaced('reason')}
        WHERE (changes IS NOT NULL OR reason IS NOT NULL) AND (${inJson('changes')} OR ${inText('reason')})`)),
  }
}
