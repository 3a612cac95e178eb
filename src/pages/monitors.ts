import {
  dmarcPhase,
  type MonitorAnswer,
  type MonitorSummary,
  monitorAnswer,
  monitorDigestAnswer,
  monitorHistoryAnswer,
  monitorImportAnswer,
  monitorListAnswer,
  monitorState as monitorStates,
  monitorSummaryAnswer,
} from '../answers/monitors.ts'
import { ownAnswer } from '../answers/read-answer.ts'
import { atMost } from '../base/at-most.ts'
import { AppError, ERRORS } from '../base/errors.ts'
import { counted } from '../base/text.ts'
import { parseDuration } from '../base/time.ts'
import { htmlBlocks } from '../documents/html/html.ts'
import { sparkLine } from '../documents/html/pictures.ts'
import {
  dmarcInWords,
  historyBlocks,
  lastInWords,
  monitorDigestDocument,
  monitorState,
  monitorTitle,
  readerState,
  worstInWords,
} from '../documents/monitors.ts'
import { encodingOf } from '../jobs/intake/octets.ts'
import { formatCursor } from '../operations/params.ts'
import { titleOfFinding } from '../score/accepted.ts'
import { type Html, html, marked, rendered, timeOf, verbatim } from './html.ts'
import { csrfField, pageOf } from './layout.ts'
import { MAX_PASTED } from './list-form.ts'
import { createForm, createInput, type FormProblem, formProblem, newFields } from './monitor-form.ts'
import { readForm } from './multipart.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import { documentOf, type Parts } from './parts.ts'
import { monitorPath, pathWith } from './paths.ts'

/** `/monitors`: the portfolio with its filters and counts, an import, and a form for a new one. */
export const monitorsPages = (parts: Parts): readonly Page[] => [
  { method: 'GET', path: '/monitors', scope: 'jobs', visit: (visit) => list(parts, visit) },
  { method: 'POST', path: '/monitors', scope: 'jobs', visit: (visit) => create(parts, visit) },
  { method: 'GET', path: '/monitors/digest', scope: 'jobs', visit: (visit) => digest(parts, visit) },
  { method: 'POST', path: '/monitors/digest', scope: 'jobs', visit: (visit) => setDigest(parts, visit) },
  {
    method: 'POST',
    path: '/monitors/import',
    scope: 'jobs',
    uploads: true,
    visit: (visit) => importList(parts, visit),
  },
]

/** The words of the filters in the URL, which are those of the API. */
const FILTERS = [
  ...[
    'q',
    'label',
    'organization',
    'owner',
    'grade',
    'phase',
    'policy',
    'state',
    'provider',
    'role',
    'finding',
    'mta_sts',
    'dnssec',
  ],
  ...['profile_not_met', 'accepted', 'no_reports', 'changed_since', 'sort'],
] as const
/** The filters of the form: those that have a choice, with it. */
const CHOICES = {
  grade: ['A+', 'A', 'B', 'C', 'D', 'F', 'unknown'],
  phase: dmarcPhase.options,
  state: monitorStates.options,
  sort: ['domain', 'newest', 'name', 'score', 'worst', 'changed'],
} as const

async function list(parts: Parts, visit: Visit, problem?: FormProblem): Promise<PageAnswer> {
  const { cursor } = visit.query
  const asked = Object.fromEntries(FILTERS.flatMap((name) => (visit.query[name] ? [[name, visit.query[name]]] : [])))
  const { sort: _, ...filter } = asked
  const [given, counted] = await Promise.all([
    parts.execute(
      parts.operation('monitors list'),
      { limit: '50', sort: 'domain', ...asked, ...(cursor && { cursor }) },
      visit.by,
    ),
    parts.execute(parts.operation('monitors summary'), filter, visit.by),
  ])
  const { data, next_cursor: next } = ownAnswer(monitorListAnswer, given.answer)
  const summary = ownAnswer(monitorSummaryAnswer, counted.answer)
  const isFiltered = Object.keys(filter).length > 0
  const to = (query: Readonly<Record<string, unknown>>): string => pathWith('/v1/monitors', { ...asked, ...query })
  const watched = visit.query.target === undefined ? undefined : await watching(parts, visit)
  return pageOf(parts, visit, {
    status: problem === undefined ? 200 : 400,
    title: 'Monitors',
    main: html`<main id="main" tabindex="-1"><h1>Monitors</h1>
<p class="lead">Checks a domain, mailbox or IP address regularly, and notifies your recipients when it changes.</p>
${(summary.total > 0 || isFiltered) && html`<p class="actions"><a class="button" href="#add">Add a monitor</a> <a class="button second" href="#import">Add many domains</a>${summary.total > 1 && html` <a class="button second" href="/monitors/digest">Digests to owners</a>`} <a class="button second" href="/accepted">Accepted findings</a></p>`}
${(summary.total > 1 || isFiltered) && counts(summary, asked)}
${data.length === 0 ? html`<p>${isFiltered ? html`No monitor matches. <a href="/monitors">Show all</a>` : 'There are no monitors yet.'}</p>` : table(data, await linesOf(parts, visit, data))}
${typeof next === 'string' && html`<p><a href="${pathWith('/monitors', { ...asked, cursor: next })}">More monitors</a></p>`}
<h2 id="add">Add a monitor</h2>
${watched !== undefined && html`<p class="notice">${watched.target} is watched already: <a href="${monitorPath(watched.id)}">its monitor</a>. A second one is possible.</p>`}
${createForm(visit, { fields: problem === undefined ? newFields(visit.query) : visit.form, problem, canMail: parts.canMail })}
<h2>Add many domains</h2>
${importForm(visit)}
<footer><p class="quiet"><a href="${to({ format: 'csv' })}">Export as CSV</a> · <a href="${to({ format: 'ndjson' })}">NDJSON</a> · <a href="${to({ limit: 50, format: 'json' })}">The same as JSON</a></p></footer></main>`,
  })
}

const LABELS = {
  q: 'Text',
  label: 'Label',
  owner: 'Owner',
  grade: 'Grade',
  phase: 'DMARC',
  state: 'State',
  sort: 'Order',
} as const

function filterForm(asked: Readonly<Record<string, string | undefined>>): Html {
  const field = (name: keyof typeof LABELS): Html => {
    const value = asked[name] ?? ''
    const choices = name in CHOICES ? CHOICES[name as keyof typeof CHOICES] : undefined
    const control = choices
      ? html`<select name="${name}"><option value="">${name === 'sort' ? 'domain' : 'any'}</option>${choices.filter((one) => one !== 'domain').map((one) => html`<option value="${one}"${one === value && html` selected`}>${one}</option>`)}</select>`
      : html`<input name="${name}" value="${value}" maxlength="320">`
    return html`<label>${LABELS[name]} ${control}</label>`
  }
  const hidden = Object.entries(asked).filter(([name]) => !(name in LABELS))
  return html`<form class="controls" method="get" action="/monitors" role="search">${(Object.keys(LABELS) as (keyof typeof LABELS)[]).map(field)}
${hidden.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button>Filter</button>${Object.keys(asked).length > 0 && html` <a href="/monitors">Show all</a>`}</form>`
}

/** The counts that a page shows, each value with a link that filters by it. */
const SHOWN = [
  ['grade', 'Grades'],
  ['phase', 'Phases of DMARC'],
  ['policy', 'DMARC policies'],
  ['state', 'States'],
  ['provider', 'Mail providers'],
  ['findings', 'Most frequent findings'],
] as const
/** Values of a dimension on the page. */
const MOST_SHOWN = 8

/** The grades in one line; the other counts and the filters are folded until one is used. */
function counts(summary: MonitorSummary, asked: Readonly<Record<string, string | undefined>>): Html {
  const values = (name: (typeof SHOWN)[number][0]): readonly Html[] =>
    summary[name].slice(0, MOST_SHOWN).map(({ value, count, change_7_days: change }, i) => {
      const query = { ...asked, [name === 'findings' ? 'finding' : name]: value }
      return html`${i > 0 && ' · '}<a href="${pathWith('/monitors', query)}">${name === 'findings' ? titleOfFinding(value) : value}</a> ${count.toLocaleString('en')}${moved(change, count)}`
    })
  const [[grade], ...others] = SHOWN
  const hasMoved =
    SHOWN.some(([name]) => summary[name].some((one) => moved(one.change_7_days, one.count) !== '')) ||
    summary.profiles.some((one) => moved(one.change_7_days, one.met) !== '')
  const rows = others.filter(([name]) => summary[name].length > 0)
  return html`<section aria-label="Summary"><p><strong>${counted(summary.total, 'monitor')}</strong>${summary.below > 0 && html` (${counted(summary.organizations, 'domain')}, ${counted(summary.below, 'name')} below)`}: ${values(grade)}</p>
<details${Object.keys(asked).length > 0 && html` open`}><summary>Filter and count</summary>${filterForm(asked)}
<dl>${rows.map(([name, heading]) => html`<dt>${heading}</dt><dd>${values(name)}${name === 'policy' && notReject(summary, asked)}</dd>`)}
${summary.profiles.map(
  ({ name, met, not_met: unmet, unknown, change_7_days: change }) =>
    html`<dt>${name}</dt><dd>met by ${met.toLocaleString('en')} of ${summary.total.toLocaleString('en')}${moved(change, met)}, <a href="${pathWith('/monitors', { ...asked, profile_not_met: name })}">not met</a> ${unmet.toLocaleString('en')}, unknown ${unknown.toLocaleString('en')}</dd>`,
)}</dl>
${hasMoved && html`<p class="quiet">The number in brackets is the change within 7 days.</p>`}</details></section>`
}

/** ` (+3)`; nothing of a value whose monitors are all new. */
const moved = (change: number | null, count: number): string =>
  change === null || change === 0 || change === count ? '' : ` (${change > 0 ? '+' : '−'}${Math.abs(change)})`

/** How many are not at p=reject, with the filter that lists them. */
function notReject({ policy }: MonitorSummary, asked: Readonly<Record<string, string | undefined>>): Html {
  const others = policy.filter(({ value }) => value !== 'reject' && value !== 'unknown')
  if (others.length === 0) return html``
  const path = pathWith('/monitors', { ...asked, policy: others.map(({ value }) => value).join() })
  const count = others.reduce((sum, one) => sum + one.count, 0)
  return html` · <a href="${path}">not at p=reject</a> ${count.toLocaleString('en')}`
}

/** Digests to owners: a preview, who gets them, and the switch, which is not there while no mail can be sent. */
async function digest(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const { owner, cursor } = visit.query
  const raw = { ...(owner && { owner }), ...(cursor && { cursor }) }
  const given = await parts.execute(parts.operation('monitors digest'), raw, visit.by)
  const answer = ownAnswer(monitorDigestAnswer, given.answer)
  const { every, cannot_send: why, data, next_cursor: next, preview } = answer
  const [conclusion, ...blocks] = monitorDigestDocument(
    { ...answer, data: [], preview: null, has_more: false },
    parts.version,
  ).blocks
  return pageOf(parts, visit, {
    title: 'Digests to owners',
    main: html`<main id="main" tabindex="-1"><p class="back"><a href="/monitors">← Monitors</a></p>
${rendered(htmlBlocks([conclusion!, ...blocks]))}
${why !== undefined && html`<p>With <code>--public-url https://…</code> each mail can be ended with one click. <a href="/docs/monitors#digests-to-owners">More</a></p>`}
${
  (why === undefined || every !== 'off') &&
  html`<form class="stack" method="post" action="/monitors/digest">${csrfField(visit)}
${(['week', 'day', 'off'] as const).filter((one) => one !== every && (why === undefined || one === 'off')).map((one) => html`<button name="every" value="${one}"${(one !== 'week' || every !== 'off') && html` class="second"`}>${one === 'off' ? 'Turn off' : `Send every ${one}`}</button> `)}</form>`
}
${
  preview
    ? html`<h2 id="preview">What ${preview.to} would get now</h2><p><strong>${preview.subject}</strong></p><pre>${verbatim(preview.text)}</pre>`
    : html`<p>Nothing has changed for ${owner ?? 'any owner on this page'}: no digest would be sent.</p>`
}
${
  data.length > 0 &&
  html`<h2 id="owners">Owners</h2><div class="scroll" role="group" tabindex="0" aria-label="Owners"><table class="cards"><caption class="hidden">Owners</caption>
<thead><tr><th scope="col">Address</th><th scope="col" class="number">Monitors</th><th scope="col" class="number">Changed</th><th scope="col">State</th><th scope="col">Preview</th></tr></thead>
<tbody>${data.map((one) => {
    const { mark, text } = readerState(one)
    return html`<tr><td data-head="Address"><a href="${pathWith('/monitors', { owner: one.address })}">${one.address}</a></td><td class="number" data-head="Monitors">${one.monitors.toLocaleString('en')}</td><td class="number" data-head="Changed">${one.changed.toLocaleString('en')}</td><td data-head="State">${marked(mark, text)}${one.foreign && html`<br><span class="quiet">at no domain of yours: is the address right?</span>`}</td><td data-head="Preview"><a href="${pathWith('/monitors/digest', { owner: one.address })}#preview">Preview</a></td></tr>`
  })}</tbody></table></div>`
}
${typeof next === 'string' && html`<p><a href="${pathWith('/monitors/digest', { cursor: next })}#owners">More owners</a></p>`}
<footer><p class="quiet"><a href="${pathWith('/v1/monitors/digest', { format: 'json', ...raw })}">The same as JSON</a></p></footer></main>`,
  })
}

async function setDigest(parts: Parts, visit: Visit): Promise<PageAnswer> {
  await parts.execute(parts.operation('monitors digest-set'), { every: visit.form.every ?? '' }, visit.by)
  return { to: '/monitors/digest' }
}

/** The monitor of the kind and target that a visitor is about to watch; undefined if there is none. */
async function watching(parts: Parts, { query, by }: Visit): Promise<MonitorAnswer | undefined> {
  const given = await parts.execute(parts.operation('monitors list'), { q: query.target, limit: '50' }, by)
  return ownAnswer(monitorListAnswer, given.answer).data.find(
    ({ kind, target }) => target === query.target && (query.kind === undefined || kind === query.kind),
  )
}

const table = (
  monitors: readonly MonitorAnswer[],
  lines: ReadonlyMap<string, Html>,
): Html => html`<div class="scroll" role="group" tabindex="0" aria-label="Monitors"><table class="cards brief"><caption class="hidden">Monitors</caption>
<thead><tr><th scope="col">Monitor</th><th scope="col">State</th><th scope="col">Grade</th><th scope="col">Worst finding</th><th scope="col">DMARC</th><th scope="col">Labels</th><th scope="col">Over time</th><th scope="col">Last run</th></tr></thead>
<tbody>${monitors.map((monitor) => {
  const { mark, text } = monitorState(monitor)
  const { facts, labels, owner } = monitor
  return html`<tr><td data-head="Monitor"${monitor.below !== null && html` class="below"`}><a href="${monitorPath(monitor.id)}">${monitorTitle(monitor)}</a>${monitor.name !== '' && html`<br><code>${monitor.target}</code>`}${monitor.below !== null && html`<br><span class="quiet">below <a href="${pathWith('/monitors', { organization: monitor.below })}">${monitor.below}</a></span>`}</td><td data-head="State">${marked(mark, text)}</td><td data-head="Grade">${facts === null ? '–' : html`${facts.grade ?? 'not known'} ${facts.score ?? ''}`}</td><td data-head="Worst finding">${worstInWords(monitor)}${monitor.changed_at !== null && html`<br><span class="quiet">since ${timeOf(monitor.changed_at)}</span>`}</td><td data-head="DMARC">${dmarcCell(facts)}</td><td data-head="Labels">${labels.map((label, i) => html`${i > 0 && ', '}<a href="${pathWith('/monitors', { label })}">${label}</a>`)}${owner !== null && html`${labels.length > 0 && ' · '}${owner}`}${labels.length === 0 && owner === null && '–'}</td><td class="wide" data-head="Over time">${lines.get(monitor.id)}</td><td data-head="Last run">${monitor.last === null ? '–' : html`${facts === null && html`${short(lastInWords(monitor.last))}<br>`}${timeOf(monitor.last.time)}`}</td></tr>`
})}</tbody></table></div>`

function dmarcCell(facts: MonitorAnswer['facts']): Html {
  const { policy, why } = dmarcInWords(facts)
  return html`${policy}${why !== undefined && html`<br><span class="quiet">${why}</span>`}`
}

/** Maximum number of characters of a reason in the row of a monitor; its page has all of it. */
const SHORT = 80
const short = (text: string): string => (text.length > SHORT ? `${text.slice(0, SHORT)} …` : text)

const importForm = (visit: Pick<Visit, 'token'>): Html =>
  html`<details class="try" id="import"><summary>A list of domains with labels and owners</summary>
<form class="stack" method="post" enctype="multipart/form-data" action="/monitors/import?_csrf=${encodeURIComponent(visit.token)}">
<p class="quiet">CSV or one domain a line; columns <code>domain</code>, <code>labels</code> (divided by ;), <code>owner</code>, <code>every</code>, <code>name</code>, <code>note</code>. <a href="/docs/monitors#many-domains">More</a></p>
<label class="wide">File <input type="file" name="file" accept=".csv,.txt,text/csv,text/plain"></label>
<label class="wide">or pasted <textarea name="text" rows="5" spellcheck="false"></textarea></label>
<button>Show what would change</button></form></details>`

/** Shows what a list would change; with `sure` it is stored. */
async function importList(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const { fields, files } = await readForm(visit, MAX_PASTED)
  const file = files.map(({ octets }) => octets).findLast(({ length }) => length > 0)
  const text = fields.text ?? ''
  const octets = file ?? Buffer.from(text)
  const isSure = fields.sure === 'true'
  async function* pieces(): AsyncIterable<Uint8Array> {
    yield octets
  }
  const by = { ...visit.by, upload: { octets: pieces(), contentType: 'text/csv' } }
  const given = await parts.execute(parts.operation('monitors import'), isSure ? {} : { dry_run: 'true' }, by)
  const {
    created,
    updated,
    unchanged,
    bad_rows: bad,
    ignored_columns: ignored = [],
    changes = [],
  } = ownAnswer(monitorImportAnswer, given.answer)
  const words = `${isSure ? 'Added' : 'To add'}: ${created}. ${isSure ? 'Changed' : 'To change'}: ${updated}. As they are: ${unchanged}. Rows that cannot be read: ${bad.length}.`
  const shown = changes.slice(0, 100)
  return pageOf(parts, visit, {
    title: 'Import of monitors',
    main: html`<main id="main" tabindex="-1"><p class="back"><a href="/monitors">← Monitors</a></p><h1>Import of monitors</h1>
<p${isSure && html` class="notice"`}>${words}</p>
${ignored.length > 0 && html`<p>Columns that are not stored: ${ignored.join(', ')}.</p>`}
${bad.length > 0 && html`<ul>${bad.slice(0, 100).map(({ line, reason }) => html`<li>Line ${String(line)}: ${reason}</li>`)}</ul>`}
${shown.length > 0 && html`<table><caption>${changes.length > shown.length ? `The first ${shown.length} of ${counted(changes.length, 'change')}` : counted(changes.length, 'change')}</caption><thead><tr><th scope="col" class="number">Line</th><th scope="col">Target</th><th scope="col">Change</th></tr></thead><tbody>${shown.map(({ line, target, change }) => html`<tr><td class="number">${String(line)}</td><td><code>${target}</code></td><td>${change}</td></tr>`)}</tbody></table>`}
${
  !isSure &&
  created + updated > 0 &&
  html`<form class="stack" method="post" enctype="multipart/form-data" action="/monitors/import?_csrf=${encodeURIComponent(visit.token)}"><input type="hidden" name="sure" value="true">
<label class="wide">The list <textarea name="text" rows="4" spellcheck="false">${verbatim(decoded(octets))}</textarea></label><button>Import it</button></form>`
}</main>`,
  })
}

/** The text of a list; its encoding is detected as for one over the API. */
const decoded = (octets: Uint8Array): string => new TextDecoder(encodingOf(octets)).decode(octets)

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
    return pageOf(parts, visit, {
      status: 201,
      title: monitorTitle(monitor),
      main: html`<main id="main" tabindex="-1"><p class="back"><a href="/monitors">← Monitors</a></p>
<p class="notice">The monitor is active. ${hasSecret && html`Copy the webhook secret now: your server needs it to <a href="/docs/webhooks">verify signatures</a>, and it is not shown again.`}</p>
${rendered(htmlBlocks(blocks))}
<p><a class="button" href="${monitorPath(id)}">Go to the monitor</a></p></main>`,
    })
  } catch (error) {
    if (error instanceof AppError && ERRORS[error.code].status === 400) return list(parts, visit, formProblem(error))
    throw error
  }
}
