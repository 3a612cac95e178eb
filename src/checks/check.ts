import type { Problem } from '../base/problem.ts'
import { lookupMailHosts, type MailHosts } from '../mailhosts/mailhosts.ts'
import type { Domain } from '../names/domain.ts'
import type { Ip } from '../names/ip.ts'
import type { DnsError } from '../net/dns/resolver.ts'
import type { FetchError } from '../net/fetch.ts'
import type { DialError } from '../net/smtp/dial.ts'
import type { Ctx } from '../world.ts'
import type { DomainContext } from './context.ts'
import { roleProblem } from './problems.ts'
import type { SeenMail } from './seen-mail.ts'

/** `unknown`: it could not be determined. It is never scored as a failure and never reported as "no record". */
export type Status = 'pass' | 'warn' | 'fail' | 'unknown' | 'not_applicable'
export type Severity = 'critical' | 'high' | 'medium' | 'low' | 'info'

/** Arguments of a finding's text. External text is cut and cleaned where it is shown. */
export type Args = Readonly<Record<string, string | number | boolean | readonly string[]>>

/**
 * The values of a finding, as data: the arguments of its text, with problems in place of their sentences (`tellArgs` in
 * finding.ts).
 */
export type FindingArgs = Readonly<Record<string, Args[string] | Problem | readonly (string | Problem)[]>>

/** A record to publish. `value` is the presentation form of the data (TXT: the text, unquoted). */
export type DnsRecord = {
  readonly name: string
  readonly rtype: string
  readonly value: string
  /** The other values of the set, which stay; those that are not named go. */
  readonly beside?: readonly string[]
}

/** One judgement as data. Severity, text and RFC section come from the check's table, when it is presented. */
export type Finding = {
  readonly id: string
  readonly args?: FindingArgs
  /** The observation: the record, name or reply on which the finding is based. */
  readonly evidence?: string
  /** In place of the severity in the table, which is then the least. */
  readonly severity?: Severity
  /** The id of the finding from which this one follows: mending that one mends both. */
  readonly follows?: string
  /** The record that the check proposes; the plan tries it and decides. */
  readonly fix?: DnsRecord
  readonly file?: { readonly url: string; readonly text: string }
  /** What to do, in place of the table's text: the fix cannot be published as it is. */
  readonly repair?: string
}

/** Why a lookup returned no facts: data, which the context treats as "not known". */
export type LookupFailure = DnsError | DialError | FetchError

export type Outcome<Facts> =
  | {
      readonly status: Exclude<Status, 'unknown'>
      /** Why the check does not apply. */
      readonly reason?: Problem
      readonly facts: Facts
      readonly findings: readonly Finding[]
    }
  | {
      readonly status: 'unknown'
      readonly reason: Problem
      readonly facts?: Facts
      readonly findings: readonly Finding[]
    }

type FindingWords = {
  readonly severity: Severity
  readonly title: string
  /** One or two sentences for the reader. */
  readonly detail: (args: Args) => string
  /** What to do, in one sentence; absent if there is nothing to do. */
  readonly repair?: string
  /** What to do if no record is offered, and `repair` mentions one. */
  readonly unoffered?: string
  /**
   * A more specific text from the arguments, which replaces `repair`; undefined if there is none. `isOffered`: the
   * finding has a record to publish.
   */
  readonly advice?: (args: Args, isOffered: boolean) => string | undefined
  /** `RFC 7208 §4.6.4` */
  readonly reference: string
}
export type FindingTable = Readonly<Record<string, FindingWords>>
/** The items of a list argument in one line; any other argument unchanged. */
export const list = (value: Args[string] | undefined, separator = ', '): string =>
  Array.isArray(value) ? value.join(separator) : String(value)

export const defineFindings = <T extends FindingTable>(table: T): T => table

const ofSeverity =
  (severity: Severity) =>
  (words: Omit<FindingWords, 'severity'>): FindingWords => ({ severity, ...words })
export const critical = ofSeverity('critical')
export const high = ofSeverity('high')
export const medium = ofSeverity('medium')
export const low = ofSeverity('low')
export const info = ofSeverity('info')

/** The caller's input in addition to the domain. */
export type CheckInput = {
  /** DKIM selectors to try first, at most 10. */
  readonly selectors?: readonly string[]
  /** Selectors of signatures that receivers verified, according to reports, at most 10: tried after `selectors`. */
  readonly learned?: readonly string[]
  /** The mail hosts of the domain, looked up once for all checks; provided by run.ts. Rejects as `lookupMailHosts` does. */
  readonly mailHosts?: () => Promise<MailHosts>
  /** The addresses that SPF names one by one and lets pass, at most 10; provided by run.ts. Never rejects. */
  readonly namedSenders?: () => Promise<readonly Ip[]>
  /**
   * What reports say about the domain's mail: what no fix may lose. Never rejects; undefined: there are none, or they
   * are not for the caller.
   */
  readonly seen?: () => Promise<SeenMail | undefined>
  /** The mail hosts are contacted too (STARTTLS). */
  readonly starttls?: boolean
  /** The name for EHLO from a source address; its address literal if absent. Must not reject. */
  readonly helo?: (source: Ip) => Promise<string>
  /** The port of mail hosts: 25, except in labs. */
  readonly smtpPort?: number
}

/** The mail hosts of the domain, those of all checks if there are such. */
export const mailHostsOf = (
  ctx: Pick<Ctx, 'resolve' | 'signal'>,
  domain: Domain,
  { mailHosts }: CheckInput,
): Promise<MailHosts> => mailHosts?.() ?? lookupMailHosts(ctx, domain)

/** The fields of a check's object: its own `reason`, and those of its schema in src/answers. */
export type OwnFields = { readonly reason?: string | undefined }

/** One check: `lookup` sends queries, `judge` and `present` are pure. */
export type Check<Facts, Fields extends OwnFields = OwnFields> = {
  readonly table: FindingTable
  /** Rejects with a {@link LookupFailure} if the whole check has no answer. */
  readonly lookup: (ctx: Ctx, domain: Domain, input: CheckInput) => Promise<Facts>
  /** Judges the facts with everything that is known about the domain. */
  readonly judge: (facts: Facts, context: DomainContext) => Outcome<Facts>
  /** The object of the answer without `status` and `reason`, which are added for every check. */
  readonly present: (outcome: Outcome<Facts>) => Fields
  /**
   * Whether a fix leaves the domain's mail unharmed, from the facts before and after. Absent if no record of the check
   * can cause mail to be refused.
   */
  readonly isHarmless?: (before: Facts, after: Facts, context: DomainContext) => boolean
  /** Whether the caller requested an optional check; absent: it always runs. */
  readonly when?: (input: CheckInput) => boolean
}
export const defineCheck = <Facts, Fields extends OwnFields>(check: Check<Facts, Fields>): Check<Facts, Fields> => check

/** A check that runs only on request; otherwise it has no outcome, no object and no findings. */
type OptionalCheck<Facts, Fields extends OwnFields = OwnFields> = Check<Facts, Fields> & {
  readonly when: (input: CheckInput) => boolean
}
export const defineOptionalCheck = <Facts, Fields extends OwnFields>(
  check: OptionalCheck<Facts, Fields>,
): OptionalCheck<Facts, Fields> => check

/** The outcome of a check that the domain does not need, by its role or by a null MX (RFC 7505 §3). */
export const notApplicable = <Facts>(
  facts: Facts,
  { role, because }: Pick<DomainContext, 'role' | 'because'>,
  findings: readonly Finding[] = [],
): Outcome<Facts> => ({
  status: 'not_applicable',
  facts,
  findings,
  reason: role === 'sends_and_accepts_mail' ? NULL_MX : roleProblem('role', { role, why: because }),
})

const NULL_MX = roleProblem('null_mx')

/**
 * Why the `valid` of a check is false: why it is unknown or does not apply, otherwise the title of its first finding,
 * which is the decisive one.
 */
export function reasonOf<Facts>(table: FindingTable, outcome: Outcome<Facts>): string | undefined {
  if (outcome.reason !== undefined) return outcome.reason.text
  const [first] = outcome.findings
  return first && table[first.id]?.title
}
