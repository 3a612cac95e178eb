import { randomBytes } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { type MessageAnswer, messageAnswer } from '../answers/message.ts'
import { ownAnswer } from '../answers/read-answer.ts'
import { type Domain, parseDomain } from '../names/domain.ts'
import { type Owner, owns } from '../names/owner.ts'
import type { World } from '../world.ts'
import { inboxError } from './problems.ts'
import type { VerifiedSelectors } from './selectors.ts'

/** Maximum number of addresses that are known at the same time, those that have expired included. */
const MAX_ADDRESSES = 10_000
/** Maximum number of addresses of an owner; those that have expired make room. */
const MAX_OF_OWNER = 2_000
/** Maximum size of all kept answers, octets as they are kept. */
const MAX_KEPT = 64 * 1_048_576
/** Those of them of an owner: nobody can fill the room of all. */
const MAX_KEPT_OF_OWNER = 16 * 1_048_576
/** Room that there has to be for the answer of a message to come: no answer is larger. */
const LARGEST = 1_048_576
/** How long an address that has expired is still told from one that never was, ms. */
const TOLD_MS = 3_600_000

/** The life of an address, ms. */
export const LIFE = { least: 60_000, most: 86_400_000 } as const

/** A one-time address and what came in. */
export type Waiting = {
  readonly id: string
  readonly address: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  readonly state: 'waiting' | 'received' | 'expired'
  /** Undefined as long as the message is analysed. */
  readonly answer?: MessageAnswer
}

/**
 * Keeps the answer of a message that was taken; undefined: it could not be analysed. Without an answer, or room for it,
 * the address waits again.
 */
export type Keep = (answer: MessageAnswer | undefined) => void

/** The one-time addresses of a process. They and the analyses are in memory alone; the messages are not kept at all. */
export type Inbox = ReturnType<typeof inbox>

type Entry = {
  readonly id: string
  readonly owner: string
  readonly local: string
  readonly expiresAt: number
  /** The same on the clock that does not step. */
  readonly endsAt: number
  isTaken: boolean
  kept?: Buffer
  readonly waiting: Set<() => void>
}

/** Creates the inbox of a process; until it is opened it receives nothing. */
export function inbox({ now, monotonic }: Pick<World, 'now' | 'monotonic'>) {
  let domain: Domain | undefined
  // In the order in which they were made.
  const byId = new Map<string, Entry>()
  const byLocal = new Map<string, Entry>()
  let keptOctets = 0
  const keptOf = new Map<string, number>()

  const isOver = ({ endsAt }: Entry): boolean => monotonic() >= endsAt

  function count({ owner }: Entry, octets: number): void {
    keptOctets += octets
    const own = (keptOf.get(owner) ?? 0) + octets
    if (own > 0) keptOf.set(owner, own)
    else keptOf.delete(owner)
  }
  /** Whether so many octets more of an owner's may be kept. */
  const hasRoom = ({ owner }: Entry, octets: number): boolean =>
    keptOctets + octets <= MAX_KEPT && (keptOf.get(owner) ?? 0) + octets <= MAX_KEPT_OF_OWNER

  function release(entry: Entry): void {
    count(entry, -(entry.kept?.length ?? 0))
    delete entry.kept
    byLocal.delete(entry.local)
  }

  /**
   * Forgets what has expired. Lives differ, so all are looked at; an address is made at most as often as the rate of
   * the API permits.
   */
  function sweep(): void {
    for (const entry of byId.values()) {
      if (!isOver(entry)) continue
      release(entry)
      if (monotonic() >= entry.endsAt + TOLD_MS) byId.delete(entry.id)
    }
  }

  /** Forgets one of these that has expired, the oldest; false: there is none. */
  function makeRoom(of: (entry: Entry) => boolean): boolean {
    for (const entry of byId.values()) if (of(entry) && isOver(entry)) return byId.delete(entry.id)
    return false
  }
  /** Whether one more of the owner may be made. */
  function isFree(owner: string): boolean {
    const isOwn = (entry: Entry): boolean => entry.owner === owner
    const own = [...byId.values()].filter(isOwn).length
    if (own >= MAX_OF_OWNER) return makeRoom(isOwn)
    return byId.size < MAX_ADDRESSES || makeRoom(() => true)
  }

  function living(address: string): Entry | undefined {
    const at = address.lastIndexOf('@')
    const named = parseDomain(address.slice(at + 1))
    if (domain === undefined || !named.ok || named.value !== domain) return undefined
    const entry = byLocal.get(address.slice(0, at).toLowerCase())
    return entry === undefined || entry.isTaken || isOver(entry) ? undefined : entry
  }

  function present(entry: Entry): Waiting {
    const { id, local, expiresAt, isTaken } = entry
    const facts = { id, address: `${local}@${domain ?? ''}`, expiresAt }
    if (isOver(entry)) return { ...facts, state: 'expired' }
    if (!isTaken) return { ...facts, state: 'waiting' }
    const answer = entry.kept && ownAnswer(messageAnswer, JSON.parse(gunzipSync(entry.kept).toString('utf8')))
    return { ...facts, state: 'received', ...(answer && { answer }) }
  }

  function entryOf(id: string, owner: Owner): Entry {
    const entry = byId.get(id)
    if (!entry || !owns(owner, entry.owner) || monotonic() >= entry.endsAt + TOLD_MS) throw inboxError('unknown')
    return entry
  }

  function wake({ waiting }: Entry): void {
    for (const one of [...waiting]) one()
  }

  return {
    /** Messages to this domain are received from now on. */
    open: (named: Domain): void => {
      domain = named
    },
    isOpen: () => domain !== undefined,
    /** Makes an address. Throws AppError: messages are not received, or there are too many addresses. */
    create: ({ id: owner }: Owner, lifeMs: number): Waiting => {
      if (domain === undefined) throw inboxError('closed')
      sweep()
      if (!isFree(owner)) throw inboxError('too_many', { max: MAX_OF_OWNER })
      const entry: Entry = {
        id: `msg_${randomBytes(16).toString('base64url')}`,
        owner,
        local: `t-${base32(randomBytes(16))}`,
        expiresAt: now() + lifeMs,
        endsAt: monotonic() + lifeMs,
        isTaken: false,
        waiting: new Set(),
      }
      byId.set(entry.id, entry)
      byLocal.set(entry.local, entry)
      setTimeout(() => release(entry), lifeMs).unref() // the analysis goes even if nobody asks any more
      return present(entry)
    },
    /** Throws AppError `not_found`. */
    show: (id: string, owner: Owner) => present(entryOf(id, owner)),
    /** The state now and at each change, until the analysis is there or the address has expired. */
    watch: async function* (id: string, owner: Owner, signal: AbortSignal): AsyncIterable<Waiting> {
      const entry = entryOf(id, owner)
      while (!signal.aborted) {
        const shown = present(entry)
        yield shown
        if (shown.state === 'expired' || shown.answer) return
        await changed(entry, Math.max(0, entry.endsAt - monotonic()), signal)
      }
    },
    /** Whether a message to this address is taken; `full`: not now. */
    accepts: (address: string): 'yes' | 'no' | 'full' => {
      const entry = living(address)
      if (!entry) return 'no'
      return hasRoom(entry, LARGEST) ? 'yes' : 'full'
    },
    /** Takes the one message of an address; undefined: the address has expired, or has its message. */
    take: (address: string): Keep | undefined => {
      const entry = living(address)
      if (!entry) return undefined
      entry.isTaken = true
      wake(entry)
      return (answer) => {
        const packed = answer && !isOver(entry) ? gzipSync(JSON.stringify(answer)) : undefined
        if (packed && hasRoom(entry, packed.length)) {
          entry.kept = packed
          count(entry, packed.length)
        } else entry.isTaken = false // it waits again, if it lives
        wake(entry)
      }
    },
  }
}

/** Resolves when the entry is woken, after `ms`, or when the signal fires. */
const changed = ({ waiting }: Entry, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      waiting.delete(done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms).unref()
    waiting.add(done)
    signal.addEventListener('abort', done, { once: true })
  })

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** Base32 (RFC 4648 §6) in lower case without padding: 16 octets are 26 characters. */
function base32(octets: Buffer): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const octet of octets) {
    value = (value << 8) | octet
    bits += 8
    for (; bits >= 5; bits -= 5) text += ALPHABET[(value >>> (bits - 5)) & 31]
    value &= (1 << bits) - 1
  }
  return bits > 0 ? text + ALPHABET[(value << (5 - bits)) & 31] : text
}

/** What the analysis of messages needs in addition to the message, and what it keeps. */
export type MessageService = {
  /** Maximum size of a message, octets. */
  readonly maxBytes: number
  readonly verified: VerifiedSelectors
  readonly inbox: Inbox
}

/** Creates the service of a process. */
export const messageService = ({
  maxBytes,
  verified,
  ...clocks
}: Pick<MessageService, 'maxBytes' | 'verified'> & Pick<World, 'now' | 'monotonic'>): MessageService => ({
  maxBytes,
  verified,
  inbox: inbox(clocks),
})
