import type { FindingAnswer } from '../../answers/finding.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Status } from '../../checks/check.ts'
import type { ScoreRow } from '../score-types.ts'

/** The parts of an answer of `/v1/check` or `/v1/report` that a document is made of. */
export type Answer = JsonObject & {
  readonly domain: string
  readonly unicode_domain?: string
  readonly score: number
  readonly grade: string
  readonly score_version: number
  /** Absent in answers of older services. */
  readonly domain_role?: { readonly name: string; readonly because: string }
  readonly score_breakdown: readonly ScoreRow[]
  readonly complete: boolean
  readonly score_min?: number
  readonly score_max?: number
  readonly observed_at?: string
  readonly mx: readonly MxHost[]
  readonly mx_status: Status
  readonly mx_reason?: string
  readonly mx_kind?: string
  readonly findings: readonly FindingAnswer[]
  readonly report_score?: number
  readonly report_grade?: string
  readonly blacklists?: readonly AddressLists[]
  readonly blacklist_summary?: { readonly unanswered?: number; readonly left_out?: number }
  readonly pool?: readonly PoolAddress[]
  readonly suggestion?: string
}

export type MxHost = {
  readonly host: string
  readonly priority: number
  readonly addresses: readonly {
    readonly address: string
    readonly ptr: readonly string[]
    readonly forward_confirmed: boolean | null
  }[]
  readonly reason?: string
}

export type ListEntry = {
  readonly blacklist: string
  readonly listed: boolean
  readonly zone: string
  readonly status: string
  readonly tier?: string
  readonly scope?: string
  readonly scope_text?: string
  readonly codes: readonly string[]
  readonly meaning: readonly string[]
  readonly txt?: string
  readonly delist_url: string
  readonly reason?: string
}

/** A source address of the service. */
export type PoolAddress = {
  readonly address: string
  readonly listings: readonly { readonly blacklist: string; readonly tier?: string; readonly delist_url?: string }[]
  readonly verdict: string
  readonly answered?: number
  readonly total?: number
}

/** What the lists say of one address. */
export type AddressLists = {
  readonly ip: string
  readonly total: number
  readonly listed: number
  readonly answered: number
  readonly verdict: string
  readonly list_version: string
  readonly results: readonly ListEntry[]
  readonly mx_hosts?: readonly string[]
  readonly geo?: JsonObject
}

/** The answer as its reader knows it: its shape is the operation's output (`answers.ts`), here or on the server that gave it. */
export const readAnswer = (answer: JsonObject): Answer => answer as Answer
