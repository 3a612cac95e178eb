import type { JobAnswer, JobBadRowsAnswer, JobListAnswer, JobResultsAnswer, JobRow } from '../answers/jobs.ts'
import { isReason, outcomeOf } from '../mailbox/reasons.ts'
import {
  type Block,
  type Conclusion,
  code,
  type Document,
  heading,
  type Inline,
  type Line,
  type Mark,
  quiet,
  text,
} from './block.ts'
import { grouped } from './check/spf.ts'
import { listConclusion, moreBlocks } from './list.ts'
import { whyOf } from './verify.ts'
import { duration, footerOf, inWords } from './words.ts'

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
const wordsOf = (word: string): string => word.replaceAll('_', ' ')

/** One job: its progress, by result, reason and provider. */
export const jobDocument = (job: JobAnswer, version: string): Document => ({
  title: `Job: ${job.name === '' ? job.id : job.name}`,
  blocks: [
    { kind: 'conclusion', conclusion: conclusionOf(job) },
    {
      kind: 'progress',
      progress: {
        label: 'Rows',
        done: job.done,
        total: job.rows,
        parts: sorted(job.counts).map(([label, count]) => ({ label: wordsOf(label), count, mark: markOf(label) })),
      },
    },
    { kind: 'facts', rows: factsOf(job) },
    ...reasonBlocks(job),
    ...providerBlocks(job),
    ...callbackBlocks(job),
  ],
  footer: footerOf(version),
})

function conclusionOf(job: JobAnswer): Conclusion {
  const { id, name, state, failure, eta_ms, eta_reason } = job
  const [mark, badge, meaning] = STATES[state]
  const result = resultInWords(job)
  const words = result === '' ? meaning : `${result}.`
  const left: Line[] =
    eta_ms === null || state !== 'running'
      ? []
      : [[`About ${duration(eta_ms)} left${eta_reason === undefined ? '' : `: ${timesInWords(eta_reason)}`}.`]]
  return {
    subject: name === '' ? id : name,
    mark,
    badge,
    words: failure === undefined ? words : `${meaning.replace(/\.$/, '')}: ${failure}.`,
    notes: [...(result === '' || state === 'done' ? [] : [[meaning]]), ...left],
  }
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

function factsOf({
  id,
  kind,
  column,
  rows,
  duplicates,
  bad_rows,
  received,
  rate,
  ...job
}: JobAnswer): (readonly [string, Line])[] {
  return [
    ['Task', [KINDS[kind]]],
    ...(column === undefined ? [] : [['Column', [code(column)]] as const]),
    [
      'Rows',
      [
        `${grouped(received)} received: ${grouped(rows)} to process, ${grouped(duplicates)} of them duplicates; ${grouped(bad_rows)} unreadable`,
      ],
    ],
    ['Rate', [`${grouped(rate)} rows per minute`]],
    ['Created', [{ time: job.created_at }]],
    ...(job.first_result_at === null ? [] : [['First result', [{ time: job.first_result_at }]] as const]),
    ...(job.finished_at === null ? [] : [['Finished', [{ time: job.finished_at }]] as const]),
    ['Expires', [{ time: job.expires_at }]],
    ['Id', [code(id)]],
  ]
}

function reasonBlocks({ kind, reasons }: JobAnswer): Block[] {
  const rows = sorted(reasons)
  if (rows.length === 0) return []
  return [
    {
      kind: 'table',
      table: {
        caption: 'Rows by reason',
        head: kind === 'verify' ? ['Reason', 'Rows', 'What it means'] : ['Reason', 'Rows'],
        rows: rows.map(([reason, count]): Line[] => [
          [code(reason)],
          [grouped(count)],
          ...(kind === 'verify' ? [[whyOf(reason)]] : []),
        ]),
        numeric: [1],
      },
    },
  ]
}

function providerBlocks({ providers, providers_left_out = 0 }: JobAnswer): Block[] {
  if (providers.length === 0) return []
  return [
    {
      kind: 'table',
      table: {
        caption: 'Progress by provider',
        head: ['Provider', 'Done', 'Rows', 'A minute', 'Waiting'],
        rows: providers.map(({ provider, done, rows, rate, waiting_reason }): Line[] => [
          [provider === '' ? 'not known yet' : code(provider)],
          [grouped(done)],
          [grouped(rows)],
          [grouped(rate)],
          [timesInWords(waiting_reason ?? '–')],
        ]),
        numeric: [1, 2, 3],
      },
    },
    ...(providers_left_out === 0 ? [] : [quiet(`${providers_left_out} more providers have fewer rows.`)]),
  ]
}

/** A text with readable times. */
const timesInWords = (words: string): string =>
  words.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]{8,12}Z/g, (time) => inWords(time))

const callbackBlocks = ({ callback }: JobAnswer): Block[] =>
  callback === undefined
    ? []
    : [
        text('The webhook ', code(callback.id), ' is notified when the job ends.'),
        ...(callback.secret === undefined
          ? []
          : [{ kind: 'seen', label: 'Its secret, shown only once', text: callback.secret } as const]),
      ]

/** Jobs, newest first. */
export const jobListDocument = ({ data, has_more, next_cursor }: JobListAnswer, version: string): Document => ({
  title: 'Jobs',
  blocks: [
    listConclusion('Jobs', data.length, 'job', has_more),
    ...(data.length === 0
      ? []
      : [
          {
            kind: 'table',
            table: {
              caption: 'Newest first',
              head: ['Id', 'Name', 'Kind', 'State', 'Done', 'Rows', 'Created'],
              rows: data.map(({ id, name, kind, state, done, rows, created_at }): Line[] => [
                [code(id)],
                [name === '' ? '–' : name],
                [kind],
                [{ mark: STATES[state][0], text: STATES[state][1] }],
                [grouped(done)],
                [grouped(rows)],
                [{ time: created_at }],
              ]),
              numeric: [4, 5],
            },
          } as const,
        ]),
    ...moreBlocks(next_cursor),
  ],
  footer: footerOf(version),
})

/** Maximum number of own columns shown per row. */
const MAX_COLUMNS = 8

/** A page of results in the order of the list. */
export const jobResultsDocument = (
  { data, has_more, next_cursor, complete }: JobResultsAnswer,
  version: string,
): Document => ({
  title: 'Results',
  blocks: [
    listConclusion('Results', data.length, 'row', has_more, undefined, !complete),
    ...(data.length === 0
      ? []
      : [
          {
            kind: 'table',
            table: {
              caption: 'Results in the order of the list',
              head: ['Line', 'Input', 'Result', 'Reason', 'Own columns'],
              rows: data.map((row): Line[] => [
                [String(row.line)],
                [code(row.input)],
                [{ mark: markOf(row.result), text: wordsOf(row.result) }],
                [row.reason === '' ? '–' : wordsOf(row.reason)],
                ownColumns(row),
              ]),
              numeric: [0],
            },
          } as const,
        ]),
    ...moreBlocks(next_cursor),
  ],
  footer: footerOf(version),
})

function ownColumns({ columns = {}, input }: JobRow): Line {
  const values = Object.entries(columns)
    .filter(([, value]) => value !== input)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const shown = values.slice(0, MAX_COLUMNS).flatMap((value, i): Inline[] => [i === 0 ? '' : ', ', code(value)])
  return shown.length === 0
    ? ['–']
    : [...shown, ...(values.length > MAX_COLUMNS ? [` and ${values.length - MAX_COLUMNS} more`] : [])]
}

/** The rows of a list that cannot be read. */
export const jobBadRowsDocument = ({ data, has_more, next_cursor }: JobBadRowsAnswer, version: string): Document => ({
  title: 'Bad rows',
  blocks: [
    listConclusion('Bad rows', data.length, 'row', has_more),
    ...(data.length === 0
      ? []
      : [
          heading(2, 'Problems', 'rows'),
          {
            kind: 'table',
            table: {
              caption: 'Rows that were not processed',
              head: ['Line', 'Reason', 'Text'],
              rows: data.map(({ line, detail, text: row }): Line[] => [[String(line)], [detail], [code(row)]]),
              numeric: [0],
            },
          } as const,
        ]),
    ...moreBlocks(next_cursor),
  ],
  footer: footerOf(version),
})
