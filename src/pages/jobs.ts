import { type JobAnswer, jobListAnswer } from '../answers/jobs.ts'
import { readOpen } from '../answers/read-answer.ts'
import { AppError } from '../base/errors.ts'
import { type Html, html } from './html.ts'
import { csrfField, layout } from './layout.ts'
import { KINDS, type Kind, previewOf } from './list-preview.ts'
import { readUpload } from './multipart.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import type { Parts } from './parts.ts'
import { jobPath, pathWith } from './paths.ts'

/** Bytes of a list that is pasted or sent without script; a file that script sends may have any size. */
export const MAX_PASTED = 1_048_576
/** A form escapes every octet by three. */
const BODY_LIMIT = 3 * MAX_PASTED + 65_536

/** `/jobs`: the jobs there are, and a list that is looked at before anything is asked. */
export const jobsPages = (parts: Parts): readonly Page[] => [
  { method: 'GET', path: '/jobs', scope: 'jobs', visit: (visit) => list(parts, visit) },
  {
    method: 'POST',
    path: '/jobs/preview',
    scope: 'jobs',
    bodyLimit: BODY_LIMIT,
    visit: (visit) => preview(parts, visit),
  },
  {
    method: 'POST',
    path: '/jobs/upload',
    scope: 'jobs',
    uploads: true,
    visit: async (visit) => preview(parts, { ...visit, form: await readUpload(visit, MAX_PASTED) }),
  },
  { method: 'POST', path: '/jobs', scope: 'jobs', bodyLimit: BODY_LIMIT, visit: (visit) => submit(parts, visit) },
]

async function list(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const { cursor } = visit.query
  const given = await parts.execute(parts.operation('jobs list'), { limit: '20', ...(cursor && { cursor }) }, visit.by)
  const jobs = readOpen(jobListAnswer, given.answer)
  if (!jobs.ok) throw new Error(jobs.problem)
  const { data, next_cursor: next } = jobs.value
  return {
    status: 200,
    html: layout(parts.assets, visit, {
      title: 'Jobs',
      islands: ['upload'],
      main: html`<main id="main" tabindex="-1"><h1>Jobs</h1>
<p class="lead">A list of mail addresses, domains or IP addresses, answered row by row in the background.</p>
${listForm(visit)}
<h2>Lists so far</h2>
${data.length === 0 ? html`<p>None yet.</p>` : table(data)}
${typeof next === 'string' && html`<p><a href="${pathWith('/jobs', { cursor: next })}">Older jobs</a></p>`}
<footer><p class="quiet"><a href="/v1/jobs?limit=20&amp;format=json">The same as JSON</a></p></footer></main>`,
    }),
  }
}

const WORDS: Readonly<Record<Kind, string>> = {
  verify: 'Verify mail addresses',
  check: 'Check domains',
  blacklist: 'Look IP addresses up on blacklists',
}

const kindSelect = (chosen: string): Html =>
  html`<select name="kind">${KINDS.map((kind) => html`<option value="${kind}"${kind === chosen && html` selected`}>${WORDS[kind]}</option>`)}</select>`

/** With script the file is sent as it is, of any size; without, a file or a text of up to 1 MiB. */
const listForm = (
  visit: Pick<Visit, 'token'>,
): Html => html`<section class="drop" id="drop" data-token="${visit.token}">
<form class="stack" method="post" action="/jobs/upload?_csrf=${visit.token}" enctype="multipart/form-data" id="upload">
<label>What to do ${kindSelect('verify')}</label>
<label>File (CSV, text, NDJSON or JSON) <input type="file" name="file" required></label>
<button>Look at it</button>
</form>
<p class="quiet" id="upload-hint">A file of up to 1 MiB. Nothing is asked before you have seen how it is read.</p>
<details class="try"><summary>Paste a list</summary>
<form class="stack" method="post" action="/jobs/preview">${csrfField(visit)}
<label>What to do ${kindSelect('verify')}</label>
<label class="wide">One row a line, or CSV <textarea name="text" rows="8" required maxlength="${MAX_PASTED}" spellcheck="false"></textarea></label>
<button>Look at it</button></form></details>
<div id="preview-place" aria-live="polite"></div>
</section>`

async function preview(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const { text = '', kind = 'verify', column = '', name = '', partial } = visit.form
  const found = await previewOf(text, kind, column === '' ? undefined : column)
  const isPart = partial === 'true'
  return {
    status: 200,
    html: layout(parts.assets, visit, {
      title: 'A list, as it is read',
      main: html`<main id="main" tabindex="-1"><p><a href="/jobs">Jobs</a></p><h1>A list, as it is read</h1>
<section id="preview"><p>${found.words}</p>
${found.rows.length > 0 && rowsTable(found.columns, found.index, found.rows)}
${found.bad.length > 0 && html`<p class="quiet">Rows that cannot be read: ${found.bad.map(({ line, reason }) => html`line ${line} (${reason}) `)}</p>`}
<form class="stack" method="post" action="/jobs" data-submit>${csrfField(visit)}
<input type="hidden" name="kind" value="${kind}">
<label>Column that is asked about ${columnSelect(found.columns, found.index)}</label>
<label>Name of the job <input name="name" maxlength="200" value="${name}"></label>
${!isPart && html`<label class="wide">The list <textarea name="text" rows="4" spellcheck="false">${text}</textarea></label>`}
<button>Start the job</button></form></section></main>`,
    }),
  }
}

const columnSelect = (columns: readonly string[], index: number): Html =>
  html`<select name="column">${columns.map((name, i) => html`<option value="${String(i + 1)}"${i === index && html` selected`}>${name}</option>`)}</select>`

const rowsTable = (
  columns: readonly string[],
  index: number,
  rows: readonly (readonly string[])[],
): Html => html`<div class="scroll" role="group" tabindex="0" aria-label="The first rows"><table><caption>The first rows</caption>
<thead><tr>${columns.map((name, i) => html`<th scope="col">${name}${i === index && html` <span class="mark good">← asked about</span>`}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${columns.map((_, i) => html`<td><code>${row[i] ?? ''}</code></td>`)}</tr>`)}</tbody></table></div>`

async function submit(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const { text = '', kind = 'verify', column = '', name = '' } = visit.form
  if (text.trim() === '') throw new AppError('empty_list', 'the list has no rows')
  const { format } = await previewOf(text, kind, column === '' ? undefined : column)
  const octets = Buffer.from(text)
  const raw = { kind, ...(name.trim() && { name }), ...(column && format === 'csv' && { column }) }
  const upload = { octets: piecesOf(octets), contentType: format === 'csv' ? 'text/csv' : TYPES[format] }
  const given = await parts.execute(parts.operation('jobs submit'), raw, { ...visit.by, upload })
  const { id } = given.answer as Pick<JobAnswer, 'id'> // the operation answers a job
  return { to: jobPath(id) }
}

const TYPES = { ndjson: 'application/x-ndjson', json: 'application/json', lines: 'text/plain' } as const

async function* piecesOf(octets: Uint8Array): AsyncIterable<Uint8Array> {
  yield octets
}

function table(jobs: readonly JobAnswer[]): Html {
  return html`<div class="scroll" role="group" tabindex="0" aria-label="Jobs"><table><caption class="hidden">Jobs</caption>
<thead><tr><th scope="col">Job</th><th scope="col">State</th><th scope="col">Rows</th><th scope="col">Done</th><th scope="col">Begun</th></tr></thead>
<tbody>${jobs.map(
    (job) =>
      html`<tr><td><a href="${jobPath(job.id)}">${job.name === '' ? `${WORDS[job.kind]}` : job.name}</a></td><td>${job.state}</td><td>${job.rows.toLocaleString('en')}</td><td>${percent(job)}</td><td>${job.created_at.slice(0, 16).replace('T', ' ')}</td></tr>`,
  )}</tbody></table></div>`
}

const percent = ({ rows, done }: JobAnswer): string => (rows === 0 ? '–' : `${Math.floor((done / rows) * 100)} %`)
