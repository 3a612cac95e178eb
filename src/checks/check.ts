import type { Domain } from '../names/domain.ts'
import type { Ip } from '../names/ip.ts'
import type { DnsError } from '../net/dns/resolver.ts'
import type { FetchError } from '../net/fetch.ts'
import type { DialError } from '../net/smtp/dial.ts'
import type { Ctx } from '../world.ts'
import type { DomainContext } from './context.ts'

/** `unknown`: it could not be determined. It is never scored as a failure and never told as "no record". */
export type Status = 'pass' | 'warn' | 'fail' | 'unknown' | 'not_applicable'
export type Severity = 'critical' | 'high' | 'medium' | 'low' | 'info'

/** Arguments of a finding's sentence. Text from outside is cut and cleaned where it is shown. */
export type Args = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** A record to publish. `value` is the presentation form of the data (TXT: the text, unquoted). */
export type DnsRecord = { readonly name: string; readonly rtype: string; readonly value: string }

/** One judgement as data. Severity, sentence and RFC section come from the check's table, at the edge. */
export type Finding = {
  readonly id: string
  readonly args?: Args
  /** What was seen: the record, name or reply that the finding rests on. */
  readonly evidence?: string
  readonly fix?: DnsRecord
  /** What to do, in place of the table's words: the fix cannot be published as it is. */
  readonly repair?: string
}

/** Why a lookup got no facts: data, which the context sees as "not known". */
export type LookupFailure = DnsError | DialError | FetchError

/** What a check saw and how it judged it. */
export type Outcome<Facts> =
  | {
      readonly status: Exclude<Status, 'unknown'>
      /** Why the check does not apply. */
      readonly reason?: string
      readonly facts: Facts
      readonly findings: readonly Finding[]
    }
  | {
      readonly status: 'unknown'
      readonly reason: string
      readonly facts?: Facts
      readonly findings: readonly Finding[]
    }

export type FindingWords = {
  readonly severity: Severity
  readonly title: string
  /** One sentence or two for the reader. */
  readonly detail: (args: Args) => string
  /** What to do, in one sentence; absent where there is nothing to do. */
  readonly repair?: string
  /** What to do where no record to publish is offered, and `repair` speaks of one. */
  readonly unoffered?: string
  /** What to do where the arguments tell more than `repair`, which it then replaces; undefined where they do not. `isOffered`: the finding has a record to publish. */
  readonly advice?: (args: Args, isOffered: boolean) => string | undefined
  /** `RFC 7208 §4.6.4` */
  readonly reference: string
}
export type FindingTable = Readonly<Record<string, FindingWords>>
/** The items of a list argument in one line; any other argument as it is. */
export const list = (value: Args[string] | undefined, separator = ', '): string =>
  Array.isArray(value) ? value.join(separator) : String(value)

export const defineFindings = <T extends FindingTable>(table: T): T => table

/** What the caller may tell a check beside the domain. */
export type CheckInput = {
  /** DKIM selectors to try first, at most 10. */
  readonly selectors?: readonly string[]
  /** The addresses that SPF names one by one and lets pass, at most 10; handed in by run.ts. Never rejects. */
  readonly namedSenders?: () => Promise<readonly Ip[]>
  /** The mail hosts themselves are looked at too (STARTTLS). */
  readonly starttls?: boolean
  /** The name to greet mail hosts with, from a source address; its address literal where absent. Must not reject. */
  readonly helo?: (source: Ip) => Promise<string>
  /** The port of mail hosts: 25, but for labs. */
  readonly smtpPort?: number
}

/** The fields of a check's object: a `reason` of its own, and what its schema in src/answers has. */
export type OwnFields = { readonly reason?: string | undefined }

/** One check: `lookup` asks, `judge` and `present` are pure. */
export type Check<Facts, Fields extends OwnFields = OwnFields> = {
  /** Documents it follows, newest first. */
  readonly specs: readonly string[]
  readonly table: FindingTable
  /** Rejects with a {@link LookupFailure} when the whole could not be asked. */
  readonly lookup: (ctx: Ctx, domain: Domain, input: CheckInput) => Promise<Facts>
  /** Judges the facts with everything that is known of the domain. */
  readonly judge: (facts: Facts, context: DomainContext) => Outcome<Facts>
  /** The object of the answer without `status` and `reason`, which are added for every check alike. */
  readonly present: (outcome: Outcome<Facts>) => Fields
  /** Whether receivers take no less mail of the domain once a fix is published: its facts before and after. Absent where no record of the check has mail refused. */
  readonly isHarmless?: (before: Facts, after: Facts, context: DomainContext) => boolean
  /** Whether the caller wants an optional check; absent: it always runs. */
  readonly when?: (input: CheckInput) => boolean
}
export const defineCheck = <Facts, Fields extends OwnFields>(check: Check<Facts, Fields>): Check<Facts, Fields> => check

/** A check that runs only when the caller wants it; otherwise it has no outcome, no object and no findings. */
export type OptionalCheck<Facts, Fields extends OwnFields = OwnFields> = Check<Facts, Fields> & {
  readonly when: (input: CheckInput) => boolean
}
export const defineOptionalCheck = <Facts, Fields extends OwnFields>(
  check: OptionalCheck<Facts, Fields>,
): OptionalCheck<Facts, Fields> => check
