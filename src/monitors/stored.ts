import { randomBytes } from 'node:crypto'
import { type Saved, type StoredAnswer, type StoredEntry, type StoredKind, storedKind } from '../answers/stored.ts'
import { inTurns } from '../base/at-most.ts'
import { isJsonRecord, type Json, type JsonRecord } from '../base/json.ts'
import { onceUnlessFailed } from '../base/share-work.ts'
import { maskAddresses } from '../base/text.ts'
import { type Owner, owns } from '../names/owner.ts'
import type { Database } from '../store/postgres/connect.ts'
import type { StorageGuard } from '../store/postgres/storage.ts'
import { type StoredName, type StoredRow, storedAnswersOf } from '../store/postgres/stored-answers.ts'
import type { Log } from '../world.ts'
import { storedError } from './problems.ts'

/** An answer to be stored, with its subject. */
export type ToStore = {
  readonly kind: StoredKind
  readonly answer: unknown
  readonly subject: string
  readonly names: { readonly [Name in StoredName]?: string }
  readonly status: string
  readonly score: number | null
  readonly expiresInMs: number
}

/** Stored answers. Every function opens the database when it is first needed. */
export type Stored = ReturnType<typeof storedService>

/** Maximum number of stored answers per key. */
const MAX_STORED = 20_000
const SWEEP_EVERY_MS = 3_600_000

export function storedService(settings: {
  readonly open: () => Promise<Database>
  readonly storage: Pick<StorageGuard, 'admit'>
  readonly now: () => number
  readonly log: Pick<Log, 'warn'>
  readonly maxStored?: number
}) {
  const { now, log, maxStored = MAX_STORED } = settings
  const table = onceUnlessFailed(async () => storedAnswersOf((await settings.open()).db))
  let sweptAtMs = Number.NEGATIVE_INFINITY

  /** Removes some of the expired answers; returns whether there may be more. */
  async function sweep(): Promise<boolean> {
    sweptAtMs = now()
    return (await table()).sweep(new Date(now()))
  }
  function current<Row extends StoredRow>(row: Row | undefined, isWhole: boolean): Row {
    if (!row) throw storedError('unknown')
    if (isWhole && row.expires_at.getTime() > now()) return row
    throw storedError('expired', { time: row.expires_at.toISOString() })
  }
  return {
    /** Rejects with AppError `limit_reached` if the owner has 20,000, `too_much_stored` or `storage_full`. */
    save: async (
      { kind, answer, subject, names, status, score, expiresInMs }: ToStore,
      owner: Owner,
    ): Promise<Saved> => {
      const id = randomBytes(16).toString('base64url')
      const [savedAt, expiresAt] = [new Date(now()), new Date(now() + expiresInMs)]
      const { domain = null, email = null, ip = null } = names
      const text = JSON.stringify(answer)
      await settings.storage.admit(owner.id, Buffer.byteLength(text))
      const about = { id, kind, owner: owner.id, subject: subject.slice(0, 1_000), domain, email, ip, status, score }
      const added = await (await table()).add(
        { ...about, saved_at: savedAt, expires_at: expiresAt, answer: text },
        maxStored,
      )
      if (!added) throw storedError('too_many', { max: maxStored })
      if (now() - sweptAtMs >= SWEEP_EVERY_MS || now() < sweptAtMs)
        sweep().catch((error: Error) => log.warn('expired answers could not be removed', { reason: error.message }))
      return { id, url: urlOf(id), expires_at: expiresAt.toISOString() }
    },
    /**
     * The unchanged answer; mailboxes are masked for a reader who is not logged in (`reader` undefined). Rejects with
     * `not_found`, and with `gone` if it has expired.
     */
    read: async (id: string, reader: Owner | undefined): Promise<StoredAnswer> => {
      const found = await (await table()).byId(id)
      const row = current(found, found?.answer !== null)
      const answer = parsedAnswer(row.answer ?? '')
      return {
        ...(reader ? answer : await withoutMailboxes(kindOf(row), answer)),
        kind: kindOf(row),
        id,
        saved_at: row.saved_at.toISOString(),
        expires_at: row.expires_at.toISOString(),
      }
    },
    /** The metadata of a stored answer. Rejects like `read`. */
    entry: async (id: string): Promise<StoredEntry> => {
      const found = await (await table()).entry(id)
      return entryOf(current(found, found?.isWhole === true))
    },
    /** Newest first; those of the owner, for an admin those of all. */
    history: async (
      name: StoredName,
      value: string,
      { before, limit }: { readonly before?: number; readonly limit: number },
      owner: Owner,
    ): Promise<readonly (StoredEntry & { readonly number: number })[]> => {
      const rows = await (await table()).list(name, value, {
        limit,
        now: new Date(now()),
        ...(before !== undefined && { before }),
        ...(owner.isAdmin ? {} : { owner: owner.id }),
      })
      return rows.map((row) => ({ ...entryOf(row), number: row.number }))
    },
    /** Removes an answer permanently. Rejects with `not_found` if it is not the owner's. */
    remove: async (id: string, owner: Owner): Promise<StoredEntry> => {
      const row = await (await table()).entry(id)
      if (!row || !owns(owner, row.owner)) throw storedError('not_owned')
      if (!(await (await table()).remove(id))) throw storedError('not_owned') // another request was faster
      return entryOf(row)
    },
    /** Removes every answer about a mailbox, or about a domain and its mailboxes; returns their number. */
    forget: async (name: 'email' | 'domain', value: string) => (await table()).forget(name, value.toLowerCase()),
    sweep,
  }
}

const urlOf = (id: string): string => `/r/${id}`
const kindOf = ({ kind }: StoredRow): StoredKind => storedKind.parse(kind)

function parsedAnswer(text: string): JsonRecord {
  const value: unknown = JSON.parse(text)
  if (isJsonRecord(value)) return value
  throw new Error('a stored answer is no object')
}

const entryOf = (row: StoredRow): StoredEntry => ({
  id: row.id,
  url: urlOf(row.id),
  kind: kindOf(row),
  subject: row.subject,
  saved_at: row.saved_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
  status: row.status,
  score: row.score,
})

/**
 * A stored answer for a reader who is not logged in: `answer` itself, changed. In a verification every mailbox is
 * masked, wherever it occurs (replies of mail servers repeat it), and in the analysis of a message every address and
 * the name of its author. The other kinds are about domains: the addresses in them are published in the DNS, and a
 * masked record would not be the record.
 */
export async function withoutMailboxes(kind: StoredKind, answer: JsonRecord): Promise<JsonRecord> {
  if (kind !== 'verify' && kind !== 'message') return answer
  const mask =
    kind === 'message' ? maskerOfMessage(answer) : maskOf(typeof answer.email === 'string' ? answer.email : '')
  await inTurns(textsIn(answer, kind === 'verify' ? OWN_WORDS : []), ({ holder, key, text }) => {
    holder[key] = mask(text, key)
  })
  return answer
}

type Mask = (text: string, key: string) => string

/** The texts of an analysis that are those of the message, and the sentences that may repeat them. */
const QUOTED = ['name', 'subject', 'evidence']
const QUOTED_IN_BOUNCE = [...QUOTED, 'from', 'to', 'text']
const SENTENCES = ['because', 'detail', 'summary']

/**
 * Masks addresses, and the names of people: the whole of a name in every sentence, and each of its words in what the
 * message says itself. Words of ours, such as `pass`, may be a name as well, and stay. In a bounce the recipients'
 * mailboxes occur alone (`550 joe: no such user`).
 */
function maskerOfMessage(answer: JsonRecord): Mask {
  const { names, mailboxes } = peopleIn(answer)
  const words = names.flatMap((name) => name.split(/[^\p{L}\p{M}\p{N}'-]+/u))
  const quoted = answer.bounce === undefined ? QUOTED : QUOTED_IN_BOUNCE
  const isLong = (word: string): boolean => word.length >= SHORTEST_WORD
  const ofSentences = hiding(names.filter(isLong))
  const ofQuoted = hiding([...names, ...words.filter(isLong), ...mailboxes.filter(isLong)])
  return (text, key) =>
    maskAddresses(quoted.includes(key) ? ofQuoted(text) : SENTENCES.includes(key) ? ofSentences(text) : text)
}

/** The names of authors and recipients, and the local parts of a bounce's recipients. */
function peopleIn({ from, bounce }: JsonRecord): { readonly names: string[]; readonly mailboxes: string[] } {
  const record = (value: Json | undefined): JsonRecord => (isJsonRecord(value) ? value : {})
  const { recipients, returned } = record(bounce)
  const { analysis, from: sender, to } = record(returned)
  const written = [sender, to].map((one) => (typeof one === 'string' ? one : '').replace(/<[^<>]*>/g, ','))
  const shown = [record(from).name, record(record(analysis).from).name, ...written.flatMap((one) => one.split(','))]
  const names = shown.flatMap((name) =>
    typeof name === 'string' ? name.replace(/\S*@\S*/g, '').replace(/^[\s",]+|[\s",]+$/g, '') : [],
  )
  const addresses = (Array.isArray(recipients) ? recipients : []).map((one) => record(one).address)
  return {
    names: names.filter((name) => name !== ''),
    mailboxes: addresses.flatMap((one) => (typeof one === 'string' ? one.slice(0, one.lastIndexOf('@')) : [])),
  }
}

/** Masks these words where they do not belong to a longer one, in any case. */
function hiding(words: readonly string[]): (text: string) => string {
  if (words.length === 0) return (text) => text
  const any = new RegExp(words.map((word) => `(?<![\\p{L}\\d])${literal(word)}(?![\\p{L}\\d])`).join('|'), 'giu')
  return (text) => text.replace(any, (found) => `${[...found][0]}***`)
}

/** Shorter local parts are masked only in an address: as words they would occur everywhere. */
const SHORTEST_WORD = 3

/**
 * Masks addresses, including the requested one, whose local part may be quoted or occur alone (`550 joe: no such
 * user`).
 */
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

/** The texts in a value but those of the names `left`, each with the record or list that holds it. */
function* textsIn(
  value: object,
  left: readonly string[],
): Iterable<{ readonly holder: Holder; readonly key: string; readonly text: string }> {
  const holder = value as Holder
  for (const key of Object.keys(holder)) {
    if (left.includes(key)) continue
    const item = holder[key]
    if (typeof item === 'string') yield { holder, key, text: item }
    else if (typeof item === 'object' && item !== null) yield* textsIn(item, left)
  }
}
