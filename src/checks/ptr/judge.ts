import type { Problem } from '../../base/problem.ts'
import { hostError, type MailHost } from '../../mailhosts/mailhosts.ts'
import { familyOf, type Ip, reverseName } from '../../names/ip.ts'
import { isPublic } from '../../names/ip-range.ts'
import { providerOfHost } from '../../providers/index.ts'
import { type DnsRecord, type Finding, notApplicable, type Outcome } from '../check.ts'
import { applies, type DomainContext } from '../context.ts'
import { ptrProblem } from '../problems.ts'
import { looksGeneric } from './generic.ts'
import {
  type AddressPtr,
  addressState,
  type JudgedAddress,
  MAX_BEST,
  MAX_NAMES,
  type OpenHost,
  type PtrFacts,
} from './lookup.ts'

/**
 * Judges the names of the addresses that send as the domain. `fail`: one has no PTR record, or there is none to judge;
 * `unknown`: an address has no answer, or the addresses of a mail host are not all known, and none is missing, or it is
 * about the best MX, of which none is known to be without; `warn`:
 * an additional finding of severity low or more; `not_applicable`: a null MX, or a role that needs none.
 */
export function judgePtr(found: PtrFacts, context: DomainContext): Outcome<PtrFacts> {
  if (found.mail.kind === 'null' && context.role !== 'sends_only') return notApplicable(found, context)
  if (!applies('ptr', context)) return notApplicable(found, context)
  const judged = judgedAddresses(found, context)
  const open = openSenders(found, context)
  if (open) return whoSends({ ...found, ...open, judged }, context)
  if (judged.length === 0 && !((context.sends || isPrivate(found)) && isKnown(found))) return withoutAddress(found)
  const more = openHost(found, context, judged)
  if (more?.isOther) return { status: 'unknown', reason: more.reason, facts: found, findings: [] }
  const facts = { ...found, judged, ...(more && { open: more }) }
  const own = judged.filter(({ isProviders }) => !isProviders).map(({ ptr }) => ptr)
  const findings = own.flatMap((ptr) => addressFindings(facts, ptr, context.sends === true))
  if (facts.leftOut > 0) findings.push(tooMany(facts))
  // Whether those of the best MX have names is shown (`valid`), also where it costs nothing.
  const best = found.addresses.filter(({ address }) => found.best.includes(address))
  const isNameless = (ptr: AddressPtr): boolean => addressState(ptr).hasPtr === false
  const openBest = best.find((ptr) => ptr.error)?.error?.problem ?? bestUnanswered(found)
  const isShown = openBest === undefined || best.some(isNameless)
  if (own.some(isNameless) && isShown) return { status: 'fail', facts, findings }
  const silent = own.find((ptr) => ptr.error) ?? own.find((ptr) => addressState(ptr).confirmed === null)
  const reason = (silent && unanswered(silent)) ?? more?.reason ?? openBest
  if (reason) return { status: 'unknown', reason, facts, findings }
  return { status: findings.every(({ id }) => HARMLESS.has(id)) ? 'pass' : 'warn', facts, findings }
}

/** Whether the mail hosts have only addresses for which no PTR record can be set. */
const isPrivate = ({ mail }: PtrFacts): boolean => {
  const all = mail.hosts.flatMap(({ addresses, proxy }) => addresses.map((address) => ({ address, proxy })))
  return all.length > 0 && !all.some(({ address, proxy }) => isPublic(address) && proxy === undefined)
}

const isKnown = ({ mail }: PtrFacts): boolean => mail.hosts.every((host) => !hostError(host))

/**
 * The addresses that send as the domain: those of the mail hosts that SPF passes, and those that it names one by one;
 * without a usable SPF record those of the best MX. A private address has no PTR record to set, and an MX record with
 * an IP address is a fault of its own.
 */
function judgedAddresses(facts: PtrFacts, { sends, sendingHosts }: DomainContext): readonly JudgedAddress[] {
  const senders = sends ? sendingHosts : facts.best
  const chosen = [...facts.addresses.filter(({ address }) => senders.includes(address)), ...(sends ? facts.named : [])]
  return chosen
    .filter(isOwn(facts))
    .slice(0, MAX_BEST)
    .map((ptr) => asJudged(facts, ptr))
}

const isOwn =
  ({ mail }: PtrFacts) =>
  ({ address }: AddressPtr): boolean =>
    isPublic(address) && !mail.hosts.some(({ literal }) => literal === address)

const asJudged = (facts: PtrFacts, ptr: AddressPtr): JudgedAddress => ({ ptr, isProviders: isProviders(facts, ptr) })

type Candidates = Required<Pick<PtrFacts, 'candidates' | 'isMore'>>

/** The addresses that may send, if an answer about SPF is missing and it matters which of them do. */
function openSenders(facts: PtrFacts, { sendersOpen }: DomainContext): Candidates | undefined {
  if (sendersOpen === undefined) return undefined
  const candidates = [...facts.addresses, ...facts.named].filter(isOwn(facts)).map((ptr) => asJudged(facts, ptr))
  const isFlawless = ({ ptr, isProviders }: JudgedAddress): boolean =>
    isProviders || addressFindings(facts, ptr, true).length === 0
  const isMore = sendersOpen === 'any' || !isKnown(facts) || facts.leftOut > 0
  return !isMore && candidates.length > 0 && candidates.every(isFlawless) ? undefined : { candidates, isMore }
}

/** Only what holds whoever sends: of addresses of the best MX that are known to send. */
function whoSends(facts: PtrFacts, { sendingHosts }: DomainContext): Outcome<PtrFacts> {
  const certain = (facts.judged ?? []).filter(
    ({ ptr, isProviders }) => !isProviders && facts.best.includes(ptr.address) && sendingHosts.includes(ptr.address),
  )
  const findings = certain.flatMap(({ ptr }) => addressFindings(facts, ptr, true))
  if (certain.some(({ ptr }) => addressState(ptr).hasPtr === false)) return { status: 'fail', facts, findings }
  return { status: 'unknown', reason: ptrProblem('senders_unknown'), facts, findings }
}

/** In a mail provider's own zone: its MX host, or one of its names that resolves back. */
function isProviders({ mail }: PtrFacts, { address, forward }: AddressPtr): boolean {
  const isHost = mail.hosts.some(({ addresses, exchange }) => addresses.includes(address) && providerOfHost(exchange))
  // A generic name is that of a customer's machine.
  const isBack = ({ name, leads }: AddressPtr['forward'][number]): boolean =>
    leads === 'back' && providerOfHost(name) !== undefined && !looksGeneric(name, address)
  return isHost || forward.some(isBack)
}

const tooMany = ({ addresses, leftOut }: PtrFacts): Finding => ({
  id: 'ptr.too_many',
  args: { seen: addresses.length, count: addresses.length + leftOut },
})

/** Why the names of an address are unknown, if they are. */
export const unanswered = (ptr: AddressPtr): Problem | undefined =>
  (ptr.error ?? ptr.forward.find((forward) => forward.error)?.error)?.problem

const HARMLESS = new Set(['ptr.several_names', 'ptr.many_names', 'ptr.too_many'])

function withoutAddress(facts: PtrFacts): Outcome<PtrFacts> {
  const error = facts.mail.hosts.map(hostError).find((found) => found !== undefined)
  if (error) return { status: 'unknown', reason: error.problem, facts, findings: [] }
  return { status: 'fail', facts, findings: [{ id: 'ptr.no_address', args: { domain: facts.domain } }] }
}

function addressFindings(facts: PtrFacts, ptr: AddressPtr, sends: boolean): Finding[] {
  const { address, names } = ptr
  const state = addressState(ptr)
  const fix = fixOf(facts, address)
  const offered = fix ? { fix } : {}
  if (ptr.error) return [{ id: 'ptr.not_asked', args: { address, reason: ptr.error.problem } }]
  if (!state.hasPtr) return [{ id: 'ptr.missing', args: { address, sends }, ...offered }]
  const findings: Finding[] = []
  const args = { address, names: names.slice(0, 10) }
  const evidence = `${reverseName(address)} PTR ${names.slice(0, 10).join(', ')}`
  if (state.confirmed === false) findings.push({ id: 'ptr.not_confirmed', args, evidence, ...offered })
  if (state.confirmed === null)
    findings.push({ id: 'ptr.confirmation_unknown', args: { address, reason: unanswered(ptr) ?? '' } })
  if (state.generic) findings.push({ id: 'ptr.generic', args, evidence, ...offered })
  if (names.length > MAX_NAMES)
    findings.push({
      id: 'ptr.many_names',
      args: { address, count: names.length, seen: MAX_NAMES },
      evidence,
      ...offered,
    })
  else if (names.length > 1)
    findings.push({ id: 'ptr.several_names', args: { ...args, count: names.length }, evidence, ...offered })
  return findings
}

/**
 * The PTR record with the name of the mail host itself, which resolves back by its own address record; none for an
 * address that no mail host has.
 */
function fixOf(facts: PtrFacts, address: Ip): DnsRecord | undefined {
  const host = facts.mail.hosts.find((other) => other.addresses.includes(address))
  if (!host) return undefined
  return { name: reverseName(address), rtype: 'PTR', value: `${host.cname.at(-1) ?? host.exchange}.` }
}

/**
 * The first mail host that may have more addresses to judge than are known: of all hosts if SPF names senders,
 * otherwise of those up to the best MX. Undefined if there is none, and if ten addresses precede it.
 */
function openHost(
  { mail }: PtrFacts,
  { sends }: Pick<DomainContext, 'sends'>,
  judged: readonly JudgedAddress[],
): OpenHost | undefined {
  const hosts = sends ? mail.hosts : upToBest(mail.hosts)
  const host = hosts.find((one) => hostError(one) !== undefined)
  const reason = host && hostError(host)?.problem
  if (!host || reason === undefined) return undefined
  const ipv4 = host.errors.A ? [] : host.addresses.filter((address) => familyOf(address) === 4)
  const before = new Set([...hosts.slice(0, hosts.indexOf(host)).flatMap(({ addresses }) => addresses), ...ipv4])
  const certain = judged.filter(({ ptr }) => before.has(ptr.address)).length
  // A host of a better preference: if it has an address, it is the best MX, and none of the others is judged.
  const isOther = !sends && host.preference !== hosts.at(-1)?.preference
  return certain >= MAX_BEST ? undefined : { reason, certain, isOther }
}

/** Why the addresses of the best MX are not all known, if so. */
export const bestUnanswered = ({ mail }: Pick<PtrFacts, 'mail'>): Problem | undefined =>
  upToBest(mail.hosts)
    .map(hostError)
    .find((error) => error !== undefined)?.problem

/** The hosts of the best preference with an address, and those of better ones; all if none has an address. */
function upToBest(hosts: readonly MailHost[]): readonly MailHost[] {
  const best = hosts.find(({ addresses }) => addresses.length > 0)
  return best ? hosts.filter(({ preference }) => preference <= best.preference) : hosts
}
