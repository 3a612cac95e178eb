import type { Component } from '../answers/weights.ts'
import type { Barrier, Role } from '../checks/context.ts'

/** The id of the finding that a deduction rests on. */
export type FindingId = string

/** What the score needs to know of SPF. A field that holds a finding's id stands for a fault that was seen. */
export type SpfScoreInput =
  | { readonly state: 'unknown' }
  | { readonly state: 'none'; readonly finding: FindingId }
  | { readonly state: 'permerror'; readonly finding: FindingId }
  | {
      readonly state: 'record'
      /** The qualifier of `all` that decides in the end, after `redirect`; `none`: there is neither; `unread`: a redirect that depends on the message. */
      readonly all: '+' | '-' | '~' | '?' | 'none' | 'unread'
      /** The finding that tells of `all`, where it is not `-`. */
      readonly allFinding?: FindingId
      readonly ptr?: FindingId
      /** 2^24 IPv4 addresses or more. */
      readonly veryWide?: FindingId
      /** Over 2^17 IPv4 addresses outside includes. */
      readonly wide?: FindingId
      /** Over 450 bytes. */
      readonly long?: FindingId
      /** Terms after `all`, or a duplicate include. */
      readonly untidy?: FindingId
    }

/** What the score needs to know of DKIM. */
export type DkimScoreInput =
  /** Not found, and not proven absent; or it could not be asked. */
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
      /** A selector that may have a better key got no answer. */
      readonly isOpen?: boolean
      readonly shortRsaFinding?: FindingId
      readonly testingFinding?: FindingId
      readonly ed25519OnlyFinding?: FindingId
    }

/** What the score needs to know of DMARC. */
export type DmarcScoreInput =
  | { readonly state: 'unknown' }
  | { readonly state: 'none'; readonly finding: FindingId }
  /** Several records or a broken one, and nothing else found. */
  | { readonly state: 'unusable'; readonly finding: FindingId }
  | {
      readonly state: 'record'
      /** After sp, np and t. */
      readonly effective: 'none' | 'quarantine' | 'reject'
      readonly policyFinding?: FindingId
      /** The `pct` under 100 of an effective policy other than none, which receivers of RFC 7489 apply. */
      readonly pct?: number
      readonly pctFinding?: FindingId
      /** A valid `rua` that is authorised; null: could not be asked. */
      readonly rua: boolean | null
      readonly ruaFinding?: FindingId
      /** `sp` or `np` is weaker than `p`. */
      readonly subdomainsWeaker: boolean
      readonly subdomainsFinding?: FindingId
    }

/** What the score needs to know of MX. */
export type MxScoreInput =
  | { readonly state: 'unknown' }
  | { readonly state: 'none' }
  | { readonly state: 'null' }
  | {
      readonly state: 'implicit'
      readonly notPublic: boolean
      readonly barriers: readonly Barrier[]
      readonly isStsOpen?: boolean
    }
  | {
      readonly state: 'explicit'
      readonly noneResolvable: boolean
      readonly nullBesideOthers: boolean
      readonly ipLiteral: boolean
      /** Hosts without an address, literals apart, and the finding that tells of the first. */
      readonly unresolvable: number
      readonly unresolvableFinding?: FindingId
      /** Hosts that could not be asked about. */
      readonly unknown: number
      readonly cname: boolean
      readonly notPublic: boolean
      readonly singleAddress: boolean
      /** Senders that cannot deliver. */
      readonly barriers: readonly Barrier[]
      /** Whether MTA-STS shuts hosts out could not be determined. */
      readonly isStsOpen?: boolean
    }

/** What the score needs to know of PTR: the addresses of the best MX. */
export type PtrScoreInput =
  | { readonly state: 'unknown' }
  | { readonly state: 'none' }
  | { readonly state: 'not_applicable' }
  | {
      readonly state: 'addresses'
      /** One to ten. */
      readonly addresses: readonly {
        /** Null: could not be asked. */
        readonly hasPtr: boolean | null
        readonly confirmed: boolean | null
        readonly generic: boolean
        readonly names: number
      }[]
      /** A mail host may have more addresses, which could not be looked up: so many of the addresses come before these and count for certain. 0 to 9. */
      readonly certain?: number
    }

export type ScoreInputs = {
  /** The components that it does not need do not count. */
  readonly role: Role
  readonly spf: SpfScoreInput
  readonly dkim: DkimScoreInput
  readonly dmarc: DmarcScoreInput
  readonly mx: MxScoreInput
  readonly ptr: PtrScoreInput
}

/** Points that one cause takes off a component: counted in the score, and at best and at worst where it is not known. */
export type Loss = {
  readonly finding: FindingId | null
  readonly kind: 'deduction' | 'unknown'
  /** In units of 1/5040 point, so that halves and means over at most ten addresses are whole numbers. */
  readonly units: number
  readonly leastUnits: number
  readonly mostUnits: number
}

/** One row of the breakdown. `points` are lost (rounding may give some back), in eighths: they add up without dust in binary arithmetic. */
export type ScoreRow = {
  readonly component: Component | 'total'
  readonly finding: FindingId | null
  readonly kind: 'deduction' | 'unknown' | 'cap' | 'rescale' | 'rounding'
  readonly points: number
}
