import { type MonitorAnswer, type MonitorKind, monitorAnswer, monitorListAnswer } from '../answers/monitors.ts'
import { readOpen } from '../answers/read-answer.ts'
import { AppError, ERRORS } from '../base/errors.ts'
import { printable } from '../base/text.ts'
import { htmlBlocks } from '../documents/html/html.ts'
import { lastInWords } from '../documents/monitor-history.ts'
import { kindInWords, monitorState, monitorTitle } from '../documents/monitors.ts'
import { SIGNS } from '../documents/signs.ts'
import { inWords } from '../documents/timeline.ts'
import { type Html, html, rendered } from './html.ts'
import { csrfField, layout } from './layout.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import { documentOf, type Parts } from './parts.ts'
import { monitorPath, pathWith } from './paths.ts'

/** `/monitors`: what is watched, and a form for one more. */
export const monitorsPages = (parts: Parts): readonly Page[] => [
  { method: 'GET', path: '/monitors', scope: 'jobs', visit: (visit) => list(parts, visit) },
  { method: 'POST', path: '/monitors', scope: 'jobs', visit: (visit) => create(parts, visit) },
]

async function list(parts: Parts, visit: Visit, problem?: string): Promise<PageAnswer> {
  const { cursor } = visit.query
  const raw = { limit: '50', ...(cursor && { cursor }) }
  const given = await parts.execute(parts.operation('monitors list'), raw, visit.by)
  const monitors = readOpen(monitorListAnswer, given.answer)
  if (!monitors.ok) throw new Error(monitors.problem)
  const { data, next_cursor: next } = monitors.value
  return {
    status: problem === undefined ? 200 : 400,
    html: layout(parts.assets, visit, {
      title: 'Monitors',
      main: html`<main id="main" tabindex="-1"><h1>Monitors</h1>
<p class="lead">A domain, a mailbox or an IP address, asked about again and again; whoever is named is told when it changes.</p>
${data.length === 0 ? html`<p>Nothing is watched yet.</p>` : table(data)}
${typeof next === 'string' && html`<p><a href="${pathWith('/monitors', { cursor: next })}">Older monitors</a></p>`}
<h2 id="add">Watch something</h2>
${form(visit, problem)}
<footer><p class="quiet"><a href="${pathWith('/v1/monitors', { ...raw, format: 'json' })}">The same as JSON</a></p></footer></main>`,
    }),
  }
}

const table = (
  monitors: readonly MonitorAnswer[],
): Html => html`<div class="scroll" role="group" tabindex="0" aria-label="Monitors"><table><caption class="hidden">Monitors</caption>
<thead><tr><th scope="col">Monitor</th><th scope="col">Target</th><th scope="col">State</th><th scope="col">Last run</th><th scope="col">Next run</th></tr></thead>
<tbody>${monitors.map((monitor) => {
  const { mark, text } = monitorState(monitor)
  return html`<tr><td><a href="${monitorPath(monitor.id)}">${monitorTitle(monitor)}</a></td><td><code>${monitor.target}</code></td><td><span class="mark ${mark}">${SIGNS[mark]} ${text}</span></td><td>${monitor.last === null ? '–' : html`${inWords(monitor.last.time)}<br>${lastInWords(monitor.last)}`}</td><td>${monitor.enabled ? inWords(monitor.next_run_at) : '–'}</td></tr>`
})}</tbody></table></div>`

const KINDS: readonly MonitorKind[] = ['report', 'check', 'verify', 'blacklist']
const EVERY = { '15m': '15 minutes', '1h': 'hour', '6h': '6 hours', '12h': '12 hours', '24h': 'day', '7d': 'week' }
const WHEN = { changed: 'anything changes', worse: 'it gets worse', listed: 'it is on a blacklist' }
/** Whom the form can name, each by its field. */
const RECEIVERS = [
  { type: 'mail', field: 'to', label: 'Mail to', hint: 'postmaster@example.org' },
  { type: 'webhook', field: 'url', label: 'Webhook (URL)', hint: 'https://hooks.example.org/mail' },
  {
    type: 'slack',
    field: 'url',
    label: 'Slack (URL of its incoming webhook)',
    hint: 'https://hooks.slack.com/services/…',
  },
  { type: 'ntfy', field: 'url', label: 'ntfy (URL of the topic)', hint: 'https://ntfy.sh/topic' },
] as const

/** The form; after a refusal with what was typed, but for what is secret. */
function form({ token, form: typed }: Pick<Visit, 'token' | 'form'>, problem: string | undefined): Html {
  const isFirst = problem === undefined
  const value = (name: string): string => typed[name] ?? ''
  const options = (names: Readonly<Record<string, string>>, chosen: string): readonly Html[] =>
    Object.entries(names).map(
      ([name, words]) => html`<option value="${name}"${name === chosen && html` selected`}>${words}</option>`,
    )
  return html`${!isFirst && html`<p class="problem" role="alert" id="problem">${problem}</p>`}
<form class="stack" method="post" action="/monitors#add">${csrfField({ token })}
<label>What is asked <select name="kind">${options(Object.fromEntries(KINDS.map((kind) => [kind, kindInWords(kind)])), value('kind'))}</select></label>
<label>Domain, mailbox or IP address <input name="target" required maxlength="320" value="${value('target')}" placeholder="example.org" autocapitalize="off" autocomplete="off" spellcheck="false"></label>
<label>Every <select name="every">${options(EVERY, isFirst ? '24h' : value('every'))}</select></label>
<label>Name, for people <input name="name" maxlength="200" value="${value('name')}" autocomplete="off"></label>
<fieldset class="wide"><legend>Tell when</legend>
${Object.entries(WHEN).map(([name, words]) => html`<label class="tick"><input type="checkbox" name="${name}" value="true"${(isFirst ? name === 'changed' : value(name) === 'true') && html` checked`}> ${words}</label>`)}
<label class="tick">the score falls below <input class="short" name="score_below" type="number" min="0" max="100" value="${value('score_below')}"></label></fieldset>
<fieldset class="wide"><legend>Whom to tell (any, or nobody)</legend>
${RECEIVERS.map(({ type, label, hint }) => html`<label>${label} <input name="${type}" maxlength="2000" value="${value(type)}" placeholder="${hint}" autocapitalize="off" autocomplete="off" spellcheck="false"></label>`)}
<label>Access token of ntfy, where the topic needs one <input name="ntfy_token" type="password" maxlength="200" autocomplete="off"></label></fieldset>
<button>Watch it</button></form>`
}

async function create(parts: Parts, visit: Visit): Promise<PageAnswer> {
  try {
    const given = await parts.execute(parts.operation('monitors create'), inputOf(visit.form), visit.by)
    const monitor = readOpen(monitorAnswer, given.answer)
    if (!monitor.ok) throw new Error(monitor.problem)
    const { id, notify } = monitor.value
    const hasSecret = notify.some((one) => one.type === 'webhook' && one.secret !== undefined)
    if (!hasSecret) return { to: monitorPath(id) }
    const { blocks } = documentOf(parts, given, 'Monitor')
    return {
      status: 201,
      html: layout(parts.assets, visit, {
        title: monitorTitle(monitor.value),
        main: html`<main id="main" tabindex="-1"><p><a href="/monitors">Monitors</a></p>
<p class="notice">It is watched from now on. Keep the secret of the webhook: your receiver checks signatures with it, and it is not shown again.</p>
${rendered(htmlBlocks(blocks))}
<p><a class="button" href="${monitorPath(id)}">Go to the monitor</a></p></main>`,
      }),
    }
  } catch (error) {
    if (error instanceof AppError && ERRORS[error.code].status === 400)
      return list(parts, visit, `Not taken: ${printable(error.message, 1_000)}`)
    throw error
  }
}

/** The fields of the form as the operation takes them; empty ones are left out. */
function inputOf(fields: Visit['form']): Readonly<Record<string, unknown>> {
  const typed = (name: string): string => (fields[name] ?? '').trim()
  const when = [
    ...Object.keys(WHEN).filter((name) => typed(name) === 'true'),
    ...(typed('score_below') === '' ? [] : [`score_below:${Number(typed('score_below'))}`]),
  ]
  const notify = RECEIVERS.flatMap(({ type, field }) =>
    typed(type) === ''
      ? []
      : [{ type, [field]: typed(type), ...(type === 'ntfy' && typed('ntfy_token') && { token: typed('ntfy_token') }) }],
  )
  const plain = ['kind', 'target', 'every', 'name'].flatMap((name) => (typed(name) === '' ? [] : [[name, typed(name)]]))
  return { ...Object.fromEntries(plain), when, notify }
}
