import { type AcceptedAnswer, acceptedListAnswer } from '../answers/accepted.ts'
import { ownAnswer } from '../answers/read-answer.ts'
import { AppError, ERRORS } from '../base/errors.ts'
import { type Html, html, marked, timeOf } from './html.ts'
import { csrfField, pageOf } from './layout.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import { above, beside, type FieldProblem, invalid, type Parts, refusedWords } from './parts.ts'
import { domainPath, pathWith } from './paths.ts'

/** `/accepted`: the accepted findings, and a form for another one. */
export const acceptedPages = (parts: Parts): readonly Page[] => [
  { method: 'GET', path: '/accepted', scope: 'jobs', visit: (visit) => show(parts, visit) },
  { method: 'POST', path: '/accepted', scope: 'jobs', visit: (visit) => accept(parts, visit) },
  {
    method: 'POST',
    path: '/accepted/:id/delete',
    scope: 'jobs',
    visit: async ({ params, by }) => {
      await parts.execute(parts.operation('accepted delete'), { id: params.id }, by)
      return { to: '/accepted' }
    },
  },
]

/** The fields of the form, which are those of the API. */
const FIELDS = ['finding', 'domain', 'label', 'reason', 'until', 'by'] as const

async function accept(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const given = FIELDS.flatMap((name) => {
    const value = (visit.form[name] ?? '').trim()
    return value === '' ? [] : [[name, value] as const]
  })
  try {
    await parts.execute(parts.operation('accepted create'), Object.fromEntries(given), visit.by)
    return { to: '/accepted' }
  } catch (error) {
    if (!(error instanceof AppError) || ERRORS[error.code].status >= 500) throw error
    const field = error.code === 'until_required' ? 'until' : error.parameter
    return show(parts, visit, { field, words: refusedWords('Not accepted', error) })
  }
}

async function show(parts: Parts, visit: Visit, problem?: FieldProblem): Promise<PageAnswer> {
  const { cursor } = visit.query
  const given = await parts.execute(
    parts.operation('accepted list'),
    { limit: '200', ...(cursor && { cursor }) },
    visit.by,
  )
  const { data, next_cursor: next } = ownAnswer(acceptedListAnswer, given.answer)
  return pageOf(parts, visit, {
    status: problem === undefined ? 200 : 400,
    title: 'Accepted findings',
    main: html`<main id="main" tabindex="-1"><p class="back"><a href="/monitors">← Monitors</a></p><h1>Accepted findings</h1>
<p class="lead">Findings that are known and stay for a while. They make no monitor bad and send no message; the score counts them.</p>
${data.length === 0 ? html`<p>Nothing is accepted.</p>` : table(data, visit)}
${typeof next === 'string' && html`<p><a href="${pathWith('/accepted', { cursor: next })}">More</a></p>`}
<h2 id="add">Accept a finding</h2>
${form(visit, problem === undefined ? visit.query : visit.form, problem)}
<footer><p class="quiet"><a href="/v1/accepted?format=json">The same as JSON</a> · <a href="/docs/monitors#accepted-findings">More about accepted findings</a></p></footer></main>`,
  })
}

const table = (all: readonly AcceptedAnswer[], visit: Pick<Visit, 'token'>): Html =>
  html`<div class="scroll" role="group" tabindex="0" aria-label="Accepted findings"><table class="cards"><caption class="hidden">Accepted findings</caption>
<thead><tr><th scope="col">Finding</th><th scope="col">For</th><th scope="col">Until</th><th scope="col">Reason</th><th scope="col">By</th><th scope="col"><span class="hidden">Action</span></th></tr></thead>
<tbody>${all.map(
    ({ id, finding, domain, label, until, state, reason, by }) =>
      html`<tr><td data-head="Finding"><code>${finding}</code></td><td data-head="For">${domain === null ? html`label <a href="${pathWith('/monitors', { label, accepted: 'true' })}">${label ?? ''}</a>` : html`<a href="${domainPath(domain)}">${domain}</a>`}</td><td data-head="Until">${timeOf(until)}${state === 'ended' && html` ${marked('open', 'Ended')}`}</td><td data-head="Reason">${reason}</td><td data-head="By">${by}</td><td data-head="Action"><form method="post" action="/accepted/${id}/delete">${csrfField(visit)}<button class="second">${state === 'ended' ? 'Remove' : 'End'}</button></form></td></tr>`,
  )}</tbody></table></div>`

function form(
  visit: Pick<Visit, 'token'>,
  fields: Readonly<Record<string, string | undefined>>,
  problem: FieldProblem | undefined,
): Html {
  const field = (name: (typeof FIELDS)[number], label: Html | string, more: Html): Html =>
    html`<label>${label} <input name="${name}" value="${fields[name] ?? ''}"${more}${invalid(name, problem)}>${beside(name, problem)}</label>`
  const plain = html` autocapitalize="off" autocomplete="off" spellcheck="false"`
  return html`<form class="stack" method="post" action="/accepted#add">${csrfField(visit)}
${above(problem)}
${field('finding', html`<a href="/docs/findings">Finding</a>`, html` required maxlength="100" placeholder="dmarc.policy_none"${plain}`)}
${field('domain', 'Domain', html` maxlength="255" placeholder="example.org"${plain}`)}
${field('label', 'or the monitors with a label', html` maxlength="60" autocomplete="off"`)}
${field('reason', 'Reason', html` required maxlength="1000" autocomplete="off"`)}
${field('until', 'Until (last day)', html` type="date"`)}
${field('by', 'Who accepts it', html` maxlength="200" autocomplete="name"`)}
<button>Accept</button></form>`
}
