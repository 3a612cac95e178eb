import type { JobAnswer, JobBadRowsAnswer, JobListAnswer, JobResultsAnswer, JobRow } from '../answers/jobs.ts'
import { isReason, outcomeOf } from '../mailbox/reasons.ts'
import {
  type Block,
  code,
  codes,
  conclude,
  type Document,
  facts,
  grouped,
  heading,
  type Line,
  type Mark,
  type Parts,
  quiet,
  table,
  text,
} from './block.ts'
import { listDocument } from './list.ts'
import { whyOf } from './verify.ts'
import { documentOf, duration, inWords, wordsOf } from './words.ts'

/** The states of a job, and their meaning for its owner. */
export const STATES: Readonly<Record<JobAnswer['state'], readonly [Mark, badge: string, words: string]>> = {
  receiving: ['busy', 'Receiving', 'The list is being received.'],
  waiting: ['busy', 'Waiting', 'The list is complete; processing starts soon.'],
  running: ['busy', 'Running', 'Rows are being processed.'],
  paused: ['warn', 'Paused', 'No new rows are processed until the job is resumed.'],
  done: ['good', 'Done', 'Every row has its result.'],
  canceled: ['none', 'Canceled', 'The job was canceled; the results so far can be read.'],
  failed: ['bad', 'Failed', 'The job has failed.'],
}

/** The question of a job about each row. */
export const KINDS: Readonly<Record<JobAnswer['kind'], string>> = {
  verify: 'Verify mail addresses',
  check: 'Check domains',
  blacklist: 'Look IP addresses up on blacklists',
}

/** Results of rows as marks; the words are those of the answers. */
const RESULTS: Readonly<Record<string, Mark>> = {
  accepted: 'good',
  pass: 'good',
  clean: 'good',
  catch_all: 'warn',
  warn: 'warn',
  rejected: 'bad',
  fail: 'bad',
  listed: 'bad',
  invalid: 'bad',
}
/** How good a result of a row is. */
export const markOf = (result: string): Mark => (Object.hasOwn(RESULTS, result) ? RESULTS[result]! : 'open')

/** One job: its progress, by result, reason and provider. */
export const jobDocument = (job: JobAnswer, version: string): Document =>
  documentOf(
    `Job: ${job.name === '' ? job.id : job.name}`,
    version,
    conclusionOf(job),
    {
      kind: 'progress',
      progress: {
        label: 'Rows',
        done: job.done,
        total: job.rows,
        parts: sorted(job.counts).map(([label, count]) => ({ label: wordsOf(label), count, mark: markOf(label) })),
      },
    },
    factsOf(job),
    reasonTable(job),
    providerTable(job),
    callbackParts(job),
  )

function conclusionOf(job: JobAnswer): Block {
  const { id, name, state, failure, eta_ms, eta_reason } = job
  const [mark, badge, meaning] = STATES[state]
  const result = resultInWords(job)
  const words = result === '' ? meaning : `${result}.`
  const left: Line[] =
    eta_ms === null || state !== 'running'
      ? []
      : [[`About ${duration(eta_ms)} left${eta_reason === undefined ? '' : `: ${timesInWords(eta_reason)}`}.`]]
  return conclude(
    name === '' ? id : name,
    mark,
    badge,
    failure === undefined ? words : `${meaning.replace(/\.$/, '')}: ${failure}.`,
    [...(result === '' || state === 'done' ? [] : [[meaning]]), ...left],
  )
}

/**
 * The results so far in one line, best first: `2 deliverable · 1 risky · 2 undeliverable · 1 unknown`. Empty without
 * any.
 */
export function resultInWords({ kind, counts, reasons }: Pick<JobAnswer, 'kind' | 'counts' | 'reasons'>): string {
  const by = kind === 'verify' ? byDeliverability(reasons) : counts
  const order: readonly string[] = ORDER[kind]
  const names = [...order, ...Object.keys(by).filter((name) => !order.includes(name))]
  return names.flatMap((name) => (by[name] ? [`${grouped(by[name])} ${WORDS[name] ?? wordsOf(name)}`] : [])).join(' · ')
}

const ORDER = {
  verify: ['deliverable', 'risky', 'undeliverable', 'unknown'],
  check: ['pass', 'warn', 'fail', 'unknown'],
  blacklist: ['clean', 'listed', 'unknown'],
} as const
const WORDS: Readonly<Record<string, string>> = {
  pass: 'good',
  warn: 'could be better',
  fail: 'need repair',
  clean: 'not listed',
}

function byDeliverability(reasons: JobAnswer['reasons']): Readonly<Record<string, number>> {
  const by: Record<string, number> = {}
  for (const [reason, count] of Object.entries(reasons)) {
    const { deliverability } = isReason(reason) ? outcomeOf(reason) : { deliverability: 'unknown' }
    by[deliverability] = (by[deliverability] ?? 0) + count
  }
  return by
}

const sorted = (counts: Readonly<Record<string, number>>): readonly (readonly [string, number])[] =>
  Object.entries(counts).toSorted((a, b) => b[1] - a[1])

const factsOf = (job: JobAnswer): Block | undefined =>
  facts(
    ['Task', KINDS[job.kind]],
    job.column !== undefined && ['Column', code(job.column)],
    [
      'Rows',
      `${grouped(job.received)} received: ${grouped(job.rows)} to process, ${grouped(job.duplicates)} of them duplicates; ${grouped(job.bad_rows)} unreadable`,
    ],
    job.notes !== undefined && ['Read', job.notes.join('; ')],
    ['Rate', `${grouped(job.rate)} rows per minute`],
    ['Created', { time: job.created_at }],
    job.first_result_at !== null && ['First result', { time: job.first_result_at }],
    job.finished_at !== null && ['Finished', { time: job.finished_at }],
    ['Expires', { time: job.expires_at }],
    ['Id', code(job.id)],
  )

const reasonTable = ({ kind, reasons }: JobAnswer): Block | undefined =>
  table(
    'Rows by reason',
    sorted(reasons),
    ['Reason', ([reason]) => code(reason)],
    ['Rows', ([, count]) => count, 'number'],
    ...(kind === 'verify' ? [['What it means', ([reason]: readonly [string, number]) => whyOf(reason)] as const] : []),
  )

const providerTable = ({ providers, providers_left_out = 0 }: JobAnswer): Parts => [
  table(
    'Progress by provider',
    providers,
    ['Provider', ({ provider }) => (provider === '' ? 'not known yet' : code(provider))],
    ['Done', ({ done }) => done, 'number'],
    ['Rows', ({ rows }) => rows, 'number'],
    ['A minute', ({ rate }) => rate, 'number'],
    ['Waiting', (one) => timesInWords(one.waiting_reason ?? '–')],
  ),
  providers_left_out > 0 && quiet(`${providers_left_out} more providers have fewer rows.`),
]

/** A text with readable times. */
const timesInWords = (words: string): string =>
  words.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]{8,12}Z/g, (time) => inWords(time))

const callbackParts = ({ callback }: JobAnswer): Parts =>
  callback !== undefined && [
    text('The webhook ', code(callback.id), ' is notified when the job ends.'),
    callback.secret !== undefined && { kind: 'seen', label: 'Its secret, shown only once', text: callback.secret },
  ]

/** Jobs, newest first. */
export const jobListDocument = (list: JobListAnswer, version: string): Document =>
  listDocument(
    { title: 'Jobs', one: 'job' },
    list,
    version,
    table(
      'Newest first',
      list.data,
      ['Id', ({ id }) => code(id)],
      ['Name', ({ name }) => (name === '' ? '–' : name)],
      ['Kind', ({ kind }) => kind],
      ['State', ({ state }) => ({ mark: STATES[state][0], text: STATES[state][1] })],
      ['Done', ({ done }) => done, 'number'],
      ['Rows', ({ rows }) => rows, 'number'],
      ['Created', (one) => ({ time: one.created_at })],
    ),
  )

/** Maximum number of own columns shown per row. */
const MAX_COLUMNS = 8

/** Results in the order of the list. */
export const jobResultsDocument = (list: JobResultsAnswer, version: string): Document =>
  listDocument(
    { title: 'Results', one: 'row' },
    list,
    version,
    table(
      'Results in the order of the list',
      list.data,
      ['Line', ({ line, part }) => (part === undefined ? String(line) : `${line}.${part}`), 'number'],
      ['Input', ({ input }) => code(input)],
      ['Result', ({ result }) => ({ mark: markOf(result), text: wordsOf(result) })],
      ['Reason', ({ reason }) => (reason === '' ? '–' : wordsOf(reason))],
      ['Own columns', ownColumns],
    ),
  )

function ownColumns({ columns = {}, input }: JobRow): Line {
  const values = Object.entries(columns)
    .filter(([, value]) => value !== input)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  if (values.length === 0) return ['–']
  const more = values.length - MAX_COLUMNS
  return [...codes(values.slice(0, MAX_COLUMNS)), ...(more > 0 ? [` and ${more} more`] : [])]
}

/** The rows of a list that cannot be read. */
export const jobBadRowsDocument = (list: JobBadRowsAnswer, version: string): Document =>
  listDocument(
    { title: 'Bad rows', one: 'row' },
    list,
    version,
    list.data.length > 0 && heading(2, 'Problems', 'rows'),
    table(
      'Rows that were not processed',
      list.data,
      ['Line', ({ line }) => String(line), 'number'],
      ['Reason', ({ detail }) => detail],
      ['Text', (one) => code(one.text)],
    ),
  )
