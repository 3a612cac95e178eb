import { type Kysely, type RawBuilder, sql } from 'kysely'
import { unicodeOf } from '../../names/domain.ts'
import { type JobTable, tableOf } from './jobs.ts'
import type { Schema } from './schema.ts'

export type ForgottenRows = {
  /** Rows that were removed from lists. */
  readonly rows: number
  /** Rows of these that had a result. */
  readonly results: number
  /** Rows about others in whose own columns, or answer, it stood: it was replaced by a word there. */
  readonly columns: number
  readonly bad_rows: number
}

/**
 * Removes a mailbox or a domain from the lists of all jobs, with its results, and takes it out of the sums. Upper and
 * lower case are one. Jobs go one by one, each in a transaction: a fault leaves whole jobs done, and the same call does
 * the rest.
 */
export async function forgetRows(db: Kysely<Schema>, what: Forgotten): Promise<ForgottenRows> {
  const [text, json] = [forgetPattern(what, 'text'), forgetPattern(what, 'json')]
  const sum = { rows: 0, results: 0, columns: 0, bad_rows: 0 }
  const jobs = await db.selectFrom('mailsonde.jobs').select(['number', 'own_table']).orderBy('number').execute()
  for (const job of jobs) {
    const gone = await unlessRemoved(db, job.number, () =>
      forgetInJob(db, job, { name: what.name, value: what.value.toLowerCase(), text, json }),
    )
    for (const key of ['rows', 'results', 'columns', 'bad_rows'] as const) sum[key] += gone?.[key] ?? 0
  }
  return sum
}

/** Undefined if the job was removed meanwhile, and its table with it. */
async function unlessRemoved<T>(db: Kysely<Schema>, number: number, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    const job = await db.selectFrom('mailsonde.jobs').select('number').where('number', '=', number).executeTakeFirst()
    if (job === undefined) return undefined
    throw error
  }
}

type Wanted = Forgotten & { readonly text: string; readonly json: string }

const forgetInJob = (
  db: Kysely<Schema>,
  { number: job, own_table }: JobTable,
  { name, value, text, json }: Wanted,
): Promise<ForgottenRows> =>
  db.transaction().execute(async (tx) => {
    await sql`SET LOCAL statement_timeout = 0`.execute(tx)
    const table = tableOf({ number: job, own_table })
    const isMeant = name === 'email' ? sql`lower(key) = ${value}` : sql`(domain = ${value} OR lower(key) = ${value})`
    const { rows } = await sql<{ rows: number; results: number }>`
      WITH gone AS (
        DELETE FROM ${table} WHERE job = ${job} AND (${isMeant} OR input ~* ${text})
        RETURNING state, provider, result, reason, copies),
      counted AS (
        UPDATE mailsonde.job_counts c SET n = c.n - g.n FROM (
          SELECT provider, coalesce(result, '') AS result, coalesce(reason, '') AS reason, sum(1 + copies) AS n FROM gone
          WHERE state = 'done' GROUP BY 1, 2, 3) g
        WHERE c.job = ${job} AND c.provider = g.provider AND c.result = g.result AND c.reason = g.reason),
      provided AS (
        UPDATE mailsonde.job_providers p SET rows = p.rows - g.n, done = p.done - g.done FROM (
          SELECT provider, sum(1 + copies) AS n, coalesce(sum(1 + copies) FILTER (WHERE state = 'done'), 0) AS done FROM gone
          WHERE provider IS NOT NULL AND state <> 'duplicate' GROUP BY 1) g
        WHERE p.job = ${job} AND p.provider = g.provider),
      summed AS (
        UPDATE mailsonde.jobs SET rows = greatest(0, rows - (SELECT count(*) FROM gone)),
          duplicates = greatest(0, duplicates - (SELECT count(*) FROM gone WHERE state = 'duplicate'))
        WHERE number = ${job} AND EXISTS (SELECT FROM gone))
      SELECT count(*) AS rows, coalesce(sum(1 + copies) FILTER (WHERE state = 'done'), 0) AS results FROM gone`.execute(
      tx,
    )
    const columns = await sql`
      UPDATE ${table} SET columns = regexp_replace(columns::text, ${json}, ${REMOVED}, 'gi')::jsonb
      WHERE job = ${job} AND columns::text ~* ${json}`.execute(tx)
    // Answers about others name mailboxes, too: receivers of reports, for example.
    const answers = await sql`
      UPDATE ${table} SET answer = regexp_replace(answer::text, ${json}, ${REMOVED}, 'gi')::json
      WHERE job = ${job} AND answer::text ~* ${json}`.execute(tx)
    const bad = await sql`
      DELETE FROM mailsonde.job_bad_rows WHERE job = ${job} AND text ~* ${text}`.execute(tx)
    if (name === 'domain')
      await sql`DELETE FROM mailsonde.job_domains WHERE job = ${job} AND domain = ${value}`.execute(tx)
    return {
      ...rows[0]!,
      columns: Number(columns.numAffectedRows ?? 0) + Number(answers.numAffectedRows ?? 0),
      bad_rows: Number(bad.numAffectedRows ?? 0),
    }
  })

/**
 * A mailbox, or a domain with the mailboxes of it. `value` is in the canonical form: a local part that needs quotes has
 * them, the domain is an A-label.
 */
export type Forgotten = { readonly name: 'email' | 'domain'; readonly value: string }

/** What stands in the place of a text that was removed. */
const REMOVED = '[removed]'

/**
 * Where a name may begin: not inside a longer one, but behind a character that is percent-encoded and belongs to no
 * name, or behind an escaped line end of JSON.
 */
const ENCODED_END = '%(?:[01][0-9a-f]|2[0-46-9acf]|3[a-f]|40|5[b-e]|60|7[b-f])'
const before = (letters: string): string => `(?:(?<![[:alnum:]${letters}])|(?<=${ENCODED_END})|(?<=\\\\[nrtbf]))`
const AFTER = '(?=\\.?(?:$|[^[:alnum:].-]))'

/**
 * The name as a whole word, as a regular expression of PostgreSQL (without regard to case): `joe@a.example` is not in
 * `xjoe@a.example.org`. It is found in all of its forms: percent-encoded as in URLs, with and without quotes (RFC 5321
 * §4.1.2), the domain in ASCII and in Unicode. In `json`, a quote is only one of the text, not of JSON.
 */
export function forgetPattern({ name, value }: Forgotten, form: 'text' | 'json'): string {
  const at = value.lastIndexOf('@')
  const domain = value.slice(at + 1)
  const unicode = unicodeOf(domain)
  const domains = `(?:${[...new Set([domain, unicode])].map(spelled).join('|')})`
  if (name === 'domain') return `${before('.-')}${domains}${AFTER}`
  const quote = form === 'json' ? '(?:\\\\+"|%22)?' : '(?:"|%22)?'
  return `${before('._%+-')}${quote}${spelled(unquoted(value.slice(0, at)))}${quote}${spelled('@')}${domains}${AFTER}`
}

const unquoted = (local: string): string =>
  local.startsWith('"') ? local.slice(1, -1).replaceAll(/\\(.)/g, '$1') : local

/** Every form in which the characters of a text may be written. */
const spelled = (text: string): string => Array.from(text, spelledCharacter).join('')

function spelledCharacter(character: string): string {
  const cases = [...new Set([character, character.toLowerCase(), character.toUpperCase()])]
  const forms = cases.flatMap((one) => [literal(one), encoded(one)])
  if (character === ' ') forms.push('\\+')
  // Inside quotes it may be escaped, and in JSON once more.
  const escapes = /["\\ ]/.test(character) ? '\\\\*' : ''
  return `${escapes}(?:${[...new Set(forms)].join('|')})`
}

const literal = (character: string): string => (/[a-z0-9]/i.test(character) ? character : `\\${character}`)
const encoded = (character: string): string =>
  Array.from(Buffer.from(character), (octet) => `%${octet.toString(16).padStart(2, '0')}`).join('')

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
 * Removes a mailbox or a domain from the texts that callers chose (names, options and header names of jobs; names and
 * options of monitors), from the last known answers and the history of monitors, stored answers about others, kept
 * messages and answers for Idempotency-Keys, and removes webhooks whose URL has it.
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
        last = ${replacedIn('last')}, notifier = ${replacedIn('notifier')}, note = ${replaced('note')},
        labels = ARRAY(SELECT regexp_replace(l, ${text}, ${REMOVED}, 'gi') FROM unnest(labels) AS l),
        facts = ${replacedIn('facts')}
      WHERE ${inText('name')} OR ${inText('note')} OR array_to_string(labels, ' ') ~* ${text} OR ${inJson('options')} OR ${inJson('known')} OR ${inJson('last')} OR ${inJson('notifier')}`),
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
        UPDATE mailsonde.monitor_points SET changes = ${replacedIn('changes')}, facts = ${replacedIn('facts')}, reason = ${replaced('reason')}
        WHERE (changes IS NOT NULL OR reason IS NOT NULL) AND (${inJson('changes')} OR ${inText('reason')})`)),
  }
}
