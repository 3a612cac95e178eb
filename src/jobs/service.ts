import { randomBytes } from 'node:crypto'
import type { JobAnswer } from '../answers/jobs.ts'
import { sleep } from '../base/deadline.ts'
import type { Json } from '../base/json.ts'
import { onceUnlessFailed } from '../base/share-work.ts'
import type { Owner } from '../names/owner.ts'
import { type Database, throughOutage, told } from '../store/postgres/connect.ts'
import {
  type Forgotten,
  type ForgottenRows,
  type ForgottenTexts,
  forgetRows,
  forgetTexts,
} from '../store/postgres/forget.ts'
import { takeInOf } from '../store/postgres/job-intake.ts'
import { type JobRows, jobRowsOf, type StoredBadRow } from '../store/postgres/job-rows.ts'
import { jobSums, type QueueState, queueState } from '../store/postgres/job-sums.ts'
import { type JobRecord, type Jobs, jobsOf } from '../store/postgres/jobs.ts'
import type { JobKind, JobState } from '../store/postgres/schema.ts'
import type { StorageGuard } from '../store/postgres/storage.ts'
import { PAUSE_MS, type RowProvider } from './engine/claims.ts'
import { type Engine, type EngineSettings, startEngine } from './engine/engine.ts'
import type { Layout } from './intake/intake.ts'
import { openUploads, type UploadPlace } from './intake/open-uploads.ts'
import { jobError } from './problems.ts'
import { columnsOf, PACE_MINUTES, presentJob } from './progress.ts'
import { isRefusal, takeUpload, type Upload } from './submit.ts'

type NewList = {
  readonly kind: JobKind
  readonly name: string
  readonly options: { readonly [key: string]: Json }
  readonly expiresInMs: number
  /** Identifies the job of a request that may be repeated; after a crash the job is found by it. */
  readonly seed?: string
}

type ListUpload = Omit<Upload, 'bounds'>

export type ResultPage = {
  readonly after: number
  readonly limit: number
  readonly result?: string
  readonly reason?: string
}

export type JobQueue = QueueState & { readonly claimed: number }

/**
 * Bulk jobs. Every function opens the database when it is first needed, and rejects with AppError `not_found` for a job
 * that is not the owner's.
 */
export type JobService = ReturnType<typeof jobService>

export type JobAction = 'pause' | 'resume' | 'cancel'
/** The source states and the target state of each action; the target state itself is not an error. */
const ACTIONS: Readonly<Record<JobAction, { readonly from: readonly JobState[]; readonly to: JobState }>> = {
  pause: { from: ['waiting', 'running'], to: 'paused' },
  resume: { from: ['paused'], to: 'running' },
  cancel: { from: ['receiving', 'waiting', 'running', 'paused'], to: 'canceled' },
}
/** The largest `integer` of PostgreSQL, which counts lines. */
const MAX_ROWS = 2 ** 31 - 1
const ENDED: readonly JobState[] = ['done', 'canceled', 'failed']
const WATCH_EVERY_MS = 500
const REPEAT_MS = 15_000
/** How long the state of the queue counts for all who ask, ms. */
const QUEUE_MS = 1_000

type JobServiceSettings = EngineSettings & {
  readonly limitsOf: (provider: string) => RowProvider
  readonly open: () => Promise<Database>
  readonly maxUpload: number
  /** Default: no bounds but those of a list. */
  readonly storage?: Pick<StorageGuard, 'admitRows'> & { readonly maxRows: number }
}

type Tables = Pick<Database, 'db'> & {
  readonly jobs: Jobs
  readonly rows: JobRows
  readonly takeIn: ReturnType<typeof takeInOf>
}
type Parts = { readonly tables: () => Promise<Tables>; readonly wake: () => void }

export function jobService(settings: JobServiceSettings) {
  const { now } = settings
  let engine: Engine | undefined
  const tables = onceUnlessFailed(async (): Promise<Tables> => {
    const { db, pool } = await settings.open()
    engine = await startEngine({ db }, settings)
    return { db, jobs: jobsOf(db), rows: jobRowsOf(db), takeIn: takeInOf(pool) }
  })
  const parts = { tables, wake: () => engine?.wake() }
  const shown = shownJobs(settings, parts)
  const { owned, present, fresh, whole, layoutOf } = shown
  let looked: { readonly state: Promise<QueueState>; readonly atMs: number } | undefined

  /**
   * What waits to be asked, and the rows that this node has claimed, as they were at most a second ago; undefined while
   * the database was not needed.
   */
  async function queue(): Promise<JobQueue | undefined> {
    if (!engine) return undefined
    if (!looked || performance.now() - looked.atMs > QUEUE_MS)
      looked = { state: tables().then(({ db }) => queueState(db)), atMs: performance.now() }
    return { ...(await looked.state), claimed: engine.claimed() }
  }

  return {
    queue,
    ...uploadsOf(settings, parts, shown),
    show: told(whole),
    /** The job as events tell of it: without the columns of its list, which may have 64 KiB. */
    event: told(fresh),
    /** Newest first. */
    list: told(async ({ before, limit }: { readonly before?: number; readonly limit: number }, owner: Owner) => {
      const { jobs } = await tables()
      const found = await jobs.list({
        limit: limit + 1,
        ...(before !== undefined && { before }),
        ...(owner.isAdmin ? {} : { owner: owner.id }),
      })
      const page = found.slice(0, limit)
      return { jobs: await present(page), next: found.length > limit ? page.at(-1)?.number : undefined }
    }),
    /**
     * Pauses, resumes or cancels; repeating this is not an error. Rejects with `wrong_state` if the state does not
     * allow it.
     */
    change: told(async (id: string, action: JobAction, owner: Owner): Promise<JobAnswer> => {
      const job = await owned(id, owner)
      const { from, to } = ACTIONS[action]
      const isThere = job.state === to || (action === 'resume' && job.state === 'waiting')
      const also = to === 'canceled' ? { finished_at: new Date(now()) } : {}
      const moved = isThere ? job : await (await tables()).jobs.move(id, from, to, also)
      if (!moved) throw jobError('wrong_state', { state: job.state, action })
      // No node begins a question after it: by then each has read the state again, or waits until it can.
      if (job.state === 'running' && to !== 'running') await sleep(PAUSE_MS, new AbortController().signal)
      engine?.wake()
      return whole(id, owner)
    }),
    remove: told(async (id: string, owner: Owner): Promise<void> => {
      await owned(id, owner)
      if (!(await (await tables()).jobs.remove(id))) throw jobError('unknown', { id }) // another request was faster
    }),
    results: told(async (id: string, page: ResultPage, owner: Owner) => {
      const job = await owned(id, owner)
      // Without any result, all rows would be read.
      const { rows } = await tables()
      const isNew = job.first_result_at === null
      const [layout, found] = await Promise.all([layoutOf(job), isNew ? [] : rows.results(job, page)])
      return { job, layout, rows: found }
    }),
    badRows: told(async (id: string, after: number, limit: number, owner: Owner): Promise<readonly StoredBadRow[]> => {
      const job = await owned(id, owner)
      return (await tables()).rows.badRows(job.number, after, limit)
    }),
    /** The job now and after each change, at most twice a second, until it has ended. */
    watch: (id: string, owner: Owner, signal: AbortSignal) =>
      watch(() => throughOutage(() => fresh(id, owner), signal), signal),
    /**
     * Removes a mailbox, or a domain with its mailboxes, from the lists and results of all jobs of all owners, and from
     * the texts of {@link forgetTexts}.
     */
    forget: told(async (what: Forgotten): Promise<ForgottenRows & ForgottenTexts> => {
      const { db } = await tables()
      return { ...(await forgetRows(db, what)), ...(await forgetTexts(db, what)) }
    }),
    /** Starts to process the jobs that an earlier run left, or another process submitted. */
    start: told(async (): Promise<void> => {
      await tables()
      engine?.wake()
    }),
    /** Returns the rows in progress. */
    stop: async () => engine?.stop(),
  }
}

type Shown = ReturnType<typeof shownJobs>

/** Jobs as their owners see them. */
function shownJobs({ now, limitsOf }: JobServiceSettings, { tables }: Parts) {
  async function owned(id: string, owner: Owner): Promise<JobRecord> {
    const job = await (await tables()).jobs.byId(id)
    if (job && (owner.isAdmin || job.owner === owner.id)) return job
    throw jobError('unknown', { id })
  }
  async function present(found: readonly JobRecord[]): Promise<readonly JobAnswer[]> {
    const { db, rows } = await tables()
    const nowMs = now()
    const since = new Date(nowMs - PACE_MINUTES * 60_000)
    const numbers = found.map(({ number }) => number)
    const running = found.filter(({ state }) => state === 'running')
    const [sumsOf, waiting] = await Promise.all([jobSums(db, numbers, since), rows.waiting(running)])
    const perMinute = (provider: string): number => limitsOf(provider).perMinute
    return found.map((job) =>
      presentJob(job, {
        sums: sumsOf(job.number),
        waiting: waiting.get(job.number) ?? new Map<string, Date>(),
        perMinute,
        nowMs,
      }),
    )
  }
  async function fresh(id: string, owner: Owner): Promise<JobAnswer> {
    const [job] = await present([await owned(id, owner)])
    return job!
  }
  const layoutOf = async ({ number }: JobRecord): Promise<Layout | undefined> =>
    ((await (await tables()).jobs.layout(number)) as Layout | null) ?? undefined // as intake stored it
  /** The job with the columns of its list. */
  async function whole(id: string, owner: Owner): Promise<JobAnswer> {
    const record = await owned(id, owner)
    const [[job], layout] = await Promise.all([present([record]), layoutOf(record)])
    return { ...job!, ...columnsOf(layout) }
  }
  return { owned, present, fresh, whole, layoutOf }
}

/** Lists that come in: new ones, and those whose upload was interrupted. */
function uploadsOf(settings: JobServiceSettings, { tables, wake }: Parts, { owned, whole, layoutOf }: Shown) {
  const uploads = openUploads()
  const admission = async (owner: string, records: number): Promise<void> => settings.storage?.admitRows(owner, records)
  async function receive(job: JobRecord, upload: ListUpload, place: UploadPlace): Promise<void> {
    const { rows, takeIn } = await tables()
    const bounds = { maxUpload: settings.maxUpload, maxRows: settings.storage?.maxRows ?? MAX_ROWS }
    const admit = (records: number) => admission(job.owner, records)
    const earlier = job.received === 0 ? undefined : await layoutOf(job)
    await takeUpload({ takeIn, complete: rows.complete, place, admit }, job, { ...upload, bounds }, earlier)
    wake()
  }
  return {
    /** Reads a list and starts to process it. A list that is refused as a whole leaves no job. */
    submit: told(async (list: NewList, upload: ListUpload, owner: Owner): Promise<JobAnswer> => {
      const { jobs } = await tables()
      const { expiresInMs, seed, ...about } = list
      const id = `job_${seed ?? randomBytes(16).toString('base64url')}`
      const left = seed === undefined ? undefined : await jobs.byId(id)
      if (left && left.state !== 'receiving') return whole(id, owner)
      const place = uploads.enter(owner.id) // before the database is asked anything
      try {
        await admission(owner.id, 1)
        if (left) await jobs.remove(id, left.number) // its upload was interrupted with the process
        const job = await jobs.create({
          ...about,
          id,
          owner: owner.id,
          expiresAt: new Date(settings.now() + expiresInMs),
        })
        try {
          await receive(job, upload, place)
        } catch (error) {
          if (isRefusal(error)) await jobs.remove(id, job.number)
          throw error
        }
      } finally {
        place.leave()
      }
      return whole(id, owner)
    }),
    /** Continues an interrupted upload after the stored records. Rejects with `wrong_offset` or `wrong_state`. */
    resumeUpload: told(async (id: string, from: number, upload: ListUpload, owner: Owner): Promise<JobAnswer> => {
      const job = await owned(id, owner)
      if (job.state !== 'receiving') throw jobError('complete', { state: job.state })
      if (from !== job.received) throw jobError('wrong_offset', { received: job.received }, { received: job.received })
      const place = uploads.enter(owner.id)
      try {
        await receive(job, upload, place)
      } finally {
        place.leave()
      }
      return whole(id, owner)
    }),
  }
}

async function* watch(look: () => Promise<JobAnswer>, signal: AbortSignal): AsyncIterable<JobAnswer> {
  let last = ''
  let toldAtMs = 0
  while (!signal.aborted) {
    const job = await look()
    const text = JSON.stringify(job)
    // Repeated from time to time, so that no proxy considers the connection idle.
    if (text !== last || performance.now() - toldAtMs >= REPEAT_MS) {
      yield job
      last = text
      toldAtMs = performance.now()
    }
    if (ENDED.includes(job.state)) return
    await sleep(WATCH_EVERY_MS, signal).catch(() => {})
  }
}
