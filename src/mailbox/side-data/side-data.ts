import { within } from '../../base/deadline.ts'
import type { Email } from '../../names/email.ts'
import { DnsError } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import type { SideData, VerifyInput } from '../verification.ts'
import { anyOf, hasDisposableHost, isDisposable } from './disposable.ts'
import { isFree, isKnownProvider } from './free.ts'
import { roleOf } from './role.ts'
import { suggestDomain } from './suggest.ts'

type Asker = Pick<Ctx, 'resolve' | 'signal'>
type Flags = Pick<VerifyInput, 'disposable' | 'free' | 'role' | 'suggestion' | 'timeoutMs'>

const FLAGS = ['disposable', 'free', 'role', 'suggestion'] as const
const SUGGESTION_MS = 3_000
const NOTHING: SideData = { disposable: false, free: false, isRole: false, role: '', suggestion: '', checked: [] }

/**
 * Starts the lookups that need the network; the returned function gives the rest once the mail hosts are known. Only
 * the requested fields are computed and named in `checked`, unless a list of this program cannot be read; an invalid
 * address has none of them.
 */
export function sideData(
  ctx: Asker,
  flags: Flags,
  email: Email | undefined,
): (mxHosts: readonly string[]) => SideData | Promise<SideData> {
  if (!email || !FLAGS.some((flag) => flags[flag] === true)) return () => NOTHING
  const { domain, local } = email
  const suggestion = flags.suggestion
    ? suggestionFor(ctx, domain, Math.min(SUGGESTION_MS, flags.timeoutMs ?? SUGGESTION_MS))
    : undefined
  suggestion?.catch(() => {}) // reported when it is awaited
  return async (mxHosts) => {
    const role = flags.role ? roleOf(local) : ''
    const isKnown = isKnownProvider(domain)
    // Without a list that cannot be read, what it would have decided was not checked.
    const found = {
      disposable:
        flags.disposable &&
        anyOf([isDisposable(domain), isKnown === false ? hasDisposableHost(mxHosts) : isKnown && false]),
      free: flags.free && isFree(domain),
      role: flags.role,
      suggestion: flags.suggestion && (isKnown === undefined ? undefined : true),
    }
    return {
      disposable: found.disposable === true,
      free: found.free === true,
      isRole: role !== '',
      role,
      suggestion: (await suggestion) ?? '',
      checked: FLAGS.filter((flag) => flags[flag] === true && found[flag] !== undefined),
    }
  }
}

/**
 * The domain that was probably meant, or "": a suggestion must accept mail, and this must be known within `ms` (3 s).
 */
export async function suggestionFor(ctx: Asker, domain: string, ms = SUGGESTION_MS): Promise<string> {
  const suggested = suggestDomain(domain)
  if (suggested === '') return ''
  try {
    const { records } = await ctx.resolve(suggested, 'MX', within(ms, ctx.signal))
    return records.some(({ exchange }) => exchange !== '') ? suggested : ''
  } catch (error) {
    if (error instanceof DnsError) return ''
    throw error
  }
}
