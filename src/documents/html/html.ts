import {
  type Attempt,
  type Attempts,
  type Bar,
  type Block,
  type Conclusion,
  type Conversation,
  type Document,
  formOf,
  type Group,
  type Line,
  type Path,
  type PathStep,
  type PictureForms,
  type Progress,
  type RecordToPublish,
  type Table,
  type Verdict,
} from '../block.ts'
import { isPart, markOfScore } from '../words.ts'
import { badge, inlines, safe, unbroken } from './inline.ts'
import { alignment, budget, grid, mailMap, round, stack, timeline, tree } from './pictures.ts'
import { CONTENT_SECURITY_POLICY, STYLE } from './style.ts'

/**
 * A document as one HTML page without scripts, images or external resources. Every text is escaped here and nowhere
 * else.
 */
export const formatHtml = (document: Document): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${safe(CONTENT_SECURITY_POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${safe(document.title)}</title>
<style>${STYLE}</style>
</head>
<body>
${htmlBody(document)}
</body>
</html>
`

/** The content of `<body>`: for a page with a head and the style sheet ({@link STYLE}) of its own. */
export const htmlBody = ({ blocks, footer }: Document): string => `<main>
${htmlBlocks(blocks)}
</main>
<footer>
${footer.map((line) => `<p class="quiet">${inlines(line)}</p>`).join('\n')}
</footer>`

/** Only blocks, as a part of a page. */
export const htmlBlocks = (blocks: readonly Block[]): string =>
  blocks
    .map((one, i) => (one.kind === 'table' && blocks[i - 1]?.kind === 'stack' ? numbers(one.table) : block(one)))
    .join('\n')

/** The numbers of the picture above them. */
const numbers = (of: Table): string =>
  `<details class="numbers"><summary>The same in numbers</summary>${table(of)}</details>`

/** A row of which the heading is shown: its name, its label, its sentence. */
function row({ blocks: [first, ...rest], open }: Group): string {
  if (first?.kind !== 'heading') return ''
  const { level, id, line } = first
  const [name = '', ...words] = line
  return `<details class="row"${open ? ' open=""' : ''}><summary><h${level}${idOf(id)}><strong>${inlines([name])}</strong>${inlines(words)}</h${level}></summary>${htmlBlocks(rest)}</details>`
}

const idOf = (id: string | undefined): string => (id !== undefined && isPart(`#${id}`) ? ` id="${id}"` : '')

/** The way to a better score: a row for each step, the first one open; then what is optional. */
function path({ label, steps }: Path): string {
  const needed = steps.filter(({ stage }) => stage !== 'optional')
  const optional = steps.filter(({ stage }) => stage === 'optional')
  const list = (some: readonly PathStep[]): string =>
    `<ol>${some.map((step) => `<li>${stepRow(step, steps.indexOf(step))}</li>`).join('')}</ol>`
  const titles = optional.map(({ title }) => title).join(', ')
  return `<div class="path">${needed.length === 0 ? '' : `<h2${needed[0]?.id === 'step-1' ? ' id="path"' : ''}>${safe(label)}</h2><p class="quiet">In the box: the grade once the step and those before it are done.</p>${list(needed)}`}${optional.length === 0 ? '' : `<details class="optional"><summary>Optional: ${safe(titles)}</summary>${list(optional)}</details>`}</div>`
}

function stepRow({ id, title, stage, note, why, score, grade, blocks }: PathStep, at: number): string {
  const box = `<span class="milestone ${grade === undefined ? 'open' : markOfScore(score)}${stage === 'now' ? '' : ' later'}"><span class="unseen">to </span>${grade === undefined ? '' : `<b>${safe(grade)}</b> `}${score}</span>`
  const words = `<span><strong>${at + 1}. ${safe(title)}</strong>${note === '' ? '' : ` <span class="note">· ${safe(note)}</span>`}</span>${why === '' ? '' : `<span class="why">${safe(why)}</span>`}`
  return blocks.length === 0
    ? `<h3${idOf(id)}>${box}${words}</h3>`
    : `<details class="step"${at === 0 ? ' open=""' : ''}><summary><h3${idOf(id)}>${box}${words}</h3></summary>${htmlBlocks(blocks)}</details>`
}

function block(one: Block): string {
  switch (one.kind) {
    case 'verdict':
      return verdict(one.verdict)
    case 'bars':
      return `<ul class="bars">${one.bars.map(bar).join('')}</ul>`
    case 'heading':
      return `<h${one.level}${idOf(one.id)}>${inlines(one.line)}</h${one.level}>`
    case 'text':
      return `<p${one.quiet ? ' class="quiet"' : ''}>${inlines(one.line)}</p>`
    case 'list':
      return `<ul>${one.items.map((item) => `<li>${inlines(item)}</li>`).join('')}</ul>`
    case 'facts':
      return `<dl>${one.rows.map(([label, line]) => `<dt>${safe(label)}</dt><dd>${inlines(line)}</dd>`).join('')}</dl>`
    case 'table':
      return table(one.table)
    case 'seen':
      return `<p class="label">${safe(one.label)}</p><pre>${[one.text].flat().map(safe).join('\n')}</pre>`
    case 'publish':
      return publish(one.record)
    case 'group':
      return one.look === 'row'
        ? row(one)
        : `<section class="${one.look}">${one.blocks.map(block).join('\n')}</section>`
    case 'conclusion':
      return conclusion(one.conclusion)
    default:
      return formOf(one, PICTURES)
  }
}

const conclusion = ({ subject, mark, badge: label, words, notes }: Conclusion): string => `<header>
<p class="brand">mailsonde</p>
<h1>${safe(subject)}</h1>
${label === '' ? '' : `<p class="conclusion">${badge('status', mark, label)}</p>\n`}${words === '' ? '' : `<p class="lead">${safe(words)}</p>`}
${notes.map((note) => `<p class="quiet">${inlines(note)}</p>`).join('\n')}
</header>`

const verdict = ({ subject, unicode, score, range, grade, isBroken, words, notes, sum }: Verdict): string => `<header>
<p class="brand">mailsonde · domain mail check</p>
<div class="verdict">
<div class="score ${grade === undefined ? 'open' : markOfScore(score, isBroken)}"><p><b>${safe(grade ?? '?')}</b><span>${grade === undefined ? 'no grade' : 'grade'}</span></p><p><b>${grade === undefined && range ? range.join('–') : score}</b><span>of 100${grade !== undefined && range ? ` (${range.join('–')})` : ''}</span></p></div>
<div>
<h1>${safe(subject)}</h1>
${unicode === undefined ? '' : `<p class="quiet">In its own script: ${safe(unicode)}</p>`}
<p class="lead">${safe(words)}</p>
${notes.map((note) => `<p class="quiet">${inlines(note)}</p>`).join('\n')}
${sum.length === 0 ? '' : `<details class="sum"><summary id="score">How the score adds up</summary>${htmlBlocks(sum)}</details>`}
</div>
</div>
</header>`

function bar({ label, href, kept, worth, state }: Bar): string {
  const share = Math.max(0, Math.min(100, ((kept ?? 0) / worth) * 100))
  return `<li><a href="${isPart(href) ? href : '#'}">${safe(label)}</a> <span class="of">${kept === undefined ? '–' : `${round(kept)} / ${worth}`}</span>
<svg class="${state.mark}" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="track" width="100" height="6" rx="1"/><rect class="fill" width="${round(share)}" height="6" rx="1"/></svg>
${badge('status', state.mark, state.text)}</li>`
}

/** Number of columns from which a table shows each row as a card on a phone, with the column head beside each cell. */
export const CARD_COLUMNS = 4

function table({ caption, head, rows, sum, numeric = [], isBrief }: Table): string {
  const isCards = head.length >= CARD_COLUMNS
  const numbers = (column: number): string => (numeric.includes(column) ? ' class="number"' : '')
  const headCell = (text: string, i: number): string => `<th scope="col"${numbers(i)}>${safe(text)}</th>`
  const cell = (line: Line, i: number): string =>
    `<td${numbers(i)}${isCards ? ` data-head="${safe(head[i] ?? '')}"` : ''}>${inlines(line)}</td>`
  const row = (cells: readonly Line[]): string => `<tr>${cells.map(cell).join('')}</tr>`
  return `<div class="scroll" role="group" tabindex="0" aria-label="${safe(caption)}"><table${isCards ? ` class="cards${isBrief ? ' brief' : ''}"` : ''}><caption>${safe(caption)}</caption>
<thead><tr>${head.map(headCell).join('')}</tr></thead>
<tbody>${rows.map(row).join('\n')}</tbody>${sum ? `<tfoot>${row(sum)}</tfoot>` : ''}</table></div>`
}

const publish = ({ name, rtype, value, replaces = [] }: RecordToPublish): string =>
  `<div class="publish"><p>Record to publish</p><dl><dt>Name</dt><dd><code>${safe(name)}</code></dd><dt>Type</dt><dd><code>${safe(rtype)}</code></dd><dt>Value</dt><dd class="value"><code>${unbroken(value)}</code></dd>${replaces.length === 0 ? '' : `<dt>Replaces</dt><dd>${replaces.map((one) => `<code>${safe(one)}</code>`).join(' and ')}</dd>`}</dl></div>`

/** The progress of work: a bar with a segment for each outcome, and the figures as text. */
function progress({ label, done, total, parts }: Progress): string {
  const share = total === 0 ? 100 : Math.floor((done / total) * 100)
  let at = 0
  const stretches = parts.map(({ count, mark }) => {
    const width = total === 0 ? 0 : Math.max(0, Math.min(100 - at, (count / total) * 100))
    const rect = `<rect class="fill ${mark}" x="${round(at)}" width="${round(width)}" height="6"/>`
    at += width
    return rect
  })
  return `<div class="progress"><p class="label">${safe(label)}</p><p>${done} of ${total} (${share}%)</p><svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="track" width="100" height="6"/>${stretches.join('')}</svg><ul>${parts.map((part) => `<li>${badge('mark', part.mark, part.label)} ${part.count}</li>`).join('')}</ul></div>`
}

const SIDES = { client: 'Client', server: 'Server', note: '' } as const

/** Both sides of an SMTP session. */
const conversation = ({ label, lines }: Conversation): string =>
  `<div class="conversation"><p class="label">${safe(label)}</p><ol>${lines
    .map(
      ({ from, text }) =>
        `<li class="${from}">${SIDES[from] === '' ? '' : `<span class="side">${SIDES[from]}</span> `}<code>${safe(text)}</code></li>`,
    )
    .join('')}</ol></div>`

const attempts = ({ label, attempts: all }: Attempts): string =>
  `<div class="attempts"><p class="label">${safe(label)}</p><ol>${all.map(attempt).join('')}</ol></div>`

const attempt = ({ from, to, outcome, reply, notes }: Attempt): string =>
  `<li><p><code>${safe(from)}</code> <span aria-hidden="true">→</span><span class="unseen">to</span> ${inlines(to)} ${badge('mark', outcome.mark, outcome.text)}</p>${reply === undefined ? '' : `<pre>${safe(reply)}</pre>`}${notes.map((note) => `<p class="quiet">${inlines(note)}</p>`).join('')}</li>`

const PICTURES: PictureForms<string> = {
  tree,
  grid,
  map: mailMap,
  path,
  budget,
  alignment,
  timeline,
  stack,
  progress,
  conversation,
  attempts,
}
