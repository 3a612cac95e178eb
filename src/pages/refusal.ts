import { type Html, html } from './html.ts'
import { type Assets, layout, type Visitor } from './layout.ts'
import { loginForm } from './login.ts'
import type { Refused } from './page.ts'

/** A refusal as a page: what was wrong, what to do, and what works meanwhile. */
export const refusalPage = (assets: Assets, refused: Refused, visitor: Visitor): string =>
  layout(assets, visitor, {
    title: headline(refused, visitor),
    main: html`<main id="main" tabindex="-1" class="refusal">
<h1>${headline(refused, visitor)}</h1>
<p class="lead">${refused.detail.replace(/^./, (first) => first.toUpperCase())}${/[.!?]$/.test(refused.detail) ? '' : '.'}</p>
${advice(refused, visitor)}
<p class="quiet">Status ${refused.status} · <code>${refused.code}</code> · request <code>${refused.instance}</code></p>
</main>`,
  })

function headline({ code, status, title }: Refused, { login }: Visitor): string {
  if (status === 401 && login === 'out') return 'Log in to go on'
  return wordsFor(HEADLINES, code) ?? title
}

const HEADLINES: Readonly<Record<string, string>> = {
  forbidden: 'Not allowed',
  not_found: 'There is nothing here',
  rate_limited: 'Too many requests',
  overloaded: 'The service is busy or stopping',
  upstream_unavailable: 'Something that this needs cannot be reached',
  timeout: 'Not done in time',
  internal: 'Something went wrong here',
  invalid_domain: 'Not a domain name',
  invalid_ip: 'Not an IP address',
}

function advice(refused: Refused, visitor: Visitor): Html {
  const { status, code } = refused
  if (status === 401) return html`${loginForm(visitor, visitor.url)}`
  if (code === 'forbidden')
    return visitor.login === 'in'
      ? html`<p>The key of this session does not have the scope. Log out and log in with another key, or ask whoever runs this service for one.</p>`
      : html`<p>Open the page by the address of this service, and repeat what you did from there.</p>`
  if (code === 'not_found' || code === 'gone')
    return html`<p>Go to <a href="/">the start</a>, or put a domain, a mail address or an IP address into the box above.</p>`
  if (code === 'rate_limited')
    return html`<p>Wait a moment and load the page again. The documents can be read meanwhile: they cost little.</p>`
  if (code === 'upstream_unavailable' || code === 'internal')
    return html`<p>Checks, verification and blacklists work without the database; jobs and monitors do not.</p>${again(visitor)}`
  if (code === 'overloaded' || code === 'timeout')
    return html`<p>What is running goes on. New questions are taken again in a moment.</p>${again(visitor)}`
  return html`<p>Correct it and try again, or go to <a href="/">the start</a>.</p>`
}

const again = ({ url }: Visitor): Html => html`<p><a class="button" href="${url}">Try again</a></p>`

const wordsFor = (table: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined
