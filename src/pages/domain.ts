import { reportedCheck } from '../answers/check.ts'
import { plannedCheck } from '../answers/plan.ts'
import { readOpen } from '../answers/read-answer.ts'
import type { Document } from '../documents/block.ts'
import { htmlBlocks } from '../documents/html/html.ts'
import { CHECK_NAMES, CHECKS } from '../documents/words.ts'
import { unicodeOf } from '../names/domain.ts'
import { parseRecord, typeOf } from '../net/dns/record-text.ts'
import type { Part } from '../operations/operation.ts'
import { type Html, html, rendered } from './html.ts'
import { pageOf } from './layout.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import { beside, documentOf, type FieldProblem, invalid, isCorrectable, type Parts, refusedWords } from './parts.ts'
import { domainPath, pathWith, reportsPath } from './paths.ts'
import { recordForm, recordForms } from './record-forms.ts'
import { type FileLink, otherOptions, type Subject, subjectPages } from './subject.ts'

/** `/domain/{name}`: a report about it, or only the DNS checks (`only=check`). */
export const domainPages = (parts: Parts): readonly Page[] =>
  subjectPages(parts, '/domain/:name', 'read', (visit) => subjectOf(parts, visit))

const CHOICES = ['selector', 'vantage', 'timeout'] as const

function subjectOf(parts: Parts, { params, query }: Visit): Subject {
  const domain = params.name ?? ''
  const only = query.only === 'check' || query.only === 'tls' ? { only: query.only } : {}
  const given = Object.fromEntries(CHOICES.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])))
  const operation = parts.operation('only' in only ? 'check' : 'report')
  const name = unicodeOf(domain.trim().toLowerCase())
  const keys = CHECK_NAMES.filter((key) => query.only !== 'check' || key !== 'starttls')
  return {
    operation,
    raw: { domain, ...given, ...(query.only === 'tls' && { starttls: 'true' }) },
    name,
    title: name,
    doing: 'Querying the DNS and the mail servers. This takes a few seconds.',
    places: [
      ...keys.map((key) => ({ key, name: CHECKS[key].name })),
      ...('only' in only ? [] : [{ key: 'blacklists', name: 'Blacklists' }]),
    ],
    path: domainPath(domain, { ...given, ...only }),
    events: domainPath(domain, { ...given, ...only }).replace(/(\?|$)/, '/events$1'),
    refused: (problem) => (problem.field === 'selector' ? controls(domain, query, problem) : undefined),
    skeleton: SKELETON,
    links: ({ answer }) => ({ ways: reportsLink(answer), files: planFiles(answer) }),
    below: (answer, visit) =>
      otherOptions(
        'Try a record, or other options',
        controls(domain, query),
        recordForms(domain, answer.answer, visit),
      ),
    restsOn: ({ by }) => parts.storedReports(by, domain).catch(() => undefined),
    watch: { kind: operation.name === 'check' ? 'check' : 'report', target: domain },
    tell,
  }
}

/** The places of what comes first, of the size that most answers have. */
const SKELETON = html`<h2>Where mail goes</h2><p class="place map">waiting …</p>
<h2>What to do</h2><p class="place steps">waiting …</p>
<h2>All checks</h2>`

/** The files that the plan can be had as. */
const FILES: readonly (readonly [format: string, provider: string, name: string])[] = [
  ['zone', '', 'zone file'],
  ['dnscontrol', '', 'DNSControl'],
  ['octodns', '', 'octoDNS'],
  ['terraform', 'cloudflare', 'Terraform for Cloudflare'],
  ['terraform', 'route53', 'Terraform for Route 53'],
  ['terraform', 'google', 'Terraform for Cloud DNS'],
]

/** The records of the plan as files; none where it has no records. */
function planFiles(answer: unknown): readonly FileLink[] {
  const read = readOpen(plannedCheck, answer)
  if (!read.ok || !read.value.plan?.steps.some(({ records }) => records.length > 0)) return []
  const { domain } = read.value
  return FILES.map(([format, provider, name]) => [
    name,
    pathWith('/v1/plan', { domain, format, ...(provider && { provider }) }),
  ])
}

/** The page of the reports, where the answer has some. */
function reportsLink(answer: unknown): Html {
  const read = readOpen(reportedCheck, answer)
  const { domain, reports } = read.ok ? read.value : {}
  if (domain === undefined || !reports || reports.unknown !== undefined || reports.how_to_get) return html``
  return html`<a class="button second" href="${reportsPath(domain)}">Reports</a>`
}

function controls(domain: string, query: Visit['query'], problem?: FieldProblem): Html {
  return html`<form class="controls" action="${domainPath(domain)}">
<label>DKIM selector <input name="selector" value="${query.selector ?? ''}" maxlength="200" autocapitalize="off" autocomplete="off" spellcheck="false"${invalid('selector', problem)}>${beside('selector', problem)}</label>
<label>Check <select name="only"><option value="">everything</option><option value="tls"${query.only === 'tls' && html` selected`}>DNS and TLS</option><option value="check"${query.only === 'check' && html` selected`}>DNS only</option></select></label>
<label>Query from <select name="vantage"><option value="">this node</option><option value="all"${query.vantage === 'all' ? html` selected` : ''}>all nodes</option></select></label>
<button>Check again</button>
</form>`
}

/** Maximum number of characters of a record shown in a place. */
const SHOWN = 120

function tell(part: Part): Html {
  if (part.check === 'blacklists') return html`${String(part.ip)}: ${listed(part)}`
  if (part.answered !== true) return html`no answer: ${text(part.reason)}`
  const record =
    typeof part.record === 'string' ? part.record : Array.isArray(part.records) ? part.records[0] : undefined
  if (typeof record !== 'string' || record === '') return html`${counted(part) ?? 'answered'}`
  return html`<code>${record.length > SHOWN ? `${record.slice(0, SHOWN)} …` : record}</code>`
}

/** Lists of parts whose length is shown. */
const LISTS: Readonly<Record<string, readonly [field: string, one: string]>> = {
  dkim: ['keys', 'key'],
  ns: ['servers', 'name server'],
  caa: ['records', 'record'],
}

function counted(part: Part): string | undefined {
  const [field, one] = Object.hasOwn(LISTS, part.check) ? (LISTS[part.check] ?? []) : []
  const list = field === undefined ? undefined : part[field]
  if (!Array.isArray(list)) return undefined
  return list.length === 0 ? 'none found' : `${list.length} ${one}${list.length === 1 ? '' : 's'}`
}

const listed = ({ verdict, answered, total }: Part): string => {
  if (verdict === 'listed') return 'listed'
  return verdict === 'clean' ? 'not listed' : `${text(answered)} of ${text(total)} lists answered`
}

const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

/** Maximum size of the form, bytes: a record of 20,000 characters, all escaped. */
const BODY_LIMIT = 131_072

/** `POST /domain/{name}/try`: the domain as if a record were published, compared with its present state. */
export const tryPages = (parts: Parts): readonly Page[] => [
  {
    method: 'POST',
    path: '/domain/:name/try',
    scope: 'read',
    bodyLimit: BODY_LIMIT,
    visit: (visit) => tried(parts, visit),
  },
  {
    method: 'GET',
    path: '/domain/:name/try',
    scope: 'read',
    visit: async ({ params }) => ({ to: domainPath(params.name) }), // a result that is opened again
  },
]

async function tried(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const domain = visit.params.name ?? ''
  const { name = '', type = '', value = '' } = visit.form
  try {
    const given = await parts.execute(
      parts.operation('what-if'),
      // A full name of the domain is absolute; the operation expects a final dot for that.
      { domain, records: [{ name: fullName(name, domain), type, value: oneLine(value) }] },
      visit.by,
    )
    return page(parts, visit, domain, documentOf(parts, given, `What if: ${domain}`))
  } catch (error) {
    if (!isCorrectable(error) || error.parameter === 'domain') throw error
    return page(parts, visit, domain, { field: fieldOf(visit.form, domain), words: refusedWords('Not tried', error) })
  }
}

/** The field of a record that cannot be read: its name or type, otherwise its value. */
function fieldOf({ name = '', type = '' }: Visit['form'], domain: string): string {
  if (!typeOf(type).ok) return 'type'
  return parseRecord({ name: fullName(name, domain), type: 'TXT', value: 'x' }, domain).ok ? 'value' : 'name'
}

/** The record that was tried, and the consequences; or why it could not be tried. */
function page(parts: Parts, visit: Visit, domain: string, found: Document | FieldProblem): PageAnswer {
  const { name = '', type = '', value = '' } = visit.form
  const shown = unicodeOf(domain)
  const problem = 'words' in found ? found : undefined
  const form = recordForm(domain, { label: 'Edit the record', name, type, value }, visit, { isOpen: true, problem })
  return pageOf(parts, visit, {
    status: problem ? 400 : 200,
    title: `What if: ${shown}`,
    typed: shown,
    main: html`<main id="main" tabindex="-1">${problem ? html`<h1>${shown}</h1>` : html`<p class="notice">As if the record below were published. <a href="${domainPath(domain)}">Check ${shown} as it is now</a></p>`}
${form}
${'blocks' in found && rendered(htmlBlocks(found.blocks))}
${'blocks' in found && html`<footer>${rendered(htmlBlocks(found.footer.map((line) => ({ kind: 'text', line, quiet: true }))))}</footer>`}</main>`,
  })
}

const fullName = (name: string, domain: string): string => {
  const bare = name.trim()
  return bare === domain || bare.endsWith(`.${domain}`) ? `${bare}.` : bare
}
const oneLine = (value: string): string => value.replace(/\s*[\r\n]+\s*/g, ' ').trim()
