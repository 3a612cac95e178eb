import { type Ip, reverseName } from '../../names/ip.ts'
import type { DnsRecord, Finding, Outcome } from '../check.ts'
import { applies, type DomainContext } from '../context.ts'
import { notApplicable } from '../not-applicable.ts'
import { addressState } from './address.ts'
import { type AddressPtr, MAX_NAMES, type PtrFacts } from './lookup.ts'

/**
 * Judges the names of the mail hosts' addresses. `fail`: an address of the best MX has no PTR record, or there is none to judge;
 * `unknown`: one could not be asked and none is missing; `warn`: a weighty finding beside; `not_applicable`: the domain takes no mail.
 */
export function judgePtr(facts: PtrFacts, context: DomainContext): Outcome<PtrFacts> {
  const { mail, addresses } = facts
  if (mail.kind === 'null' || !applies('ptr', context)) return notApplicable(facts, context)
  if (addresses.length === 0) return withoutAddress(facts)
  const findings = addresses.flatMap((ptr) => addressFindings(facts, ptr))
  if (facts.leftOut > 0)
    findings.push({ id: 'ptr.too_many', args: { seen: addresses.length, count: addresses.length + facts.leftOut } })
  const best = addresses.filter((ptr) => facts.best.includes(ptr.address))
  const states = best.map(addressState)
  if (states.some((state) => state.hasPtr === false)) return { status: 'fail', facts, findings }
  const open = best.find((ptr) => ptr.error) ?? best.find((ptr) => addressState(ptr).confirmed === null)
  const reason = open && unanswered(open)
  if (reason) return { status: 'unknown', reason, facts, findings }
  return { status: findings.every(({ id }) => HARMLESS.has(id)) ? 'pass' : 'warn', facts, findings }
}

/** Why the names of an address stay open, where they do. */
export const unanswered = (ptr: AddressPtr): string | undefined =>
  (ptr.error ?? ptr.forward.find((forward) => forward.error)?.error)?.message

const HARMLESS = new Set(['ptr.several_names', 'ptr.many_names', 'ptr.too_many'])

function withoutAddress(facts: PtrFacts): Outcome<PtrFacts> {
  const error = facts.mail.hosts.map((host) => host.errors.A ?? host.errors.AAAA).find((found) => found !== undefined)
  if (error) return { status: 'unknown', reason: error.message, facts, findings: [] }
  return { status: 'fail', facts, findings: [{ id: 'ptr.no_address', args: { domain: facts.domain } }] }
}

function addressFindings(facts: PtrFacts, ptr: AddressPtr): Finding[] {
  const { address, names } = ptr
  const state = addressState(ptr)
  const fix = fixOf(facts, address)
  if (ptr.error) return [{ id: 'ptr.not_asked', args: { address, reason: ptr.error.message } }]
  if (!state.hasPtr) return [{ id: 'ptr.missing', args: { address }, fix }]
  const findings: Finding[] = []
  const args = { address, names: names.slice(0, 10) }
  const evidence = `${reverseName(address)} PTR ${names.slice(0, 10).join(', ')}`
  if (state.confirmed === false) findings.push({ id: 'ptr.not_confirmed', args, evidence, fix })
  if (state.confirmed === null)
    findings.push({ id: 'ptr.confirmation_unknown', args: { address, reason: unanswered(ptr) ?? '' } })
  if (state.generic) findings.push({ id: 'ptr.generic', args, evidence, fix })
  if (names.length > MAX_NAMES)
    findings.push({ id: 'ptr.many_names', args: { address, count: names.length, seen: MAX_NAMES }, evidence, fix })
  else if (names.length > 1)
    findings.push({ id: 'ptr.several_names', args: { ...args, count: names.length }, evidence, fix })
  return findings
}

/** The PTR record that names the mail host itself, which leads back by its own address record. */
function fixOf(facts: PtrFacts, address: Ip): DnsRecord {
  const host = facts.mail.hosts.find((other) => other.addresses.includes(address))!
  return { name: reverseName(address), rtype: 'PTR', value: `${host.cname.at(-1) ?? host.exchange}.` }
}
