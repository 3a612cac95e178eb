import type { CaaFields } from '../../answers/checks.ts'
import { type Parsed, parsed, problem } from '../../base/problem.ts'
import { printable } from '../../base/text.ts'
import { type Domain, labelsOf } from '../../names/domain.ts'
import { DnsError, type RecordData, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { defineCheck, type Finding, type Outcome } from '../check.ts'
import type { DomainContext } from '../context.ts'
import { mayExist } from '../one-record.ts'
import { caaProblem } from '../problems.ts'
import { findings } from './findings.ts'

export const caa = defineCheck<CaaFacts, CaaFields>({
  table: findings,
  lookup: lookupCaa,
  judge: judgeCaa,
  present: ({ facts }) => ({
    domain: facts?.foundAt,
    records: (facts?.records ?? []).map(({ critical, tag, value }) => ({
      critical,
      tag: printable(tag, 255),
      value: printable(value),
    })),
  }),
})

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
function judgeCaa(facts: CaaFacts, { noMail }: Pick<DomainContext, 'noMail'>): Outcome<CaaFacts> {
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

/**
 * The value of an `issue`, `issuewild` or `issuemail` property (RFC 8659 §4.2, RFC 9495 §4). An empty `issuer` forbids
 * everybody.
 */
type Issuer = { readonly issuer: string; readonly parameters: Readonly<Record<string, string>> }

const DOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i
/** Maximum number of characters of a value. */
const MAX_LENGTH = 4_096
const TAG = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i

/** Reads `ca.example; account=1`. At most 4,096 characters and 50 parameters. */
export function parseIssuer(text: string): Parsed<Issuer> {
  if (text.length > MAX_LENGTH) return problem(caaProblem('too_long', { max: MAX_LENGTH }))
  const [issuer = '', ...rest] = text.split(';').map((part) => part.replace(/^[ \t]+/, '').replace(/[ \t]+$/, ''))
  if (issuer !== '' && !(issuer.length <= 255 && DOMAIN.test(issuer)))
    return problem(caaProblem('issuer', { text: issuer }))
  const parameters: Record<string, string> = Object.create(null)
  for (const part of rest.filter((one) => one !== '').slice(0, 50)) {
    const at = part.indexOf('=')
    const tag = part.slice(0, Math.max(0, at)).trimEnd()
    if (at < 0 || tag.length > 255 || !TAG.test(tag) || !/^[\x21-\x3a\x3c-\x7e]*$/.test(part.slice(at + 1).trimStart()))
      return problem(caaProblem('parameter', { text: part }))
    parameters[tag.toLowerCase()] = part.slice(at + 1).trimStart()
  }
  return parsed({ issuer: issuer.toLowerCase(), parameters })
}

/** Maximum number of names that are queried while climbing to the root. */
const MAX_NAMES = 8
/** Maximum number of records kept. */
const MAX_RECORDS = 100

type CaaFacts = {
  readonly domain: Domain
  /** The closest name, from the domain upwards, with CAA records; absent if there is none. */
  readonly foundAt?: string
  readonly records: readonly RecordData['CAA'][]
  /** False if the domain does not exist (NXDOMAIN without a CNAME). */
  readonly exists: boolean
}

/**
 * The CAA records that apply to `domain`: its own, otherwise those of the closest name above (RFC 8659 §3). At most 8
 * queries. Rejects with DnsError if a decisive name has no answer.
 */
export async function lookupCaa(ctx: Pick<Ctx, 'resolve' | 'signal'>, domain: Domain): Promise<CaaFacts> {
  const labels = labelsOf(domain)
  const names = labels.map((_, i) => labels.slice(i).join('.')).slice(0, MAX_NAMES)
  const answers = await Promise.all(names.map((name) => settled(ctx.resolve(name, 'CAA', ctx.signal))))
  const exists = mayExist(answers[0])
  for (const [i, answer] of answers.entries()) {
    if (answer instanceof DnsError) throw answer
    if (answer.kind === 'found')
      return { domain, foundAt: names[i]!, records: answer.records.slice(0, MAX_RECORDS), exists }
  }
  return { domain, records: [], exists }
}
