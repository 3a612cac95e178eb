import type { Grade } from '../answers/weights.ts'
import type { DnsRecord } from '../checks/check.ts'
import type { FactSets, JudgedChecks } from '../checks/run.ts'
import type { OverlayChange } from '../net/dns/overlay.ts'
import type { RecordType } from '../net/dns/resolver.ts'

/** What is treated as done: changes of the DNS, and the text of an MTA-STS policy. */
export type Laid = {
  readonly changes: readonly OverlayChange[]
  readonly policy?: { readonly url: string; readonly text: string }
}

/** A domain as it is judged with something laid over. */
export type Look = JudgedChecks & {
  readonly facts: FactSets
  readonly score: { readonly score: number; readonly grade: Grade | null }
}

/** The values of a name and type as published, in presentation format; or why they are not known. */
export type Published = { readonly values: readonly string[] } | { readonly unknown: string }

/** How a plan looks at the domain. None of the functions rejects because of a remote server. */
export type Looks = {
  /** The domain with `laid`; the names of `changed` are those that differ from `before`. */
  readonly again: (before: Look, laid: Laid, changed: readonly OverlayChange[]) => Promise<Look>
  /** Why a record cannot be published at its name, such as an alias there; undefined: it can. */
  readonly obstacle: (fix: DnsRecord) => Promise<string | undefined>
  readonly published: (name: string, type: RecordType) => Promise<Published>
}
