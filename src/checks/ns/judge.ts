import type { Problem } from '../../base/problem.ts'
import { networkOf } from '../../names/cidr.ts'
import { familyOf, type Ip } from '../../names/ip.ts'
import { isPublic } from '../../names/ip-range.ts'
import type { Finding, Outcome } from '../check.ts'
import { serverAnswerProblem, serverSaysProblem } from '../problems.ts'
import { COPIES, type Copy } from './ask.ts'
import { compareServers, type ServerState, textsOf } from './compare.ts'
import { delegationFindings, MAX_SERVERS, type NsFacts } from './lookup.ts'

/**
 * `not_applicable`: no such domain; `fail`: no zone, or no server that is authoritative for it; `unknown`: none
 * answered us; `warn`: a finding; `pass`: none. It never costs points.
 */
export function judgeNs(facts: NsFacts): Outcome<NsFacts> {
  const { zone, domain } = facts
  // the MX check reports that
  if (zone === undefined && !facts.exists) return { status: 'not_applicable', facts, findings: [] }
  if (zone === undefined) return { status: 'fail', facts, findings: [{ id: 'ns.none', args: { domain } }] }
  const { states, open } = compareServers(facts)
  const findings = [
    ...setFindings(facts, zone),
    ...delegated(facts, zone),
    ...states.flatMap((state) => serverFindings(state, zone)),
    ...differing(facts, states),
    ...withoutTcp(states),
    ...(open.length > 0
      ? [{ id: 'ns.resolver', args: { records: inCapitals(open), said: open.flatMap((copy) => said(facts, copy)) } }]
      : []),
    ...withoutIpv6(facts, zone),
  ]
  if (states.some((state) => state.lame === false))
    return { status: findings.every(({ id }) => HARMLESS.has(id)) ? 'pass' : 'warn', facts, findings }
  const silent = states.find((state) => state.lame === null && (state.reason ?? state.server.error))
  if (!silent) return { status: 'fail', facts, findings }
  const reason = silent.reason ?? silent.server.error!.problem
  return { status: 'unknown', reason, facts, findings }
}

/** A missing answer may be due to our own network, and a resolver's cache expires: both are reported and not judged. */
const HARMLESS = new Set(['ns.silent', 'ns.too_many', 'ns.resolver', 'ns.no_ipv6'])

const inCapitals = (copies: readonly Copy[]): string[] => copies.map((copy) => copy.toUpperCase())

/** IPv6 is not required; its absence is reported if the addresses of all servers are known. */
function withoutIpv6({ servers }: NsFacts, zone: string): Finding[] {
  const addresses = servers.flatMap((server) => server.addresses)
  const isKnown = servers.every((server) => server.error === undefined)
  const isIpv4 = addresses.length > 0 && addresses.every((address) => familyOf(address) === 4)
  return isKnown && isIpv4 ? [{ id: 'ns.no_ipv6', args: { zone } }] : []
}

function setFindings({ servers, leftOut }: NsFacts, zone: string): Finding[] {
  const findings: Finding[] = []
  const addresses = servers.flatMap((server) => server.addresses)
  const networks = new Set(addresses.map((address) => networkOf(address, familyOf(address) === 4 ? 24 : 48)))
  const known = servers.every((server) => server.error === undefined)
  if (servers.length + leftOut === 1) findings.push({ id: 'ns.single', args: { zone, host: servers[0]!.host } })
  else if (known && networks.size === 1)
    findings.push({ id: 'ns.one_network', args: { zone, network: [...networks][0]! } })
  if (leftOut > 0) findings.push({ id: 'ns.too_many', args: { count: servers.length + leftOut, seen: MAX_SERVERS } })
  return findings
}

function delegated({ delegation, named, servers }: NsFacts, zone: string): Finding[] {
  if (!delegation) return []
  const known = servers.flatMap(({ host, addresses, error }) => (error ? [] : [[host, addresses] as const]))
  return delegationFindings({ zone, delegation, named, addresses: new Map(known) })
}

/**
 * Servers that answer over UDP and not over TCP. A missing TCP answer counts only if another server answered over TCP:
 * our own network may block it.
 */
function withoutTcp(states: readonly ServerState[]): Finding[] {
  const isHeard = states.some(({ tcp }) => tcp === true)
  return states.flatMap(({ server: { host }, tcp, tcpReason, isRefused }) =>
    tcp === false && (isHeard || isRefused) ? [{ id: 'ns.no_tcp', args: { host, reason: tcpReason ?? '' } }] : [],
  )
}

/**
 * Servers that give different mail records: what each says, because nobody knows from outside which of them is right.
 */
function differing(facts: NsFacts, states: readonly ServerState[]): Finding[] {
  const copies = COPIES.filter((copy) => states.some(({ differs }) => differs.includes(copy)))
  if (copies.length === 0) return []
  return [
    { id: 'ns.differs', args: { records: inCapitals(copies), said: copies.flatMap((copy) => said(facts, copy)) } },
  ]
}

/** What each server says, and the resolver where only one server was asked. */
function said(facts: NsFacts, copy: Copy): readonly Problem[] {
  const heard = facts.servers.flatMap(({ host }, at) =>
    textsOf(facts, at, copy).map(({ text }) => ({ from: host, text })),
  )
  const all = [...new Map(heard.map((one) => [JSON.stringify(one), one])).values()]
  const resolved = facts.resolved[copy]
  const isAlone = new Set(all.map(({ text }) => text)).size < 2 && resolved !== undefined
  return [...all, ...(isAlone ? [{ from: '', text: resolved }] : [])].map(({ from, text }) =>
    text === '' ? serverSaysProblem('nothing', { from, record: copy }) : serverSaysProblem('text', { from, text }),
  )
}

function serverFindings({ server, lame, serial, differs, reason }: ServerState, zone: string): Finding[] {
  const { host, addresses, error, cname } = server
  const findings: Finding[] = []
  const hidden = addresses.filter((address: Ip) => !isPublic(address))
  if (addresses.length === 0 && !error) findings.push({ id: 'ns.unresolvable', args: { host } })
  if (addresses.length === 0 && error) findings.push({ id: 'ns.silent', args: { host, reason: error.problem } })
  if (cname.length > 0) findings.push({ id: 'ns.cname', args: { host, target: cname.at(-1)! } })
  if (hidden.length > 0) findings.push({ id: 'ns.not_public', args: { host, addresses: hidden } })
  if (lame)
    findings.push({ id: 'ns.lame', args: { host, zone, reason: reason ?? serverAnswerProblem('not_authoritative') } })
  if (!lame && reason !== undefined) findings.push({ id: 'ns.silent', args: { host, reason } })
  if (differs.includes('serial')) findings.push({ id: 'ns.serial', args: { host, zone, serial: serial ?? 0 } })
  return findings
}
