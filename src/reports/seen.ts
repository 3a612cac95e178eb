import type { SeenMail, TriedPolicy } from '../checks/seen-mail.ts'
import { type Ip, parseIp } from '../names/ip.ts'
import { type Affected, policyOutcome, stepUpOf, type TriedRecords } from './policy.ts'
import { passesDmarc, type Sender } from './senders.ts'

/** The senders of a domain in a period, as far as a record is judged by them. */
type SeenSenders = {
  readonly domain: string
  readonly from: string
  readonly to: string
  readonly days: number
  readonly senders: readonly Sender[]
  /** Who passes SPF, by the name of the return path. */
  readonly passesOf: TriedRecords['passesOf']
}

/** Addresses by which an SPF record is judged, those with most mail first. */
const MAX_ADDRESSES = 10_000
/** Senders and addresses that a sentence names. */
const NAMED = 3
/** Unknown senders that it names: each is a question. */
const NAMED_UNKNOWN = 20

const number = (value: number): string => value.toLocaleString('en-US')
const isOwn = ({ verdict, said }: Sender): boolean =>
  (verdict === 'authorized' || verdict === 'needs_setup') && said?.ours !== false

/** What reports say about the mail of a domain, for its fixes and its plan. */
export function seenMailOf(seen: SeenSenders): SeenMail {
  const used = usedAddresses(seen)
  return {
    subdomains: sendingBelow(seen),
    lostBySpf: (before, after) => {
      const lost = used.filter(({ address }) => {
        if (!before.everybody && before.passes(address) === true) return after.passes(address) === false
        return before.names(address) && after.passes(address) === false && !after.names(address)
      })
      if (lost.length === 0) return undefined
      const shown = lost.slice(0, NAMED).map(({ address, name }) => `${address} of ${name}`)
      return `${shown.join(', ')}${lost.length > NAMED ? `, and ${lost.length - NAMED} more` : ''}.`
    },
    stepUp: (tried) => {
      const passesOf: TriedRecords['passesOf'] = (name) =>
        name === seen.domain && tried.passes ? tried.passes : seen.passesOf(name)
      const outcome = policyOutcome(seen.senders, tried.policy, { ...tried, passesOf })
      const { blockers, unknown } = stepUpOf(outcome)
      const words = wordsOf(tried.policy, seen, outcome, blockers, unknown)
      return { isBlocked: blockers.length > 0, words, days: seen.days }
    },
  }
}

/** Maximum number of names below the domain. */
const MAX_SUBDOMAINS = 1_000

/** Names below the domain as which mail passes DMARC, without what the owner says is not theirs. */
function sendingBelow({ domain, senders }: SeenSenders): readonly string[] {
  const messages = new Map<string, number>()
  for (const { sources, said } of senders) {
    if (said?.ours === false) continue
    for (const source of sources)
      if (source.name.endsWith(`.${domain}`) && passesDmarc(source))
        messages.set(source.name, (messages.get(source.name) ?? 0) + source.messages)
  }
  const most = [...messages].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
  return most.slice(0, MAX_SUBDOMAINS).map(([name]) => name)
}

/** Addresses of the domain's own senders with its return path. */
function usedAddresses({ domain, senders }: SeenSenders): readonly { readonly address: Ip; readonly name: string }[] {
  const found = new Map<string, { address: Ip; name: string; messages: number }>()
  for (const sender of senders) {
    if (!isOwn(sender)) continue
    for (const { address: text, envelope_from, spf_domain, messages } of sender.sources) {
      if ((envelope_from || spf_domain) !== domain) continue
      const known = found.get(text)
      const address = known ? undefined : parseIp(text)
      if (known) known.messages += messages
      else if (address?.ok) found.set(text, { address: address.value, name: sender.name, messages })
    }
  }
  return [...found.values()].sort((a, b) => b.messages - a.messages).slice(0, MAX_ADDRESSES)
}

const DONE: Readonly<Record<TriedPolicy['policy'], string>> = {
  quarantine: 'set aside as junk',
  reject: 'refused',
}

function wordsOf(
  policy: TriedPolicy['policy'],
  { domain, from, to, days }: SeenSenders,
  { messages, affected }: Pick<ReturnType<typeof policyOutcome>, 'messages' | 'affected'>,
  blockers: readonly Affected[],
  unknown: readonly Affected[],
): string {
  const basis = `Of ${number(messages)} messages from ${from} to ${to} (reports of ${days === 1 ? 'one day' : `${days} days`})`
  const own = affected.filter(({ sender }) => isOwn(sender))
  const lost = own.reduce((sum, one) => sum + one.messages, 0)
  const forwarded = affected.filter(({ verdict }) => verdict === 'forwarded')
  // Whoever is not known may be a sender of the domain.
  const open = affected.filter(({ verdict }) => verdict === 'unknown').reduce((sum, one) => sum + one.messages, 0)
  const lostWords = `${basis}, ${number(lost)} messages of your senders would have been ${DONE[policy]}: ${namesOf(own)}.`
  const openWords = `${lost === 0 ? `${basis}, ` : ''}${number(open)} messages of senders that are not known would have been ${DONE[policy]} (/reports/${domain}).`
  return [
    ...(lost > 0 ? [lostWords] : []),
    ...(open > 0 ? [openWords] : []),
    ...(lost + open === 0 ? [`${basis}, none of your senders would have been ${DONE[policy]}.`] : []),
    ...(blockers.length > 0 ? [`Set up ${blockers.length === 1 ? 'this sender' : 'these senders'} first.`] : []),
    ...blockers.slice(0, NAMED).flatMap(({ sender }) => (sender.to_do ? [`${sender.name}: ${sender.to_do}`] : [])),
    ...(unknown.length > 0 ? [`Find out first whether these are yours: ${namesOf(unknown, NAMED_UNKNOWN)}.`] : []),
    ...(forwarded.length > 0 ? [`Of forwarded mail: ${namesOf(forwarded)}.`] : []),
  ].join(' ')
}

function namesOf(all: readonly Affected[], max = NAMED): string {
  const shown = all
    .slice(0, max)
    .map(({ sender, messages }) => `${sender.name} (${number(messages)} of ${number(sender.messages)})`)
  return `${shown.join(', ')}${all.length > max ? `, and ${all.length - max} more` : ''}`
}
