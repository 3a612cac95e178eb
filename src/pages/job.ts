import { type JobAnswer, type JobResultsAnswer, jobAnswer, jobResultsAnswer } from '../answers/jobs.ts'
import { ownAnswer } from '../answers/read-answer.ts'
import { sleep } from '../base/deadline.ts'
import type { Block } from '../documents/block.ts'
import { htmlBlocks } from '../documents/html/html.ts'
import { markOf } from '../documents/jobs.ts'
import { ENDED } from '../operations/jobs/show.ts'
import { type Html, html, marked, rendered } from './html.ts'
import { actionForms, pageOf } from './layout.ts'
import type { Page, PageAnswer, PageEvent, Visit } from './page.ts'
import { documentOf, type Parts } from './parts.ts'
import { jobPath, pathWith } from './paths.ts'

const ACTIONS = { pause: 'jobs pause', resume: 'jobs resume', cancel: 'jobs cancel', delete: 'jobs delete' } as const
type Action = keyof typeof ACTIONS

const PAGE = 50
/** Interval of progress events, ms; a browser requests the next stream by itself. */
const EVERY_MS = 1_000
/** Maximum duration of one stream of progress events, ms. */
const LONGEST_MS = 10 * 60_000

/** `/jobs/{id}`: the progress of a job, its rows by page and filter, and the possible actions. */
export const jobPages = (parts: Parts): readonly Page[] => [
  { method: 'GET', path: '/jobs/:id', scope: 'jobs', visit: (visit) => show(parts, visit) },
  {
    method: 'GET',
    path: '/jobs/:id/events',
    scope: 'jobs',
    visit: async (visit) => ({ events: events(parts, visit, await jobOf(parts, visit)) }),
  },
  ...Object.keys(ACTIONS).map(
    (action): Page => ({
      method: 'POST',
      path: `/jobs/:id/${action}`,
      scope: 'jobs',
      visit: async (visit) => {
        await parts.execute(parts.operation(ACTIONS[action as Action]), { id: visit.params.id }, visit.by)
        return { to: action === 'delete' ? '/jobs' : jobPath(visit.params.id) }
      },
    }),
  ),
]

type Shown = { readonly job: JobAnswer; readonly html: Html; readonly details: Html }

async function jobOf(parts: Parts, { params, by }: Visit): Promise<Shown> {
  const given = await parts.execute(parts.operation('jobs show'), { id: params.id }, by)
  const job = ownAnswer(jobAnswer, given.answer)
  const { blocks } = documentOf(parts, given, job.name === '' ? 'Job' : job.name)
  const [first, rest] = [blocks.filter(isFirst), blocks.filter((block) => !isFirst(block))]
  return { job, html: rendered(htmlBlocks(first)), details: rendered(htmlBlocks(rest)) }
}

/** What stands at the top of the page: the result so far, and the progress. */
const isFirst = ({ kind }: Block): boolean => kind === 'conclusion' || kind === 'progress'

async function show(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const { job, html: progress, details } = await jobOf(parts, visit)
  const { result, reason, cursor } = visit.query
  const filter = { ...(result && { result }), ...(reason && { reason }) }
  const rows = await parts.execute(
    parts.operation('jobs results'),
    { id: job.id, limit: String(PAGE), ...filter, ...(cursor && { cursor }) },
    visit.by,
  )
  const results = ownAnswer(jobResultsAnswer, rows.answer)
  const isLive = !ENDED.includes(job.state)
  return pageOf(parts, visit, {
    title: job.name === '' ? 'Job' : job.name,
    islands: ['job'],
    main: html`<main id="main" tabindex="-1"><p class="back"><a href="/jobs">← Jobs</a></p>
<div id="progress"${isLive && html` data-events="${jobPath(job.id)}/events" data-state="${job.state}" data-page="${PAGE}"`}>${progress}</div>
<p class="quiet" id="state" role="status"></p>
${isLive && html`<noscript><p class="quiet"><a href="${visit.url}">Reload the page</a> to see the progress.</p></noscript>`}
${downloads(job)}
<h2 id="rows">Rows</h2>
${filters(job, filter)}
<div id="turned">${rowsTable(job, results)}
${pager(job, results, filter, cursor)}</div>
<h2>Details</h2>
<div id="details">${details}</div>
${actions(job, visit)}
<footer><p class="quiet"><a href="/v1/jobs/${job.id}/events?format=json">The same as JSON</a></p></footer></main>`,
  })
}

function actions({ id, state }: JobAnswer, visit: Pick<Visit, 'token'>): Html {
  const allowed: readonly (readonly [Action, string, string])[] = [
    ...(state === 'waiting' || state === 'running' ? [['pause', 'Pause', 'second'] as const] : []),
    ...(state === 'paused' ? [['resume', 'Resume', ''] as const] : []),
    ...(ENDED.includes(state) ? [] : [['cancel', 'Cancel', 'second'] as const]),
    ['delete', 'Delete job and results', 'danger'] as const,
  ]
  return actionForms(jobPath(id), allowed, visit)
}

const downloads = (job: JobAnswer): Html =>
  html`<p class="actions">${download(job, 'Download CSV', { format: 'csv' }, '')} ${download(job, 'CSV for spreadsheets', { format: 'csv', csv: 'spreadsheet' })} ${download(job, 'NDJSON', { format: 'ndjson' })} ${job.bad_rows > 0 && html`<a href="/v1/jobs/${job.id}/bad-rows">Rows that cannot be read</a>`}</p>`

const download = ({ id }: JobAnswer, words: string, query: Record<string, string>, look = 'second'): Html =>
  html`<a class="button ${look}" href="${pathWith(`/v1/jobs/${id}/results`, query)}" download>${words}</a>`

type Filter = { readonly result?: string; readonly reason?: string }

function filters({ id, counts, reasons }: JobAnswer, chosen: Filter): Html {
  if (Object.keys(counts).length === 0) return html``
  return html`<form class="controls" action="${jobPath(id)}#rows">${choice('Result', 'result', counts, chosen.result)}${Object.keys(reasons).length > 0 && choice('Reason', 'reason', reasons, chosen.reason)}<button>Show</button></form>`
}

const choice = (
  label: string,
  name: keyof Filter,
  counts: Readonly<Record<string, number>>,
  chosen: string | undefined,
): Html =>
  html`<label>${label} <select name="${name}"><option value="">all</option>${Object.entries(counts)
    .toSorted()
    .map(
      ([one, count]) =>
        html`<option value="${one}"${one === chosen && html` selected`}>${one.replaceAll('_', ' ')} (${count.toLocaleString('en')})</option>`,
    )}</select></label> `

/** Maximum number of own columns shown per row. */
const MAX_COLUMNS = 6

function rowsTable(job: JobAnswer, { data }: JobResultsAnswer): Html {
  if (data.length === 0)
    return html`<p>${ENDED.includes(job.state) ? 'No row matches the filter.' : 'No row has a result yet.'}</p>`
  // The queried column is already first.
  const columns = (job.columns ?? []).filter((name) => name !== job.column).slice(0, MAX_COLUMNS)
  return html`<div class="scroll" role="group" tabindex="0" aria-label="Rows and results"><table class="cards rows"><caption class="hidden">Rows and results</caption>
<thead><tr><th scope="col" class="number">Line</th><th scope="col">Target</th><th scope="col">Result</th><th scope="col">Reason</th>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${data.map(
    ({ line, input, result, reason, columns: own }) =>
      html`<tr><td class="number">${line}</td><td><code>${input}</code></td><td>${marked(markOf(result), result.replaceAll('_', ' '))}</td><td>${reason.replaceAll('_', ' ')}</td>${columns.map((name) => html`<td data-head="${name}">${String(own?.[name] ?? '')}</td>`)}</tr>`,
  )}</tbody></table></div>`
}

function pager(
  { id }: JobAnswer,
  { next_cursor: next }: JobResultsAnswer,
  filter: Filter,
  cursor: string | undefined,
): Html {
  const to = (from: unknown): string =>
    `${pathWith(jobPath(id), { ...filter, ...(from !== undefined && { cursor: from }) })}#rows`
  return html`<p class="actions">${cursor !== undefined && html`<a href="${to(undefined)}">First rows</a>`} ${next !== null && next !== undefined && html`<a href="${to(next)}">Next rows</a>`}</p>`
}

/** `progress` with the displayed content, whenever it has changed; `ended` when the job has. */
async function* events(parts: Parts, visit: Visit, first: Shown): AsyncIterable<PageEvent> {
  let shown = first
  let last = ''
  const signal = visit.by.signal ?? new AbortController().signal
  for (let turn = 0; turn * EVERY_MS < LONGEST_MS && !signal.aborted; turn++) {
    const [html, details] = [shown.html.safe, shown.details.safe]
    if (html + details !== last) {
      last = html + details
      yield { event: 'progress', data: { state: shown.job.state, html, details } }
    }
    if (ENDED.includes(shown.job.state)) return
    await sleep(EVERY_MS, signal).catch(() => {})
    if (!signal.aborted) shown = await jobOf(parts, visit)
  }
}
