import { type MonitorAnswer, monitorAnswer, monitorHistoryAnswer, monitorListAnswer } from '../answers/monitors.ts'
import { ownAnswer } from '../answers/read-answer.ts'
import { atMost } from '../base/at-most.ts'
import { AppError, ERRORS } from '../base/errors.ts'
import { parseDuration } from '../base/time.ts'
import { htmlBlocks } from '../documents/html/html.ts'
import { sparkLine } from '../documents/html/pictures.ts'
import { historyBlocks, lastInWords, monitorState, monitorTitle } from '../documents/monitors.ts'
import { formatCursor } from '../operations/params.ts'
import { type Html, html, marked, rendered, timeOf } from './html.ts'
import { layout } from './layout.ts'
import { createForm, createInput, type FormProblem, formProblem, newFields } from './monitor-form.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import { documentOf, type Parts } from './parts.ts'
import { monitorPath, pathWith } from './paths.ts'

/** `/monitors`: the monitors, and a form for a new one. */
export const monitorsPages = (parts: Parts): readonly Page[] => [
  { method: 'GET', path: '/monitors', scope: 'jobs', visit: (visit) => list(parts, visit) },
  { method: 'POST', path: '/monitors', scope: 'jobs', visit: (visit) => create(parts, visit) },
]

async function list(parts: Parts, visit: Visit, problem?: FormProblem): Promise<PageAnswer> {
  const { cursor } = visit.query
  const raw = { limit: '50', ...(cursor && { cursor }) }
  const given = await parts.execute(parts.operation('monitors list'), raw, visit.by)
  const { data, next_cursor: next } = ownAnswer(monitorListAnswer, given.answer)
  return {
    status: problem === undefined ? 200 : 400,
    html: layout(parts.assets, visit, {
      title: 'Monitors',
      main: html`<main id="main" tabindex="-1"><h1>Monitors</h1>
<p class="lead">Checks a domain, mailbox or IP address regularly, and notifies your recipients when it changes.</p>
${data.length === 0 ? html`<p>There are no monitors yet.</p>` : table(data, await linesOf(parts, visit, data))}
${typeof next === 'string' && html`<p><a href="${pathWith('/monitors', { cursor: next })}">Older monitors</a></p>`}
<h2 id="add">Add a monitor</h2>
${createForm(visit, { fields: problem === undefined ? newFields(visit.query) : visit.form, problem, canMail: parts.canMail })}
<footer><p class="quiet"><a href="${pathWith('/v1/monitors', { ...raw, format: 'json' })}">The same as JSON</a></p></footer></main>`,
    }),
  }
}

const table = (
  monitors: readonly MonitorAnswer[],
  lines: ReadonlyMap<string, Html>,
): Html => html`<div class="scroll" role="group" tabindex="0" aria-label="Monitors"><table class="cards"><caption class="hidden">Monitors</caption>
<thead><tr><th scope="col">Monitor</th><th scope="col">State</th><th scope="col">Over time</th><th scope="col">Last run</th><th scope="col">Next run</th></tr></thead>
<tbody>${monitors.map((monitor) => {
  const { mark, text } = monitorState(monitor)
  return html`<tr><td data-head="Monitor"><a href="${monitorPath(monitor.id)}">${monitorTitle(monitor)}</a>${monitor.name !== '' && html`<br><code>${monitor.target}</code>`}</td><td data-head="State">${marked(mark, text)}</td><td data-head="Over time">${lines.get(monitor.id)}</td><td data-head="Last run">${monitor.last === null ? '–' : html`${lastInWords(monitor.last)}<br>${timeOf(monitor.last.time)}`}</td><td data-head="Next run" class="when">${monitor.enabled ? timeOf(monitor.next_run_at) : '–'}</td></tr>`
})}</tbody></table></div>`

/** Runs in the line of a row. */
const RUNS = 40
/** Monitors whose runs are read at the same time. */
const AT_ONCE = 8

/**
 * The last runs of each monitor as a line: of its score, otherwise of its listings. A history that cannot be read
 * leaves its place empty.
 */
async function linesOf(
  parts: Parts,
  visit: Visit,
  monitors: readonly MonitorAnswer[],
): Promise<ReadonlyMap<string, Html>> {
  const rows = await atMost(AT_ONCE, monitors, async ({ id, every, last }) => {
    if (last === null) return [id, html``] as const
    const everyMs = parseDuration(every)
    const sinceMs = Date.parse(last.time) - RUNS * (everyMs.ok ? everyMs.value : 86_400_000)
    const raw = { id, limit: String(RUNS + 20), cursor: formatCursor(new Date(sinceMs).toISOString()) }
    const given = await parts.execute(parts.operation('monitors history'), raw, visit.by).catch(() => undefined)
    if (given === undefined) return [id, html``] as const
    const [timeline] = historyBlocks(ownAnswer(monitorHistoryAnswer, given.answer).data)
    return [
      id,
      timeline?.kind === 'timeline' ? rendered(sparkLine(timeline.timeline.points, timeline.timeline)) : html``,
    ] as const
  })
  return new Map(rows)
}

async function create(parts: Parts, visit: Visit): Promise<PageAnswer> {
  try {
    const given = await parts.execute(
      parts.operation('monitors create'),
      { ...createInput(visit.form), test: 'true' },
      visit.by,
    )
    const monitor = ownAnswer(monitorAnswer, given.answer)
    const { id, notify } = monitor
    if (notify.length === 0) return { to: monitorPath(id) }
    const hasSecret = notify.some((one) => one.type === 'webhook' && one.secret !== undefined)
    const { blocks } = documentOf(parts, given, 'Monitor')
    return {
      status: 201,
      html: layout(parts.assets, visit, {
        title: monitorTitle(monitor),
        main: html`<main id="main" tabindex="-1"><p class="back"><a href="/monitors">← Monitors</a></p>
<p class="notice">The monitor is active. ${hasSecret && html`Copy the webhook secret now: your server needs it to <a href="/docs/webhooks">verify signatures</a>, and it is not shown again.`}</p>
${rendered(htmlBlocks(blocks))}
<p><a class="button" href="${monitorPath(id)}">Go to the monitor</a></p></main>`,
      }),
    }
  } catch (error) {
    if (error instanceof AppError && ERRORS[error.code].status === 400) return list(parts, visit, formProblem(error))
    throw error
  }
}
