import type { MailHosts } from '../../mailhosts/mailhosts.ts'
import type { Finding } from '../check.ts'
import { meantBy, reordered, softened } from './fixes.ts'
import { mend, type Slip } from './mend/mend.ts'
import { slipsIn } from './mend/words.ts'
import { namesNobody, type SpfReading } from './reading.ts'
import { shorter } from './shorter.ts'
import { formatMacroString, formatSpf, isMechanism, type SpfRecord } from './terms.ts'
import type { SpfNode } from './tree.ts'

/** The parameters of every judgement of a record. */
export type Said = { readonly domain: string; readonly evidence: string; readonly mail: MailHosts | undefined }

/** The TXT record to publish, where there is one. */
export const fixOf = (name: string, value: string | undefined): Pick<Finding, 'fix'> =>
  value === undefined ? {} : { fix: { name, rtype: 'TXT', value } }

/** RFC 7208 §3.4 */
const LONG_RECORD = 450
const VERY_LONG_RECORD = 512
/** Modifiers that request failure reports (RFC 6652 §3): receivers that send none ignore them. */
const REPORTING: ReadonlySet<string> = new Set(['ra', 'rp', 'rr'])
/** Maximum number of unknown modifiers that are reported individually. */
const MAX_MODIFIERS = 5

/** Judges the form of a readable record. */
export function judgeForm(said: Said, root: SpfNode, reading: SpfReading): Finding[] {
  const { record: own } = root
  if (!own) return []
  const slips = judgeSlips(said, reading)
  // A second record that was pasted behind the first one does not count as further terms.
  const terms = slips.length > 0 ? [] : judgeTerms(said, root, reading)
  return [...judgeLength(said, root, reading), ...slips, ...terms]
}

/** Typing errors after which a record is still readable, but not as it was meant. */
const READABLE: Readonly<Partial<Record<Slip, string>>> = {
  two_records: 'spf.two_in_one',
  joined: 'spf.joined_terms',
  odd_name: 'spf.odd_name',
  separators: 'spf.odd_name',
}

function judgeSlips({ domain, evidence }: Said, reading: SpfReading): Finding[] {
  const meant = mend(evidence)
  const ids = meant.ok ? meant.value.slips.flatMap((slip) => READABLE[slip] ?? []) : []
  if (!meant.ok || ids.length === 0) return []
  return [...new Set(ids)].map((id) => ({
    id,
    args: { slips: slipsIn(meant.value) },
    evidence,
    ...fixOf(domain, offered(meantBy([evidence]), reading)),
  }))
}

function judgeLength({ domain }: Said, root: SpfNode, reading: SpfReading): Finding[] {
  const { bytes } = reading
  if (bytes <= LONG_RECORD) return []
  const text = offered(shorter(root), reading)
  const id = bytes > VERY_LONG_RECORD ? 'spf.very_long' : 'spf.long'
  return [
    { id, args: { bytes }, ...fixOf(domain, text !== undefined && text.length <= LONG_RECORD ? text : undefined) },
  ]
}

function judgeTerms({ domain, evidence }: Said, root: SpfNode, reading: SpfReading): Finding[] {
  const { afterAll, duplicateIncludes } = reading
  const own = root.record!
  const findings: Finding[] = []
  if (afterAll.length > 0 && !namesNobody(reading)) {
    const fix = fixOf(domain, offered(reordered(own), reading))
    findings.push({ id: 'spf.after_all', args: { terms: afterAll }, evidence, ...fix })
  }
  if (duplicateIncludes.length > 0) {
    const fix = fixOf(domain, offered(shorter(root), reading))
    findings.push({ id: 'spf.duplicate_include', args: { names: duplicateIncludes }, evidence, ...fix })
  }
  const unknown = own.unknown.filter((one) => !REPORTING.has(one.name.toLowerCase()) && !isMechanism(one))
  for (const { name, value } of unknown.slice(0, MAX_MODIFIERS))
    findings.push({ id: 'spf.unknown_modifier', args: { term: `${name}=${formatMacroString(value)}` }, evidence })
  return findings
}

/** A record that is broken today must not immediately refuse mail that receivers accept so far. */
function offered(record: SpfRecord | undefined, { permerrors }: SpfReading): string | undefined {
  if (!record) return undefined
  return formatSpf(permerrors.length > 0 ? softened(record) : record)
}
