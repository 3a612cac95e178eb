import { printable } from '../../base/text.ts'
import type { RecordData } from '../../net/dns/resolver.ts'
import type { Finding, Outcome } from '../check.ts'
import type { DomainContext } from '../context.ts'
import type { CaaFacts } from './lookup.ts'
import { parseIssuer } from './parse.ts'

/** Tags of the IANA registry of CAA properties that certificate authorities know. */
const KNOWN = new Set(['issue', 'issuewild', 'issuemail', 'issuevmc', 'iodef', 'contactemail', 'contactphone'])
const ISSUERS = new Set(['issue', 'issuewild', 'issuemail', 'issuevmc'])
/** Maximum number of findings of one kind that are reported individually. */
const MAX_TOLD = 10

/**
 * `pass`: records say who may issue certificates; `warn`: nothing restricts it, or a record is broken;
 * `not_applicable`: nothing restricts it, and there is no mail host for which a certificate could be misissued. It
 * never costs points.
 */
export function judgeCaa(facts: CaaFacts, { noMail }: Pick<DomainContext, 'noMail'>): Outcome<CaaFacts> {
  const { domain, records, foundAt } = facts
  // the MX check reports that
  if (foundAt === undefined && !facts.exists) return { status: 'not_applicable', facts, findings: [] }
  if (foundAt === undefined && noMail !== undefined)
    return {
      status: 'not_applicable',
      facts,
      findings: [{ id: 'caa.no_mail', args: { domain, reason: noMail } }],
    }
  if (foundAt === undefined) return { status: 'warn', facts, findings: [{ id: 'caa.none', args: { domain } }] }
  const broken = records.flatMap(brokenFindings).slice(0, MAX_TOLD)
  const issue = records.filter(({ tag }) => tag.toLowerCase() === 'issue')
  const findings: Finding[] = [...broken]
  if (issue.length === 0) findings.push({ id: 'caa.no_issue', args: { name: foundAt } })
  else if (issue.every(({ value }) => isNobody(value))) findings.push({ id: 'caa.nobody', args: { name: foundAt } })
  if (foundAt !== domain) findings.push({ id: 'caa.inherited', args: { domain, name: foundAt } })
  return { status: broken.length > 0 || issue.length === 0 ? 'warn' : 'pass', facts, findings }
}

function brokenFindings({ critical, tag, value }: RecordData['CAA']): Finding[] {
  const evidence = printable(`${critical ? 128 : 0} ${tag} "${value}"`)
  // RFC 8659 §4.1: an authority must not issue if it finds a critical property that it does not know.
  if (critical && !KNOWN.has(tag.toLowerCase()))
    return [{ id: 'caa.unknown_critical', args: { tag: printable(tag, 80) }, evidence }]
  if (!ISSUERS.has(tag.toLowerCase())) return []
  const read = parseIssuer(value)
  return read.ok ? [] : [{ id: 'caa.syntax', args: { tag: printable(tag, 80), problem: read.problem }, evidence }]
}

function isNobody(value: string): boolean {
  const read = parseIssuer(value)
  return !read.ok || read.value.issuer === '' // RFC 8659 §4.2: an unreadable record permits nobody
}
