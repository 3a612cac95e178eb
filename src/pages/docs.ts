import { Marked } from 'marked'
import { AppError } from '../base/errors.ts'
import { once } from '../base/once.ts'
import { escapeHtml } from '../base/text.ts'
import { type Html, html, rendered } from './html.ts'
import { layout } from './layout.ts'
import type { Page } from './page.ts'
import type { Parts } from './parts.ts'

/** The documents by name (`operations`, `checks/spf`), as Markdown. */
export type Texts = Readonly<Record<string, string>>

/** `/docs`: the documents of the project, each a page. What is shown is made at its first request. */
export function docsPages(parts: Parts, texts: Texts): readonly Page[] {
  const bodies = new Map(
    Object.entries(texts).map(([name, text]) => [name, once(() => documentOf(name, text))] as const),
  )
  const show = (name: string): Html => {
    const body = bodies.get(name)
    if (!body) throw new AppError('not_found', `there is no document ${JSON.stringify(name.slice(0, 60))}`)
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

/** What people read first, in this order; the others follow by name. */
const FIRST = [
  'quickstart',
  'operations',
  'config',
  'score',
  'verification',
  'blacklists',
  'jobs',
  'peers',
  'findings',
  'errors',
]

function index(texts: Texts): Html {
  const names = Object.keys(texts)
  const of = (folder: string): readonly string[] => names.filter((name) => name.startsWith(folder)).toSorted()
  const plain = names.filter((name) => !name.includes('/'))
  const rest = plain.filter((name) => !FIRST.includes(name)).toSorted()
  const list = (some: readonly string[]): Html =>
    html`<ul class="index">${some.map((name) => html`<li><a href="/docs/${name}">${titleOf(texts[name] ?? '', name)}</a></li>`)}</ul>`
  return html`<main id="main" tabindex="-1"><h1>Documents</h1>
<p class="lead">How to run the service, what each check examines, and how it reaches its result.</p>
<p><a class="button" href="/docs/api">The HTTP API</a></p>
<h2>Running and reading</h2>${list([...FIRST.filter((name) => plain.includes(name)), ...rest])}
<h2>The checks</h2>${list(of('checks/'))}
<h2>Decisions</h2>${list(of('decisions/'))}</main>`
}

const titleOf = (text: string, name: string): string => /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? name

/** A document as HTML. The files are our own; raw HTML in them is shown as text all the same. */
function documentOf(name: string, text: string): Html {
  const folder = name.includes('/') ? `${name.split('/')[0]}/` : ''
  const marked = new Marked({ gfm: true, async: false })
  marked.use({
    renderer: {
      html: ({ text: raw }) => (raw.trimStart().startsWith('<!--') ? '' : escapeHtml(raw)),
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens)
        const to = targetOf(href, folder)
        return to === undefined
          ? words
          : `<a href="${escapeHtml(to)}"${to.startsWith('http') ? ' rel="noopener noreferrer"' : ''}>${words}</a>`
      },
      image: ({ text: alt }) => escapeHtml(alt),
      table(token) {
        const head = token.header
          .map(({ tokens }) => `<th scope="col">${this.parser.parseInline(tokens)}</th>`)
          .join('')
        const rows = token.rows.map(
          (row) => `<tr>${row.map(({ tokens }) => `<td>${this.parser.parseInline(tokens)}</td>`).join('')}</tr>`,
        )
        return `<div class="scroll" role="group" tabindex="0" aria-label="Table"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`
      },
      code: ({ text: raw }) => `<pre tabindex="0">${escapeHtml(raw)}</pre>`,
      heading({ tokens, depth }) {
        const words = this.parser.parseInline(tokens)
        return `<h${depth} id="${idOf(words)}">${words}</h${depth}>`
      },
      checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    },
  })
  return rendered(String(marked.parse(text)))
}

const idOf = (words: string): string =>
  words
    .replace(/<[^>]*>|&[^;]*;/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')

/** Where a link of a document leads on the site; undefined for what is not served (sources). */
function targetOf(href: string, folder: string): string | undefined {
  if (/^https?:\/\//.test(href) || href.startsWith('#')) return href
  const url = new URL(href, `http://docs/docs/${folder}`)
  if (url.pathname === '/docs/openapi.json') return '/openapi.json'
  return url.pathname.startsWith('/docs/') && url.pathname.endsWith('.md')
    ? `${url.pathname.slice(0, -3)}${url.hash}`
    : undefined
}
