import { setImmediate } from 'node:timers/promises'
import type { Token } from 'marked'
import { onceUnlessFailed } from '../base/share-work.ts'
import { escapeHtml } from '../base/text.ts'
import { CARD_COLUMNS } from '../documents/html/html.ts'
import { type Html, html, rendered } from './html.ts'
import { layout } from './layout.ts'
import type { Page } from './page.ts'
import type { Parts } from './parts.ts'
import { pageError } from './problems.ts'

/** The documents by name (`operations`, `checks/spf`), as Markdown. */
export type Texts = Readonly<Record<string, string>>

/** `/docs`: the documents of the project, one page each. A page is rendered with its first request. */
export function docsPages(parts: Parts, texts: Texts): readonly Page[] {
  const bodies = new Map(
    Object.keys(texts).map((name) => [name, onceUnlessFailed(() => documentOf(name, texts))] as const),
  )
  const show = async (name: string): Promise<Html> => {
    const body = bodies.get(name)
    if (!body) throw pageError('no_document', { name })
    return body()
  }
  const page = (path: string, nameOf: (params: Readonly<Record<string, string>>) => string): Page => ({
    method: 'GET',
    path,
    scope: undefined,
    visit: async (visit) => {
      const name = nameOf(visit.params)
      const body = await show(name)
      const isLong = contentsOf(texts[name] ?? '').length >= LONG
      const main = html`<main id="main" tabindex="-1" class="document${isLong && ' long'}"><p class="back"><a href="/docs">← Documents</a></p>${body}</main>`
      return { status: 200, html: layout(parts.assets, visit, { title: titleOf(texts[name] ?? '', name), main }) }
    },
  })
  return [
    {
      method: 'GET',
      path: '/docs',
      scope: undefined,
      visit: async (visit) => ({
        status: 200,
        html: layout(parts.assets, visit, {
          title: visit.query.q === undefined ? 'Documents' : `Documents: ${visit.query.q}`,
          main: index(texts, visit.query.q),
        }),
      }),
    },
    page('/docs/:name', ({ name = '' }) => name),
    page('/docs/checks/:name', ({ name = '' }) => `checks/${name}`),
  ]
}

/** The documents under their headings, in reading order; documents that are not listed are under the last one. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Start: ['quickstart', 'install', 'coming-from', 'comparison', 'faq'],
  'Read an answer': ['score', 'findings', 'report', 'plan', 'verification', 'blacklists', 'glossary'],
  'Lists, monitors, reports': ['jobs', 'monitors', 'webhooks', 'reports', 'message'],
  'From programs': ['automation', 'client', 'library', 'assistants', 'errors'],
  'Run the service': ['operations', 'config', 'security', 'peers', 'scale'],
}

function index(texts: Texts, query: string | undefined): Html {
  const names = Object.keys(texts)
  const checks = names.filter((name) => name.startsWith('checks/')).toSorted()
  const named = new Set(Object.values(GROUPS).flat())
  const others = names.filter((name) => !name.includes('/') && !named.has(name)).toSorted()
  const list = (some: readonly string[]): Html =>
    html`<ul class="index">${some.map((name) => html`<li><a href="/docs/${name}">${titleOf(texts[name] ?? '', name)}</a></li>`)}</ul>`
  const groups = Object.entries(GROUPS).map(
    ([title, some], i, { length }) =>
      html`<h2>${title}</h2>${list([...some.filter((name) => names.includes(name)), ...(i === length - 1 ? others : [])])}`,
  )
  return html`<main id="main" tabindex="-1"><h1>Documents</h1>
<p class="lead">How to run the service, read its answers and mend what they find.</p>
<form class="box" action="/docs" role="search" aria-label="Documents"><label class="hidden" for="search">Search the documents</label><input id="search" name="q" value="${query ?? ''}" maxlength="200" placeholder="softfail" autocomplete="off"><button>Search</button></form>
${
  query === undefined
    ? html`<p><a class="button second" href="/docs/api">HTTP API</a></p>
${groups}
<h2>The checks</h2>${list(checks)}`
    : results(texts, query)
}</main>`
}

/** Sections that a search shows. */
const FOUND = 30

/** The sections that have every word of a query, those with a word in their heading first. */
function results(texts: Texts, query: string): Html {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const found = Object.entries(texts)
    .flatMap(([name, text]) => sectionTexts(text).map((section) => ({ name, ...section })))
    .map((section) => ({ ...section, weight: weightOf(section, words) }))
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
  if (found.length === 0)
    return html`<p>No document has ${words.length === 1 ? 'this word' : 'all of these words'}. <a href="/docs">All documents</a></p>`
  const more = found.length - FOUND
  return html`<p class="quiet" role="status">${found.length} ${found.length === 1 ? 'section' : 'sections'}. <a href="/docs">All documents</a></p>
<ul class="found">${found
    .slice(0, FOUND)
    .map(
      ({ name, heading, text }) =>
        html`<li><a href="/docs/${name}${heading !== '' && `#${idOf(heading)}`}">${titleOf(texts[name] ?? '', name)}${heading !== '' && ` › ${heading.replaceAll('`', '')}`}</a><br><span class="quiet">${excerpt(text, words[0] ?? '')}</span></li>`,
    )}</ul>${more > 0 && html`<p class="quiet">${more} more. Add a word to find fewer.</p>`}`
}

type SectionText = { readonly heading: string; readonly text: string }

/** A document cut at its headings; the text is without the signs of Markdown. */
function sectionTexts(text: string): readonly SectionText[] {
  const [first = '', ...rest] = text.split(/^#{2,3} /m)
  return [{ heading: '', text: first }, ...rest.map((part) => ({ heading: part.split('\n')[0]!, text: part }))].map(
    ({ heading, text: part }) => ({
      heading,
      text: part
        .replaceAll(/<!--.*?-->|[`*|#]|\]\([^)]*\)/gs, ' ')
        .replaceAll('[', '')
        .replaceAll(/\s+/g, ' '),
    }),
  )
}

function weightOf({ heading, text }: SectionText, words: readonly string[]): number {
  const [head, all] = [heading.toLowerCase(), text.toLowerCase()]
  if (words.length === 0 || !words.every((word) => all.includes(word))) return 0
  return words.reduce((sum, word) => sum + (head.includes(word) ? 10 : 0) + Math.min(5, all.split(word).length - 1), 0)
}

/** The text around the first place of a word. */
function excerpt(text: string, word: string): string {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 60)
  return `${at > 0 ? '… ' : ''}${text.slice(at, at + 200).trim()} …`
}

/** Number of sections from which a document has a list of them. */
const LONG = 4

/** The headings of the second level of a document. */
const contentsOf = (text: string): readonly string[] =>
  Array.from(text.replaceAll(/^```.*?^```/gms, '').matchAll(/^## (.+)$/gm), ([, heading = '']) => heading)

const titleOf = (text: string, name: string): string => /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? name

/**
 * A document as HTML, with a turn of the event loop after each section. The files are our own; raw HTML in them is
 * nevertheless shown as text.
 */
async function documentOf(name: string, texts: Texts): Promise<Html> {
  const { Marked } = await import('marked') // 10 ms of every start
  const folder = name.includes('/') ? `${name.split('/')[0]}/` : ''
  const marked = new Marked({ gfm: true, async: false })
  marked.use({
    renderer: {
      html: ({ text: raw }) => (raw.trimStart().startsWith('<!--') ? '' : escapeHtml(raw)),
      link({ href, tokens }) {
        const to = targetOf(href, folder)
        const words = titleAt(to, texts, this.parser.parseInline(tokens))
        return to === undefined
          ? words
          : `<a href="${escapeHtml(to)}"${to.startsWith('http') ? ' rel="noopener noreferrer"' : ''}>${words}</a>`
      },
      image: ({ text: alt }) => escapeHtml(alt),
      table(token) {
        const head = token.header
          .map(({ tokens }) => `<th scope="col">${this.parser.parseInline(tokens)}</th>`)
          .join('')
        const isCards = token.header.length >= CARD_COLUMNS
        const heads = token.header.map(({ text }) =>
          isCards ? ` data-head="${escapeHtml(text.replaceAll(/[`*]/g, ''))}"` : '',
        )
        const rows = token.rows.map(
          (row) =>
            `<tr>${row.map(({ tokens }, i) => `<td${heads[i]}>${this.parser.parseInline(tokens)}</td>`).join('')}</tr>`,
        )
        return `<div class="scroll" role="group" tabindex="0" aria-label="Table"><table${isCards ? ' class="cards"' : ''}><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`
      },
      code: ({ text: raw }) => `<pre tabindex="0">${escapeHtml(raw)}</pre>`,
      heading({ tokens, depth }) {
        const words = this.parser.parseInline(tokens)
        return `<h${depth} id="${idOf(words)}">${words}</h${depth}>`
      },
      checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    },
  })
  const sections: string[] = []
  for (const some of sectionsOf(marked.lexer(texts[name] ?? ''))) {
    sections.push(`<section>${marked.parser(some)}</section>`)
    await setImmediate()
  }
  const headings = contentsOf(texts[name] ?? '')
  if (headings.length >= LONG) sections.splice(1, 0, contents(headings).safe)
  return rendered(sections.join('\n'))
}

const contents = (headings: readonly string[]): Html =>
  html`<nav class="contents" aria-label="On this page"><ol>${headings.map((heading) => html`<li><a href="#${idOf(heading)}">${heading.replaceAll('`', '')}</a></li>`)}</ol></nav>`

/** The sections of a document, each up to the next heading of the second level: a browser renders only visible ones. */
function sectionsOf(tokens: readonly Token[]): Token[][] {
  const sections: Token[][] = [[]]
  for (const token of tokens) {
    if (token.type === 'heading' && token.depth === 2) sections.push([])
    sections.at(-1)?.push(token)
  }
  return sections
}

/** The text of a link: if it is only the file name of a document (`score.md`), the title of that document. */
function titleAt(to: string | undefined, texts: Texts, words: string): string {
  const name = /^\/docs\/([^#]+)/.exec(to ?? '')?.[1]
  const text = name === undefined || !/^[\w/-]+\.md$/.test(words) ? undefined : texts[name]
  return text === undefined ? words : escapeHtml(titleOf(text, words))
}

const idOf = (words: string): string =>
  words
    .replace(/<[^>]*>|&[^;]*;/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_]+/gu, '-')
    .replace(/^-|-$/g, '')

/** The target of a document's link on the site; undefined for files that are not served (sources). */
function targetOf(href: string, folder: string): string | undefined {
  if (/^https?:\/\//.test(href) || href.startsWith('#')) return href
  const url = new URL(href, `http://docs/docs/${folder}`)
  return url.pathname.startsWith('/docs/') && url.pathname.endsWith('.md')
    ? `${url.pathname.slice(0, -3)}${url.hash}`
    : undefined
}
