import type { Severity, Status } from '../../answers/finding.ts'
import { escapeHtml, printable } from '../../base/text.ts'
import type { Bar, Block, Document, Inline, Line, Mark, RecordToPublish, Table, Verdict } from '../block.ts'
import { isPart, safeLink } from '../links.ts'
import { SEVERITY_WORDS, STATUS_WORDS, wordsFor } from '../words.ts'
import { CONTENT_SECURITY_POLICY, STYLE } from './style.ts'

/** A document as one HTML page that needs nothing else: no script, no image, nothing loaded. Every text is escaped here and nowhere else. */
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

/** What stands between `<body>` and `</body>`: for a page that has a head and the style sheet ({@link STYLE}) of its own. */
export const htmlBody = ({ blocks, footer }: Document): string => `<main>
${htmlBlocks(blocks)}
</main>
<footer>
${footer.map((line) => `<p class="quiet">${inlines(line)}</p>`).join('\n')}
</footer>`

/** Blocks alone, as a part of a page. */
export const htmlBlocks = (blocks: readonly Block[]): string => blocks.map(block).join('\n')

/** Text from outside may be long: characters of one text that are written. */
const MAX_TEXT = 8_192
const safe = (text: string): string => escapeHtml(printable(text, MAX_TEXT))

function block(one: Block): string {
  switch (one.kind) {
    case 'verdict':
      return verdict(one.verdict)
    case 'bars':
      return `<ul class="bars">${one.bars.map(bar).join('')}</ul>`
    case 'heading':
      return `<h${one.level}${one.id && isPart(`#${one.id}`) ? ` id="${one.id}"` : ''}>${inlines(one.line)}</h${one.level}>`
    case 'text':
      return `<p${one.quiet ? ' class="quiet"' : ''}>${inlines(one.line)}</p>`
    case 'list':
      return `<ul>${one.items.map((item) => `<li>${inlines(item)}</li>`).join('')}</ul>`
    case 'facts':
      return `<dl>${one.rows.map(([label, line]) => `<dt>${safe(label)}</dt><dd>${inlines(line)}</dd>`).join('')}</dl>`
    case 'table':
      return table(one.table)
    case 'seen':
      return `<p class="label">${safe(one.label)}</p><pre>${safe(one.text)}</pre>`
    case 'publish':
      return publish(one.record)
    case 'group':
      return `<section class="${one.look}">${one.blocks.map(block).join('\n')}</section>`
    default: {
      const never: never = one
      throw new Error(String(never))
    }
  }
}

type Tone = 'good' | 'warn' | 'bad' | 'open' | 'none'
const STATUS_TONES: Readonly<Record<Status, readonly [Tone, sign: string]>> = {
  pass: ['good', '✓'],
  warn: ['warn', '!'],
  fail: ['bad', '✕'],
  unknown: ['open', '?'],
  not_applicable: ['none', '–'],
}
const SEVERITY_TONES: Readonly<Record<Severity, Tone>> = {
  critical: 'bad',
  high: 'bad',
  medium: 'warn',
  low: 'none',
  info: 'none',
}
const MARKS: Readonly<Record<Mark, readonly [Tone, sign: string]>> = {
  good: ['good', '✓'],
  bad: ['bad', '✕'],
  open: ['open', '?'],
  none: ['none', '–'],
}

const inlines = (line: Line): string => line.map(inline).join('')

function inline(one: Inline): string {
  if (typeof one === 'string') return safe(one)
  if ('code' in one) return `<code${one.code.length > 60 ? ' class="long"' : ''}>${safe(one.code)}</code>`
  if ('strong' in one) return `<strong>${safe(one.strong)}</strong>`
  if ('link' in one) return link(one.link, one.text)
  if ('status' in one) return badge('status', ...STATUS_TONES[one.status], STATUS_WORDS[one.status])
  if ('severity' in one)
    return `<span class="severity ${wordsFor(SEVERITY_TONES, one.severity) ?? 'none'}">${safe(wordsFor(SEVERITY_WORDS, one.severity) ?? one.severity)}</span>`
  return badge('mark', ...MARKS[one.mark], one.text)
}

const badge = (look: 'status' | 'mark', tone: Tone, sign: string, words: string): string =>
  `<span class="${look} ${tone}"><span aria-hidden="true">${sign}</span> ${safe(words)}</span>`

function link(href: string, text: string): string {
  if (isPart(href)) return `<a href="${href}">${safe(text)}</a>`
  const url = safeLink(href)
  return url === undefined
    ? safe(text)
    : `<a class="away" href="${safe(url)}" rel="noopener noreferrer nofollow">${safe(text)}</a>`
}

/** What a score looks like: the words beside it say the same. */
const toneOf = (score: number): Tone => (score >= 80 ? 'good' : score >= 65 ? 'warn' : 'bad')

const verdict = ({ domain, unicode, score, range, grade, words, notes }: Verdict): string => `<header>
<p class="brand">mailsonde · domain mail check</p>
<div class="verdict">
<div class="score ${grade === undefined ? 'open' : toneOf(score)}"><p><b>${safe(grade ?? '?')}</b><span>${grade === undefined ? 'no grade' : 'grade'}</span></p><p><b>${grade === undefined && range ? range.join('–') : score}</b><span>of 100${grade !== undefined && range ? ` (${range.join('–')})` : ''}</span></p></div>
<div>
<h1>${safe(domain)}</h1>
${unicode === undefined ? '' : `<p class="quiet">In its own script: ${safe(unicode)}</p>`}
<p class="lead">${safe(words)}</p>
${notes.map((note) => `<p class="quiet">${inlines(note)}</p>`).join('\n')}
</div>
</div>
</header>`

function bar({ label, href, kept, worth, status }: Bar): string {
  const [tone, sign] = STATUS_TONES[status]
  const share = Math.max(0, Math.min(100, ((kept ?? 0) / worth) * 100))
  return `<li><a href="${isPart(href) ? href : '#'}">${safe(label)}</a> <span class="of">${kept === undefined ? '–' : `${round(kept)} / ${worth}`}</span>
<svg class="${tone}" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="track" width="100" height="6" rx="1"/><rect class="fill" width="${round(share)}" height="6" rx="1"/></svg>
${badge('status', tone, sign, STATUS_WORDS[status])}</li>`
}

const round = (value: number): string => String(Number(value.toFixed(1)))

function table({ caption, head, rows, sum, numeric = [] }: Table): string {
  const cell = (tag: 'td' | 'th', content: string, column: number): string =>
    `<${tag}${tag === 'th' ? ' scope="col"' : ''}${numeric.includes(column) ? ' class="number"' : ''}>${content}</${tag}>`
  const row = (cells: readonly Line[]): string =>
    `<tr>${cells.map((line, i) => cell('td', inlines(line), i)).join('')}</tr>`
  return `<div class="scroll" role="group" tabindex="0" aria-label="${safe(caption)}"><table><caption>${safe(caption)}</caption>
<thead><tr>${head.map((text, i) => cell('th', safe(text), i)).join('')}</tr></thead>
<tbody>${rows.map(row).join('\n')}</tbody>${sum ? `<tfoot>${row(sum)}</tfoot>` : ''}</table></div>`
}

const publish = ({ name, rtype, value }: RecordToPublish): string =>
  `<div class="publish"><p>Record to publish</p><dl><dt>Name</dt><dd><code>${safe(name)}</code></dd><dt>Type</dt><dd><code>${safe(rtype)}</code></dd><dt>Value</dt><dd><code>${safe(value)}</code></dd></dl></div>`
