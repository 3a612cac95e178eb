import type { StoredKind } from '../../answers/stored.ts'
import { isJsonRecord, type Json, type JsonRecord } from '../../base/json.ts'
import { maskAddresses } from '../../base/mask.ts'

/**
 * A stored answer for a reader who is not logged in. In a verification every mailbox is masked, wherever it occurs (replies of mail servers repeat it), and
 * in the analysis of a message every address. The other kinds are about domains: the addresses in them are published in the DNS, and a masked record would not be the record.
 */
export function withoutMailboxes(kind: StoredKind, answer: JsonRecord): JsonRecord {
  if (kind === 'message') {
    const masked = maskedIn(answer, maskAddresses)
    return isJsonRecord(masked) ? masked : {}
  }
  if (kind !== 'verify') return answer
  const email = typeof answer.email === 'string' ? answer.email : ''
  const masked = maskedIn(answer, maskOf(email))
  return isJsonRecord(masked) ? masked : {}
}

/** Shorter local parts are masked only in an address: as words they would occur everywhere. */
const SHORTEST_WORD = 3

/** Masks addresses, including the requested one, whose local part may be quoted or occur alone (`550 joe: no such user`). */
function maskOf(email: string): (text: string) => string {
  const at = email.lastIndexOf('@')
  const local = at < 0 ? email : email.slice(0, at)
  const short = `${local.replace(/^"/, '').slice(0, 1)}***`
  const hidden = [email, ...(local.length < SHORTEST_WORD ? [] : [local, local.replace(/^"(.*)"$/, '$1')])]
  const pattern = hidden.filter((text) => text !== '').map((text) => `(?<![\\p{L}\\d])${literal(text)}(?![\\p{L}\\d])`)
  if (pattern.length === 0) return maskAddresses
  const any = new RegExp(pattern.join('|'), 'giu')
  const shown = (found: string): string => (found.includes('@') && at >= 0 ? `${short}${email.slice(at)}` : short)
  return (text) => maskAddresses(text.replace(any, shown))
}

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** Words of an answer of `/v1/verify` that name no mailbox. */
const OWN_WORDS = ['result', 'reason', 'deliverability', 'role', 'stage', 'checked', 'from', 'provider', 'observed_at']

function maskedIn(value: Json, mask: (text: string) => string): Json {
  if (typeof value === 'string') return mask(value)
  if (Array.isArray(value)) return value.map((item) => maskedIn(item, mask))
  if (!isJsonRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) =>
      item === undefined || OWN_WORDS.includes(key) ? [key, item] : [key, maskedIn(item, mask)],
    ),
  )
}
