import { formatEmail } from '../names/email.ts'
import { addressesIn, readAddress, readDomain, readIp } from '../names/pasted.ts'
import { trimmed } from '../names/pasted-steps.ts'
import { type Html, html } from './html.ts'
import { pageOf } from './layout.ts'
import { listForm } from './list-form.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import type { Parts } from './parts.ts'
import { addressPath, domainPath, ipPath } from './paths.ts'

/** `/`: the search field and an overview of the service; `/go`: the target of the search field. */
export const homePages = (parts: Parts): readonly Page[] => [
  { method: 'GET', path: '/', scope: undefined, visit: async (visit) => home(parts, visit) },
  { method: 'GET', path: '/go', scope: undefined, visit: async (visit) => go(parts, visit) },
]

function home(parts: Parts, visit: Visit): PageAnswer {
  return pageOf(parts, visit, {
    title: 'Mail check',
    islands: islandsOf(visit),
    hasOwnBox: true,
    main: main(visit, ''),
  })
}

/** A redirect to the page of the typed text, or the start page again if it is not recognized. */
function go(parts: Parts, visit: Visit): PageAnswer {
  const typed = visit.query.q ?? ''
  const one = classify(typed)
  if (one.kind === 'domain') return { to: domainPath(one.value) }
  if (one.kind === 'address') return { to: addressPath(one.value) }
  if (one.kind === 'ip') return { to: ipPath(one.value) }
  if (one.kind === 'nothing') return { to: '/' }
  const page = (status: number, title: string, shown: Html): PageAnswer =>
    pageOf(parts, visit, { status, title, islands: islandsOf(visit), hasOwnBox: true, main: shown })
  if (one.kind === 'unknown') return page(400, 'Not understood', main(visit, typed, one.problem))
  return visit.may('jobs')
    ? page(200, 'A list', main(visit, '', undefined, one.rows))
    : page(400, 'Several values', main(visit, typed, 'there are several values: enter one at a time'))
}

const islandsOf = ({ may }: Visit): readonly string[] => (may('jobs') ? ['box', 'upload'] : ['box'])

const main = (
  { may, login, token }: Visit,
  typed: string,
  problem?: string,
  rows?: readonly string[],
): Html => html`<main id="main" tabindex="-1" class="start">
<h1>Check the mail setup of a domain</h1>
<p class="lead">What receivers see of it, what is wrong, and which records to publish, in which order, for an A.</p>
${rows !== undefined && html`<p class="notice" role="status">These are ${rows.length} values. They are processed as a list: look at it, and press Preview.</p>`}
<form class="box large" action="/go" role="search" id="box">
<label for="q">Domain, mail address, IP address or URL</label>
<div class="line"><input id="q" name="q" value="${typed}" maxlength="1000" required autofocus autocapitalize="off" autocomplete="off" spellcheck="false" placeholder="example.org" aria-describedby="hint"${problem !== undefined && html` aria-invalid="true"`}>
<button>Check</button></div>
<p class="${problem === undefined ? 'quiet' : 'problem'}" id="hint" role="status">${problem === undefined ? 'Domains are checked, addresses verified, IP addresses looked up on 29 blacklists.' : `Not understood: ${problem}.`}</p>
</form>
${login === 'out' && html`<p class="notice">This service requires a key. <a href="/login">Log in</a> first.</p>`}
${may('jobs') && html`<details class="try list"${rows !== undefined && html` open`}><summary>Or upload or paste a list</summary>${listForm({ token }, rows)}</details>`}
<section id="last" hidden><h2>Recent checks</h2><ul></ul><p><button class="plain" type="button">Clear</button></p></section>
<h2>What you can check</h2>
<ul class="can">
<li><h3><a href="#q">A domain</a></h3><p>SPF, DKIM, DMARC, MX, PTR, TLS and more, with a score in which every point is explained.</p></li>
<li><h3><a href="#q">A mail address</a></h3><p>Whether the mailbox exists, according to its mail servers. No message is sent.</p></li>
<li><h3><a href="#q">An IP address</a></h3><p>Whether it is on any of 29 blacklists, and how to request removal.</p></li>
<li><h3><a href="/message">A message</a></h3><p>Who touched it, what verifies, what does not and why.</p></li>
<li><h3><a href="/reports">Reports</a></h3><p>Who sends as your domain, from the DMARC reports of receivers.</p></li>
<li><h3><a href="/jobs">A list</a></h3><p>CSV or text of any size, in the background.</p></li>
</ul>
<p class="quiet">What could not be determined is reported as unknown, with the reason. The same answers are available as JSON and on the command line: <a href="/docs">documents</a>, <a href="/docs/api">API</a>.</p>
</main>`

/** How a text in the search field is interpreted, and the value for its page. */
type Classified =
  | { readonly kind: 'domain'; readonly value: string }
  | { readonly kind: 'address'; readonly value: string }
  | { readonly kind: 'ip'; readonly value: string }
  | { readonly kind: 'list'; readonly rows: readonly string[] }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unknown'; readonly problem: string }

/** Maximum number of characters read from the search box. */
const MAX_QUERY = 4_096

/**
 * A typed or pasted text: a domain, a mail address, an IP address, each as people paste it (names/pasted.ts), the host
 * of a URL, or several of them (a list). Never throws.
 */
export function classify(text: string): Classified {
  const given = trimmed(text.slice(0, MAX_QUERY))
  if (given === '') return { kind: 'nothing' }
  const one = classifyOne(given)
  if (one.kind !== 'unknown') return one
  const lines = given.split(/\s*[\r\n]\s*/)
  const rows = lines.length > 1 ? lines : severalIn(given)
  return rows.length > 1 ? { kind: 'list', rows } : one
}

/** The values of one line, where each of them is a domain or an address; otherwise none. */
function severalIn(line: string): readonly string[] {
  const words = line.includes('@')
    ? addressesIn(line).map(({ value }) => value)
    : line.split(/[\s,;]+/).filter((word) => word !== '')
  return words.every((word) => /[.:]/.test(word) && classifyOne(word).kind !== 'unknown') ? words : []
}

function classifyOne(text: string): Classified {
  const address = /@|&#|&commat;/i.test(text) && !URL_BEGIN.test(text) ? readAddress(text) : undefined
  if (address?.ok) return { kind: 'address', value: formatEmail(address.value.value) }
  const ip = readIp(text)
  if (ip.ok) return { kind: 'ip', value: ip.value.value }
  const domain = readDomain(text)
  if (domain.ok) return { kind: 'domain', value: domain.value.value.domain }
  const { host } = domain.problem.values
  if (address) return { kind: 'unknown', problem: address.problem.text }
  return typeof host === 'string' && host !== text
    ? classifyOne(host)
    : { kind: 'unknown', problem: domain.problem.text }
}

const URL_BEGIN = /^(?:[a-z][a-z0-9+.-]*:)?\/\//i
