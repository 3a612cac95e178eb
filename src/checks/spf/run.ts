import type { Problem } from '../../base/problem.ts'
import { familyOf, type Ip } from '../../names/ip.ts'
import type { Answer } from '../../net/dns/resolver.ts'
import type { Ask } from './ask.ts'
import type { MacroValues } from './expand.ts'
import type { MacroString } from './terms.ts'

/** RFC 7208 §2.6 */
export type SpfResult = 'none' | 'neutral' | 'pass' | 'fail' | 'softfail' | 'temperror' | 'permerror'

/** One step of an evaluation, in order. `note` says why. */
export type TraceStep = {
  readonly domain: string
  /** The term; absent for the record as a whole. */
  readonly term?: string
  readonly outcome: SpfResult | 'match' | 'no_match' | 'followed'
  readonly note?: Problem
}

/** One call of `check_host`: its parameters, and the counts that all its records share (RFC 7208 §4.6.4). */
export type Run = {
  readonly ask: Ask
  readonly ip: Ip
  readonly values: Omit<MacroValues, 'domain'>
  readonly state: { lookups: number; voidLookups: number; ahead: number; readonly trace: TraceStep[] }
}

/** The result for one domain. `exp` and `domain` are of the record that decided (RFC 7208 §6.2). */
export type Verdict = {
  readonly result: SpfResult
  readonly domain: string
  readonly mechanism?: string
  readonly exp?: MacroString
}

/** Whether a mechanism matched. `void`: its lookup found nothing (RFC 7208 §4.6.4). */
export type Match =
  | { readonly kind: 'match' | 'no_match'; readonly void?: boolean; readonly note?: Problem }
  | {
      readonly kind: 'error'
      readonly result: 'temperror' | 'permerror'
      readonly note: Problem
      readonly void?: false
    }

/** Maximum number of terms with a lookup, over all records together (RFC 7208 §4.6.4). */
export const MAX_LOOKUPS = 10
/** Maximum number of void lookups (RFC 7208 §4.6.4). */
export const MAX_VOID_LOOKUPS = 2
/** Maximum number of names of each mx term (RFC 7208 §4.6.4). */
export const MAX_MX_NAMES = 10

/** The addresses of a name, of the client's family (RFC 7208 §5). */
export const addressesOf = (run: Pick<Run, 'ask' | 'ip'>, name: string): Promise<Answer<'A' | 'AAAA'>> =>
  run.ask(name, familyOf(run.ip) === 4 ? 'A' : 'AAAA')
