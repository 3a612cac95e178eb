import { createHash, randomBytes } from 'node:crypto'
import type { MonitorDigestAnswer } from '../answers/monitors.ts'
import type { Owner } from '../names/owner.ts'
import type { AcceptedFindings } from '../store/postgres/accepted.ts'
import type { Database } from '../store/postgres/connect.ts'
import type { Deliveries, NewDelivery } from '../store/postgres/deliveries.ts'
import type { DigestReader, Digests } from '../store/postgres/digests.ts'
import type { MailConsents } from '../store/postgres/mail-consents.ts'
import { askForConsent, consentsOf, type MailRules, needsNoConsent } from './notify/consent.ts'
import { type DigestEvent, digestOf } from './notify/digest.ts'
import type { Senders } from './notify/send.ts'
import { digestMailOf } from './notify/templates.ts'
import { organizationOf } from './portfolio.ts'
import { monitorError } from './problems.ts'
import { makeMessageId } from './run.ts'

export type Digesting = {
  readonly database: Database
  readonly digests: Digests
  readonly deliveries: Deliveries
  readonly consents: MailConsents
  readonly accepted: Pick<AcceptedFindings, 'ofMonitors'>
  readonly mailRules: MailRules
  readonly now: () => number
}

type Every = 'day' | 'week'

const DAY_MS = 86_400_000
const PERIOD_MS: Readonly<Record<Every, number>> = { day: DAY_MS, week: 7 * DAY_MS }
/** Digests are due at this hour, UTC; those of a week on Mondays. */
const HOUR_MS = 6 * 3_600_000
/** 1970-01-05 was a Monday. */
const MONDAY_MS = 4 * DAY_MS
/** Age of the newest change that a digest tells, ms: a run is stored at most so long after its time. */
const SETTLED_MS = 180_000
/** Addresses whose digests are made in one transaction. */
const BATCH = 100

/** The first time after `ms` at which digests are due. */
export function nextDigest(every: Every, ms: number): number {
  const from = every === 'week' ? MONDAY_MS + HOUR_MS : HOUR_MS
  return from + (Math.floor((ms - from) / PERIOD_MS[every]) + 1) * PERIOD_MS[every]
}

/** The same for every attempt at the digest of a key to an address for one time: it is sent once. */
const digestIdOf = (owner: string, address: string, due: Date): string =>
  `msg_${createHash('sha256')
    .update(JSON.stringify([owner, address, due.toISOString()]))
    .digest('base64url')
    .slice(0, 22)}`

const makeToken = (): string => `dig_${randomBytes(16).toString('base64url')}`

/**
 * Makes some of the digests that are due, each in the transaction that notes it; returns whether there may be more. A
 * reader gets one of a time at most, none without changes, and what one has told is told in no other.
 */
export async function makeDigests(parts: Digesting): Promise<boolean> {
  const { database, digests, deliveries, consents, mailRules, now } = parts
  const at = new Date(now())
  let asking: string | undefined
  const isMore = await database.db.transaction().execute(async (tx) => {
    const setting = await digests.due(tx, at)
    if (!setting) return false
    const { owner, every, next_at: due, since } = setting
    const next = new Date(nextDigest(every, at.getTime()))
    const addresses = due > at ? [] : await digests.open(tx, owner, { due, now: at, limit: BATCH })
    if (addresses.length === 0) {
      await digests.setNext(tx, owner, next)
      return true
    }
    asking = owner
    const tokens = addresses.map((address) => ({ address, token: makeToken() }))
    const readers = await digests.made(tx, owner, due, tokens)
    const states = await consentsOf(consents, mailRules, owner, [...readers.keys()])
    const told = [...readers.keys()].filter((one) => (states.get(one) ?? 'given') === 'given')
    const until = new Date(at.getTime() - SETTLED_MS)
    const monitors = await digests.monitors(tx, owner, told, { since, until, isTold: true })
    const accepted = await acceptedOf(parts, monitors)
    const byAddress = Map.groupBy(monitors, ({ address }) => address)
    const made: NewDelivery[] = []
    for (const address of told) {
      const data = await digestOf(byAddress.get(address) ?? [], accepted)
      if (data.changed === 0) continue
      const event: DigestEvent = {
        type: 'mail.digest',
        timestamp: at.toISOString(),
        data: { token: readers.get(address)!, ...data },
      }
      made.push({
        ...{ id: digestIdOf(owner, address, due), webhook: null, monitor: null, type: event.type, createdAt: at },
        // In the turns of a queue of its own: thousands of digests hold up no other message of the key.
        owner: `digests of ${owner}`,
        channel: JSON.stringify({ type: 'mail', to: address }),
        body: JSON.stringify(event),
      })
    }
    await deliveries.add(tx, made)
    return true
  })
  if (asking !== undefined) await askOwners(parts, asking)
  return isMore
}

/** The accepted findings of monitors, as `number finding`. */
async function acceptedOf(
  { accepted, now }: Digesting,
  monitors: readonly { readonly number: number }[],
): Promise<ReadonlySet<string>> {
  const found = await accepted.ofMonitors(
    monitors.map(({ number }) => number),
    new Date(now()),
  )
  return new Set([...found].flatMap(([number, rows]) => rows.map(({ finding }) => `${number} ${finding}`)))
}

/** Asks those who have to consent and were not asked, as far as the key may cause mail. */
export async function askOwners(
  { database, digests, deliveries, consents, mailRules, now }: Digesting,
  owner: string,
): Promise<void> {
  for (const { address, about } of await digests.unasked(owner, mailRules.recipients, mailRules.perDay)) {
    const at = new Date(now())
    if ((await consents.take({ owner, mails: 1 }, mailRules.perDay, at)) !== undefined) return
    await askForConsent({ database, consents, deliveries }, owner, [address], about, makeMessageId, at)
  }
}

/** Settings, readers and a preview of digests, for a key. */
export function digestService(
  opened: () => Promise<Digesting & { readonly senders: Senders; readonly wake: () => void }>,
) {
  return {
    show: async (
      { id }: Owner,
      { of, ...page }: { readonly after?: string; readonly limit: number; readonly of?: string },
    ): Promise<Omit<MonitorDigestAnswer, 'has_more' | 'next_cursor'>> => {
      const parts = await opened()
      const { database, digests, mailRules, senders, now } = parts
      const [setting, counts] = await Promise.all([digests.setting(id), digests.counts(id)])
      const until = new Date(now())
      const since = setting?.since ?? new Date(until.getTime() - PERIOD_MS.week)
      const rows = await digests.readers(id, { ...page, since })
      const own = new Set(counts.domains.map(organizationOf))
      const to = of ?? rows.find(({ changed }) => changed > 0)?.address
      const monitors =
        to === undefined ? [] : await digests.monitors(database.db, id, [to], { since, until, isTold: false })
      const mail =
        to === undefined || monitors.length === 0
          ? undefined
          : digestMailOf({ token: 'dig_…', ...(await digestOf(monitors, await acceptedOf(parts, monitors))) }, to, {
              publicUrl: senders.publicUrl,
              ...(senders.publicUrl !== undefined && { unsubscribe: `${senders.publicUrl}/u/dig_…` }),
            })
      return {
        every: setting?.every ?? 'off',
        next_at: setting?.next_at.toISOString() ?? null,
        ...(senders.mail === undefined && { cannot_send: monitorError('no_mail').message }),
        ...{ owners: counts.owners, without_owner: counts.without },
        data: rows.map((row) => presentReader(row, mailRules, own)),
        preview: mail ? { to: mail.to, subject: mail.subject, text: mail.text } : null,
      }
    },
    /** Turns digests on or off. Rejects with AppError `invalid_parameter` while this service cannot send mail. */
    set: async (every: Every | 'off', { id }: Owner): Promise<void> => {
      const parts = await opened()
      if (every === 'off') return parts.digests.set(id, null)
      if (parts.senders.mail === undefined) throw monitorError('no_mail')
      const nowMs = parts.now()
      const since = (await parts.digests.setting(id))?.since ?? new Date(nowMs - PERIOD_MS.week)
      await parts.digests.set(id, { every, next_at: new Date(nextDigest(every, nowMs)), since })
      if (parts.senders.publicUrl !== undefined) await askOwners(parts, id)
      parts.wake()
    },
  }
}

function presentReader(
  { address, monitors, changed, is_stopped, consent }: DigestReader,
  rules: MailRules,
  own: ReadonlySet<string>,
): MonitorDigestAnswer['data'][number] {
  const isKnown = needsNoConsent(rules, address)
  const state = is_stopped
    ? 'unsubscribed'
    : isKnown || consent === 'given'
      ? 'ready'
      : consent === 'refused'
        ? 'refused'
        : consent === 'asked'
          ? 'asked'
          : 'not_asked'
  const isForeign = !isKnown && !own.has(organizationOf(address.slice(address.lastIndexOf('@') + 1)))
  return { address, monitors, changed, state, ...(isForeign && { foreign: true as const }) }
}
