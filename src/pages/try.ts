import type { Document } from '../documents/block.ts'
import { htmlBlocks } from '../documents/html/html.ts'
import { unicodeOf } from '../names/domain.ts'
import { parseRecord, typeOf } from '../net/dns/record-text.ts'
import { type FieldProblem, isCorrectable, refusedWords } from './field.ts'
import { html, rendered } from './html.ts'
import { layout } from './layout.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import { documentOf, type Parts } from './parts.ts'
import { domainPath } from './paths.ts'
import { recordForm } from './record-forms.ts'

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
    return page(parts, visit, domain, await documentOf(parts, given, `What if: ${domain}`))
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
  return {
    status: problem ? 400 : 200,
    html: layout(parts.assets, visit, {
      title: `What if: ${shown}`,
      typed: shown,
      main: html`<main id="main" tabindex="-1">${problem ? html`<h1>${shown}</h1>` : html`<p class="notice">As if the record below were published. <a href="${domainPath(domain)}">Check ${shown} as it is now</a></p>`}
${form}
${'blocks' in found && rendered(htmlBlocks(found.blocks, { fold: true }))}
${'blocks' in found && html`<footer>${rendered(htmlBlocks(found.footer.map((line) => ({ kind: 'text', line, quiet: true }))))}</footer>`}</main>`,
    }),
  }
}

const fullName = (name: string, domain: string): string => {
  const bare = name.trim()
  return bare === domain || bare.endsWith(`.${domain}`) ? `${bare}.` : bare
}
const oneLine = (value: string): string => value.replace(/\s*[\r\n]+\s*/g, ' ').trim()
