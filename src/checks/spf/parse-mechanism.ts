import { type Parsed, parsed, problem } from '../../base/parsed.ts'
import { familyOf, type Ip, parseIp } from '../../names/ip.ts'
import { parseDomainSpec } from './domain-spec.ts'
import { spfProblem } from './problems.ts'
import type { DualCidr, Mechanism } from './terms.ts'

const NAMES: ReadonlySet<string> = new Set(['all', 'include', 'a', 'mx', 'ptr', 'ip4', 'ip6', 'exists'])

/** Common misspellings of mechanisms, and what is meant. */
const MEANT: Readonly<Record<string, string>> = {
  ip: 'ip4',
  ipv4: 'ip4',
  ipv6: 'ip6',
  includes: 'include',
  exist: 'exists',
  redirect: 'redirect=',
  exp: 'exp=',
}

/** Two prefix lengths at the end of a term (RFC 7208 §5.3). Anchored and short: at most 9 digits are read. */
const DUAL_CIDR = /(?:\/(\d{1,4}))?(?:\/\/(\d{1,4}))?$/

/** Reads a mechanism from its name and the text after it (RFC 7208 §5). `at` counts from the end of the name. */
export function parseMechanism(written: string, rest: string): Parsed<Mechanism> {
  const kind = written.toLowerCase()
  if (!NAMES.has(kind)) return unknownName(written, kind)
  const argument = rest.startsWith(':') ? rest.slice(1) : undefined
  switch (kind as Mechanism['kind']) {
    case 'all':
      return rest === '' ? parsed({ kind: 'all' }) : problem(spfProblem('after_all', { text: rest }), 0)
    case 'ip4':
      return network('ip4', argument)
    case 'ip6':
      return network('ip6', argument)
    case 'include':
      return withDomain('include', argument)
    case 'exists':
      return withDomain('exists', argument)
    case 'ptr':
      return pointer(rest, argument)
    case 'a':
      return hosts('a', rest, argument)
    case 'mx':
      return hosts('mx', rest, argument)
    default:
      return unknownName(written, kind)
  }
}

function unknownName(written: string, kind: string): Parsed<Mechanism> {
  const meant = Object.hasOwn(MEANT, kind) ? MEANT[kind] : undefined
  const whole = meant === undefined || meant.endsWith('=') ? meant : `${meant}:`
  return problem(spfProblem('mechanism', { text: written, meant: whole }), -written.length)
}

function withDomain(kind: 'include' | 'exists', argument: string | undefined): Parsed<Mechanism> {
  if (argument === undefined) return problem(spfProblem('no_domain', { name: kind }), 0)
  const domain = parseDomainSpec(argument)
  return domain.ok ? parsed({ kind, domain: domain.value }) : problem(domain.problem, 1 + (domain.at ?? 0))
}

function pointer(rest: string, argument: string | undefined): Parsed<Mechanism> {
  if (rest === '') return parsed({ kind: 'ptr' })
  if (argument === undefined) return problem(spfProblem('after_ptr', { text: rest }), 0)
  const domain = parseDomainSpec(argument)
  return domain.ok ? parsed({ kind: 'ptr', domain: domain.value }) : problem(domain.problem, 1 + (domain.at ?? 0))
}

function hosts(kind: 'a' | 'mx', rest: string, argument: string | undefined): Parsed<Mechanism> {
  const match = DUAL_CIDR.exec(rest.slice(-12))
  const tail = match?.[0] ?? ''
  const cidr = dualCidr(match?.[1], match?.[2])
  if (!cidr.ok) return problem(cidr.problem, rest.length - tail.length)
  if (argument === undefined) {
    if (tail.length === rest.length) return parsed({ kind, cidr: cidr.value })
    return problem(spfProblem('after', { text: rest, name: kind }), 0)
  }
  const domain = parseDomainSpec(argument.slice(0, argument.length - tail.length))
  if (!domain.ok) return problem(domain.problem, 1 + (domain.at ?? 0))
  return parsed({ kind, domain: domain.value, cidr: cidr.value })
}

function dualCidr(ip4: string | undefined, ip6: string | undefined): Parsed<DualCidr> {
  if (ip4 !== undefined && !isPrefix(ip4, 32)) return problem(spfProblem('prefix', { text: `/${ip4}`, version: 4 }))
  if (ip6 !== undefined && !isPrefix(ip6, 128)) return problem(spfProblem('prefix', { text: `//${ip6}`, version: 6 }))
  return parsed({
    ...(ip4 === undefined ? {} : { ip4: Number(ip4) }),
    ...(ip6 === undefined ? {} : { ip6: Number(ip6) }),
  })
}

/** No leading zeros, as in addresses (RFC 7208 §12: `ip4-cidr-length`). */
const isPrefix = (text: string, most: number): boolean => /^(?:0|[1-9]\d{0,2})$/.test(text) && Number(text) <= most

function network(kind: 'ip4' | 'ip6', argument: string | undefined): Parsed<Mechanism> {
  const family = kind === 'ip4' ? 4 : 6
  const bits = family === 4 ? 32 : 128
  if (argument === undefined || argument === '') return problem(spfProblem('no_address', { name: kind }), 0)
  const slash = argument.indexOf('/')
  const text = slash < 0 ? argument : argument.slice(0, slash)
  const base = address(text, family)
  if (base === undefined) return problem(spfProblem('address', { text, version: family }), 1)
  if (slash < 0) return parsed({ kind, network: { base, prefix: bits, family } })
  const length = argument.slice(slash + 1)
  if (!isPrefix(length, bits)) return problem(spfProblem('prefix', { text: `/${length}`, version: family }), slash + 1)
  return parsed({ kind, network: { base, prefix: Number(length), family } })
}

function address(text: string, family: 4 | 6): Ip | undefined {
  const result = parseIp(text)
  if (!result.ok || text.includes(':') !== (family === 6)) return undefined
  // An IPv4-mapped network stays IPv6 here: it must not match the IPv4 clients that it resembles (RFC 7208 §5).
  return familyOf(result.value) === family ? result.value : (`::ffff:${result.value}` as Ip)
}
