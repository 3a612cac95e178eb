import { setTimeout as wait } from 'node:timers/promises'
import { within } from '../base/deadline.ts'
import type { AddressPtr } from '../checks/ptr/index.ts'
import { code, type Line } from '../documents/block.ts'
import { htmlBlocks } from '../documents/html/html.ts'
import type { Ip } from '../names/ip.ts'
import { isPublic } from '../names/ip-range.ts'
import { parsePastedIp } from '../names/pasted.ts'
import type { By } from '../operations/execute.ts'
import { type Html, html, rendered } from './html.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import { documentOf, type Parts } from './parts.ts'
import { ipPath } from './paths.ts'
import { pageError } from './problems.ts'
import { type Asker, otherOptions, type Subject, subjectPages } from './subject.ts'

/**
 * `/ip/{ip}`: the 29 lists, and the names and location of the address; `/ip/{ip}/names`: the latter alone, for a page
 * that did not wait for them.
 */
export const ipPages = (parts: Parts): readonly Page[] => [
  ...subjectPages(parts, '/ip/:ip', 'read', (visit) => subjectOf(parts, visit)),
  { method: 'GET', path: '/ip/:ip/names', scope: 'read', visit: (visit) => laterFacts(parts, visit) },
]

const CHOICES = ['max_age', 'vantage'] as const

function subjectOf(parts: Parts, { params, query }: Visit): Subject {
  const ip = params.ip ?? ''
  const given = Object.fromEntries(CHOICES.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])))
  const path = ipPath(ip, given)
  const address = parsePastedIp(ip)
  const isPrivate = address.ok && !isPublic(address.value)
  return {
    operation: parts.operation('blacklist'),
    raw: { ip, ...given },
    name: ip.trim(),
    title: ip.trim(),
    doing: 'Querying 29 blacklists for this address.',
    places: [],
    path,
    events: path.replace(/(\?|$)/, '/events$1'),
    again: ipPath(ip, { ...given, max_age: '0' }),
    ...(isPrivate && { isAsked: false }),
    below: async (_, visit) =>
      html`${await whereabouts(parts, ip, visit)}${!isPrivate && parts.assets.hasPeers() && otherOptions('Other options', controls(ip, query))}`,
    watch: { kind: 'blacklist', target: ip.trim() },
    tell: () => html``,
  }
}

/**
 * How long a page waits for the PTR names, ms; the lookup goes on until the second limit, for the next visit or the
 * script of this one.
 */
const PAINT_MS = 500
const POINTERS_MS = 5_000

/**
 * The PTR names, location and network of the address. Failed lookups are reported as such; a page waits for names only
 * for a moment.
 */
async function whereabouts(parts: Parts, text: string, { by }: Asker): Promise<Html> {
  const ip = parsePastedIp(text)
  if (!ip.ok) return html``
  const facts = await factsOf(parts, ip.value, by, PAINT_MS)
  return html`<h2 id="where">The address</h2><div${facts.isLate && html` data-later="${ipPath(ip.value)}/names"`}>${facts.shown}</div>`
}

/** The facts of {@link whereabouts} without its heading, with names that came late. */
async function laterFacts(parts: Parts, { params, from, by }: Visit): Promise<PageAnswer> {
  if (from === 'other') throw pageError('foreign_stream')
  const ip = parsePastedIp(params.ip ?? '')
  if (!ip.ok) return { status: 200, html: '' }
  return { status: 200, html: (await factsOf(parts, ip.value, by, POINTERS_MS)).shown.safe }
}

/** The facts of the address; `isLate`: the names did not come within `waitMs`. */
async function factsOf(
  parts: Parts,
  ip: Ip,
  by: By,
  waitMs: number,
): Promise<{ readonly shown: Html; readonly isLate: boolean }> {
  // Not by the signal of the visit: what comes after the page is cached for the next one.
  const asked = parts.pointers(ip, within(POINTERS_MS)).catch(() => undefined)
  const [geo, pointers] = await Promise.all([
    parts.execute(parts.operation('geo'), { ip }, by).catch(() => undefined),
    Promise.race([asked, wait<typeof LATE>(waitMs, LATE, { ref: false })]),
  ])
  const known = geo ? documentOf(parts, geo, 'Address').blocks : []
  const rows = [
    ['PTR', pointers === LATE ? noAnswer(waitMs) : pointers ? namesOf(pointers) : UNKNOWN] as const,
    ...known.flatMap((block) => (block.kind === 'facts' ? block.rows : [])),
  ]
  return { shown: rendered(htmlBlocks([{ kind: 'facts', rows }])), isLate: pointers === LATE }
}

/** In place of names that have not come yet. */
const LATE = 'late'
const noAnswer = (ms: number): Line => [{ mark: 'open', text: `unknown: no answer within ${ms / 1_000} s` }]
const UNKNOWN: Line = [{ mark: 'open', text: 'could not be looked up' }]
const LEADS = {
  back: { mark: 'good', text: 'resolves back to it' },
  other: { mark: 'warn', text: 'resolves to other addresses' },
  missing: { mark: 'warn', text: 'has no address' },
  unknown: { mark: 'open', text: 'could not be looked up' },
} as const

function namesOf({ names, forward, error }: AddressPtr): Line {
  if (error) return UNKNOWN
  if (names.length === 0) return ['none']
  const rest = names.length - forward.length
  return [
    ...forward.flatMap(({ name, leads }, i) => [i === 0 ? '' : '; ', code(name), ' ', LEADS[leads]]),
    ...(rest > 0 ? [` and ${rest} more`] : []),
  ]
}

const controls = (ip: string, query: Visit['query']): Html => html`<form class="controls" action="${ipPath(ip)}">
<label>Query from <select name="vantage"><option value="">this node</option><option value="all"${query.vantage === 'all' ? html` selected` : ''}>all nodes</option></select></label>
<button>Check again</button>
</form>`
