import { wholeList } from '../answers/answer.ts'
import type {
  BlacklistAnswer as Answer,
  BlacklistsAnswer,
  DomainBlacklistAnswer,
  ListEntry,
  ListStateAnswer,
  TestAnswer,
} from '../answers/blacklist.ts'
import { type Clocks, toWall } from '../base/time.ts'
import type { Domain } from '../names/domain.ts'
import type { Entry } from './ask.ts'
import type { BlacklistAnswer, ListState } from './blacklists.ts'
import type { TestState } from './self-test.ts'
import { LIST_COUNT, type List, type ListSet, type Scope, type Tier } from './zone-type.ts'

type Verdict = 'clean' | 'listed' | 'incomplete'

/**
 * The summary of an answer. Listings of tier D are policy or information: they are shown, and never make an address
 * `listed`.
 */
type Summary = {
  readonly total: number
  /** Lists with the status `listed`, of any tier. */
  readonly listed: number
  /** Lists with a reliable answer. */
  readonly answered: number
  readonly verdict: Verdict
  /** The worst tier among the listings, A first; null if there is none. */
  readonly worstTier: Tier | null
  readonly tiers: Readonly<Record<Tier, number>>
}

/** `listed` if there is a listing of tier A to C; `incomplete` if there is none and some lists did not answer. */
export function summarize({ entries }: Pick<BlacklistAnswer, 'entries'>): Summary {
  const tiers = { A: 0, B: 0, C: 0, D: 0 }
  let answered = 0
  for (const { reading } of entries) {
    if (reading.status === 'listed') tiers[reading.tier] += 1
    if (reading.status === 'listed' || reading.status === 'not_listed') answered += 1
  }
  const counted = tiers.A + tiers.B + tiers.C
  return {
    total: entries.length,
    listed: counted + tiers.D,
    answered,
    verdict: counted > 0 ? 'listed' : answered < entries.length ? 'incomplete' : 'clean',
    worstTier: (['A', 'B', 'C', 'D'] as const).find((tier) => tiers[tier] > 0) ?? null,
    tiers,
  }
}

/** The answer of `GET /v1/blacklist`. */
export const presentBlacklist = (answer: BlacklistAnswer, clocks: Clocks): Answer => ({
  ip: answer.subject,
  ...presentListings(answer, clocks),
  total: LIST_COUNT,
})

/** The answer of `GET /v1/domain-blacklist`. */
export const presentDomainBlacklist = (
  domain: Domain,
  answer: BlacklistAnswer,
  clocks: Clocks,
): DomainBlacklistAnswer => ({ domain, ...presentListings(answer, clocks) })

/**
 * What the lists say of an address or a domain. `observed_at` is the time of its oldest entry; entries without a query
 * count as of now.
 */
function presentListings(answer: BlacklistAnswer, clocks: Clocks) {
  const { listed, answered, verdict, worstTier, total } = summarize(answer)
  const oldestMs = Math.min(...answer.entries.map((entry) => entry.atMs ?? clocks.monotonic()))
  return {
    total,
    listed,
    results: answer.entries.map(presentEntry),
    answered,
    verdict,
    worst_tier: worstTier,
    list_version: answer.version,
    observed_at: new Date(toWall(clocks, oldestMs)).toISOString(),
  }
}

/** What comes before any request for removal. */
export const STOP_FIRST = 'Find and stop the source of the mail that caused the listing, otherwise it returns.'

/** What a listing is about, as a text, so that nobody requests the removal of somebody else's listing. */
const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  ip: 'This address itself is listed.',
  range:
    'The neighbourhood of this address is listed because of other addresses in it. Only the operator of the network can have the listing removed.',
  asn: 'The whole network (AS) is listed because of other addresses in it. Only the operator of the network can have the listing removed.',
  domain: 'This domain itself is listed.',
  policy:
    'This is a policy about which addresses may send mail directly, not evidence of spam. Request removal only if a mail server is meant to send from this address.',
}

/**
 * What a listing is about. A list that is asked about the registrable domain says nothing about a name below it alone.
 */
function scopeWords({ names }: List, scope: Scope): string {
  if (names === undefined) return SCOPE_WORDS[scope]
  if (scope === 'domain' && names === 'registrable') return 'The registrable domain is listed, with all names below it.'
  if (scope === 'policy') return 'This is information about the mail that this domain is seen in, not evidence of spam.'
  return SCOPE_WORDS[scope]
}

function presentEntry({ list, zone, reading, txt, durationMs }: Entry): ListEntry {
  const isListed = reading.status === 'listed'
  return {
    blacklist: list.name,
    listed: isListed,
    zone,
    status: reading.status,
    tier: reading.tier,
    scope: reading.scope,
    scope_text: isListed ? scopeWords(list, reading.scope) : undefined,
    codes: reading.codes,
    meaning: reading.meaning,
    txt: txt ?? undefined,
    delist_url: list.delistUrl,
    duration_ms: Math.max(0, Math.round(durationMs)),
    reason: reading.reason,
  }
}

/**
 * The answer of `GET /v1/blacklists`: each list's row and the state of its self-test. Keys are never shown, only that a
 * list accepts one.
 */
export const presentBlacklists = (set: ListSet, states: readonly ListState[]): BlacklistsAnswer => ({
  total: LIST_COUNT,
  list_version: set.version,
  ...wholeList(states.map(presentState)),
})

function presentState({ list, ipv4, ipv6, answers }: ListState): ListStateAnswer {
  return {
    blacklist: list.name,
    zone: list.zone,
    zone_ipv6: list.zoneV6,
    tier: list.tier,
    scope: list.scope,
    strict: list.strict,
    codes: [...list.codes, ...list.ignored].map((row) => ({
      code: row.code,
      meaning: row.meaning,
      listing: list.codes.includes(row),
    })),
    ...presentTest(ipv4),
    ipv6: { supported: list.ipv6, ...(ipv6 ? presentTest(ipv6) : { state: 'unsupported' }) },
    answers,
    allowance: presentAllowance(list),
    requires_key: list.keyForm !== undefined,
    delist_url: list.delistUrl,
    verified: list.verified === '' ? null : list.verified,
    notes: list.notes,
  }
}

const presentTest = (state: TestState): TestAnswer => ({
  state: state.status,
  reason: state.reason,
  tested_at: at(state.testedAtMs),
  missing_since: at(state.missingSinceMs),
  test_codes: state.codes,
  history: state.history.map((entry) => ({ at: at(entry.atMs), state: entry.status, reason: entry.reason })),
})

const presentAllowance = ({ allowance }: List): ListStateAnswer['allowance'] =>
  'perSecond' in allowance ? { per_second: allowance.perSecond } : { per_day: allowance.perDay }

const at = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
