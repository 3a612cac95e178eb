import { type RawBuilder, sql } from 'kysely'

/** The table of a job's rows. A number is written into the name: nothing else can be in it. */
export const forJob = (job: number): RawBuilder<unknown> => sql.raw(`mailsonde.job_rows_${Math.trunc(job)}`)
