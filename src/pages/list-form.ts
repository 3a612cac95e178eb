import { KINDS as WORDS } from '../documents/jobs.ts'
import { beside, type FieldProblem, invalid } from './field.ts'
import { type Html, html, verbatim } from './html.ts'
import { csrfField } from './layout.ts'
import { KINDS } from './list-preview.ts'
import type { Visit } from './page.ts'

/** Maximum size of a list that is pasted or sent without scripts, bytes; a file sent by a script may have any size. */
export const MAX_PASTED = 1_048_576

/** The question about each row of a list; `auto` chooses by the content of the list. */
export const kindSelect = (chosen: string, withAuto = false): Html =>
  html`<select name="kind">${withAuto && html`<option value="auto">Detect from the list</option>`}${KINDS.map((kind) => html`<option value="${kind}"${kind === chosen && html` selected`}>${WORDS[kind]}</option>`)}</select>`

/**
 * A list as a file, dropped or chosen, or pasted; `rows` are already pasted. With scripts the file is sent unchanged,
 * of any size; without, a file or a text of up to 1 MiB.
 */
export const listForm = (
  visit: Pick<Visit, 'token'>,
  rows?: readonly string[],
  problem?: FieldProblem,
): Html => html`<section class="drop" id="drop" data-token="${visit.token}">
<form class="stack" method="post" action="/jobs/upload?_csrf=${visit.token}" enctype="multipart/form-data" id="upload">
<label>List (CSV, text, NDJSON or JSON) <input type="file" name="file" required${invalid('file', problem)}>${beside('file', problem)}</label>
<label>What to do ${kindSelect('auto', true)}</label>
<button>Preview</button>
</form>
<p class="quiet" id="upload-hint" role="status">A file of up to 1 MiB. You see a preview before anything is processed.</p>
<details class="try"${rows !== undefined && html` open`}><summary>Paste a list</summary>
<form class="stack" method="post" action="/jobs/preview">${csrfField(visit)}
<label class="wide">One row per line, or CSV <textarea name="text" rows="8" required maxlength="${MAX_PASTED}" spellcheck="false"${invalid('text', problem)}>${verbatim(rows?.join('\n') ?? '')}</textarea>${beside('text', problem)}</label>
<label>What to do ${kindSelect('auto', true)}</label>
<button>Preview</button></form></details>
<div id="preview-place" aria-live="polite"></div>
</section>`
