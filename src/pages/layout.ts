import { type Html, html, rendered } from './html.ts'
import type { PageAnswer, Visit } from './page.ts'

/** What the frame of every page needs. */
export type Assets = {
  /**
   * Paths of the static files: the style sheet, the icon, the typefaces, and each island by its name.
   */
  readonly style: string
  readonly icon: string
  readonly typefaces: readonly string[]
  readonly islands: Readonly<Record<string, string>>
  /** Whether this node knows others; the page about them is then at the foot of each page. */
  readonly hasPeers: () => boolean
}

/** What the frame of a page shows about its visitor. */
export type Visitor = Pick<Visit, 'login' | 'may' | 'token' | 'url'>

export type Content = {
  readonly title: string
  readonly main: Html
  /** The scripts of the page, by name. */
  readonly islands?: readonly string[]
  /** Text in the search field of the header. */
  readonly typed?: string
  /** The target for browsers without scripts, for the complete answer. */
  readonly withoutScript?: string
  /** Seconds after which a browser without scripts loads the page again. */
  readonly againSeconds?: number
  /** The search field is in the page itself. */
  readonly hasOwnBox?: true
}

/** The answer with a complete page; its status is 200 unless said otherwise. */
export const pageOf = (
  { assets }: { readonly assets: Assets },
  visitor: Visitor,
  { status = 200, ...content }: Content & { readonly status?: number },
): PageAnswer => ({ status, html: layout(assets, visitor, content) })

/**
 * A complete page: the frame with search field, navigation, login and foot, and the content. It contains no script or
 * style; both come from files of this site.
 */
export function layout(assets: Assets, visitor: Visitor, content: Content): string {
  const { title, main, islands = [], typed = '', withoutScript, againSeconds, hasOwnBox } = content
  const scripts = [...new Set(['common', ...islands])].flatMap((name) => assets.islands[name] ?? [])
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title} · mailsonde</title>
<link rel="icon" type="image/svg+xml" href="${assets.icon}">
<link rel="stylesheet" href="${assets.style}">
${assets.typefaces.map((path) => html`<link rel="preload" as="font" type="font/woff2" href="${path}" crossorigin>`)}
${scripts.map((path) => html`<script type="module" src="${path}"></script>`)}
${withoutScript !== undefined && html`<noscript><meta http-equiv="refresh" content="0; url=${withoutScript}"></noscript>`}
${againSeconds !== undefined && html`<noscript><meta http-equiv="refresh" content="${againSeconds}"></noscript>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="bar"><div class="top">
<a class="home" href="/">${wordMark()}</a>
${hasOwnBox ? '' : smallBox(typed)}
<nav aria-label="Site">${ways(visitor)}</nav>
</div></header>
${main}
${foot(visitor, assets.hasPeers())}
</body>
</html>
`.safe
}

/** The foot of every page: what is about the service itself. */
function foot({ may, url }: Visitor, hasPeers: boolean): Html {
  const ways = [
    ...(may('read') ? [way(url, '/sources', 'Source addresses'), way(url, '/blacklists', 'Blacklists')] : []),
    ...(hasPeers && may('admin') ? [way(url, '/nodes', 'Nodes')] : []),
    way(url, '/docs/api', 'HTTP API'),
    way(url, '/docs/findings', 'Findings'),
    way(url, '/docs/faq', 'Questions'),
  ]
  return html`<footer class="end"><nav aria-label="Service">${ways}</nav></footer>`
}

const isAt = (url: string, to: string): boolean => {
  const path = url.split('?')[0]!
  return path === to || path.startsWith(`${to}/`)
}

const way = (url: string, to: string, name: string): Html =>
  html`<a href="${to}"${isAt(url, to) ? rendered(' aria-current="page"') : ''}>${name}</a>`

const smallBox = (typed: string): Html => html`<form class="box" action="/go" role="search" aria-label="Check">
<label class="hidden" for="q">Domain, mail address or IP address</label>
<input id="q" name="q" value="${typed}" maxlength="1000" autocapitalize="off" autocomplete="off" spellcheck="false" placeholder="Domain, address or IP">
<button>Check</button>
</form>`

function ways({ login, may, token, url }: Visitor): readonly Html[] {
  return [
    ...(may('jobs') ? [way(url, '/monitors', 'Monitors')] : []),
    ...(may('reports') ? [way(url, '/reports', 'Reports')] : []),
    ...(may('read') ? [way(url, '/message', 'Message')] : []),
    ...(may('jobs') ? [way(url, '/jobs', 'Jobs')] : []),
    way(url, '/docs', 'Docs'),
    ...(login === 'out' ? [html`<a href="/login?to=${encodeURIComponent(url.slice(0, 1_000))}">Log in</a>`] : []),
    ...(login === 'in'
      ? [
          html`<form method="post" action="/logout"><input type="hidden" name="_csrf" value="${token}"><button class="plain">Log out</button></form>`,
        ]
      : []),
  ]
}

/** The field with the token of a session in a form. */
export const csrfField = ({ token }: Pick<Visit, 'token'>): Html =>
  html`<input type="hidden" name="_csrf" value="${token}">`

/** The drawing of the icon: an envelope's flap, from which a sounding line goes down to its lead. On a square of 32. */
const LINES =
  '<path d="M7 9l9 7.5L25 9" fill="none" stroke-width="2.8" stroke-linecap="round" stroke-linejoin="round"/><path d="M16 16.5v5" stroke-width="2.8"/><circle cx="16" cy="24" r="2.6" stroke="none"/>'

/** The icon as a file, for the tabs of browsers. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#1a56b8"/><g fill="#fff" stroke="#fff">${LINES}</g></svg>`

/** The icon and the word mark, for the top of a page. */
const wordMark = (): Html =>
  rendered(
    `<svg viewBox="0 0 32 32" aria-hidden="true" focusable="false"><rect width="32" height="32" rx="8" fill="currentColor"/><g>${LINES}</g></svg>mailsonde`,
  )

/** A button for each action (its path below `path`, its words, its class), in a form of its own. */
export const actionForms = (
  path: string,
  actions: readonly (readonly [action: string, words: string, look: string])[],
  visit: Pick<Visit, 'token'>,
): Html =>
  html`<div class="actions">${actions.map(
    ([action, words, look]) =>
      html`<form method="post" action="${path}/${action}">${csrfField(visit)}<button class="${look}">${words}</button></form>`,
  )}</div>`
