import { htmlBlocks } from '../documents/html/html.ts'
import type { Scope } from '../store/key-file.ts'
import { type Html, html, rendered } from './html.ts'
import { pageOf } from './layout.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import { documentOf, type Parts, withoutSubject } from './parts.ts'

/** A page about the service itself: the operation that it shows, and a sentence about what it is for. */
type About = {
  readonly path: string
  readonly scope: Scope
  readonly operation: string
  readonly title: string
  readonly words: string
  /** Shown when there is nothing to show. */
  readonly below?: (visit: Visit) => Html
}

const ABOUT: readonly About[] = [
  {
    path: '/sources',
    scope: 'read',
    operation: 'pool',
    title: 'Source addresses',
    words: 'The addresses from which mailboxes are verified, and how the mail providers treat each of them.',
    below: () =>
      html`<p class="quiet">Add addresses, proxies and nodes with <code>--pool</code>: <a href="/docs/operations#sources">sources</a>.</p>`,
  },
  {
    path: '/blacklists',
    scope: 'read',
    operation: 'blacklists',
    title: 'Blacklists',
    words: 'The lists that are asked about an address. Each is tested; a list that fails its test is not counted.',
    below: () => html`<p class="quiet">How the answers are read: <a href="/docs/blacklists">blacklists</a>.</p>`,
  },
  {
    path: '/nodes',
    scope: 'admin',
    operation: 'peers',
    title: 'Nodes',
    words: 'The other nodes of this service, where they are and how busy.',
    below: () =>
      html`<p class="quiet">A node joins with <code>mailsonde serve --join URL --node-url URL --peer-secret SECRET</code>, or by sharing one <code>--database-url</code>: <a href="/docs/peers">nodes</a>.</p>`,
  },
]

/** `/sources`: the pool with its limits; `/blacklists`: the lists with their self-tests; `/nodes`: the other nodes. */
export const servicePages = (parts: Parts): readonly Page[] =>
  ABOUT.map((about) => ({
    method: 'GET',
    path: about.path,
    scope: about.scope,
    asks: () => ({ title: about.title, button: `Show ${about.title.toLowerCase()}` }),
    visit: (visit) => show(parts, visit, about),
  }))

async function show(parts: Parts, visit: Visit, about: About): Promise<PageAnswer> {
  const { title, words, below } = about
  const operation = parts.operation(about.operation)
  const { blocks } = documentOf(parts, await parts.execute(operation, {}, visit.by), title)
  return pageOf(parts, visit, {
    title,
    main: html`<main id="main" tabindex="-1"><h1>${title}</h1><p class="lead">${words}</p>
<section class="wall">${rendered(htmlBlocks(withoutSubject(blocks)))}</section>
${below?.(visit)}
<footer><p class="quiet"><a href="${operation.path}?format=json">The same as JSON</a></p></footer></main>`,
  })
}
