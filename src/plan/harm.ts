import type { DnsRecord } from '../checks/check.ts'
import type { Barrier, DomainContext } from '../checks/context.ts'
import { weakens } from '../checks/dmarc/index.ts'
import { allAddresses, notPublic } from '../checks/mx/index.ts'
import { type CheckKey, type FactSets, isHarmless } from '../checks/run.ts'
import type { SeenMail } from '../checks/seen-mail.ts'
import type { MailHosts } from '../mailhosts/mailhosts.ts'
import { reverseName } from '../names/ip.ts'
import { providerOfHost } from '../providers/index.ts'
import { seenObjection } from './seen-fixes.ts'

/** A domain as it is, or with a fix: the facts of all checks and the resulting context. */
export type Situation = { readonly facts: FactSets; readonly context: DomainContext }
/** A fix of one check with the situation before and after it. */
export type Trial = {
  readonly key: CheckKey
  readonly fix: DnsRecord
  readonly before: Situation
  readonly after: Situation
  /** What reports say about the domain's mail, if there are any. */
  readonly seen?: SeenMail | undefined
}

/**
 * What a fix would break, as text for a log or a test; undefined: it is harmless. Every fix must pass before it is
 * offered (docs/score.md, "A fix does no harm").
 */
export function harmOf(trial: Trial): string | undefined {
  return RULES.find(([breaks]) => breaks(trial))?.[1] ?? (trial.seen && seenObjection(trial, trial.seen))
}

const RULES: readonly (readonly [(trial: Trial) => boolean, string])[] = [
  [
    isWeakened,
    'what applies to the name now, by a record above it that some receivers do not apply in full, is stricter',
  ],
  [isRefused, 'receivers would refuse mail that they accept today'],
  [losesMail, 'mail that arrives today would no longer arrive'],
  [raisesBarrier, 'senders that deliver today could no longer deliver'],
  [reportsNowhere, 'reports would go to a domain that accepts no mail'],
  [namesOthers, 'only the provider of the address can set its PTR record'],
]

/** The check's own rule about its record: who passes SPF, which policy receivers apply, which keys exist. */
function isRefused({ key, before, after }: Trial): boolean {
  return !isHarmless(key, before.facts, after.facts, before.context)
}

function isWeakened({ key, before, after }: Trial): boolean {
  const [was, is] = [before.facts.dmarc, after.facts.dmarc]
  if (key !== 'dmarc' || was instanceof Error || is instanceof Error) return false
  return was.unknown === undefined && was.applied?.inherited === true && weakens(was, is)
}

function losesMail({ before, after }: Trial): boolean {
  const then = after.context.mail
  return before.context.mail !== undefined && before.context.takes === true && isReachable(before.context.mail)
    ? !then || !isReachable(then)
    : false
}

const isReachable = ({ hosts }: MailHosts): boolean =>
  hosts.some((host) => host.addresses.length > notPublic(host).length)

function raisesBarrier({ before, after }: Trial): boolean {
  const isKnown = ({ kind, hosts }: Barrier): boolean =>
    before.context.barriers.some((now) => now.kind === kind && hosts.every((host) => now.hosts.includes(host)))
  return !after.context.barriers.every(isKnown)
}

/** A `rua` or `ruf` at the domain itself or below it, where no mail arrives. */
function reportsNowhere({ fix, before, after }: Trial): boolean {
  if (fix.rtype !== 'TXT' || before.context.takes !== false) return false
  const facts = after.facts.dmarc
  if (facts instanceof Error || before.facts.dmarc === facts) return false
  const known = before.facts.dmarc instanceof Error ? [] : [...before.facts.dmarc.rua, ...before.facts.dmarc.ruf]
  const isNew = (uri: string): boolean => !known.some((one) => one.uri === uri)
  return [...facts.rua, ...facts.ruf].some(({ uri, host }) => host === facts.domain && isNew(uri))
}

/**
 * The PTR record of an address in a mail provider's own zone, of one that no mail host has, or of one that accepts mail
 * only because there is no MX record: usually a web host's.
 */
function namesOthers({ fix, before }: Trial): boolean {
  if (fix.rtype !== 'PTR') return false
  if (before.context.mail?.kind === 'implicit') return true
  const hosts = before.context.mail?.hosts ?? []
  const own = hosts.filter(({ exchange }) => !providerOfHost(exchange))
  return !allAddresses(own).some((address) => reverseName(address) === fix.name)
}
