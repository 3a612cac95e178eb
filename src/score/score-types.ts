import type { Component } from '../answers/weights.ts'
import type { Barrier, OpenBarrier, Role } from '../checks/context.ts'
import type { MissingProvider } from '../checks/spf/index.ts'

/** The id of the finding on which a deduction is based. */
export type FindingId = string

/** The score's input from SPF. A field with a finding's id stands for an observed fault. */
export type SpfScoreInput =
  | { readonly state: 'unknown' }
  | { readonly state: 'none'; readonly finding: FindingId }
  /** `isOpen`: a part has no answer, and everybody may pass by it. */
  | { readonly state: 'permerror'; readonly finding: FindingId; readonly isOpen?: boolean }
  /** The record names senders, and nobody passes. */
  | { readonly state: 'names_nobody'; readonly finding: FindingId }
  | {
      readonly state: 'record'
      /**
       * The qualifier of the `all` that decides, after `redirect`; `none`: there is neither; `unread`: a redirect that
       * depends on the message.
       */
      readonly all: '+' | '-' | '~' | '?' | 'none' | 'unread'
      /** The finding about `all`, if it is not `-`. */
      readonly allFinding?: FindingId
      readonly ptr?: FindingId
      /** A mechanism written with `=`, beside terms that let senders pass. */
      readonly equals_sign?: FindingId
      /** A term that names nobody, beside terms that let senders pass. */
      readonly dead_term?: FindingId
      /** The mailbox provider does not pass. */
      readonly provider?: { readonly finding: FindingId | null } & Pick<MissingProvider, 'grade' | 'least' | 'most'>
      /** Whether anybody could register a name of the record has no answer. */
      readonly mayBeTaken?: boolean
      /** 2^24 IPv4 addresses or more. */
      readonly veryWide?: FindingId
      /** Over 2^17 IPv4 addresses outside includes. */
      readonly wide?: FindingId
      /** Over 450 bytes. */
      readonly long?: FindingId
      /** Terms after `all`, or a duplicate include. */
      readonly untidy?: FindingId
    }

export type DkimScoreInput =
  /** Not found, and not proven absent; or no answer. */
  | { readonly state: 'unknown'; readonly finding?: FindingId }
  | { readonly state: 'absent'; readonly finding: FindingId }
  /** Only revoked or broken keys; RSA under 1024 bits is broken (RFC 8301 §3.2). */
  | { readonly state: 'broken'; readonly finding: FindingId }
  | {
      readonly state: 'found'
      /** Usable keys, at least one. `bits` of RSA. */
      readonly keys: readonly {
        readonly type: 'rsa' | 'ed25519'
        readonly bits: number
        readonly testing: boolean
      }[]
      /** A selector that may have a better key has no answer. */
      readonly isOpen?: boolean
      readonly shortRsaFinding?: FindingId
      readonly testingFinding?: FindingId
      readonly ed25519OnlyFinding?: FindingId
    }

export type DmarcScoreInput =
  | { readonly state: 'unknown' }
  | { readonly state: 'none'; readonly finding: FindingId }
  /** Several records or a broken one, and no other record. */
  | { readonly state: 'unusable'; readonly finding: FindingId }
  | {
      readonly state: 'record'
      /** After sp, np and t. */
      readonly effective: 'none' | 'quarantine' | 'reject'
      readonly policyFinding?: FindingId
      /** The `pct` under 100 of an effective policy other than none, which receivers of RFC 7489 apply. */
      readonly pct?: number
      readonly pctFinding?: FindingId
      /** A valid `rua` that is authorized; null: no answer. */
      readonly rua: boolean | null
      readonly ruaFinding?: FindingId
      /** `sp` or `np` is weaker than `p`. */
      readonly subdomainsWeaker: boolean
      readonly subdomainsFinding?: FindingId
    }

export type MxScoreInput =
  | { readonly state: 'unknown' }
  | { readonly state: 'none' }
  | { readonly state: 'null' }
  | {
      readonly state: 'implicit'
      readonly notPublic: boolean
      /** An address family of the domain has no answer. */
      readonly isOpen?: boolean
      readonly barriers: readonly Barrier[]
      readonly openBarriers?: readonly OpenBarrier[]
    }
  | {
      readonly state: 'explicit'
      /** No host takes mail: the finding that says why. */
      readonly none?: FindingId
      readonly nullBesideOthers: boolean
      /** Hosts of the best preference take no mail by what they are; `isOpen`: one of them has no answer. */
      readonly deadBest?: { readonly finding: FindingId; readonly isOpen: boolean }
      /** Hosts without an address that senders meet, and the finding about the first. */
      readonly unresolvable: number
      readonly unresolvableFinding?: FindingId
      /** Hosts that may be such. */
      readonly unknown: number
      /** An address family of a host has no answer; `isAlone`: at most one address is known. */
      readonly isOpen?: boolean
      readonly isAlone?: boolean
      readonly cname: boolean
      readonly notPublic: boolean
      readonly singleAddress: boolean
      /** Senders that cannot deliver. */
      readonly barriers: readonly Barrier[]
      /** Those that may exist, or concern more hosts than is known. */
      readonly openBarriers?: readonly OpenBarrier[]
    }

/** What the score needs to know of PTR: the addresses of the best MX. */
export type PtrScoreInput =
  | { readonly state: 'unknown' }
  | { readonly state: 'none' }
  | { readonly state: 'not_applicable' }
  | {
      readonly state: 'addresses'
      /** One to ten. */
      readonly addresses: readonly PtrScoreAddress[]
      /**
       * A mail host may have more addresses, which could not be looked up: this number of the addresses precedes them
       * and counts for certain. 0 to 9.
       */
      readonly certain?: number
      /**
       * An answer about SPF is missing: any of these may be judged in place of `addresses`, and with `isMore` others
       * too.
       */
      readonly candidates?: readonly PtrScoreAddress[]
      readonly isMore?: boolean
    }

export type PtrScoreAddress = {
  /** Null: no answer. */
  readonly hasPtr: boolean | null
  readonly confirmed: boolean | null
  readonly generic: boolean
  readonly names: number
}

export type ScoreInputs = {
  /** The components that it does not need do not count. */
  readonly role: Role
  /** A reverse zone, which needs none of them. */
  readonly reverse?: true
  readonly spf: SpfScoreInput
  readonly dkim: DkimScoreInput
  readonly dmarc: DmarcScoreInput
  readonly mx: MxScoreInput
  readonly ptr: PtrScoreInput
}

/**
 * The points that one cause deducts from a component: counted in the score, and in the best and the worst case if it is
 * unknown.
 */
export type Loss = {
  readonly finding: FindingId | null
  readonly kind: 'deduction' | 'unknown'
  /** In units of 1/5040 point, so that halves and means over at most ten addresses are whole numbers. */
  readonly units: number
  readonly leastUnits: number
  readonly mostUnits: number
}

/**
 * One row of the breakdown. `points` are lost (rounding may return some), in halves: their sum is exact in binary
 * arithmetic.
 */
export type ScoreRow = {
  readonly component: Component | 'total'
  readonly finding: FindingId | null
  readonly kind: 'deduction' | 'unknown' | 'cap' | 'rescale' | 'rounding'
  readonly points: number
}
