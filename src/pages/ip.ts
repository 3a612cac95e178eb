import { type Html, html } from './html.ts'
import type { Page, Visit } from './page.ts'
import type { Parts } from './parts.ts'
import { ipPath } from './paths.ts'
import { type Subject, subjectPages } from './subject.ts'

/** `/ip/{ip}`: the 29 lists. */
export const ipPages = (parts: Parts): readonly Page[] =>
  subjectPages(parts, '/ip/:ip', 'read', (visit) => subjectOf(parts, visit))

const CHOICES = ['max_age', 'vantage'] as const

function subjectOf(parts: Parts, { params, query }: Visit): Subject {
  const ip = params.ip ?? ''
  const given = Object.fromEntries(CHOICES.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])))
  const path = ipPath(ip, given)
  return {
    operation: parts.operation('blacklist'),
    raw: { ip, ...given },
    name: ip.trim(),
    title: ip.trim(),
    doing: 'Asking 29 blacklists about this address.',
    places: [],
    path,
    events: path.replace(/(\?|$)/, '/events$1'),
    controls: controls(ip, query),
    below: () => html``,
    tell: () => html``,
  }
}

const controls = (ip: string, query: Visit['query']): Html => html`<form class="controls" action="${ipPath(ip)}">
<label><input type="checkbox" name="max_age" value="0"${query.max_age === '0' ? html` checked` : ''}> do not use remembered answers</label>
<label>Seen from <select name="vantage"><option value="">this node</option><option value="all"${query.vantage === 'all' ? html` selected` : ''}>all nodes</option></select></label>
<button>Ask again</button>
</form>`
