import type pg from 'pg'

/**
 * Writes down who claimed which row under which fence, and who wrote its result: by a trigger, so that the database
 * tells it and not the nodes.
 */
export const HISTORY = `
  CREATE TABLE public.history (
    n bigserial PRIMARY KEY, job integer, line bigint, input text, what text, fence bigint, node inet, at timestamptz DEFAULT clock_timestamp());
  CREATE INDEX ON public.history (job, line, what, n);
  CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF new.fence > old.fence AND new.fence % 2 = 1 THEN
      INSERT INTO public.history (job, line, input, what, fence, node) VALUES (new.job, new.line, new.input, 'claim', new.fence, inet_client_addr());
    ELSIF new.result IS DISTINCT FROM old.result THEN
      INSERT INTO public.history (job, line, input, what, fence, node) VALUES (new.job, new.line, new.input, 'result', new.fence, inet_client_addr());
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER note AFTER UPDATE ON mailsonde.job_rows FOR EACH ROW EXECUTE FUNCTION public.note();
  -- A large job has a table of its own.
  CREATE FUNCTION public.watch() RETURNS event_trigger LANGUAGE plpgsql AS $$
  DECLARE made record;
  BEGIN
    FOR made IN SELECT * FROM pg_event_trigger_ddl_commands() WHERE object_identity ~ '^mailsonde.job_rows_[0-9]+$' AND object_type = 'table' LOOP
      EXECUTE format('CREATE OR REPLACE TRIGGER note AFTER UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION public.note()', made.object_identity);
    END LOOP;
  END $$;
  CREATE EVENT TRIGGER watch ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION public.watch();`

/** The table of a job's rows. */
export async function tableOf(client: pg.Client, job: string): Promise<string> {
  const { rows } = await client.query<{ number: number; own_table: boolean }>(
    'SELECT number, own_table FROM mailsonde.jobs WHERE id = $1',
    [job],
  )
  return rows[0]?.own_table ? `mailsonde.job_rows_${rows[0].number}` : 'mailsonde.job_rows'
}

export type Verdict = {
  readonly rows: number
  readonly withoutResult: number
  /** Rows whose result was written more than once. */
  readonly writtenTwice: number
  /** Results that were not written by the node of the last claim before them. */
  readonly writtenByOthers: number
}

/** Judges the history of a job. */
export async function judge(client: pg.Client, job: string): Promise<Verdict> {
  const table = await tableOf(client, job)
  const { rows } = await client.query<Verdict>(
    `
    WITH of AS (SELECT number FROM mailsonde.jobs WHERE id = $1),
    rows AS (SELECT line, result FROM ${table} WHERE job = (SELECT number FROM of)),
    results AS (SELECT h.*, (SELECT c.node FROM public.history c
        WHERE c.job = h.job AND c.line = h.line AND c.what = 'claim' AND c.n < h.n ORDER BY c.n DESC LIMIT 1) AS claimer,
        (SELECT max(c.fence) FROM public.history c WHERE c.job = h.job AND c.line = h.line AND c.what = 'claim' AND c.n < h.n) AS last
      FROM public.history h WHERE h.what = 'result' AND h.job = (SELECT number FROM of))
    SELECT (SELECT count(*)::int FROM rows) AS rows,
      (SELECT count(*)::int FROM rows WHERE result IS NULL) AS "withoutResult",
      (SELECT count(*)::int FROM (SELECT line FROM results GROUP BY line HAVING count(*) > 1) twice) AS "writtenTwice",
      (SELECT count(*)::int FROM results WHERE claimer IS DISTINCT FROM node OR fence <> last + 1) AS "writtenByOthers"`,
    [job],
  )
  return rows[0]!
}

/** The mailboxes (before the @) of number of rows that have a result. */
export async function answered(client: pg.Client, job: string): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ input: string }>(
    `SELECT input FROM ${await tableOf(client, job)} WHERE job = (SELECT number FROM mailsonde.jobs WHERE id = $1) AND state = 'done'`,
    [job],
  )
  return new Set(rows.map(({ input }) => input.split('@')[0]!.toLowerCase()))
}
