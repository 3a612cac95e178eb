import type { MxAddress, MxHost } from '../../answers/checks.ts'
import type { MailHost, MailHosts } from '../../mailhosts/mailhosts.ts'
import type { Ip } from '../../names/ip.ts'
import { defineCheck, type Outcome } from '../check.ts'
import { findings } from './findings.ts'
import { judgeMx } from './judge.ts'
import { lookupMx, type MxFacts, resolvable, unanswered } from './lookup.ts'

export type { MxFacts } from './lookup.ts'
export { allAddresses, deadMailHosts, deliveryOf, hostState, notPublic, resolvable } from './lookup.ts'

export const mx = defineCheck<MxFacts, MxFields>({
  table: findings,
  lookup: lookupMx,
  judge: judgeMx,
  present: (outcome) => {
    const { entries, kind } = presentMx(outcome)
    return { mx: entries, mx_kind: kind }
  },
})

/** One entry of an MX host's `addresses`; the PTR check fills it (its `ptrOf`). */
type PresentAddress = (address: Ip) => MxAddress

/** The check's own part of the answer of `/v1/check`. */
type MxFields = {
  readonly mx: readonly MxHost[]
  readonly mx_kind?: MailHosts['kind'] | undefined
  readonly reason?: undefined
}

const WITHOUT_PTR: PresentAddress = (address) => ({ address, ptr: [], forward_confirmed: null })

/**
 * The entries of the answer's `mx` in order of preference (null MX: none; implicit: the domain with priority 0), and
 * `mx_kind`, omitted without an answer.
 */
export function presentMx(
  outcome: Outcome<MxFacts>,
  presentAddress: PresentAddress = WITHOUT_PTR,
): { readonly entries: readonly MxHost[]; readonly kind?: MailHosts['kind'] } {
  const mail = outcome.facts?.mail
  if (!mail) return { entries: [] }
  const entries = mail.hosts.map((host) => presentHost(host, presentAddress))
  const others = mail.verification.filter(({ exchange }) => !mail.hosts.some((host) => host.exchange === exchange))
  const unused = others.map(({ exchange, preference }) => ({
    ...{ host: exchange, priority: preference, addresses: [], cname: [], resolvable: false },
  }))
  return { entries: [...entries, ...unused].toSorted((a, b) => a.priority - b.priority), kind: mail.kind }
}

function presentHost(host: MailHost, presentAddress: PresentAddress): MxHost {
  const state = resolvable(host)
  return {
    host: host.exchange,
    priority: host.preference,
    addresses: host.addresses.map(presentAddress),
    cname: host.cname,
    resolvable: state === 'unknown' ? null : state === 'yes',
    reason: unanswered(host)?.text,
  }
}
