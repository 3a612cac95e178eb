import type { Problem } from '../../base/problem.ts'
import { hostError, type MailHost } from '../../mailhosts/mailhosts.ts'
import { familyOf } from '../../names/ip.ts'
import type { DomainContext } from '../context.ts'
import { type JudgedAddress, MAX_BEST, type OpenHost, type PtrFacts } from './lookup.ts'

/**
 * The first mail host that may have more addresses to judge than are known: of all hosts if SPF names senders, otherwise of those up to the best MX.
 * Undefined if there is none, and if ten addresses precede it.
 */
export function openHost(
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
