import type { CheckAnswer } from '../../src/answers/check.ts'
import type { PlanAnswer, PlanStep } from '../../src/answers/plan.ts'
import { ip, reverseName } from '../../src/names/ip.ts'
import { isPublic } from '../../src/names/ip-range.ts'
import { ASSUMED_ADDRESS, assumedKey } from '../../src/plan/assumed.ts'
import {
  type DomainCase,
  domains,
  questionOf,
  type WrittenNode,
  type WrittenRecord,
  type WrittenZone,
} from './cases.ts'
import { KNOWN_FAILURES } from './known-failures.ts'
import { answerOf, serviceFor, zoneOf } from './lab.ts'
import { withoutReplaced } from './published.ts'
import { runCases } from './run.ts'

/** The plan of each domain: after each step is published, the check gives the score that the plan promised. */
const { cases, ...shared } = domains()

const CASES = cases.filter(
  ({ id, domain, ask, expect }) => domain && !ask && !expect.refused && KNOWN_FAILURES[id] !== 'test zone',
)

/** No plan may break its promise. */
const NONE = {}

async function faultsOf(row: DomainCase): Promise<readonly string[]> {
  const start: DomainCase = { ...row, zone: zoneOf(row, shared), policies: row.policies ?? {} }
  const { format: _format, ...query } = questionOf(row)
  const plan = (await asked(start, '/v1/plan', query)) as PlanAnswer
  const checked = async (row: DomainCase): Promise<CheckAnswer> =>
    (await asked(row, '/v1/check', { ...query, plan: 'false' })) as CheckAnswer
  const first = await checked(start)
  const { score: before } = first
  const faults = before === plan.score ? [] : [`the plan starts at ${plan.score}, the check at ${before}`]
  let world = start
  let { findings } = first
  for (const [i, step] of plan.steps.entries()) {
    world = { ...world, ...done(world, step, findings) }
    const answer = await checked(world)
    const { score, grade } = answer
    findings = answer.findings
    const was = plan.steps[i - 1]?.score ?? plan.score
    // A mail host that senders reach for the first time may show a small fault of its own.
    if (step.score < was - 2) faults.push(`step ${i + 1} (${step.title}) takes the score from ${was} to ${step.score}`)
    if (score !== step.score || grade !== step.grade)
      faults.push(`step ${i + 1} (${step.title}) promises ${step.grade} ${step.score} and gives ${grade} ${score}`)
  }
  if (plan.steps.some(({ instructions }) => instructions?.startsWith(OTHER_WAY)))
    faults.push(...(await otherWayFaults(start, query)))
  const last = plan.steps.filter(({ optional }) => !optional).at(-1) ?? plan
  if (last.score !== plan.end.score) faults.push(`the end is ${plan.end.score}, the last step ${last.score}`)
  if (plan.steps.length > 0 && findings.some(({ id }) => id === 'dkim.broken_key'))
    faults.push('a key that cannot be used is left')
  return faults
}

/** How the plan of a domain with an address only begins to tell what else it may be. */
const OTHER_WAY = 'If the domain neither sends nor accepts mail, publish these three records'

/**
 * A domain with an address only may be no more than a website: with the three records it is parked, and lacks nothing.
 */
async function otherWayFaults(start: DomainCase, query: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { domain = '' } = start
  const records = [
    [domain, 'MX', '0 .'],
    [domain, 'TXT', 'v=spf1 -all'],
    [`_dmarc.${domain}`, 'TXT', 'v=DMARC1; p=reject'],
  ] as const
  const zone = records.reduce<WrittenZone>(
    (all, [name, type, value]) => published(all, name, type, value),
    start.zone ?? {},
  )
  const { domain_role: role, score } = (await asked({ ...start, zone }, '/v1/check', query)) as CheckAnswer
  return role.name === 'parked' && score >= 95 ? [] : [`the other way gives ${score} as ${role.name}`]
}

runCases('plans of archetypes', CASES, faultsOf, NONE)

const asked = (row: DomainCase, path: string, query: Readonly<Record<string, string>>): Promise<unknown> =>
  answerOf(serviceFor(row, shared), path, query)

/**
 * The world after a step: its records published, its file on the web server, the key of the mail provider created, and
 * the mail hosts out of the web proxy, or at public addresses.
 */
function done({ zone, policies, domain = '' }: DomainCase, step: PlanStep, told: Findings) {
  const { records, file, findings, assumed } = step
  let next: WrittenZone = withoutReplaced(zone ?? {}, records)
  for (const { action, name, type, value } of records)
    if (action !== 'remove') next = published(next, name, type, value)
  if (assumed && findings.some((id) => id.startsWith('dkim.'))) {
    const { name, data } = assumedKey(domain, 'default')
    const targets =
      findings.includes('dkim.dangling') || records.some((one) => one.type === 'CNAME') ? danglingIn(next) : []
    if (targets.length === 0) next = published({ ...next, [name]: {} }, name, 'TXT', String(data))
    for (const target of targets) next = published(next, target, 'TXT', String(data))
  }
  if (assumed && findings.some((id) => id.startsWith('spf.'))) next = withSpf(next, step, told, domain)
  // In words alone: beside the alias no record can stand.
  if (assumed && findings.includes('mx.domain_alias')) {
    const { A = [], AAAA = [] } = next[String(listOf(next[domain]?.CNAME)[0])] ?? {}
    const silent = { MX: [[0, '.']], TXT: ['v=spf1 -all'] }
    next = { ...next, [domain]: { A, AAAA, ...silent }, [`_dmarc.${domain}`]: { TXT: ['v=DMARC1; p=reject'] } }
  }
  const hosts = listOf(next[domain]?.MX).map((record) => String([record].flat()[1]))
  const isHidden = (host: string): boolean => {
    const addresses = [next[host]?.A, next[host]?.AAAA].flatMap((all) => listOf(all)).map(String)
    return addresses.length > 0 && !addresses.some((one) => isPublic(ip(one)))
  }
  const isGone = (host: string): boolean => [next[host]?.A, next[host]?.AAAA].flatMap((all) => listOf(all)).length === 0
  const about = ['mx.web_proxy', 'mx.not_public', 'mx.none_resolvable', 'mx.ipv6_only'].find((id) =>
    findings.includes(id),
  )
  const meant = {
    'mx.web_proxy': () => true,
    'mx.not_public': isHidden,
    'mx.none_resolvable': isGone,
    'mx.ipv6_only': () => true,
  }
  if (assumed && about !== undefined)
    for (const host of hosts.filter(meant[about as keyof typeof meant]))
      next = {
        ...next,
        [host]: { ...(about === 'mx.ipv6_only' && next[host]), A: [ASSUMED_ADDRESS] },
        [reverseName(ASSUMED_ADDRESS)]: { PTR: [host] },
      }
  return { zone: next, ...(file && { policies: { ...policies, [new URL(file.url).host]: file.text } }) }
}

/** The zone in which SPF includes are moved to a subdomain, or those who run the included records corrected them. */
function withSpf(zone: WrittenZone, { findings, instructions = '' }: PlanStep, told: Findings, domain: string) {
  const textsOf = (name: string): readonly string[] =>
    listOf(zone[name]?.TXT).map((text) => (typeof text === 'string' ? text : [text].flat().join('')))
  const isSpf = (text: string): boolean => /^v=spf1( |$)/i.test(text)
  const set = (name: string, spf: (text: string) => string): WrittenZone => ({
    ...zone,
    [name]: { ...zone[name], TXT: textsOf(name).map((text) => (isSpf(text) ? spf(text) : text)) },
  })
  if (findings.includes('spf.too_many_lookups')) {
    const [, moved = ''] = /, move (.+?) to the SPF record/.exec(instructions) ?? []
    return set(domain, (text) => moved.split(/, | and /).reduce((rest, term) => rest.replace(` ${term}`, ''), text))
  }
  const [, term, at = ''] = /^Remove (\S+) from the record of ([^, ]+[a-z])/.exec(instructions) ?? []
  if (term !== undefined) return set(at, (text) => text.replace(` ${term}`, ''))
  const { detail = '' } = told.find(({ id }) => findings.includes(id) && id.startsWith('spf.')) ?? {}
  const [, name = ''] = /(?:record at|refers to) ([^ ,]+)/.exec(detail) ?? []
  return { ...zone, [name]: SAMPLE }
}
const SAMPLE = { TXT: [`v=spf1 ip4:${ASSUMED_ADDRESS} ~all`] }
type Findings = CheckAnswer['findings']

/** Targets of the aliases of selectors that do not exist. */
const danglingIn = (zone: WrittenZone): readonly string[] =>
  Object.entries(zone)
    .filter(([name]) => name.includes('._domainkey.'))
    .flatMap(([, node]) => listOf(node.CNAME).map((target) => String(target)))
    .filter((target) => zone[target] === undefined)

const listOf = (records: WrittenNode[string] = []): readonly WrittenRecord[] =>
  typeof records === 'string' ? [] : records

function published(zone: WrittenZone, name: string, type: string, value: string): WrittenZone {
  const { CNAME: _alias, ...node }: WrittenNode = zone[name] ?? {}
  const { [type]: all = [] } = node
  return { ...zone, [name]: { ...node, [type]: [...(typeof all === 'string' ? [] : all), dataOf(type, value)] } }
}

function dataOf(type: string, value: string): WrittenRecord {
  if (type === 'TXT') return Buffer.from(value).toString('latin1') // octets
  const bare = (name = ''): string => (name === '.' ? name : name.replace(/\.$/, ''))
  const [first = '', second] = value.split(' ')
  return type === 'MX' ? [Number(first), bare(second)] : bare(value)
}
