import { setImmediate } from 'node:timers/promises'
import type { Token } from 'marked'
import { onceUnlessFailed } from '../base/share-work.ts'
import { escapeHtml } from '../base/text.ts'
import { CARD_COLUMNS } from '../documents/html/html.ts'
import { ownFileError } from '../names/tables.ts'
import { dataTexts } from './doc-data.ts'
import { searchDocs, type Texts, titleOf } from './doc-search.ts'
import { type Html, html, rendered } from './html.ts'
import { pageOf } from './layout.ts'
import type { Page } from './page.ts'
import type { Parts } from './parts.ts'
import { pageError } from './problems.ts'

export type { Texts }

/** `/docs`: the documents of the project, one page each. A page is rendered with its first request. */
export function docsPages(parts: Parts, files: Texts): readonly Page[] {
  // Files are read when they are asked for; a copy of their values would read all of them.
  const texts: Texts = Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(files), ...Object.getOwnPropertyDescriptors(dataTexts) },
  )
  const bodies = new Map(
    Object.keys(texts).map((name) => [name, onceUnlessFailed(() => documentOf(name, texts))] as const),
  )
  const show = async (name: string): Promise<Html> => {
    const body = bodies.get(name)
    if (!body && OF_THE_PROGRAM.has(name)) throw ownFileError('unreadable', { name: `docs/${name}.md` })
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
      const main = html`<main id="main" tabindex="-1" class="document${isLong && ' long'}"><div class="back"><a href="/docs">← Documents</a> ${searchBox('')}</div>${allPages(texts, name)}${body}${nextTo(texts, name)}</main>`
      return pageOf(parts, visit, { title: titleOf(texts[name] ?? '', name), islands: ['docs'], main })
    },
  })
  return [
    {
      method: 'GET',
      path: '/docs',
      scope: undefined,
      visit: async (visit) =>
        pageOf(parts, visit, {
          title: visit.query.q === undefined ? 'Documents' : `Documents: ${visit.query.q}`,
          main: index(texts, visit.query.q),
        }),
    },
    page('/docs/:name', ({ name = '' }) => name),
    ...['checks', 'symptoms', 'providers'].map((folder) =>
      page(`/docs/${folder}/:name`, ({ name = '' }) => `${folder}/${name}`),
    ),
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

const OF_THE_PROGRAM = new Set(Object.values(GROUPS).flat())

/** All groups with the names of their documents; those of tables are long, and last. */
function groupsOf(texts: Texts): readonly (readonly [title: string, names: readonly string[]])[] {
  const names = Object.keys(texts)
  const within = (folder: string): readonly string[] => names.filter((name) => name.startsWith(`${folder}/`))
  const named = new Set(Object.values(GROUPS).flat())
  const others = names.filter((name) => !name.includes('/') && !named.has(name)).toSorted()
  const groups = Object.entries(GROUPS).map(
    ([title, some], i, { length }) =>
      [title, [...some.filter((name) => names.includes(name)), ...(i === length - 1 ? others : [])]] as const,
  )
  return [['What is wrong?', within('symptoms')], ...groups, ['The checks', within('checks').toSorted()]]
}

const linkTo = (texts: Texts, name: string): Html =>
  html`<a href="/docs/${name}">${titleOf(texts[name] ?? '', name)}</a>`

/** A column with all documents, beside each of them where there is room. */
const allPages = (texts: Texts, at: string): Html =>
  html`<nav class="pages" aria-label="All documents">${groupsOf(texts).map(
    ([title, names]) =>
      html`<p>${title}</p><ul>${names.map((name) => html`<li>${name === at ? html`<span aria-current="page">${titleOf(texts[name] ?? '', name)}</span>` : linkTo(texts, name)}</li>`)}</ul>`,
  )}</nav>`

/** The documents before and after this one, in reading order. */
function nextTo(texts: Texts, at: string): Html {
  const all = groupsOf(texts).flatMap(([, names]) => names)
  const place = all.indexOf(at)
  const [before, after] = place < 0 ? [] : [all[place - 1], all[place + 1]]
  return html`<nav class="nextto" aria-label="Next documents">${before !== undefined && html`<span>← ${linkTo(texts, before)}</span>`}${after !== undefined && html`<span>${linkTo(texts, after)} →</span>`}</nav>`
}

const searchBox = (query: string): Html =>
  html`<form class="box" action="/docs" role="search" aria-label="Documents"><label class="hidden" for="search">Search the documents</label><input id="search" name="q" value="${query}" maxlength="200" placeholder="office 365" autocomplete="off"><button>Search</button></form>`

function index(texts: Texts, query: string | undefined): Html {
  const list = (some: readonly string[]): Html =>
    html`<ul class="index">${some.map((name) => html`<li>${linkTo(texts, name)}</li>`)}</ul>`
  const providers = Object.keys(texts).filter((name) => name.startsWith('providers/'))
  return html`<main id="main" tabindex="-1"><h1>Documents</h1>
<p class="lead">How to run the service, read its answers and mend what they find.</p>
${searchBox(query ?? '')}
${
  query === undefined
    ? html`<p><a class="button second" href="/docs/api">HTTP API</a></p>
${groupsOf(texts).map(([title, names]) => html`<h2>${title}</h2>${list(names)}`)}
<h2>Providers</h2><p class="quiet">What each tells its customers to publish, and how it is recognized.</p>${list(providers)}`
    : results(texts, query)
}</main>`
}

/** Sections that a search shows. */
const FOUND = 30

function results(texts: Texts, query: string): Html {
  const found = searchDocs(texts, query)
  if (found.length === 0) return html`<p>No document has this. <a href="/docs">All documents</a></p>`
  const more = found.length - FOUND
  return html`<p class="quiet" role="status">${found.length} ${found.length === 1 ? 'section' : 'sections'}. <a href="/docs">All documents</a></p>
<ul class="found">${found
    .slice(0, FOUND)
    .map(
      ({ name, title, heading, excerpt }) =>
        html`<li><a href="/docs/${name}${heading !== '' && `#${idOf(heading)}`}">${title}${heading !== '' && ` › ${heading}`}</a><br><span class="quiet">${excerpt}</span></li>`,
    )}</ul>${more > 0 && html`<p class="quiet">${more} more. Add a word to find fewer.</p>`}`
}

/** Number of sections from which a document has a list of them. */
const LONG = 4

/** The headings of the second level of a document. */
const contentsOf = (text: string): readonly string[] =>
  Array.from(text.replaceAll(/^```.*?^```/gms, '').matchAll(/^## (.+)$/gm), ([, heading = '']) => heading)

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
