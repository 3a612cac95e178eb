import type { BlacklistsAnswer, ListStateAnswer, TestAnswer } from '../answers/blacklists.ts'
import { wholeList } from '../answers/list.ts'
import type { ListState } from './blacklists.ts'
import type { TestState } from './self-test.ts'
import { LIST_COUNT, type List, type ListSet } from './zone-type.ts'

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
    takes_key: list.keyForm !== undefined,
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
