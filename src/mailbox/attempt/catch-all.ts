import { type TtlCache, ttlCache } from '../../base/ttl-cache.ts'
import type { Domain } from '../../names/domain.ts'
import type { Email } from '../../names/email.ts'
import { isSuccess, type Reply } from '../../net/smtp/reply.ts'
import type { TranscriptLine } from '../../net/smtp/transcript.ts'
import type { Memory } from '../../store/postgres/shared-memory.ts'
import { type Reason, reasonRow } from '../reasons.ts'
import type { Cluster } from '../source/cluster.ts'

const CONSONANTS = 'bcdfghjklmnprstvz'
const VOWELS = 'aeiou'
/** What 256 octets leave for a domain: two brackets, 25 characters and the at sign are the rest. */
const LONGEST_DOMAIN = 228

/**
 * A made-up mailbox: a plausible name of 25 characters with about 80 random bits. Undefined at a domain so long that
 * the path would be over 256 octets (RFC 5321 §4.5.3.1.3).
 */
export function madeUpMailbox(domain: Domain, random: () => number): Email | undefined {
  if (domain.length > LONGEST_DOMAIN) return undefined
  const pick = (letters: string): string => letters[Math.floor(random() * letters.length)]!
  const word = (syllables: number): string =>
    Array.from({ length: syllables }, () => pick(CONSONANTS) + pick(VOWELS)).join('')
  const local = `${word(6)}.${word(5)}${pick('0123456789')}${pick('0123456789')}`
  return { local, domain, smtputf8: false }
}

/**
 * Whether the reply about a made-up mailbox shows a catch-all: accepted (true), refused as nonexistent (false), or
 * unknown (null): a temporary reply, or a refusal that is about us, about bounces or about too many recipients.
 */
export function probeResult(reply: Reply, reason: Reason): boolean | null {
  if (isSuccess('rcpt', reply)) return true
  if (reply.code < 500) return null
  return reasonRow(reason).absent ? false : null
}

/** How long a catch-all result is cached, ms. */
const KEPT_MS = 6 * 3_600_000

/** The result for a made-up mailbox, with the session. */
export type ProbeAnswer = { readonly catchAll: boolean | null; readonly transcript: readonly TranscriptLine[] }

/** The known catch-all results, by domain and mail host or provider. At most 50,000. */
export type CatchAllCache = ReturnType<typeof catchAllCache>

export function catchAllCache(now: () => number) {
  const kept: TtlCache<{ readonly catchAll: boolean | null }> = ttlCache({ maxEntries: 50_000, now })
  return {
    /** null: the last attempt gave no result, and it is too early for another one. */
    get: (domain: Domain, key: string) => kept.get(`${domain} ${key}`)?.value.catchAll,
    /** Kept for `ttlMs`, by default 6 hours. */
    set: (domain: Domain, key: string, catchAll: boolean | null, ttlMs: number = KEPT_MS) =>
      kept.set(`${domain} ${key}`, { catchAll }, ttlMs),
    /** Removes the entries of a domain; returns their number. */
    forget: (domain: Domain) => kept.deleteWhere((key) => key.startsWith(`${domain} `)),
  }
}

/**
 * The same cache, shared with all nodes on one database: what is set here is sent to them, and what is `noted` about a
 * domain is cached here.
 */
export function sharedCatchAll(
  local: CatchAllCache,
  cluster: Pick<Cluster, 'put'> | undefined,
): CatchAllCache & { readonly noted: (domain: Domain, known: readonly Memory[]) => void } {
  return {
    ...local,
    set: (domain, key, catchAll, ttlMs = KEPT_MS) => {
      local.set(domain, key, catchAll, ttlMs)
      void cluster?.put('catch_all', domain, key, String(catchAll), ttlMs)
    },
    noted: (domain, known) => {
      for (const { kind, key, value, leftMs } of known)
        if (kind === 'catch_all' && local.get(domain, key) === undefined)
          local.set(domain, key, value === 'null' ? null : value === 'true', leftMs)
    },
  }
}
