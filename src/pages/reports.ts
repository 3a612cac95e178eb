import { ownAnswer } from '../answers/read-answer.ts'
import {
  type ReportProvider,
  type ReportSenderAnswer,
  type ReportsPolicyAnswer,
  reportSendersAnswer,
  reportsAnswer,
  reportsDomainsAnswer,
  reportsImportAnswer,
  reportsPolicyAnswer,
  reportsProvidersAnswer,
} from '../answers/reports.ts'
import { only } from '../base/at-most.ts'
import { sleep } from '../base/deadline.ts'
import { AppError } from '../base/errors.ts'
import { counted } from '../base/text.ts'
import { grouped } from '../documents/block.ts'
import { htmlBlocks } from '../documents/html/html.ts'
import {
  ofFile,
  reportsDomainsDocument,
  reportsImportDocument,
  reportsPolicyDocument,
  senderDetails,
} from '../documents/reports.ts'
import { type Html, html, rendered } from './html.ts'
import { csrfField, pageOf } from './layout.ts'
import { readForm } from './multipart.ts'
import type { Page, PageAnswer, PageEvent, Visit } from './page.ts'
import {
  beside,
  documentOf,
  type FieldProblem,
  invalid,
  isCorrectable,
  type Parts,
  refusedWords,
  withoutSubject,
} from './parts.ts'
import { pathWith, reportsPath } from './paths.ts'
import { pageError, sentenceOf } from './problems.ts'

/** Maximum size of a file that is sent by the form, bytes. */
const MAX_FILE = 26_214_400
const MAX_LINKS = 10
/** Senders with their evidence on the page of a domain. */
const SENDERS = 50

/** Interval at which it is looked whether reports have come in, and a page is shown anew, ms. */
const EVERY_MS = 2_000
/** Maximum duration of one stream, ms; a browser requests the next one by itself. */
const LONGEST_MS = 10 * 60_000
/** Senders that lose mail and are shown without unfolding them. */
const SHOWN_LOSERS = 5

/** `/reports`: the domains that have reports, and a form for files; `/reports/{domain}`: who sends as a domain. */
export const reportsPages = (parts: Parts): readonly Page[] => [
  { method: 'GET', path: '/reports', scope: 'reports', visit: (visit) => index(parts, visit) },
  { method: 'POST', path: '/reports', scope: 'reports', uploads: true, visit: (visit) => upload(parts, visit) },
  {
    ...{ method: 'GET', path: '/reports/providers', scope: 'reports' },
    asks: () => ({ title: 'Senders across domains', button: 'Show who sends for several domains' }),
    visit: (visit) => providers(parts, visit),
  },
  {
    ...{ method: 'GET', path: '/reports/:domain', scope: 'reports' },
    asks: ({ params }) => ({ title: `Who sends as ${params.domain}`, button: `Show who sends as ${params.domain}` }),
    visit: (visit) => domain(parts, visit),
  },
  { method: 'POST', path: '/reports/:domain/senders', scope: 'reports', visit: (visit) => say(parts, visit) },
  {
    method: 'GET',
    path: '/reports/:domain/events',
    scope: 'reports',
    visit: async (visit) => {
      if (visit.from === 'other') throw pageError('foreign_stream')
      return { events: events(parts, visit, await storedFor(parts, visit)) }
    },
  },
]

async function index(parts: Parts, visit: Visit, came?: Html, problem?: FieldProblem): Promise<PageAnswer> {
  const given = await parts.execute(parts.operation('reports domains'), {}, visit.by)
  const answer = ownAnswer(reportsDomainsAnswer, given.answer)
  const [, ...blocks] = reportsDomainsDocument({ ...answer, data: [] }, parts.version).blocks
  const { data: domains } = answer
  return pageOf(parts, visit, {
    status: problem ? 400 : 200,
    title: 'Reports',
    main: html`<main id="main" tabindex="-1"><h1>Reports</h1>
<p class="lead">Receivers report every day who sends as your domains. Here each sender has a name, a verdict, and one thing to do.</p>
${came}
${domains.length > 1 && html`<p><a class="button second" href="/reports/providers">Who sends for several of them</a></p>`}
${
  domains.length === 0
    ? html`<p>No reports have come in yet.</p>`
    : html`<div class="scroll" role="group" tabindex="0" aria-label="Domains"><table><caption class="hidden">Domains with reports</caption>
<thead><tr><th scope="col">Domain</th><th scope="col" class="number">Reports</th><th scope="col" class="number">Messages</th><th scope="col">Last report</th></tr></thead>
<tbody>${domains.map((one) => html`<tr><td><a href="${reportsPath(one.domain)}">${one.domain}</a></td><td class="number">${one.reports.toLocaleString('en-US')}</td><td class="number">${one.messages.toLocaleString('en-US')}</td><td>${one.last_report_at.slice(0, 10)}</td></tr>`)}</tbody></table></div>`
}
${rendered(htmlBlocks(blocks))}
<h2 id="add">Add reports</h2>
<form class="stack" method="post" action="/reports?_csrf=${visit.token}" enctype="multipart/form-data">
<label>Files (messages, XML, JSON, gzip, zip, mbox) <input type="file" name="file" multiple required${invalid('file', problem)}>${beside('file', problem)}</label>
<button>Store reports</button></form>
<h2 id="ways">How reports come in by themselves</h2>
<ul><li>By LMTP from your mail server: <code>--reports-lmtp 127.0.0.1:2424</code></li>
<li>From a mailbox: <code>--reports-imap imaps://user@host/INBOX</code></li>
<li>From an alias or a sieve script: <code>mailsonde reports import -</code></li>
<li>Over HTTP: <code>POST /v1/reports</code></li></ul>
<p>Point the <code>rua</code> of your DMARC record at such a mailbox. If its domain is another one, that domain publishes <code>&lt;your domain&gt;._report._dmarc TXT "v=DMARC1"</code> (RFC 9990 §4). Reports from mail are taken for the domains of <code>--reports-domains</code>, of monitors and of keys.</p>
<footer><p class="quiet"><a href="${pathWith('/v1/reports/domains', {})}">The same as JSON</a></p></footer></main>`,
  })
}

/** Who sends for several domains, with the domains for which each still fails. */
async function providers(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const { from, to, senders: which } = visit.query
  const asked = { ...(from && { from }), ...(to && { to }), ...(which && { senders: which }) }
  const given = await parts.execute(parts.operation('reports providers'), asked, visit.by)
  const { data } = ownAnswer(reportsProvidersAnswer, given.answer)
  const { blocks } = documentOf(parts, given, 'Senders across domains')
  const isAll = which === 'all'
  return pageOf(parts, visit, {
    title: 'Senders across domains',
    main: html`<main id="main" tabindex="-1"><p class="back"><a href="/reports">← Reports</a></p>
${rendered(htmlBlocks(blocks))}
<p><a href="${pathWith('/reports/providers', { ...asked, senders: isAll ? 'several' : 'all' })}">${isAll ? 'Only those of several domains' : 'Also those of one domain'}</a></p>
${data.length > 0 && html`<h2 id="domains">By sender</h2>${data.map(providerDetails)}`}
<footer><p class="quiet"><a href="${pathWith('/v1/reports/providers', { ...asked, format: 'csv', csv: 'spreadsheet' })}">All of it as CSV</a> · <a href="${pathWith('/v1/reports/providers', { ...asked, format: 'markdown' })}">Markdown</a> · <a href="${pathWith('/v1/reports/providers', { ...asked, format: 'json' })}">The same as JSON</a></p></footer></main>`,
  })
}

/** The domains of a sender, with a link to the senders of each. */
const providerDetails = ({ name, at, at_left_out: left, domains }: ReportProvider): Html =>
  html`<details><summary>${name}, ${counted(domains, 'domain')}</summary><div class="scroll" role="group" tabindex="0" aria-label="Domains of ${name}"><table><caption class="hidden">Domains of ${name}</caption>
<thead><tr><th scope="col">Domain</th><th scope="col" class="number">Messages</th><th scope="col" class="number">Passing</th><th scope="col" class="number">Failing</th></tr></thead>
<tbody>${at.map((one) => html`<tr><td><a href="${reportsPath(one.domain)}">${one.domain}</a></td><td class="number">${grouped(one.messages)}</td><td class="number">${grouped(one.passing)}</td><td class="number">${grouped(one.messages - one.passing)}</td></tr>`)}</tbody></table></div>
${left !== undefined && html`<p class="quiet">${counted(left, 'more domain')} in the CSV.</p>`}</details>`

async function upload(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const form = await readForm(visit, MAX_FILE).catch((error: unknown) => {
    if (isCorrectable(error)) return error
    throw error
  })
  if (form instanceof AppError)
    return index(parts, visit, undefined, { field: 'file', words: refusedWords('Not read', form) })
  const results: Html[] = []
  const refused: string[] = []
  for (const { name, octets } of form.files) {
    try {
      const sent = { octets: only(octets), contentType: 'application/octet-stream' }
      const given = await parts.execute(parts.operation('reports import'), {}, { ...visit.by, upload: sent })
      const answer = ofFile(ownAnswer(reportsImportAnswer, given.answer), name)
      const [first, ...blocks] = reportsImportDocument(answer, parts.version).blocks
      const told = first?.kind === 'conclusion' ? first.conclusion : undefined
      const notes = (told?.notes ?? []).map((line) => ({ kind: 'text', line }) as const)
      const about = [...new Set(answer.reports.map((one) => one.domain))].slice(0, MAX_LINKS)
      results.push(html`<h3>${name}</h3><p>${told?.subject}: ${told?.words}</p>${rendered(htmlBlocks([...notes, ...blocks]))}
${about.length > 0 && html`<p>${about.map((one) => html`<a class="button second" href="${reportsPath(one)}">Who sends as ${one}</a> `)}</p>`}`)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      results.push(html`<p class="problem" role="alert"><code>${name}</code>: ${sentenceOf(error)}</p>`)
      refused.push(name)
    }
  }
  const came = html`<section><h2>What came in</h2>${results}</section>`
  if (refused.length === 0) return index(parts, visit, came)
  return index(parts, visit, came, {
    field: 'file',
    words: `Not stored: ${counted(refused.length, 'file')}, see above.`,
  })
}

/** Who sends as a domain; a day that cannot be read is told beside its field. */
async function domain(parts: Parts, visit: Visit): Promise<PageAnswer> {
  try {
    return await senders(parts, visit)
  } catch (error) {
    const field = isCorrectable(error) ? DAYS.find((name) => name === error.parameter) : undefined
    if (!isCorrectable(error) || field === undefined) throw error
    const name = visit.params.domain ?? ''
    const { from = '', to = '' } = visit.query
    return pageOf(parts, visit, {
      status: 400,
      title: `Who sends as ${name}`,
      main: html`<main id="main" tabindex="-1"><p class="back"><a href="/reports">← Reports</a></p><h1>Who sends as ${name}</h1>
${dayForm(name, { from, to }, { field, words: refusedWords('Not shown', error) })}</main>`,
    })
  }
}

const DAYS = ['from', 'to'] as const

async function senders(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const stored = await storedFor(parts, visit)
  const { answer, shown, evidence } = await contentOf(parts, visit)
  const { from, to, policy } = visit.query
  const live = pathWith(`${reportsPath(answer.domain)}/events`, { from, to, policy, stored })
  const query = { domain: answer.domain, from: answer.from, to: answer.to }
  return pageOf(parts, visit, {
    title: `Who sends as ${answer.domain}`,
    islands: ['job'],
    main: html`<main id="main" tabindex="-1"><p class="back"><a href="/reports">← Reports</a></p>
<div id="progress" data-events="${live}" data-state="open">${shown}</div>
<p class="quiet" id="state" role="status"></p>
${dayForm(answer.domain, answer)}
${answer.reports === 0 && html`<p><a href="/reports#ways">How reports come in</a></p>`}
<div id="details">${evidence}</div>
${visit.may('jobs') && html`<p><a class="button second" href="${pathWith('/monitors', { kind: 'reports', target: answer.domain })}#add">Tell me about new senders and failing mail</a></p>`}
<footer><p class="quiet"><a href="${pathWith('/v1/reports/rows', { ...query, format: 'csv', csv: 'spreadsheet' })}">Rows as CSV</a> · <a href="${pathWith('/v1/reports/tls', query)}">TLS reports</a> · <a href="${pathWith('/v1/reports', { ...query, format: 'json' })}">The same as JSON</a></p></footer></main>`,
  })
}

const storedFor = (parts: Parts, { by, params }: Visit): Promise<number> => parts.storedReports(by, params.domain ?? '')

/** Keeps what a visitor says about a sender. */
async function say(parts: Parts, { form, by, params }: Visit): Promise<PageAnswer> {
  const { id = '', ours = '', note } = form
  await parts.execute(parts.operation('reports mine'), { id, ours, ...(note && { note }) }, by)
  return { to: reportsPath(params.domain) }
}

/**
 * Senders of which it is asked whose they are (`to_do` of an unknown one): not what is the domain's own, nor what sent
 * only a few messages.
 */
function yoursPart(visit: Visit, domain: string, senders: readonly ReportSenderAnswer[]): Html {
  const unknown = senders.filter(({ verdict, said, to_do }) => verdict === 'unknown' && !said && to_do !== undefined)
  if (unknown.length === 0) return html``
  return html`<h2 id="yours">Is it yours?</h2><ul class="rows-of">${unknown
    .slice(0, MOST_ASKED)
    .map(
      ({ id, name, messages, passing, because: [why = ''] }) =>
        html`<li><form method="post" action="${reportsPath(domain)}/senders">${csrfField(visit)}<input type="hidden" name="id" value="${id}"><span><strong>${name}</strong> <span class="quiet">${grouped(messages - passing)} of ${counted(messages, 'message')} fail · ${why}</span></span> <button class="second" name="ours" value="true" aria-label="${name}: it is ours">It is ours</button> <button class="second" name="ours" value="false" aria-label="${name}: not ours">Not ours</button></form></li>`,
    )}</ul>${unknown.length > MOST_ASKED && html`<p class="quiet">${unknown.length - MOST_ASKED} more are in the evidence below.</p>`}`
}
/** Unknown senders that are asked about at once. */
const MOST_ASKED = 10

/** The buttons with which a sender is said to be the visitor's or not. */
const sayForm = (visit: Visit, domain: string, { id, said, verdict }: ReportSenderAnswer): Html =>
  html`<form class="stack" method="post" action="${reportsPath(domain)}/senders">${csrfField(visit)}<input type="hidden" name="id" value="${id}">
${said ? html`<button class="second" name="ours" value="null">Take back</button>` : html`${verdict === 'unknown' && html`<label>Note (optional) <input name="note" maxlength="200" autocomplete="off"></label> `}<button class="second" name="ours" value="true">It is ours</button> <button class="second" name="ours" value="false">Not ours</button>`}</form>`

/** What changes when reports come in: the sums with what a policy would do, and the evidence of each sender. */
async function contentOf(parts: Parts, visit: Visit) {
  const name = visit.params.domain ?? ''
  const { from, to, policy = 'reject' } = visit.query
  const period = { domain: name, ...(from && { from }), ...(to && { to }) }
  const ask = (operation: string, raw: object) =>
    parts.execute(parts.operation(operation), { ...period, ...raw }, visit.by)
  const [given, sending, tried] = await Promise.all([
    ask('reports show', {}),
    ask('reports senders', { today: 'false', limit: String(SENDERS) }),
    ask('reports policy', { policy }),
  ])
  const answer = ownAnswer(reportsAnswer, given.answer)
  const { blocks } = documentOf(parts, given, `Who sends as ${name}`)
  const { data } = ownAnswer(reportSendersAnswer, sending.answer)
  const sums = blocks.findIndex((one) => one.kind === 'heading' && one.id !== 'advice')
  const [first, rest] = sums < 0 ? [blocks, []] : [blocks.slice(0, sums), blocks.slice(sums)]
  return {
    answer,
    shown: html`${rendered(htmlBlocks(first))}
${yoursPart(visit, name, data)}
${answer.reports > 0 && policyPart(parts, ownAnswer(reportsPolicyAnswer, tried.answer))}
${rendered(htmlBlocks(rest))}`,
    evidence: html`${data.length > 0 && html`<h2 id="evidence">The evidence</h2>${data.map((one) => html`<details><summary>${one.name}</summary>${rendered(htmlBlocks(senderDetails(one).slice(1)))}${sayForm(visit, name, one)}</details>`)}`}`,
  }
}

/** What a policy would do: the answer, and the senders that lose mail, folded if they are many. */
function policyPart({ version }: Parts, answer: ReportsPolicyAnswer): Html {
  const blocks = withoutSubject(reportsPolicyDocument(answer, version).blocks)
  const tables = blocks.filter(({ kind }) => kind === 'table')
  const losers = answer.affected.filter(({ verdict }) => verdict !== 'forged').length
  return html`<h2 id="policy">What p=${answer.policy} would do</h2>
${rendered(htmlBlocks(blocks.filter(({ kind }) => kind !== 'table')))}
${losers > 0 && html`<details${losers <= SHOWN_LOSERS && html` open`}><summary>${counted(losers, 'sender loses', 'senders lose')} mail</summary>${rendered(htmlBlocks(tables))}</details>`}`
}

/**
 * `ready` at the begin, without which a browser would not know that it is connected; `progress` with the content of the
 * page, whenever reports have come in.
 */
async function* events(parts: Parts, visit: Visit, now: number): AsyncIterable<PageEvent> {
  const signal = visit.by.signal ?? new AbortController().signal
  let shown = visit.query.stored ?? String(now)
  let stored = String(now)
  yield { event: 'ready', data: {} }
  for (let turn = 0; turn * EVERY_MS < LONGEST_MS && !signal.aborted; turn++) {
    if (stored !== shown) {
      shown = stored
      const { shown: sums, evidence } = await contentOf(parts, visit)
      yield { event: 'progress', data: { state: 'open', html: sums.safe, details: evidence.safe } }
    }
    await sleep(EVERY_MS, signal).catch(() => {})
    if (!signal.aborted) stored = String(await storedFor(parts, visit))
  }
}

/**
 * A day as it is written everywhere else on the pages; the date fields of browsers write it as their own language does.
 */
const dateField = (label: string, name: string, value: string, problem?: FieldProblem): Html =>
  html`<label>${label} <input class="short" name="${name}" value="${value}" required pattern="\\d{4}-\\d\\d-\\d\\d" maxlength="10" size="11" placeholder="2026-01-31" autocomplete="off" title="year-month-day"${invalid(name, problem)}>${beside(name, problem)}</label>`

const dayForm = (
  name: string,
  { from, to }: { readonly from: string; readonly to: string },
  problem?: FieldProblem,
): Html =>
  html`<form class="stack" action="${reportsPath(name)}">${dateField('From', 'from', from, problem)} ${dateField('To', 'to', to, problem)} <button>Show</button></form>`
