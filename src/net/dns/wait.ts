import type { Message } from './decode.ts'
import type { Query } from './encode.ts'
import type { Server } from './system.ts'

/** One query in flight. The transport that has it writes `holder` and `id`; nothing else is stored about it. */
export type Wait = Query & {
  /** The name as a reader of the wire format spells it: lower case, canonical escapes. */
  wireName: string
  /** When the transport gives up, in ms of the client's clock. */
  expiresAtMs: number
  holder: Holder | undefined
  id: number
  /** Sent over TCP only. */
  readonly overTcp: boolean
}

/** An owner of queries in flight, identified by their ids. */
export type Holder = { readonly forget: (id: number) => void }

/** Why a transport has no answer. */
export type Fault = 'timeout' | 'network' | 'malformed'

/**
 * Events on the wire, for counters: answers without a query, answers to another query, queries that were repeated over
 * TCP.
 */
export type WireEvent = 'unmatched' | 'mismatched' | 'to_tcp'

export type Handlers<W extends Wait> = {
  readonly answered: (wait: W, message: Message) => void
  readonly failed: (wait: W, fault: Fault, cause?: unknown) => void
  readonly event: (event: WireEvent, server: Server) => void
}

/** Gives a query up; a later answer is ignored. */
export function giveUp(wait: Wait): void {
  wait.holder?.forget(wait.id)
  wait.holder = undefined
}

/**
 * Whether `answer` is a response that repeats the question octet by octet, including the case of its letters
 * (RFC 5452 §9.1).
 */
export function sameQuestion(query: Query, answer: Buffer): boolean {
  const { bytes, start, questionEnd } = query
  if (answer.length < questionEnd - start || (answer[2]! & 0xf8) !== 0x80) return false
  if (answer[4] !== 0 || answer[5] !== 1) return false
  for (let at = start + 12, i = 12; at < questionEnd; at++, i++) if (answer[i] !== bytes[at]) return false
  return true
}

/**
 * Whether `answer` is a bare refusal of the whole message: FORMERR without a question, as servers without EDNS support
 * send it (RFC 6891 §7). It contains nothing that a forger would have to know, so over UDP it leads to another attempt
 * without EDNS, and a second one to TCP.
 */
export const isBareFormErr = (answer: Buffer): boolean =>
  answer.length >= 12 && (answer[2]! & 0xf8) === 0x80 && (answer[3]! & 15) === 1 && answer[4] === 0 && answer[5] === 0

/** Whether the query carries EDNS: its count of additional records. */
export const hasEdns = ({ bytes, start }: Query): boolean => bytes[start + 11] === 1
