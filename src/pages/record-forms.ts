import { isJsonRecord, type JsonRecord } from '../base/json.ts'
import { RECORD_TYPES } from '../net/dns/record-data.ts'
import { type Html, html, verbatim } from './html.ts'
import { csrfField } from './layout.ts'
import type { Visit } from './page.ts'
import { above, beside, type FieldProblem, invalid } from './parts.ts'
import { domainPath } from './paths.ts'

/** An editable record: its name, and its text as published or as proposed. */
type EditableRecord = {
  readonly label: string
  readonly name: string
  readonly type: string
  readonly value: string
}

/** Maximum number of records that can be edited on one page. */
const MAX_RECORDS = 24

/** Forms to try records of a domain: the published ones, the proposed ones, and an empty one. */
export function recordForms(domain: string, answer: unknown, visit: Pick<Visit, 'token'>): Html {
  const records = isJsonRecord(answer) ? [...proposed(answer), ...published(domain, answer)].slice(0, MAX_RECORDS) : []
  return html`<h3 id="try">Try a record</h3>
<p class="quiet">Edit a record to see the results as if it were published. Nothing is published or stored.</p>
${records.map((record) => recordForm(domain, record, visit))}
${recordForm(domain, { label: 'Another record', name: domain, type: 'TXT', value: '' }, visit)}`
}

export const recordForm = (
  domain: string,
  record: EditableRecord,
  visit: Pick<Visit, 'token'>,
  { isOpen = false, problem }: { readonly isOpen?: boolean; readonly problem?: FieldProblem | undefined } = {},
): Html => html`<details class="try"${isOpen ? html` open` : ''}><summary>${record.label}</summary>
<form method="post" action="${domainPath(domain)}/try">${csrfField(visit)}
${above(problem)}
<label>Name <input name="name" value="${record.name}" maxlength="300" required autocapitalize="off" spellcheck="false"${invalid('name', problem)}>${beside('name', problem)}</label>
<label>Type <select name="type"${invalid('type', problem)}>${RECORD_TYPES.map((type) => html`<option${type === record.type ? html` selected` : ''}>${type}</option>`)}</select>${beside('type', problem)}</label>
<label class="wide">Value <textarea name="value" rows="3" maxlength="20000" required spellcheck="false"${invalid('value', problem)}>${verbatim(record.value)}</textarea>${beside('value', problem)}</label>
<button>Try it</button></form></details>`

function proposed(answer: JsonRecord): readonly EditableRecord[] {
  const findings = Array.isArray(answer.findings) ? answer.findings : []
  const seen = new Set<string>()
  return findings.flatMap((finding) => {
    const fix = isJsonRecord(finding) ? finding.fix : undefined
    if (!isJsonRecord(finding) || !isJsonRecord(fix)) return []
    const [name, type, value] = [text(fix.name), text(fix.rtype), text(fix.value)]
    const key = `${name} ${type} ${value}`
    if (seen.has(key)) return []
    seen.add(key)
    return [{ label: `Proposed: ${text(finding.title)} (${type} of ${name})`, name, type, value }]
  })
}

/** The names of the checks' records, relative to the domain. */
const PLACES: Readonly<Record<string, readonly [label: string, prefix: string]>> = {
  spf: ['SPF', ''],
  dmarc: ['DMARC', '_dmarc.'],
  mta_sts: ['MTA-STS', '_mta-sts.'],
  tls_rpt: ['TLS reports', '_smtp._tls.'],
  bimi: ['BIMI', 'default._bimi.'],
}

function published(domain: string, answer: JsonRecord): readonly EditableRecord[] {
  const own = typeof answer.domain === 'string' ? answer.domain : domain
  const texts = Object.entries(PLACES).flatMap(([key, [label, prefix]]) => {
    const check = answer[key]
    if (!isJsonRecord(check) || typeof check.record !== 'string' || check.record === '') return []
    const at = key === 'dmarc' && typeof check.domain === 'string' && check.domain !== '' ? check.domain : own
    return [{ label: `Published: ${label}`, name: `${prefix}${at}`, type: 'TXT', value: check.record }]
  })
  const keys = isJsonRecord(answer.dkim) && Array.isArray(answer.dkim.keys) ? answer.dkim.keys : []
  const selectors = keys.flatMap((key) =>
    isJsonRecord(key) && typeof key.record === 'string' && typeof key.selector === 'string'
      ? [
          {
            label: `Published: DKIM ${key.selector}`,
            name: `${key.selector}._domainkey.${own}`,
            type: 'TXT',
            value: key.record,
          },
        ]
      : [],
  )
  return [...texts, ...selectors]
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
