import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { domain } from '../../src/names/domain.ts'
import { DnsError, type Resolve } from '../../src/net/dns/resolver.ts'
import { checkDomain } from '../../src/operations/check.ts'
import type { World } from '../../src/world.ts'
import { checkJudge, type Json, listOf } from '../faults/honest.ts'
import { TOLD } from '../faults/rows.ts'
import { type DomainCase, domains, type WrittenNode } from './cases.ts'
import { worldOf } from './lab.ts'

/**
 * Every domain with one question at a time that has no answer, because of a timeout or a SERVFAIL: its score is within
 * `score_min` and `score_max`, and nothing firm is said that the whole answer does not say. A sample of the questions,
 * the same each time; `RANGES=all` tries each, both ways.
 */
const ALL = process.env.RANGES === 'all'
const SAMPLED = 4
const REASONS = ['timeout', 'servfail'] as const
type Reason = (typeof REASONS)[number]

const { cases, ...shared } = domains()
const CASES = cases.filter((row) => row.domain && !row.path && !row.expect.refused)
const judge = checkJudge((id) => TOLD.has(id))

/** What is wrong where one question has no answer, one line each. */
async function faultsOf(row: DomainCase): Promise<readonly string[]> {
  const world = worldOf(row, shared)
  const asked = new Set<string>()
  const plain = await checked(row, world, (question) => {
    asked.add(question)
    return undefined
  })
  const faults: string[] = []
  for (const [question, reason] of sampled(row.id, [...asked])) {
    const seen = await checked(row, world, (other) => (other === question ? reason : undefined))
    const wrong = judge(plain, seen, false).filter((fault) => !isExplained(fault, plain, seen))
    faults.push(...[...wrong, ...narrowed(plain, seen)].map((fault) => `${question} ${reason}: ${fault}`))
  }
  return faults
}

const has = (answer: Json, ...ids: readonly string[]): boolean =>
  listOf(answer.findings).some(({ id }) => ids.includes(String(id)))
const statusIn = (answer: Json, check: string): unknown => listOf([answer[check]])[0]?.status

/**
 * What is said with less is true as well: by a finding about the same record, or where `valid` is about what was not
 * judged.
 */
function isExplained(fault: string, plain: Json, seen: Json): boolean {
  const check = /^(\w+)\.valid is false/.exec(fault)?.[1]
  if (check !== undefined) return statusIn(seen, check) === 'not_applicable' || has(seen, `${check}.part_unknown`)
  // A query that is not sent in one place leaves room for those that the limit left out elsewhere.
  const limited = /^(?:a finding that is none: )?(\w+)(?: is \w+ and not unknown$|\.\w+$)/.exec(fault)?.[1]
  if (limited !== undefined && isLimited(plain, limited)) return true
  const [finding = '', ...others] = SAME.find(([id]) => fault === `a finding that is none: ${id}`) ?? []
  if (finding !== '') return has(plain, ...others)
  // How grave it is that nobody passes depends on DMARC and DKIM.
  if (fault === 'spf is warn and not fail') return has(plain, 'spf.names_nobody') && has(seen, 'spf.names_nobody')
  // A name server that is late has no TCP at one time and has it at another.
  return fault.startsWith('ns is ') && has(plain, 'ns.no_tcp')
}

const isLimited = (answer: Json, check: string): boolean =>
  String(listOf([answer[check]])[0]?.reason ?? '').includes('(too_many_questions)')

/** A finding, and those that say the same of more. */
const SAME: readonly (readonly string[])[] = [
  ['spf.dead_term', 'spf.too_many_void_lookups', 'spf.include_takeover', 'spf.names_nobody'],
  ['spf.softfail', 'spf.everybody'],
  ['dmarc.no_record', 'dmarc.misplaced', 'dmarc.doubled_name'],
  ['dkim.proven_absent', 'dkim.doubled_name'],
  ['dmarc.rua_unreachable', 'dmarc.report_unauthorized'],
  ['bimi.dmarc_unknown', 'bimi.dmarc_not_enforced'],
]

/** A range of the whole answer is within that of the answer with less. */
function narrowed(plain: Json, seen: Json): readonly string[] {
  const [least, most] = rangeOf(plain)
  const [low, high] = rangeOf(seen)
  return low <= least && high >= most ? [] : [`the range ${least} to ${most} is not within ${low} to ${high}`]
}

const rangeOf = ({ score, score_min, score_max }: Json): readonly [number, number] => [
  Number(score_min ?? score),
  Number(score_max ?? score),
]

/**
 * The check of a domain while those questions fail for which `fails` gives a reason: `name TYPE`, of those to a name
 * server `@address name TYPE`.
 */
async function checked(row: DomainCase, world: World, fails: (question: string) => Reason | undefined): Promise<Json> {
  const resolve: Resolve = async (name, type, signal, options) => {
    const reason = fails(`${name.toLowerCase()} ${type}`)
    if (reason) throw new DnsError(reason, { name, type })
    return world.resolve(name, type, signal, options)
  }
  const askServer: World['askServer'] = async (server, name, type, signal, options) => {
    const reason = fails(`@${server} ${name.toLowerCase()} ${type}`)
    if (reason) throw new DnsError(reason, { name, type })
    return world.askServer(server, name, type, signal, options)
  }
  const ctx = { ...world, resolve, askServer, signal: AbortSignal.timeout(20_000) }
  const deps = { smtpPort: 25, heloName: async () => 'sonde.test' }
  const { starttls, selector } = row.query ?? {}
  const answer = await checkDomain(ctx, deps, domain(row.domain!), {
    selectors: selector?.split(',') ?? [],
    starttls: starttls === 'true',
  })
  return JSON.parse(JSON.stringify(answer)) as Json
}

/** Why a question may fail: a name server that answers SERVFAIL about its own zone is lame, which is known. */
const reasonsOf = (question: string): readonly Reason[] => (question.startsWith('@') ? ['timeout'] : REASONS)

/** The same sample each time, another for each domain, half of it with each reason. */
function sampled(id: string, questions: readonly string[]): readonly (readonly [question: string, reason: Reason])[] {
  if (ALL) return questions.flatMap((question) => reasonsOf(question).map((reason) => [question, reason] as const))
  const rank = (question: string): string => createHash('sha256').update(`${id} ${question}`).digest('hex')
  const some = questions.toSorted((a, b) => rank(a).localeCompare(rank(b))).slice(0, SAMPLED)
  return some.map((question, i) => [question, reasonsOf(question)[i % 2] ?? 'timeout'])
}

/**
 * A domain with 40 addresses, of which each fifth has no PTR record and each seventh one that is not confirmed, under
 * some SPF record.
 */
function wide(id: string, spf: string): DomainCase {
  const hosts = Array.from({ length: 8 }, (_, i) => `m${i}.wide.com`)
  const address = (host: number, i: number): string => `45.53.${host}.${i + 1}`
  const zone: Record<string, WrittenNode> = {
    'wide.com': { MX: hosts.map((host, i): [number, string] => [10 + (i >> 1), host]), TXT: [spf] },
    '_dmarc.wide.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@wide.com'] },
    '_spf.wide.com': { TXT: ['v=spf1 ip4:45.53.3.0/24 ip4:45.53.5.2 -all'] },
  }
  hosts.forEach((host, at) => {
    zone[host] = { A: Array.from({ length: 5 }, (_, i) => address(at, i)) }
    for (let i = 0; i < 5; i++) {
      const nth = at * 5 + i
      const PTR = nth % 5 === 1 ? [] : [nth % 7 === 1 ? 'elsewhere.wide.com' : host]
      zone[`${i + 1}.${at}.53.45.in-addr.arpa`] = { PTR }
    }
  })
  return { id, class: 'wide', domain: 'wide.com', zone, expect: {} }
}

const WIDE = [
  wide('40 addresses that send by mx', 'v=spf1 mx -all'),
  wide('40 addresses, some of which send by an include', 'v=spf1 include:_spf.wide.com a:m7.wide.com -all'),
  wide('40 addresses without a usable SPF record', 'v=spf1 include:none.wide.com -all'),
]

it.each([...CASES, ...WIDE].map((row) => [row.id, row] as const))(
  '%s',
  async (_, row) => {
    expect(await faultsOf(row)).toEqual([])
  },
  ALL ? 600_000 : 20_000,
)
