import { type JobAnswer, jobListAnswer } from '../answers/jobs.ts'
import { ownAnswer } from '../answers/read-answer.ts'
import { only } from '../base/at-most.ts'
import { ERRORS } from '../base/errors.ts'
import { resultInWords, STATES, KINDS as WORDS } from '../documents/jobs.ts'
import { textOf } from '../jobs/intake/intake.ts'
import { type Html, html, marked, timeOf, verbatim } from './html.ts'
import { csrfField, pageOf } from './layout.ts'
import { BOUNDS, type Kind, kindSelect, listForm, MAX_PASTED, previewOf, TYPES } from './list-form.ts'
import { readForm } from './multipart.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import { type FieldProblem, isCorrectable, type Parts, refusedWords } from './parts.ts'
import { jobPath, pathWith } from './paths.ts'
import { pageError } from './problems.ts'

/** Maximum size of the form: every octet may be escaped as three. */
const BODY_LIMIT = 3 * MAX_PASTED + 65_536

/** `/jobs`: the existing jobs, and the preview of a list before it is processed. */
export const jobsPages = (parts: Parts): readonly Page[] => [
  { method: 'GET', path: '/jobs', scope: 'jobs', visit: (visit) => list(parts, visit) },
  {
    method: 'POST',
    path: '/jobs/preview',
    scope: 'jobs',
    bodyLimit: BODY_LIMIT,
    visit: (visit) => orRefused(parts, visit, 'text', (one) => preview(parts, one)),
  },
  {
    method: 'POST',
    path: '/jobs/upload',
    scope: 'jobs',
    uploads: true,
    visit: (visit) =>
      orRefused(parts, visit, 'file', async (one) => {
        const { fields, files } = await readForm(one, MAX_PASTED)
        const file = files.at(-1)
        const text = file && (await textOf(file.octets, BOUNDS))
        const isCut = fields.partial === 'cut' && text !== undefined && /[\r\n]/.test(text)
        const whole = isCut ? text.replace(/[^\r\n]*$/, '') : text
        return preview(parts, { ...one, form: { ...fields, ...(whole !== undefined && { text: whole }) } })
      }),
  },
  {
    method: 'POST',
    path: '/jobs',
    scope: 'jobs',
    bodyLimit: BODY_LIMIT,
    visit: (visit) => orRefused(parts, visit, 'text', (one) => submit(parts, one)),
  },
]

/** A list that was refused: its form again, with what was pasted, and why. */
async function orRefused(
  parts: Parts,
  visit: Visit,
  field: 'file' | 'text',
  work: (visit: Visit) => Promise<PageAnswer>,
) {
  try {
    return await work(visit)
  } catch (error) {
    if (!isCorrectable(error)) throw error
    return list(parts, visit, { field, words: refusedWords('Not read', error) }, ERRORS[error.code].status)
  }
}

async function list(parts: Parts, visit: Visit, problem?: FieldProblem, status = 200): Promise<PageAnswer> {
  const { cursor } = visit.query
  const given = await parts.execute(parts.operation('jobs list'), { limit: '20', ...(cursor && { cursor }) }, visit.by)
  const { data, next_cursor: next } = ownAnswer(jobListAnswer, given.answer)
  return pageOf(parts, visit, {
    status,
    title: 'Jobs',
    islands: ['upload'],
    main: html`<main id="main" tabindex="-1"><h1>Jobs</h1>
<p class="lead">Process a list of mail addresses, domains or IP addresses in the background.</p>
${listForm(visit, problem?.field === 'text' ? [visit.form.text ?? ''] : undefined, problem)}
<h2>Your jobs</h2>
${data.length === 0 ? html`<p>None yet.</p>` : table(data)}
${typeof next === 'string' && html`<p><a href="${pathWith('/jobs', { cursor: next })}">Older jobs</a></p>`}
<footer><p class="quiet"><a href="/v1/jobs?limit=20&amp;format=json">The same as JSON</a></p></footer></main>`,
  })
}

async function preview(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const { text = '', kind = 'auto', column = '', name = '', partial } = visit.form
  const found = await previewOf(text, kind, column === '' ? undefined : column)
  /** A script sends the file itself. */
  const isPart = partial !== undefined
  return pageOf(parts, visit, {
    title: 'Preview of the list',
    main: html`<main id="main" tabindex="-1"><p><a href="/jobs">Jobs</a></p><h1>Preview of the list</h1>
<section id="preview"><p>${found.words} ${TAKEN_FOR[found.kind]}</p>
${found.rows.length > 0 && rowsTable(found.columns, found.index, found.rows)}
${found.notes.length > 0 && html`<ul class="quiet">${found.notes.map((note) => html`<li>${note.replace(/^./, (first) => first.toUpperCase())}.</li>`)}</ul>`}
${found.bad.length > 0 && html`<p class="quiet">Rows that cannot be read: ${found.bad.map(({ line, detail }) => html`line ${line} (${detail})`)}</p>`}
<form class="stack" method="post" action="/jobs" data-submit="${TYPES[found.format]}">${csrfField(visit)}
<label>What to do ${kindSelect(found.kind)}</label>
<label>Column to use ${columnSelect(found.columns, found.index)}</label>
<label>Name of the job <input name="name" maxlength="200" value="${name}"></label>
${!isPart && html`<label class="wide">The list <textarea name="text" rows="4" spellcheck="false">${verbatim(text)}</textarea></label>`}
<button>Start the job</button></form></section></main>`,
  })
}

const TAKEN_FOR: Readonly<Record<Kind, string>> = {
  verify: 'Its rows are mail addresses.',
  check: 'Its rows are domains.',
  blacklist: 'Its rows are IP addresses.',
}

const columnSelect = (columns: readonly string[], index: number): Html =>
  html`<select name="column">${columns.map((name, i) => html`<option value="${String(i + 1)}"${i === index && html` selected`}>${name}</option>`)}</select>`

const rowsTable = (
  columns: readonly string[],
  index: number,
  rows: readonly (readonly string[])[],
): Html => html`<div class="scroll" role="group" tabindex="0" aria-label="The first rows"><table><caption>The first rows</caption>
<thead><tr>${columns.map((name, i) => html`<th scope="col">${name}${i === index && html` <span class="mark good">← this column</span>`}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${columns.map((_, i) => html`<td><code>${row[i] ?? ''}</code></td>`)}</tr>`)}</tbody></table></div>`

async function submit(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const { text = '', kind: asked = 'auto', column = '', name = '' } = visit.form
  if (text.trim() === '') throw pageError('empty_list')
  const { format, kind } = await previewOf(text, asked, column === '' ? undefined : column)
  const octets = Buffer.from(text)
  const raw = { kind, ...(name.trim() && { name }), ...(column && format === 'csv' && { column }) }
  const upload = { octets: only(octets), contentType: TYPES[format] }
  const given = await parts.execute(parts.operation('jobs submit'), raw, { ...visit.by, upload })
  const { id } = given.answer as Pick<JobAnswer, 'id'> // the operation returns a job
  return { to: jobPath(id) }
}

function table(jobs: readonly JobAnswer[]): Html {
  return html`<div class="scroll" role="group" tabindex="0" aria-label="Jobs"><table class="cards"><caption class="hidden">Jobs</caption>
<thead><tr><th scope="col">Job</th><th scope="col">State</th><th scope="col">Result</th><th scope="col" class="number">Rows</th><th scope="col" class="number">Done</th><th scope="col">Created</th></tr></thead>
<tbody>${jobs.map(
    (job) =>
      html`<tr><td data-head="Job"><a href="${jobPath(job.id)}">${job.name === '' ? `${WORDS[job.kind]}` : job.name}</a></td><td data-head="State">${stateOf(job)}</td><td data-head="Result">${resultInWords(job) || '–'}</td><td data-head="Rows" class="number">${job.rows.toLocaleString('en')}</td><td data-head="Done" class="number">${percent(job)}</td><td data-head="Created" class="when">${timeOf(job.created_at)}</td></tr>`,
  )}</tbody></table></div>`
}

function stateOf({ state }: JobAnswer): Html {
  const [mark, badge] = STATES[state]
  return marked(mark, badge)
}

const percent = ({ rows, done }: JobAnswer): string => (rows === 0 ? '–' : `${Math.floor((done / rows) * 100)}%`)
