import { canonicalName } from '../../names/domain.ts'
import { reverseName } from '../../names/ip.ts'
import { DnsError } from '../../net/dns/resolver.ts'
import { addressesOf, type Match, type Run } from './run.ts'

/** Maximum number of PTR names that are evaluated; the others are ignored (RFC 7208 §4.6.4, §5.5). */
const MAX_PTR_NAMES = 10

/** Whether a validated name of the client is `target` or below it (RFC 7208 §5.5). */
export async function validatedUnder(run: Run, target: string): Promise<Match> {
  const names = await pointerNames(run)
  const wanted = canonicalName(target)
  const candidates = names.filter((name) => isUnder(name, wanted))
  const valid = await Promise.all(candidates.map((name) => isValidated(run, name)))
  return { kind: valid.includes(true) ? 'match' : 'no_match', void: names.length === 0 }
}

/**
 * The value of `%{p}`: a validated name of the client, preferably the domain itself, otherwise one below it, otherwise any; `unknown` if there is none
 * (RFC 7208 §7.3). Its query is not counted: §4.6.4 limits terms, and a macro is not a term.
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
