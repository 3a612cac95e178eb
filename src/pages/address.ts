import { parseDomain } from '../names/domain.ts'
import { parseEmail } from '../names/email.ts'
import type { Part } from '../operations/operation.ts'
import { type Html, html } from './html.ts'
import type { Page, Visit } from './page.ts'
import type { Parts } from './parts.ts'
import { addressPath, domainPath } from './paths.ts'
import { otherOptions, type Subject, subjectPages } from './subject.ts'

/** `/address/{email}`: whether the mailbox exists, and the evidence. */
export const addressPages = (parts: Parts): readonly Page[] =>
  subjectPages(parts, '/address/:email', 'verify', (visit) => subjectOf(parts, visit))

const CHOICES = ['pool', 'timeout', 'trace', 'bind_ip', 'peer', 'max_age'] as const
/** Data that needs no additional queries is always included. */
const SIDE = { disposable: 'true', free: 'true', role: 'true', suggestion: 'true' }

function subjectOf(parts: Parts, { params, query, may }: Visit): Subject {
  const email = params.email ?? ''
  const given = Object.fromEntries(CHOICES.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])))
  const path = addressPath(email, given)
  const isAddress = parseEmail(email.trim()).ok
  const trace = query.trace ?? (may('admin') ? 'true' : undefined)
  return {
    operation: parts.operation('verify'),
    raw: { ...SIDE, email, ...given, ...(trace && { trace }) },
    name: email.trim(),
    title: email.trim(),
    doing: 'Asking the mail servers whether they accept mail for this address. No message is sent.',
    places: [
      { key: 'mail_hosts', name: 'Mail servers' },
      { key: 'attempt', name: 'SMTP session' },
    ],
    path,
    events: path.replace(/(\?|$)/, '/events$1'),
    again: addressPath(email, { ...given, max_age: '0' }),
    ...(!isAddress && { isAsked: false }),
    below: () => {
      const domain = parseDomain(email.split('@').at(-1) ?? '')
      return html`${domain.ok && html`<p><a href="${domainPath(domain.value)}">Check the domain of this address</a></p>`}
${isAddress && otherOptions('Other options', controls(email, query))}`
    },
    watch: { kind: 'verify', target: email.trim() },
    tell,
  }
}

const controls = (
  email: string,
  query: Visit['query'],
): Html => html`<form class="controls" action="${addressPath(email)}">
<label class="tick"><input type="checkbox" name="pool" value="true"${query.pool === 'true' ? html` checked` : ''}> use the pool of source addresses</label>
<button>Check again</button>
</form>`

function tell(part: Part): Html {
  if (part.check === 'mail_hosts') return html`${Array.isArray(part.hosts) ? part.hosts.slice(0, 5).join(', ') : ''}`
  return html`${String(part.mx_server)}: ${String(part.code) === '0' ? '' : String(part.code)} ${String(part.message)}`
}
