import { ERRORS } from '../base/errors.ts'
import { type Html, html } from './html.ts'
import { type Assets, layout, type Visitor } from './layout.ts'
import { loginForm } from './login.ts'
import type { Refused } from './page.ts'
import { sentenceOf } from './problems.ts'

/** A refusal as a page: what was wrong, what to do, and what is available. */
export const refusalPage = (assets: Assets, refused: Refused, visitor: Visitor): string =>
  layout(assets, visitor, {
    title: headline(refused, visitor),
    typed: typedIn(visitor.url),
    main: html`<main id="main" tabindex="-1" class="refusal">
<h1>${headline(refused, visitor)}</h1>
${!isStopping(refused) && html`<p class="lead">${lead(refused, visitor)}</p>`}
${advice(refused, visitor)}
<p class="quiet">Status ${statusOf(refused)} · <a href="/docs/errors#${refused.error.code}"><code>${refused.error.code}</code></a> · request <code>${refused.instance}</code></p>
</main>`,
  })

/** The requested subject, so that it can be corrected in the search field. */
function typedIn(url: string): string {
  const typed = /^\/(?:domain|address|ip)\/([^/?]*)/.exec(url)?.[1] ?? ''
  try {
    return decodeURIComponent(typed).slice(0, 1_000)
  } catch {
    return ''
  }
}

function headline(refused: Refused, { login }: Visitor): string {
  const { code } = refused.error
  if (statusOf(refused) === 401 && login === 'out') return 'Log in to continue'
  if (isStopping(refused)) return 'The service is stopping'
  return wordsFor(HEADLINES, code) ?? ERRORS[code].title
}

const HEADLINES: Readonly<Record<string, string>> = {
  forbidden: 'Not allowed',
  not_found: 'Not found',
  gone: 'No longer available',
  rate_limited: 'Too many requests',
  overloaded: 'The service is busy',
  upstream_unavailable: 'Temporarily unavailable',
  timeout: 'Timed out',
  internal: 'Internal error',
  invalid_domain: 'Not a domain name',
  invalid_ip: 'Not an IP address',
}

/** The detail as a sentence for people. */
function lead(refused: Refused, { login }: Visitor): string {
  if (statusOf(refused) === 401 && login === 'out') return 'This page needs an API key.'
  const { code, parameter } = refused.error
  const words = sentenceOf(refused.error)
  // A parameter of the path stands in the address itself.
  if (code === 'invalid_parameter' && parameter !== undefined && !words.includes(parameter))
    return `${parameter}: ${words}`
  return words.replace(/^./, (first) => first.toUpperCase())
}

/** Lists of what may be missing. */
const LISTS = [
  ['/docs', 'all documents'],
  ['/jobs', 'the jobs'],
  ['/monitors', 'the monitors'],
  ['/message', 'the page about messages'],
] as const

function advice(refused: Refused, visitor: Visitor): Html {
  const { code } = refused.error
  if (statusOf(refused) === 401) return html`${loginForm(visitor, visitor.url)}`
  if (code === 'forbidden')
    return visitor.login === 'in'
      ? html`<p>Log out and log in with another key, or ask the operator of this service for one.</p>`
      : html`<p>Open the page at the address of this service and try again from there.</p>`
  if (code === 'not_found' || code === 'gone') {
    const [path, words] = LISTS.find(([list]) => visitor.url.startsWith(`${list}/`)) ?? []
    return html`<p>${path !== undefined && html`See <a href="${path}">${words}</a>, go`}${path === undefined && 'Go'} to the <a href="/">start page</a>, or enter a domain, a mail address or an IP address above.</p>`
  }
  if (code === 'rate_limited') return html`<p>Wait a moment, then reload the page.</p>${again(visitor)}`
  if (code === 'upstream_unavailable')
    return html`<p>Domains, mail addresses and IP addresses can be checked without the database: use the box above. Jobs, monitors and stored answers need it.</p>${again(visitor)}`
  if (code === 'internal')
    return html`<p>The log of the service has the error under the request id below. Other pages are not affected.</p>${again(visitor)}`
  if (isStopping(refused))
    return html`<p>Running requests are finished; new ones are not accepted. Bulk jobs continue after the restart.</p>${again(visitor)}`
  if (code === 'overloaded' || code === 'timeout')
    return html`<p>Running requests continue, and the <a href="/docs">documents</a> can be read. New requests are accepted again in a moment.</p>${again(visitor)}`
  return html`<p>Correct the input and try again, or go to the <a href="/">start page</a>.</p>`
}

const statusOf = ({ error }: Refused): number => ERRORS[error.code].status
const isStopping = ({ error }: Refused): boolean => error.problem.id === 'caller.stopping'

const again = ({ url }: Visitor): Html => html`<p><a class="button" href="${url}">Try again</a></p>`

const wordsFor = (table: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined
