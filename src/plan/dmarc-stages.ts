import { publishedPolicyOf } from '../checks/dmarc/index.ts'
import type { Look } from './look.ts'

/** What to wait for before a stage of DMARC. */
export const WAITS = {
  quarantine:
    'At least a month with aggregate reports in which all mail that you send passes DMARC: correct SPF and DKIM of every sender that the reports show first.',
  reject:
    'At least a month at p=quarantine with reports in which all mail that you send passes DMARC, and with no complaint about mail in junk folders.',
} as const

/** Days with reports, of 28, that stand for the month of a stage: reports come a day or two late. */
export const REPORTED_DAYS = 26

/** Whether the policy of the stage before this one is published. */
export function isStageBefore(stage: keyof typeof WAITS, { facts: { dmarc } }: Look): boolean {
  if (dmarc instanceof Error) return false
  const today = publishedPolicyOf(dmarc)
  return today.kind === 'policy' && today.effective === (stage === 'reject' ? 'quarantine' : 'none')
}

/** What `p=reject` does. */
export const ABOUT_REJECT =
  'Optional. Receivers then refuse mail that fails, also what mailing lists changed on the way (RFC 9989 §7.4); with quarantine it goes to the junk folder.'

const STRENGTH: Readonly<Record<string, number>> = { none: 0, quarantine: 1, reject: 2 }

/**
 * How much a DMARC record makes receivers do, 0 to 2: its `p`, one step less with `t=y`, and the share of `pct` (RFC
 * 7489 §6.3).
 */
function strengthOf(text: string): number {
  const tags = new Map(
    text.split(';').map((tag): [string, string] => {
      const [name = '', value = ''] = tag.split('=')
      return [name.trim().toLowerCase(), value.trim().toLowerCase()]
    }),
  )
  const p = Math.max(0, (STRENGTH[tags.get('p') ?? ''] ?? 0) - (tags.get('t') === 'y' ? 1 : 0))
  const pct = Number(tags.get('pct') ?? 100)
  return (p * (Number.isFinite(pct) ? Math.min(100, Math.max(0, pct)) : 100)) / 100
}

/** Whether a record makes receivers refuse mail. */
export const isRefusing = (text: string): boolean => strengthOf(text) > 1

/** Whether a record makes receivers refuse or set aside more mail than today. */
export function isRaise(text: string, { facts: { dmarc } }: Look): boolean {
  if (dmarc instanceof Error) return true
  const today = publishedPolicyOf(dmarc)
  const now = today.kind === 'policy' ? ((STRENGTH[today.effective] ?? 0) * today.share) / 100 : 0
  return strengthOf(text) > now
}

/** A record with `p=reject`, for all mail, in place of its policy; undefined if it has no `p`. */
export function refusingRecord(text: string): string | undefined {
  const tags = text.split(';').map((tag) => tag.trim())
  if (!tags.some((tag) => /^p\s*=/i.test(tag))) return undefined
  return tags
    .filter((tag) => tag !== '' && !/^(?:pct|t)\s*=/i.test(tag))
    .map((tag) => (/^p\s*=/i.test(tag) ? 'p=reject' : tag))
    .join('; ')
}
