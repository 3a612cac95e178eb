import { randomBytes } from 'node:crypto'
import type { AcceptedAnswer } from '../answers/accepted.ts'
import type { Domain } from '../names/domain.ts'
import { type Owner, owns } from '../names/owner.ts'
import { severityOfFinding } from '../score/accepted.ts'
import type { AcceptedFindings, AcceptedPage, AcceptedRow } from '../store/postgres/accepted.ts'
import { isAway } from '../store/postgres/connect.ts'
import type { NewDelivery } from '../store/postgres/deliveries.ts'
import { eventOf } from './notify/templates.ts'
import { acceptancesOf, lastOf, quietOf } from './present.ts'
import { acceptedError } from './problems.ts'
import { aboutOf, channelOf, makeMessageId, type Running, toldTargets } from './run.ts'
import { quietUntil } from './schedule.ts'

/** Maximum number of accepted findings of a key. */
const MAX_ACCEPTED = 10_000
const DAY_MS = 86_400_000
/** How long before its end an acceptance is told, ms. */
const SOON_MS = 14 * DAY_MS
/** How long an acceptance is listed after its end, ms. */
const KEEP_MS = 400 * DAY_MS

/** What is accepted: a finding of a domain, or of the monitors with a label. */
export type NewAcceptance = {
  readonly finding: string
  readonly reason: string
  readonly by: string
  readonly until: Date
} & ({ readonly domain: Domain } | { readonly label: string })

/** Accepted findings: each belongs to the key that made it, and holds for what this key asks and watches. */
export type AcceptedService = ReturnType<typeof acceptedService>

type Opened = { readonly accepted: AcceptedFindings; readonly engine: { readonly wake: () => void } }

export function acceptedService(opened: () => Promise<Opened>, now: () => number) {
  const present = ({ id, finding, domain, label, reason, author, until, created_at }: AcceptedRow): AcceptedAnswer => ({
    id,
    finding,
    severity: severityOfFinding(finding) ?? 'info',
    domain: domain === '' ? null : domain,
    label: label === '' ? null : label,
    by: author,
    reason,
    until: until.toISOString(),
    state: until.getTime() > now() ? 'active' : 'ended',
    created_at: created_at.toISOString(),
  })
  return {
    /** Stores an acceptance, in place of the one of the same finding and subject. Rejects with `limit_reached`. */
    create: async (
      { finding, reason, by, until, ...subject }: NewAcceptance,
      owner: Owner,
    ): Promise<{ readonly answer: AcceptedAnswer; readonly isNew: boolean }> => {
      const { accepted, engine } = await opened()
      const soonMs = until.getTime() - SOON_MS
      const row = {
        ...{ id: `acc_${randomBytes(16).toString('base64url')}`, owner: owner.id, finding },
        ...{ domain: 'domain' in subject ? subject.domain : '', label: 'label' in subject ? subject.label : '' },
        ...{ reason, author: by, created_at: new Date(now()), until },
        tell_at: soonMs > now() ? new Date(soonMs) : until,
      }
      const made = await accepted.put(row, MAX_ACCEPTED)
      if (!made) throw acceptedError('too_many', { max: MAX_ACCEPTED })
      engine.wake()
      return { answer: present(made), isNew: made.id === row.id }
    },
    list: async (
      page: AcceptedPage,
      owner: Owner,
    ): Promise<readonly { readonly number: number; readonly answer: AcceptedAnswer }[]> => {
      const rows = await (await opened()).accepted.list({ ...page, ...(!owner.isAdmin && { owner: owner.id }) })
      return rows.map((row) => ({ number: row.number, answer: present(row) }))
    },
    /** Rejects with `not_found` for one that is not the owner's. */
    remove: async (id: string, owner: Owner): Promise<AcceptedAnswer> => {
      const { accepted, engine } = await opened()
      const gone = await accepted.remove(id, owner.isAdmin ? undefined : owner.id, new Date(now()))
      if (!gone || !owns(owner, gone.owner)) throw acceptedError('unknown')
      engine.wake()
      return present(gone)
    },
    /** Those in force of a key for a domain. */
    ofDomain: async ({ id }: Owner, domain: string) =>
      acceptancesOf(await (await opened()).accepted.ofDomain(id, domain, new Date(now()))),
  }
}

/** Removes acceptances that ended long ago. */
export const sweepAccepted = ({ accepted, now }: Pick<Running, 'accepted' | 'now'>): Promise<boolean> =>
  accepted.sweep(new Date(now() - KEEP_MS))

/**
 * Tells the end of one acceptance, before it comes and when it has come, to the receivers of the monitors that it is
 * for, each once; returns whether there was one.
 */
export async function tellEnd(parts: Running): Promise<boolean> {
  const { database, accepted, deliveries, now, log } = parts
  const at = new Date(now())
  let row: AcceptedRow | undefined
  try {
    await database.db.transaction().execute(async (tx) => {
      row = await accepted.due(tx, at)
      if (!row) return
      const monitors = await accepted.telling(tx, row)
      await deliveries.add(tx, messagesOf(row, monitors, at))
      await accepted.told(tx, row, at)
    })
  } catch (error) {
    if (!row || isAway(error)) throw error
    const failed = row
    log.error('the end of an accepted finding could not be told: an internal error', { accepted: row.id, err: error })
    await database.db.transaction().execute((tx) => accepted.told(tx, failed, at))
  }
  return row !== undefined
}

/** The messages have no text of the key, such as the reason: they go to addresses that agreed to messages, not to it. */
function messagesOf(
  { finding, label, until }: AcceptedRow,
  monitors: Awaited<ReturnType<AcceptedFindings['telling']>>,
  at: Date,
): readonly NewDelivery[] {
  const others = label === '' ? '' : ', here and at the other monitors with its label'
  const day = until.toISOString().slice(0, 10)
  const line =
    until > at
      ? `${finding} is accepted until ${day}${others}; then it counts again`
      : `${finding} is no longer accepted since ${day}${others}: it counts again`
  const message = { type: 'monitor.changed', lines: [line], changes: [], count: 1, isCondition: true } as const
  const told = new Map<string, NewDelivery>()
  for (const row of monitors) {
    const body = JSON.stringify(eventOf(aboutOf(row), message, lastOf(row), at.getTime()))
    const quietMs = quietUntil(at.getTime(), quietOf(row) ?? undefined)
    for (const target of toldTargets(row)) {
      const key = JSON.stringify(target)
      if (!told.has(key))
        told.set(key, {
          id: makeMessageId(),
          webhook: target.type === 'webhook' ? target.number : null,
          monitor: row.number,
          channel: JSON.stringify(channelOf(target)),
          type: 'monitor.changed',
          body,
          createdAt: at,
          ...(quietMs !== undefined && { due: new Date(quietMs) }),
        })
    }
  }
  return [...told.values()]
}
