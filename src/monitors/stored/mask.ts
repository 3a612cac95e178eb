import type { StoredKind } from '../../answers/stored.ts'
import { inTurns } from '../../base/in-turns.ts'
import type { Json, JsonRecord } from '../../base/json.ts'
import { maskAddresses } from '../../base/text.ts'

/**
 * A stored answer for a reader who is not logged in: `answer` itself, changed. In a verification every mailbox is masked, wherever it occurs (replies of mail servers repeat it), and
 * in the analysis of a message every address. The other kinds are about domains: the addresses in them are published in the DNS, and a masked record would not be the record.
 */
export async function withoutMailboxes(kind: StoredKind, answer: JsonRecord): Promise<JsonRecord> {
  if (kind !== 'verify' && kind !== 'message') return answer
  const mask = kind === 'message' ? maskAddresses : maskOf(typeof answer.email === 'string' ? answer.email : '')
  await inTurns(textsIn(answer), ({ holder, key, text }) => {
    holder[key] = mask(text)
  })
  return answer
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

type Holder = { [key: string]: Json | undefined }

/** The texts in a value, each with the record or list that holds it. */
function* textsIn(value: object): Iterable<{ readonly holder: Holder; readonly key: string; readonly text: string }> {
  const holder = value as Holder
  for (const key of Object.keys(holder)) {
    const item = holder[key]
    if (OWN_WORDS.includes(key)) continue
    if (typeof item === 'string') yield { holder, key, text: item }
    else if (typeof item === 'object' && item !== null) yield* textsIn(item)
  }
}
