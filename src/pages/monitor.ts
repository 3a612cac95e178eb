import {
  MESSAGE_SERVICES,
  type MonitorAnswer,
  monitorAnswer,
  monitorChangesAnswer,
  monitorHistoryAnswer,
} from '../answers/monitors.ts'
import { ownAnswer } from '../answers/read-answer.ts'
import { AppError, ERRORS } from '../base/errors.ts'
import { parseDuration } from '../base/time.ts'
import { htmlBlocks } from '../documents/html/html.ts'
import { heartbeat } from '../documents/html/pictures.ts'
import { changeBlocks, heartbeatOf, historyBlocks, monitorTitle, sinceBlocks } from '../documents/monitors.ts'
import { formatCursor } from '../operations/params.ts'
import { type Html, html, rendered } from './html.ts'
import { actionForms, pageOf } from './layout.ts'
import { changeForm, changeInput, type FormProblem, fieldsOf, formProblem } from './monitor-form.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import { documentOf, type Parts } from './parts.ts'
import { addressPath, domainPath, ipPath, monitorPath, pathWith, reportsPath } from './paths.ts'

/**
 * `/monitors/{id}`: the target, the changes and their times, the runs over time, the receivers, and the possible
 * actions.
 */
export const monitorPages = (parts: Parts): readonly Page[] => [
  { method: 'GET', path: '/monitors/:id', scope: 'jobs', visit: (visit) => show(parts, visit) },
  action('run', (visit) => run(parts, visit)),
  action('test', (visit) => test(parts, visit)),
  action('pause', (visit) => turn(parts, visit, 'pause')),
  action('resume', (visit) => turn(parts, visit, 'resume')),
  action('change', (visit) => change(parts, visit)),
  action('delete', async (visit) => {
    await execute(parts, 'monitors delete', visit)
    return { to: '/monitors' }
  }),
]

const action = (name: string, visit: Page['visit']): Page => ({
  method: 'POST',
  path: `/monitors/:id/${name}`,
  scope: 'jobs',
  visit,
})

const execute = (parts: Parts, name: string, { params, by }: Visit, raw: Readonly<Record<string, unknown>> = {}) =>
  parts.execute(parts.operation(name), { id: params.id, ...raw }, by)

async function run(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const to = (asked: string): PageAnswer => ({ to: pathWith(monitorPath(visit.params.id), { asked }) })
  try {
    await execute(parts, 'monitors run', visit)
    return to('run')
  } catch (error) {
    if (error instanceof AppError && error.code === 'rate_limited') return to('again')
    throw error
  }
}

async function turn(parts: Parts, visit: Visit, to: 'pause' | 'resume'): Promise<PageAnswer> {
  await execute(parts, `monitors ${to}`, visit)
  return { to: monitorPath(visit.params.id) }
}

/** Changes a monitor; an error is shown above the entered values. */
async function change(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const now = ownAnswer(monitorAnswer, (await execute(parts, 'monitors show', visit)).answer)
  try {
    await execute(parts, 'monitors change', visit, changeInput(visit.form, now))
    return { to: pathWith(monitorPath(visit.params.id), { asked: 'change' }) }
  } catch (error) {
    if (error instanceof AppError && ERRORS[error.code].status === 400) return show(parts, visit, formProblem(error))
    throw error
  }
}

async function test(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const { blocks } = documentOf(parts, await execute(parts, 'monitors test', visit), 'Test messages')
  return pageOf(parts, visit, {
    title: 'Test messages',
    main: html`<main id="main" tabindex="-1"><p><a href="/monitors">Monitors</a></p>${rendered(htmlBlocks(blocks))}
<p><a class="button" href="${monitorPath(visit.params.id)}">Back to the monitor</a></p></main>`,
  })
}

const RECEIVERS = ['webhook', ...Object.values(MESSAGE_SERVICES).map(({ name }) => name), 'mail']

/** The page of what a monitor watches. */
function targetPath({ kind, target }: MonitorAnswer): string {
  if (kind === 'verify') return addressPath(target)
  if (kind === 'blacklist') return ipPath(target)
  return kind === 'reports' ? reportsPath(target) : domainPath(target, kind === 'check' ? { only: 'check' } : {})
}

const PAGE = 20

async function show(parts: Parts, visit: Visit, problem?: FormProblem): Promise<PageAnswer> {
  const given = await execute(parts, 'monitors show', visit)
  const monitor = ownAnswer(monitorAnswer, given.answer)
  const { cursor, asked } = visit.query
  const [points, shown] = await Promise.all([
    pointsOf(parts, visit, monitor),
    execute(parts, 'monitors changes', visit, { limit: String(PAGE), ...(cursor && { cursor }) }),
  ])
  const { data, next_cursor: next } = ownAnswer(monitorChangesAnswer, shown.answer)
  const { blocks } = documentOf(parts, given, 'Monitor')
  const path = monitorPath(monitor.id)
  const jsonPath = `/v1${path}`
  return pageOf(parts, visit, {
    status: problem === undefined ? 200 : 400,
    title: monitorTitle(monitor),
    ...(monitor.last === null && monitor.enabled && { againSeconds: 5 }),
    main: html`<main id="main" tabindex="-1"${(monitor.last === null && monitor.enabled) || asked === 'run' ? html` data-again="${path}"` : ''}><p class="back"><a href="/monitors">← Monitors</a></p>
${asked === 'run' && html`<p class="notice" role="status">The monitor is running. <a href="${path}">The result</a> is shown in a moment.</p>`}
${asked === 'again' && html`<p class="notice" role="status">The monitor ran less than a minute ago. It runs at most once a minute.</p>`}
${asked === 'change' && html`<p class="notice" role="status">The monitor was changed.</p>`}
<div class="head">${rendered(htmlBlocks(blocks.slice(0, 1)))}
<div class="actions"><a class="button" href="${targetPath(monitor)}">What to do</a></div></div>
${cursor === undefined && rendered(htmlBlocks(sinceBlocks(data)))}
${points.beats && rendered(heartbeat(points.beats))}
${monitor.notify.length === 0 && html`<p class="notice">Nobody is told yet: ${RECEIVERS.filter((name) => name !== 'mail' || parts.canMail).map((name, i) => html`${i > 0 && ' · '}<a href="#change">${name}</a>`)}${!parts.canMail && html` (mail needs <code>--smtp-url</code>)`}</p>`}
${rendered(htmlBlocks(points.blocks))}
<h2 id="changes">What changed</h2>
${data.length === 0 ? html`<p>Nothing has changed.</p>` : rendered(htmlBlocks(changeBlocks(data)))}
<p class="actions">${cursor !== undefined && html`<a href="${path}#changes">Newest changes</a>`} ${typeof next === 'string' && html`<a href="${pathWith(path, { cursor: next })}#changes">Older changes</a>`}</p>
${acceptLinks(monitor)}
<h2>Settings</h2>
${rendered(htmlBlocks(blocks.slice(1)))}
${edit(monitor, visit, problem, parts.canMail)}
${actions(monitor, visit)}
<footer><p class="quiet">As JSON: <a href="${jsonPath}?format=json">the monitor</a> · <a href="${jsonPath}/changes">its changes</a> · <a href="${jsonPath}/history">its runs</a></p></footer></main>`,
  })
}

/** A link for each finding that is not accepted yet, to the form that accepts it. */
function acceptLinks({ facts, accepted, target }: MonitorAnswer): Html | '' {
  const open = (facts?.findings ?? []).filter((id) => !accepted.some(({ finding }) => finding === id))
  if (open.length === 0) return ''
  return html`<details class="try"><summary>Accept a finding for a while</summary><ul>${open.map(
    (finding) => html`<li><a href="${pathWith('/accepted', { finding, domain: target })}#add">${finding}</a></li>`,
  )}</ul></details>`
}

/** Maximum number of runs on the page, and how long the history is stored, ms. */
const RUNS = 1_000
const HISTORY_MS = 400 * 86_400_000
/** The maximum number of points that the operation returns at once. */
const POINTS = 5_000

/**
 * The last runs of a monitor. The history is read from a certain time on, which is later if the runs used to be closer
 * together.
 */
async function pointsOf(parts: Parts, visit: Visit, { every, last }: MonitorAnswer) {
  if (last === null) return { blocks: historyBlocks([]), beats: undefined }
  const everyMs = parseDuration(every)
  const longestMs = Math.min(HISTORY_MS, (everyMs.ok ? everyMs.value : 86_400_000) * RUNS)
  for (let stretchMs = longestMs; ; stretchMs /= 8) {
    const after = new Date(Date.parse(last.time) - Math.round(stretchMs)).toISOString()
    const raw = { limit: String(POINTS), cursor: formatCursor(after) }
    const given = await execute(parts, 'monitors history', visit, raw)
    const { data, has_more } = ownAnswer(monitorHistoryAnswer, given.answer)
    // Runs are at least a minute apart, so three days always fit.
    if (!has_more || stretchMs < 3 * 86_400_000)
      return { blocks: historyBlocks(data.slice(-RUNS)), beats: heartbeatOf(data) }
  }
}

/** The form that changes a monitor, folded at first. */
const edit = (monitor: MonitorAnswer, visit: Visit, problem: FormProblem | undefined, canMail: boolean): Html =>
  html`<details class="try" id="change"${problem !== undefined && html` open`}><summary>Change this monitor</summary>
${changeForm(visit, `${monitorPath(monitor.id)}/change#change`, { fields: problem === undefined ? fieldsOf(monitor) : visit.form, problem, canMail }, monitor.kind === 'check' || monitor.kind === 'report')}</details>`

function actions({ id, enabled, notify }: MonitorAnswer, visit: Pick<Visit, 'token'>): Html {
  const allowed: readonly (readonly [string, string, string])[] = [
    ...(enabled ? [['run', 'Run now', ''] as const] : []),
    ...(notify.length > 0 ? [['test', 'Send a test message', 'second'] as const] : []),
    enabled ? ['pause', 'Pause', 'second'] : ['resume', 'Resume', ''],
    ['delete', 'Delete monitor and history', 'danger'],
  ]
  return actionForms(monitorPath(id), allowed, visit)
}
