import { htmlBlocks } from '../documents/html/html.ts'
import { html, rendered } from './html.ts'
import { layout } from './layout.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import { documentOf, type Parts } from './parts.ts'

/** The content of the page about this node and the others, by operation. */
const SECTIONS = [
  ['peers', 'The nodes', '/v1/peer/peers'],
  ['pool', 'Source addresses of this node', '/v1/pool'],
  ['blacklists', 'Blacklists as this node sees them', '/v1/blacklists'],
] as const

/** `/nodes`: this node and the others, with locations and load; the source addresses with their limits. */
export const nodesPages = (parts: Parts): readonly Page[] => [
  { method: 'GET', path: '/nodes', scope: 'admin', visit: (visit) => show(parts, visit) },
]

async function show(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const sections = await Promise.all(
    SECTIONS.map(async ([name, title, path]) => {
      const given = await parts.execute(parts.operation(name), {}, visit.by)
      const { blocks } = await documentOf(parts, given, title)
      return html`<section>${rendered(htmlBlocks(blocks))}<p class="quiet"><a href="${path}?format=json">${title} as JSON</a></p></section>`
    }),
  )
  return {
    status: 200,
    html: layout(parts.assets, visit, {
      title: 'Nodes',
      main: html`<main id="main" tabindex="-1"><h1>Nodes</h1>${sections}</main>`,
    }),
  }
}
