import { type Parsed, type Problem, parsed, problem } from '../../base/problem.ts'
import { familyOf, type Ip, parseIp } from '../../names/ip.ts'
import { parseDomainSpec, parseMacroString } from './macro.ts'
import { spfProblem } from './problems.ts'
import type { Directive, DualCidr, MacroString, Mechanism, Qualifier, SpfRecord, UnknownModifier } from './terms.ts'

const VERSION = /^v=spf1(?= |$)/i
const NAME = /[A-Za-z][A-Za-z0-9._-]*/y

/**
 * Maximum size of a record, octets; a longer one gives permerror, because the work for a record must be bounded (RFC
 * 7208 §11.1).
 */
export const MAX_RECORD = 8_192

/** Why a record over {@link MAX_RECORD} is not evaluated. */
export const tooLong = (text: string): Problem => spfProblem('too_long', { count: text.length, max: MAX_RECORD })

/** Whether a TXT record is an SPF record: the version, then a space or the end (RFC 7208 §4.5). Case is ignored. */
export const isSpf = (text: string): boolean => VERSION.test(text)

/**
 * Reads an SPF record (RFC 7208 §4.6.1, grammar §12) in linear time. Any fault makes the whole record unusable; `at` is
 * the index of the first one in `text`.
 */
export function parseSpf(text: string): Parsed<SpfRecord> {
  if (!isSpf(text)) return problem(spfProblem('version'), 0)
  const draft: Draft = { directives: [], unknown: [] }
  let at = 'v=spf1'.length
  while (at < text.length) {
    if (text[at] === ' ') {
      at++
      continue
    }
    const space = text.indexOf(' ', at)
    const end = space < 0 ? text.length : space
    const fault = readTerm(text.slice(at, end), draft)
    if (fault) return problem(fault.problem, at + (fault.at ?? 0))
    at = end
  }
  return parsed(draft)
}

type Draft = {
  directives: Directive[]
  unknown: UnknownModifier[]
  redirect?: MacroString
  exp?: MacroString
}
type Fault = { readonly problem: Problem; readonly at?: number }

function readTerm(term: string, draft: Draft): Fault | undefined {
  const foreign = term.search(/[^!-~]/)
  if (foreign >= 0) return { problem: spfProblem('separator'), at: foreign }
  const qualified = /^[+\-?~]/.test(term)
  NAME.lastIndex = qualified ? 1 : 0
  const name = NAME.exec(term)?.[0]
  if (name === undefined) return { problem: spfProblem('term', { text: term }), at: 0 }
  const rest = term.slice(NAME.lastIndex)
  if (rest.startsWith('=')) {
    if (qualified) return { problem: spfProblem('qualifier', { text: term }), at: 0 }
    return readModifier(name, rest.slice(1), draft)
  }
  const mechanism = parseMechanism(name, rest)
  if (!mechanism.ok) return shifted(mechanism, NAME.lastIndex)
  draft.directives.push({ qualifier: qualified ? (term[0] as Qualifier) : '+', mechanism: mechanism.value })
  return undefined
}

function readModifier(written: string, value: string, draft: Draft): Fault | undefined {
  const name = written.toLowerCase()
  const from = written.length + 1
  if (name !== 'redirect' && name !== 'exp') {
    // c, r and t are "allowed only in 'exp' text", so not here either (RFC 7208 §7.2).
    const result = parseMacroString(value, 'domain')
    if (!result.ok) return shifted(result, from)
    draft.unknown.push({ name: written, value: result.value })
    return undefined
  }
  // RFC 7208 §6: each at most once
  if (draft[name] !== undefined) return { problem: spfProblem('twice', { name }), at: 0 }
  const result = parseDomainSpec(value)
  if (!result.ok) return shifted(result, from)
  draft[name] = result.value
  return undefined
}

const shifted = (fault: Fault, by: number): Fault => ({ problem: fault.problem, at: by + (fault.at ?? 0) })

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
function parseMechanism(written: string, rest: string): Parsed<Mechanism> {
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
