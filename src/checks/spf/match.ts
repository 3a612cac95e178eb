import { contains } from '../../names/cidr.ts'
import { canonicalName } from '../../names/domain.ts'
import { familyOf, type Ip, reverseName } from '../../names/ip.ts'
import { type Answer, DnsError } from '../../net/dns/resolver.ts'
import { presentationOf } from './ask.ts'
import { expandName, usesLetter } from './expand.ts'
import { spfNote } from './problems.ts'
import { addressesOf, MAX_MX_NAMES, type Match, type Run } from './run.ts'
import type { DualCidr, MacroString, Mechanism } from './terms.ts'

/**
 * Matches one mechanism other than `include` against the client (RFC 7208 §5). A query without an answer is temperror
 * (§5).
 */
export async function matchMechanism(run: Run, mechanism: Mechanism, domain: string): Promise<Match> {
  try {
    return await matched(run, mechanism, domain)
  } catch (error) {
    if (!(error instanceof DnsError)) throw error
    // RFC 7208 §4.8 leaves this open: a name that cannot be queried is treated as nonexistent.
    if (error.reason === 'invalid_name') return { kind: 'no_match', note: error.problem }
    return { kind: 'error', result: 'temperror', note: error.problem }
  }
}

async function matched(run: Run, mechanism: Mechanism, domain: string): Promise<Match> {
  switch (mechanism.kind) {
    case 'all':
      return { kind: 'match' }
    case 'ip4':
    case 'ip6':
      return yesNo(contains(mechanism.network, run.ip))
    case 'include':
      throw new TypeError('an include is evaluated as a record')
    default: {
      const name = await targetOf(run, mechanism.domain, domain)
      return name === undefined
        ? { kind: 'no_match', note: spfNote('macro') }
        : asked(run, mechanism, presentationOf(name))
    }
  }
}

async function asked(
  run: Run,
  mechanism: Extract<Mechanism, { kind: 'a' | 'mx' | 'ptr' | 'exists' }>,
  name: string,
): Promise<Match> {
  switch (mechanism.kind) {
    case 'exists': {
      const answer = await run.ask(name, 'A') // §5.7: A, for clients of either family
      return answer.kind === 'found' ? { kind: 'match' } : { kind: 'no_match', void: true }
    }
    case 'a': {
      const answer = await addressesOf(run, name)
      if (answer.kind !== 'found') return { kind: 'no_match', void: true }
      return yesNo(anyContains(answer, mechanism.cidr, run.ip))
    }
    case 'mx':
      return exchanges(run, name, mechanism.cidr)
    case 'ptr':
      return validatedUnder(run, name)
    default: {
      const never: never = mechanism
      return never
    }
  }
}

/** RFC 7208 §5.4. No MX record means no match: there is no fallback to the name itself. */
async function exchanges(run: Run, name: string, cidr: DualCidr): Promise<Match> {
  const answer = await run.ask(name, 'MX')
  if (answer.kind !== 'found') return { kind: 'no_match', void: true }
  if (answer.records.length > MAX_MX_NAMES)
    return {
      kind: 'error',
      result: 'permerror',
      note: spfNote('mx_names', { count: answer.records.length, max: MAX_MX_NAMES }),
    }
  // RFC 7505: null MX
  const names = answer.records.map(({ exchange }) => exchange).filter((exchange) => exchange !== '')
  const waiting = names.map((exchange) => addressesOf(run, exchange))
  for (const found of waiting) if (anyContains(await found, cidr, run.ip)) return { kind: 'match' }
  return { kind: 'no_match' }
}

function anyContains(answer: Answer<'A' | 'AAAA'>, cidr: DualCidr, ip: Ip): boolean {
  const family = familyOf(ip)
  const prefix = family === 4 ? (cidr.ip4 ?? 32) : (cidr.ip6 ?? 128)
  return answer.records.some((base) => contains({ base, prefix, family: familyOf(base) }, ip))
}

async function targetOf(run: Run, target: MacroString | undefined, domain: string): Promise<string | undefined> {
  if (!target) return domain // §4.8
  const validated = usesLetter(target, 'p') ? await validatedName(run, domain) : undefined
  return expandName(target, { ...run.values, domain, ...(validated === undefined ? {} : { validated }) })
}

const yesNo = (yes: boolean): Match => ({ kind: yes ? 'match' : 'no_match' })

/** Maximum number of PTR names that are evaluated; the others are ignored (RFC 7208 §4.6.4, §5.5). */
const MAX_PTR_NAMES = 10

/** Whether a validated name of the client is `target` or below it (RFC 7208 §5.5). */
async function validatedUnder(run: Run, target: string): Promise<Match> {
  const names = await pointerNames(run)
  const wanted = canonicalName(target)
  const candidates = names.filter((name) => isUnder(name, wanted))
  const valid = await Promise.all(candidates.map((name) => isValidated(run, name)))
  return { kind: valid.includes(true) ? 'match' : 'no_match', void: names.length === 0 }
}

/**
 * The value of `%{p}`: a validated name of the client, preferably the domain itself, otherwise one below it, otherwise
 * any; `unknown` if there is none (RFC 7208 §7.3). Its query is not counted: §4.6.4 limits terms, and a macro is not a
 * term.
 */
export async function validatedName(run: Run, domain: string): Promise<string> {
  const names = await pointerNames(run)
  const valid = await Promise.all(names.map((name) => isValidated(run, name)))
  const validated = names.filter((_, i) => valid[i])
  const wanted = canonicalName(domain)
  return (
    validated.find((name) => name === wanted) ??
    validated.find((name) => isUnder(name, wanted)) ??
    validated[0] ??
    'unknown'
  )
}

const isUnder = (name: string, domain: string): boolean => name === domain || name.endsWith(`.${domain}`)

/** A failed PTR query is no match, not an error (RFC 7208 §5.5). */
async function pointerNames(run: Run): Promise<readonly string[]> {
  try {
    const answer = await run.ask(reverseName(run.ip), 'PTR')
    return answer.records.slice(0, MAX_PTR_NAMES).map(canonicalName)
  } catch (error) {
    if (!(error instanceof DnsError)) throw error
    return []
  }
}

/** A name whose address query fails is ignored (RFC 7208 §5.5). */
async function isValidated(run: Run, name: string): Promise<boolean> {
  try {
    return (await addressesOf(run, name)).records.includes(run.ip)
  } catch (error) {
    if (!(error instanceof DnsError)) throw error
    return false
  }
}
