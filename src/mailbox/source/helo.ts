import { withDeadline } from '../../base/deadline.ts'
import type { Clocks } from '../../base/time.ts'
import { type TtlCache, ttlCache } from '../../base/ttl-cache.ts'
import { type Domain, parseDomain } from '../../names/domain.ts'
import type { Email } from '../../names/email.ts'
import { type Ip, reverseName } from '../../names/ip.ts'
import { DnsError } from '../../net/dns/resolver.ts'
import { addressLiteral } from '../../net/smtp/commands.ts'
import type { Ctx } from '../../world.ts'

/** The HELO name and the sender of this service. */
export type Identity = ReturnType<typeof identity>

const PTR_MS = 3_000
/** How long a HELO name from a PTR record is cached, ms. */
const KEPT_MS = 3_600_000
/** Time for which it is cached that an address has no usable name, ms. */
const NONE_KEPT_MS = 60_000
const SENDER_CHANGES_MS = 24 * 3_600_000

/**
 * `helo`: the operator's host name; `mailFrom`: the operator's address, or null for `<>`. By default the sender is
 * `verify-<changing part>@<HELO domain>`; the part changes once a day, so that the retry of a greylisted question has
 * the same sender. If the HELO name is an address literal, the sender is `<>`.
 */
export function identity(
  { now, monotonic }: Clocks,
  settings: { readonly helo?: Domain; readonly mailFrom?: Email | null },
) {
  let latest = { name: '', domain: parseDomain('') } // most processes use one name
  const names: TtlCache<{ readonly name: string | undefined }> = ttlCache({ maxEntries: 1_000, now: monotonic })
  return {
    /** Whether the HELO name depends on the source address. */
    heloFollowsSource: settings.helo === undefined,
    /**
     * The EHLO name for a source address: the configured name, otherwise the PTR name of the address, otherwise its
     * literal (RFC 5321 §4.1.3). Never rejects.
     */
    heloName: async (source: Ip, ctx: Pick<Ctx, 'resolve' | 'signal'>): Promise<string> => {
      if (settings.helo !== undefined) return settings.helo
      const kept = names.get(source)
      if (kept) return kept.value.name ?? addressLiteral(source)
      const found = await ptrName(source, ctx)
      if (found) names.set(source, found, found.name === undefined ? NONE_KEPT_MS : KEPT_MS)
      return found?.name ?? addressLiteral(source)
    },
    /** The reverse-path for a HELO name; undefined is the null reverse-path. */
    sender: (heloName: string): Email | undefined => {
      if (settings.mailFrom !== undefined) return settings.mailFrom ?? undefined
      if (heloName !== latest.name) latest = { name: heloName, domain: parseDomain(heloName) }
      const { domain } = latest
      if (!domain.ok) return undefined
      return {
        local: `verify-${Math.floor(now() / SENDER_CHANGES_MS).toString(36)}`,
        domain: domain.value,
        smtputf8: false,
      }
    },
  }
}

/** The usable name if there is one; undefined if the lookup failed. */
async function ptrName(
  source: Ip,
  ctx: Pick<Ctx, 'resolve' | 'signal'>,
): Promise<{ readonly name: string | undefined } | undefined> {
  try {
    const answer = await withDeadline(PTR_MS, ctx.signal, (signal) => ctx.resolve(reverseName(source), 'PTR', signal))
    const names = answer.records.map((name) => parseDomain(name)).flatMap((name) => (name.ok ? [name.value] : []))
    return { name: names.find((name) => !LOCAL.test(name)) }
  } catch (error) {
    if (error instanceof DnsError) return undefined
    throw error
  }
}

const LOCAL = /(?:^|\.)(?:localhost|localdomain|local|internal|lan|home\.arpa)$/
