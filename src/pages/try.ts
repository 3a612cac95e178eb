import { readOpen } from '../answers/read-answer.ts'
import { type CheckSummary, whatIfAnswer } from '../answers/what-if.ts'
import type { Block, Line } from '../documents/block.ts'
import { htmlBlocks } from '../documents/html/html.ts'
import { unicodeOf } from '../names/domain.ts'
import { type Html, html, rendered } from './html.ts'
import { layout } from './layout.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import type { Parts } from './parts.ts'
import { domainPath } from './paths.ts'
import { recordForm } from './record-forms.ts'

/** Bytes of the form: a record of 20,000 characters, each escaped. */
const BODY_LIMIT = 131_072

/** `POST /domain/{name}/try`: the domain as if a record were published, beside how it stands now. */
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
  const record = { label: 'Edit the record again', name, type, value }
  const given = await parts.execute(
    parts.operation('what-if'),
    // A name of the domain in full is one; the operation takes what ends in a dot for that.
    { domain, records: [{ name: fullName(name, domain), type, value: oneLine(value) }] },
    visit.by,
  )
  const document = given.document({ version: parts.version })
  const answer = readOpen(whatIfAnswer, given.answer)
  if (!document || !answer.ok) throw new Error('the answer of what-if cannot be shown')
  const shown = unicodeOf(domain)
  const { before, after } = answer.value
  return {
    status: 200,
    html: layout(parts.assets, visit, {
      title: `What if: ${shown}`,
      typed: shown,
      islands: ['answer'],
      main: html`<main id="main" tabindex="-1"><p class="notice">As if the record below were published. <a href="${domainPath(domain)}">How ${shown} stands now</a></p>
${recordForm(domain, record, visit, true)}
${rendered(htmlBlocks(document.blocks.slice(0, 1)))}
${passing(before, after)}
${rendered(htmlBlocks(document.blocks.slice(1)))}
<footer>${rendered(htmlBlocks(document.footer.map((line) => ({ kind: 'text', line, quiet: true }))))}</footer></main>`,
    }),
  }
}

const fullName = (name: string, domain: string): string => {
  const bare = name.trim()
  return bare === domain || bare.endsWith(`.${domain}`) ? `${bare}.` : bare
}
const oneLine = (value: string): string => value.replace(/\s*[\r\n]+\s*/g, ' ').trim()

/** Who may pass SPF now and then, term by term, side by side: an answer has at most 20 of each. */
function passing(before: CheckSummary, after: CheckSummary): Html {
  const terms = [...new Set([...(before.passing?.by ?? []), ...(after.passing?.by ?? [])].map(({ term }) => term))]
  if (terms.length === 0) return html``
  const cell = ({ passing: one }: CheckSummary, term: string): Line => {
    const found = one?.by.find((each) => each.term === term)
    return found ? [{ mark: 'good', text: amount(found) }] : [{ mark: 'none', text: 'no' }]
  }
  const sum = ({ passing: one }: CheckSummary): Line => [
    one ? `${amount(one)}${one.complete ? '' : ' or more'}` : 'nobody',
  ]
  const table: Block = {
    kind: 'table',
    table: {
      caption: 'Who may send (SPF)',
      head: ['Term', 'Now', 'With this record'],
      rows: terms.map((term) => [[{ code: term }], cell(before, term), cell(after, term)]),
      sum: [['In all'], sum(before), sum(after)],
    },
  }
  return rendered(htmlBlocks([table]))
}

const amount = ({
  ipv4 = 0,
  ipv6_prefixes: ipv6 = 0,
  note,
}: {
  ipv4?: number | undefined
  ipv6_prefixes?: number | undefined
  note?: string | undefined
}): string => {
  if (note !== undefined) return note
  const parts = [
    ...(ipv4 > 0 ? [`${ipv4.toLocaleString('en')} IPv4 address${ipv4 === 1 ? '' : 'es'}`] : []),
    ...(ipv6 > 0 ? [`${ipv6.toLocaleString('en')} IPv6 network${ipv6 === 1 ? '' : 's'}`] : []),
  ]
  return parts.length === 0 ? 'no public address' : parts.join(', ')
}
