import { type JobAnswer, jobAnswer } from '../../src/answers/jobs.ts'
import { type JobService, jobService } from '../../src/jobs/service.ts'
import example from '../../src/operations/examples/job.json' with { type: 'json' }
import type { IdempotencyKeys } from '../../src/store/postgres/idempotency-keys.ts'
import type { JobRecord } from '../../src/store/postgres/jobs.ts'

/** The job of the examples. */
export const labJob: JobAnswer = jobAnswer.parse(example)

/** A job as it is kept, before anything was done. */
export const labJobRecord = (over: Partial<JobRecord> = {}): JobRecord => ({
  number: 1,
  id: labJob.id,
  kind: 'verify',
  name: labJob.name,
  owner: '',
  state: 'running',
  options: {},
  created_at: new Date(labJob.created_at),
  touched_at: new Date(labJob.created_at),
  expires_at: new Date(labJob.expires_at),
  finished_at: null,
  first_result_at: null,
  received: 0,
  next_line: 1,
  rows: 0,
  own_table: false,
  duplicates: 0,
  bad_rows: 0,
  failure: null,
  ...over,
})

/**
 * A service without a database: it has the job of the examples, whatever is asked. A test of jobs themselves brings the
 * real one, over labDatabase.
 */
export const labJobs: JobService = {
  submit: async () => labJob,
  resumeUpload: async () => labJob,
  show: async () => labJob,
  event: async () => labJob,
  list: async () => ({ jobs: [labJob], next: undefined }),
  change: async () => labJob,
  remove: async () => {},
  results: async () => ({ job: labJobRecord(), layout: undefined, rows: [] }),
  badRows: async () => [],
  watch: async function* () {
    yield labJob
  },
  forget: async () => ({
    ...{ rows: 0, results: 0, columns: 0, bad_rows: 0 },
    ...{ job_texts: 0, monitor_texts: 0, webhooks: 0, deliveries: 0, idempotency_keys: 0, texts_of_others: 0 },
  }),
  queue: async () => undefined,
  start: async () => {},
  stop: async () => {},
}

type Settings = Parameters<typeof jobService>[0]

/** The real service over a database: one provider has all domains and takes 20 rows at once, and accepts every one. */
export function jobsOver(open: Settings['open'], over: Partial<Settings> = {}): JobService {
  const limitsOf = (id: string) => ({ id, concurrent: 20, perMinute: Number.POSITIVE_INFINITY })
  return jobService({
    open,
    ask: async () => ({ result: 'accepted', reason: 'mailbox_exists', answer: {} }),
    findProvider: async () => limitsOf('lab'),
    limitsOf,
    room: (_, claimed) => 20 - claimed,
    now: Date.now,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    maxUpload: 1e6,
    ...over,
  })
}

/** No database, no keys: a test of Idempotency-Key brings the real ones, over labDatabase. */
const noKeys = async (): Promise<never> => {
  throw new Error('the lab has no idempotency keys: bring them over labDatabase')
}
export const labIdempotencyKeys: IdempotencyKeys = {
  claim: noKeys,
  hold: noKeys,
  keep: noKeys,
  sweep: noKeys,
  release: noKeys,
}
