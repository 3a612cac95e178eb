import { Marked, type Token } from 'marked'
import { once } from '../base/once.ts'
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
  const bodies = new Map(Object.keys(texts).map((name) => [name, once(() => documentOf(name, texts))] as const))
  const show = (name: string): Html => {
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
      const main = html`<main id="main" tabindex="-1" class="document"><p class="quiet"><a href="/docs">Documents</a></p>${show(name)}</main>`
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
        html: layout(parts.assets, visit, { title: 'Documents', main: index(texts) }),
      }),
    },
    page('/docs/:name', ({ name = '' }) => name),
    page('/docs/checks/:name', ({ name = '' }) => `checks/${name}`),
    page('/docs/decisions/:name', ({ name = '' }) => `decisions/${name}`),
  ]
}

/** The documents under their headings, in reading order; documents that are not listed are under the last one. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Running the service': ['quickstart', 'operations', 'config', 'security', 'faq', 'comparison'],
  'Reading the answers': ['glossary', 'report', 'score', 'findings', 'verification', 'blacklists', 'errors'],
  'Lists, monitors and nodes': ['jobs', 'monitors', 'peers', 'scale'],
  'Using it from programs': ['automation', 'client', 'library', 'assistants'],
  'How it is built': ['architecture', 'bounds', 'benchmarks', 'faults'],
}

function index(texts: Texts): Html {
  const names = Object.keys(texts)
  const of = (folder: string): readonly string[] => names.filter((name) => name.startsWith(folder)).toSorted()
  const named = new Set(Object.values(GROUPS).flat())
  const others = of('').filter((name) => !name.includes('/') && !named.has(name))
  const list = (some: readonly string[]): Html =>
    html`<ul class="index">${some.map((name) => html`<li><a href="/docs/${name}">${titleOf(texts[name] ?? '', name)}</a></li>`)}</ul>`
  const groups = Object.entries(GROUPS).map(
    ([title, some], i, { length }) =>
      html`<h2>${title}</h2>${list([...some.filter((name) => names.includes(name)), ...(i === length - 1 ? others : [])])}`,
  )
  return html`<main id="main" tabindex="-1"><h1>Documents</h1>
<p class="lead">How to run the service, what each check examines, and how it reaches its result.</p>
<p><a class="button" href="/docs/api">The HTTP API</a></p>
${groups}
<h2>The checks</h2>${list(of('checks/'))}
<h2>Design decisions</h2>${list(of('decisions/'))}</main>`
}

const titleOf = (text: string, name: string): string => /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? name

/** A document as HTML. The files are our own; raw HTML in them is nevertheless shown as text. */
function documentOf(name: string, texts: Texts): Html {
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
  return rendered(
    sectionsOf(marked.lexer(texts[name] ?? ''))
      .map((some) => `<section>${marked.parser(some)}</section>`)
      .join('\n'),
  )
}

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
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')

/** The target of a document's link on the site; undefined for files that are not served (sources). */
function targetOf(href: string, folder: string): string | undefined {
  if (/^https?:\/\//.test(href) || href.startsWith('#')) return href
  const url = new URL(href, `http://docs/docs/${folder}`)
  if (url.pathname === '/docs/openapi.json') return '/openapi.json'
  return url.pathname.startsWith('/docs/') && url.pathname.endsWith('.md')
    ? `${url.pathname.slice(0, -3)}${url.hash}`
    : undefined
}
