import { inTurns } from '../base/at-most.ts'
import { type Ip, parseIp } from '../names/ip.ts'
import type { SourceSum } from '../store/postgres/report-sums.ts'
import { organizationOf } from './report.ts'
import { passesDmarc, type Sender, type Verdict } from './senders.ts'

export type TriedRecords = {
  /** Who passes SPF, by the name of the return path; undefined: its record is not known. */
  readonly passesOf: (name: string) => ((address: Ip) => boolean | null) | undefined
  readonly adkim: 'r' | 's'
  readonly aspf: 'r' | 's'
}
export type Policy = 'none' | 'quarantine' | 'reject'

export type Affected = {
  readonly sender: Sender
  readonly verdict: Verdict
  readonly messages: number
}
type PolicyOutcome = {
  readonly messages: number
  readonly passingBefore: number
  readonly passingAfter: number
  /** Without what the owner says is not theirs. */
  readonly affected: readonly Affected[]
  /** Messages whose reported SPF result stands: without a return path, or the record needs the local part. */
  readonly notReevaluated: number
}

/**
 * What a policy would have done to the mail that was seen: SPF is evaluated again for every address with the reported
 * return path, DKIM stands as reported. `none` touches no mail. Largest losses first. 10,000 addresses take
 * milliseconds: the addresses of a record are known as a set.
 */
export function policyOutcome(senders: readonly Sender[], policy: Policy, tried: TriedRecords): PolicyOutcome {
  const sums = policySums(policy, tried)
  for (const [sender, source] of sourcesOf(senders)) sums.add(sender, source)
  return sums.outcome()
}

/** {@link policyOutcome}; others get their turn in between: 80,000 addresses with as many names take 0.2 s. */
export async function policyOutcomeInTurns(
  senders: readonly Sender[],
  policy: Policy,
  tried: TriedRecords,
): Promise<PolicyOutcome> {
  const sums = policySums(policy, tried)
  await inTurns(sourcesOf(senders), ([sender, source]) => sums.add(sender, source))
  return sums.outcome()
}

function* sourcesOf(senders: readonly Sender[]): Generator<readonly [Sender, SourceSum]> {
  for (const sender of senders) for (const source of sender.sources) yield [sender, source]
}

function policySums(policy: Policy, tried: TriedRecords) {
  const lost = new Map<Sender, number>()
  let [messages, passingBefore, passingAfter, notReevaluated] = [0, 0, 0, 0]
  return {
    add: (sender: Sender, source: SourceSum): void => {
      const after = passesAfter(source, tried)
      messages += source.messages
      if (passesDmarc(source)) passingBefore += source.messages
      if (after.passes) passingAfter += source.messages
      else lost.set(sender, (lost.get(sender) ?? 0) + source.messages)
      if (after.stands) notReevaluated += source.messages
    },
    outcome: (): PolicyOutcome => {
      const isPrice = ([{ said }, count]: [Sender, number]): boolean => count > 0 && said?.ours !== false
      const affected = policy === 'none' ? [] : [...lost].filter(isPrice)
      const each = affected.map(([sender, count]) => ({ sender, verdict: sender.verdict, messages: count }))
      return {
        ...{ messages, passingBefore, passingAfter, notReevaluated },
        affected: each.sort((a, b) => b.messages - a.messages),
      }
    },
  }
}

type After = { readonly passes: boolean; readonly stands: boolean }

function passesAfter(source: SourceSum, tried: TriedRecords): After {
  const { name, dkim_aligned, dkim_domain, spf_aligned } = source
  const dkim = dkim_aligned === true && (tried.adkim === 'r' || dkim_domain === '' || dkim_domain === name)
  if (dkim) return { passes: true, stands: false }
  const envelope = source.envelope_from || source.spf_domain
  if (envelope === '') return { passes: spf_aligned === true, stands: true }
  if (tried.aspf === 's' ? envelope !== name : !isOfOrganization(envelope, organizationOf(name)))
    return { passes: false, stands: false } // no record of this domain changes that
  const passes = tried.passesOf(envelope)
  const address = passes && parseIp(source.address)
  const result = address?.ok ? passes!(address.value) : null
  return result === null ? { passes: spf_aligned === true, stands: true } : { passes: result, stands: false }
}

/** The suffix list is slow: it is asked only about names that end in the organizational domain. */
const isOfOrganization = (name: string, organization: string): boolean =>
  name === organization || (name.endsWith(`.${organization}`) && organizationOf(name) === organization)

/** A sender whose own mail would be lost by more than this share stops a step up of the policy. */
const TOLERATED = 0.005
/** An unknown sender that was seen on so many days is named before a step up, unless it is known to be the domain's. */
const STEADY_DAYS = 4

/** What stands against a step up of the policy, and what is to be known about it. */
type StepUp = {
  /** Senders of the domain that would lose more than 0.5 % of their own mail: the step is not offered. */
  readonly blockers: readonly Affected[]
  /** Unknown senders that were seen on 4 days or more, and may be strangers. */
  readonly unknown: readonly Affected[]
}

export const stepUpOf = ({ affected }: Pick<PolicyOutcome, 'affected'>): StepUp => ({
  blockers: affected.filter(
    ({ verdict, sender, messages }) =>
      (verdict === 'authorized' || verdict === 'needs_setup') && messages > sender.messages * TOLERATED,
  ),
  unknown: affected.filter(
    ({ verdict, sender }) => verdict === 'unknown' && !sender.related && sender.recentDays >= STEADY_DAYS,
  ),
})
