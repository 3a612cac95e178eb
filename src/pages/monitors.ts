import { type MonitorAnswer, monitorAnswer, monitorListAnswer } from '../answers/monitors.ts'
import { ownAnswer } from '../answers/read-answer.ts'
import { AppError, ERRORS } from '../base/errors.ts'
import { htmlBlocks } from '../documents/html/html.ts'
import { lastInWords } from '../documents/monitor-history.ts'
import { monitorState, monitorTitle } from '../documents/monitors.ts'
import { inWords } from '../documents/timeline.ts'
import { type Html, html, rendered } from './html.ts'
import { layout } from './layout.ts'
import { marked } from './marked.ts'
import { createForm, createInput, newFields } from './monitor-form.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import { documentOf, type Parts } from './parts.ts'
import { monitorPath, pathWith } from './paths.ts'
import { sentenceOf } from './problem.ts'

/** `/monitors`: the monitors, and a form for a new one. */
export const monitorsPages = (parts: Parts): readonly Page[] => [
  { method: 'GET', path: '/monitors', scope: 'jobs', visit: (visit) => list(parts, visit) },
  { method: 'POST', path: '/monitors', scope: 'jobs', visit: (visit) => create(parts, visit) },
]

async function list(parts: Parts, visit: Visit, problem?: string): Promise<PageAnswer> {
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
${data.length === 0 ? html`<p>There are no monitors yet.</p>` : table(data)}
${typeof next === 'string' && html`<p><a href="${pathWith('/monitors', { cursor: next })}">Older monitors</a></p>`}
<h2 id="add">Add a monitor</h2>
${problem !== undefined && html`<p class="problem" role="alert" id="problem">${problem}</p>`}
${createForm(visit, problem === undefined ? newFields(visit.query) : visit.form)}
<footer><p class="quiet"><a href="${pathWith('/v1/monitors', { ...raw, format: 'json' })}">The same as JSON</a></p></footer></main>`,
    }),
  }
}

const table = (
  monitors: readonly MonitorAnswer[],
): Html => html`<div class="scroll" role="group" tabindex="0" aria-label="Monitors"><table class="cards"><caption class="hidden">Monitors</caption>
<thead><tr><th scope="col">Monitor</th><th scope="col">Target</th><th scope="col">State</th><th scope="col">Last run</th><th scope="col">Next run</th></tr></thead>
<tbody>${monitors.map((monitor) => {
  const { mark, text } = monitorState(monitor)
  return html`<tr><td data-head="Monitor"><a href="${monitorPath(monitor.id)}">${monitorTitle(monitor)}</a></td><td data-head="Target"><code>${monitor.target}</code></td><td data-head="State">${marked(mark, text)}</td><td data-head="Last run">${monitor.last === null ? '–' : html`<span class="when">${inWords(monitor.last.time)}</span><br>${lastInWords(monitor.last)}`}</td><td data-head="Next run" class="when">${monitor.enabled ? inWords(monitor.next_run_at) : '–'}</td></tr>`
})}</tbody></table></div>`

async function create(parts: Parts, visit: Visit): Promise<PageAnswer> {
  try {
    const given = await parts.execute(parts.operation('monitors create'), createInput(visit.form), visit.by)
    const monitor = ownAnswer(monitorAnswer, given.answer)
    const { id, notify } = monitor
    const hasSecret = notify.some((one) => one.type === 'webhook' && one.secret !== undefined)
    if (!hasSecret) return { to: monitorPath(id) }
    const { blocks } = await documentOf(parts, given, 'Monitor')
    return {
      status: 201,
      html: layout(parts.assets, visit, {
        title: monitorTitle(monitor),
        main: html`<main id="main" tabindex="-1"><p><a href="/monitors">Monitors</a></p>
<p class="notice">The monitor is active. Copy the webhook secret now: your server needs it to verify signatures, and it is not shown again.</p>
${rendered(htmlBlocks(blocks))}
<p><a class="button" href="${monitorPath(id)}">Go to the monitor</a></p></main>`,
      }),
    }
  } catch (error) {
    if (error instanceof AppError && ERRORS[error.code].status === 400)
      return list(parts, visit, `Not saved: ${sentenceOf(error)}`)
    throw error
  }
}
