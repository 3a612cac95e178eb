import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A finding as an answer shows it, as far as the rules look at it. */
export type ShownFinding = {
  readonly id: string
  readonly severity: Severity
  readonly title: string
  readonly detail: string
  readonly evidence?: string
  readonly repair?: string
  readonly fix?: { readonly name: string; readonly rtype: string; readonly value: string; readonly action?: string }
  readonly steps?: readonly number[]
}
/** A finding with its record, if one is offered. */
export type Offered = { readonly id: string; readonly fix?: ShownFinding['fix'] | undefined }
export type Severity = 'info' | 'low' | 'medium' | 'high' | 'critical'

/** What is asked of the findings whose id matches `of` (default: all) and whose words match `text`. */
export type Says = { readonly of?: string; readonly text?: string; readonly severity?: readonly Severity[] }

/** What is asked of the DNS fixes of findings whose id matches `of`. */
export type Advice = {
  readonly of: string
  readonly is?: string
  readonly has?: readonly string[]
  readonly hasnt?: readonly string[]
  readonly at_most?: number
  readonly must?: boolean
}

/** A step of a plan that has all of these, as regular expressions; one record has name, type, action and value. */
export type PlanPattern = {
  readonly title?: string
  readonly by?: string
  readonly of?: string
  readonly optional?: boolean
  readonly name?: string
  readonly type?: string
  readonly action?: string
  readonly value?: string
}
/** The rules of a plan; README.md has the table. */
export type PlanExpect = {
  readonly never?: readonly PlanPattern[]
  readonly has?: readonly PlanPattern[]
  readonly before?: readonly (readonly [first: PlanPattern, then: PlanPattern])[]
  readonly waits?: readonly PlanPattern[]
  readonly says?: readonly (PlanPattern & { readonly text: string })[]
  readonly never_says?: readonly (PlanPattern & { readonly text: string })[]
  readonly ends?: { readonly grade?: readonly string[]; readonly score?: readonly [least: number, most: number] }
  readonly left_never?: readonly string[]
}

/** The rules of one case; README.md has the table. */
export type Expect = {
  readonly plan?: PlanExpect
  readonly fields?: Readonly<Record<string, unknown>>
  readonly findings?: Readonly<Record<string, Severity | readonly Severity[] | null>>
  readonly forbidden?: readonly string[]
  readonly alarms?: readonly string[]
  readonly only?: readonly Severity[]
  readonly worst?: Severity
  readonly says?: readonly Says[]
  readonly never_says?: readonly Says[]
  readonly score?: readonly [least: number, most: number]
  readonly not_below?: string
  readonly advice?: readonly Advice[]
  readonly refused?: readonly number[]
}

/**
 * A record as the file writes it: a text, the strings of a TXT, the fields of an MX, CAA, TLSA, DS or DNSKEY, the parts
 * of an SOA.
 */
export type WrittenRecord = string | readonly (string | number)[] | Readonly<Record<string, string | number>>
/** Records by type; `!TXT` is a fault of that type, `!` of all. */
export type WrittenNode = Readonly<Record<string, readonly WrittenRecord[] | string>>
export type WrittenZone = Readonly<Record<string, WrittenNode>>

export type MailHostState = 'good' | 'self-signed' | 'other-name' | 'no-tls' | 'away'
/** A policy file: its text, or status, content type and text. */
export type PolicyFile = string | readonly [status: number, contentType: string, text: string]

export type DomainCase = {
  readonly id: string
  readonly class: string
  readonly path?: string
  readonly domain?: string
  /** The spelling that is asked for, in place of `domain`. */
  readonly ask?: string
  readonly query?: Readonly<Record<string, string>>
  readonly zone?: WrittenZone
  /** Zones whose answers have the AD bit. */
  readonly secure?: readonly string[]
  readonly policies?: Readonly<Record<string, PolicyFile>>
  readonly mail_hosts?: Readonly<Record<string, MailHostState>>
  /** Addresses that send as the domain today. */
  readonly senders?: readonly string[]
  readonly expect: Expect
  readonly why?: string
}

export type Domains = {
  /** Records that all cases share. */
  readonly hosts: WrittenZone
  /** What a domain with records but without NS gets. */
  readonly apex: WrittenNode
  readonly cases: readonly DomainCase[]
}

export type DialogueCase = {
  readonly id: string
  readonly class: string
  readonly mx: string
  readonly script: {
    readonly banner?: string
    readonly mail?: string
    /** The reply to the mailbox that is asked for. */
    readonly rcpt?: string
    /** The reply to any other mailbox; without it, the same. */
    readonly other?: string
    readonly delay_ms?: number
    readonly mode?: string
  }
  readonly timeout?: string
  readonly expect: Readonly<Record<'result' | 'reason' | 'deliverability', readonly string[]>>
  readonly why?: string
}

const read = (file: string): string => readFileSync(join(import.meta.dirname, file), 'utf8')

/** The cases of domains.json, with `<rsa2048>` and its like replaced by the keys of the file. */
export function domains(): Domains {
  const text = read('domains.json')
  const { keys } = JSON.parse(text) as { readonly keys: Readonly<Record<string, string>> }
  return JSON.parse(text.replace(/<([a-z0-9]+)>/g, (written, name: string) => keys[name] ?? written))
}

export const dialogues = (): readonly DialogueCase[] => JSON.parse(read('dialogues.json')).cases

/** The query by which a case is asked. */
export const questionOf = (
  { ask, domain, query }: DomainCase,
  about = ask ?? domain,
): Readonly<Record<string, string>> => ({ ...(about === undefined ? {} : { domain: about }), ...query })
