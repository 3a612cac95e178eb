import { randomBytes } from 'node:crypto'
import type {
  BadgeAnswer,
  MonitorAnswer,
  MonitorChange,
  MonitorKind,
  MonitorPoint,
  MonitorRunAnswer,
  MonitorTestAnswer,
} from '../answers/monitors.ts'
import { atMost } from '../base/at-most.ts'
import { sleep } from '../base/deadline.ts'
import type { AppError } from '../base/errors.ts'
import { type Owner, owns } from '../names/owner.ts'
import type { AcceptedFindings } from '../store/postgres/accepted.ts'
import type { Database } from '../store/postgres/connect.ts'
import type { Deliveries } from '../store/postgres/deliveries.ts'
import type { Digests } from '../store/postgres/digests.ts'
import type { MailConsents, MailUse } from '../store/postgres/mail-consents.ts'
import type { MonitorEdit, MonitorRow, Monitors } from '../store/postgres/monitors.ts'
import type { MonitorFilter, MonitorPlace, MonitorSort, Portfolio } from '../store/postgres/portfolio.ts'
import type { StorageGuard } from '../store/postgres/storage.ts'
import type { Webhooks } from '../store/postgres/webhooks.ts'
import { attemptOf, mailRefusal, secretsOf } from './deliver.ts'
import { digestService } from './digest.ts'
import type { MonitorEngine } from './engine.ts'
import { askForConsent, consentQuestion, consentsOf, type MailRules, needsNoConsent } from './notify/consent.ts'
import { type Channel, channel, type KeptTarget, type Senders, sendOnce } from './notify/send.ts'
import { testEvent } from './notify/templates.ts'
import {
  type ImportCounts,
  type ImportRow,
  importRows,
  MAX_LABELS,
  MAX_MONITORS,
  type ManyEdit,
  organizationOf,
  summaryOf,
} from './portfolio.ts'
import {
  badgeOf,
  mailboxesOf,
  presentChange,
  presentMonitor,
  presentPoint,
  shownUrl,
  targetsOf,
  unsubscribedOf,
} from './present.ts'
import { monitorError } from './problems.ts'
import { aboutOf, channelOf, makeMessageId, toldTargets } from './run.ts'
import type { WebhookService } from './webhooks.ts'

/** The receivers of a monitor, as requested and checked. */
export type NotifyTarget = { readonly type: 'webhook'; readonly url: string } | Exclude<Channel, { type: 'webhook' }>

export type MonitorInput = {
  readonly name: string
  readonly kind: MonitorKind
  readonly target: string
  readonly domain: string
  readonly everyMs: number
  readonly options: Readonly<Record<string, string>>
  readonly notify: readonly NotifyTarget[]
  readonly when: readonly string[]
  readonly quiet: { readonly from: string; readonly to: string; readonly timezone: string } | null
  readonly isPublic: boolean
  readonly labels: readonly string[]
  /** Mail address of who is responsible for the target; '' for nobody. */
  readonly contact: string
  readonly note: string
}
type MonitorPatch = Partial<Omit<MonitorInput, 'kind' | 'target' | 'domain'>> & { readonly enabled?: boolean }

/**
 * Monitors. Every function opens the database when it is first needed, and rejects with AppError `not_found` for a
 * monitor that is not the owner's.
 */
export type MonitorService = ReturnType<typeof monitorService>

const RUN_EVERY_MS = 60_000
const LOOK_EVERY_MS = 200
/** Maximum number of test messages that are sent at the same time. */
const TESTS_AT_A_TIME = 4

type ServiceParts = {
  readonly opened: () => Promise<OpenedMonitors>
  readonly webhooks: WebhookService
  readonly now: () => number
  /** The names of all profiles. */
  readonly profiles: readonly string[]
}

export function monitorService(parts: ServiceParts) {
  const { opened, now } = parts
  const consents = mailConsents(parts)
  return {
    ...portfolioOf(parts),
    ...eachMonitor(parts, consents),
    ...runsOf(parts),
    ...testMessages(parts, consents),
    unsubscribe: consents.unsubscribe,
    consent: consents.answer,
    mailFault: consents.mailFault,
    digests: digestService(async () => {
      const { tables, engine, ...parts } = await opened()
      return { ...parts, ...tables, now, wake: engine.wake }
    }),
    /**
     * Removes the monitors of a mailbox, or of a domain and its mailboxes, and such mailboxes from the receivers;
     * returns their number.
     */
    forget: async (name: 'email' | 'domain', value: string) => (await opened()).monitors.forget(name, value),
    start: async () => (await opened()).engine.wake(),
  }
}

const missing = (): AppError => monitorError('unknown')

/** Throws AppError for the name of a profile that is not there. */
function mustKnow(profile: string | undefined, profiles: readonly string[]): void {
  if (profile !== undefined && !profiles.includes(profile))
    throw monitorError('profile', { text: profile, known: profiles })
}

/** A monitor of the owner's. */
async function owned(opened: ServiceParts['opened'], id: string, owner: Owner): Promise<MonitorRow> {
  const row = await (await opened()).monitors.byId(id)
  if (row && owns(owner, row.owner)) return row
  throw missing()
}

/** Many monitors at once. */
function portfolioOf({ opened, now, profiles }: ServiceParts) {
  /** Those of the filter that are the owner's; an admin's are all. Throws AppError for an unknown profile. */
  function ownOf(filter: MonitorFilter, owner: Owner): MonitorFilter {
    mustKnow(filter.profileNotMet, profiles)
    return owner.isAdmin ? filter : { ...filter, owner: owner.id }
  }
  return {
    /** Those of a filter, each with its place in the list. */
    list: async (
      filter: MonitorFilter,
      page: { readonly sort: MonitorSort; readonly after?: MonitorPlace; readonly limit: number },
      owner: Owner,
    ): Promise<readonly { readonly monitor: MonitorAnswer; readonly place: MonitorPlace }[]> => {
      const { portfolio, tables, mailRules } = await opened()
      const rows = await portfolio.list(ownOf(filter, owner), page)
      const addresses = Map.groupBy(rows, (row) => row.owner)
      const known = await Promise.all(
        [...addresses].map(async ([id, own]) => {
          const mailboxes = own.flatMap((row) => mailboxesOf(targetsOf(row)))
          return [id, await consentsOf(tables.consents, mailRules, id, mailboxes)] as const
        }),
      )
      const byOwner = new Map(known)
      const numbers = rows.map(({ number }) => number)
      const accepted = await tables.accepted.ofMonitors(numbers, new Date(now()))
      return rows.map((row) => {
        const shown = { consents: byOwner.get(row.owner) ?? new Map(), accepted: accepted.get(row.number) ?? [] }
        return { monitor: presentMonitor(row, shown), place: row.place }
      })
    },
    /** Counts by what is known; `compare` is a day. */
    summary: async (filter: MonitorFilter, compare: string | undefined, owner: Owner) =>
      summaryOf((await opened()).portfolio, ownOf(filter, owner), compare, { nowMs: now(), profiles }),
    /** Changes, pauses or resumes those of a filter; returns their number. */
    changeMany: async (filter: MonitorFilter, edit: ManyEdit, owner: Owner): Promise<number> => {
      const { portfolio, engine } = await opened()
      const changed = await portfolio.change(ownOf(filter, owner), edit, MAX_LABELS, new Date(now()))
      engine.wake()
      return changed
    },
    /** Runs those of a filter that are enabled and have not run for a minute; returns their number. */
    runMany: async (filter: MonitorFilter, owner: Owner): Promise<number> => {
      const { portfolio, engine } = await opened()
      const at = now()
      const due = await portfolio.run(ownOf(filter, owner), new Date(at - RUN_EVERY_MS), new Date(at))
      engine.wake()
      return due
    },
    /** Creates and changes monitors together, or none of them. Rejects with `limit_reached`. */
    importRows: async (
      rows: readonly ImportRow[],
      how: { readonly everyMs: number; readonly isDryRun: boolean },
      owner: Owner,
    ): Promise<ImportCounts> => {
      const { portfolio, storage, engine } = await opened()
      await storage.admit(owner.id, 0)
      const counts = await importRows(portfolio, rows, { ...how, at: new Date(now()) }, owner)
      if (!how.isDryRun) engine.wake()
      return counts
    },
  }
}

/** One monitor: created, shown, changed and removed. */
function eachMonitor({ opened, webhooks, now }: ServiceParts, consents: MailConsenting) {
  /** Receivers in stored form, with their webhooks; and the secrets of those that were created. */
  async function kept(targets: readonly NotifyTarget[], owner: Owner) {
    const secrets = new Map<string, string>()
    const all: KeptTarget[] = []
    for (const target of targets) {
      if (target.type !== 'webhook') {
        all.push(target)
        continue
      }
      const { webhook, secret } = await webhooks.ensure(target.url, owner)
      all.push({ type: 'webhook', url: webhook.url, id: webhook.id, number: webhook.number })
      if (secret !== undefined) secrets.set(webhook.id, secret)
    }
    return { notify: JSON.stringify(all), secrets }
  }
  async function present(row: MonitorRow, secrets?: ReadonlyMap<string, string>): Promise<MonitorAnswer> {
    const { tables, mailRules } = await opened()
    const consents = await consentsOf(tables.consents, mailRules, row.owner, mailboxesOf(targetsOf(row)))
    const accepted = (await tables.accepted.ofMonitors([row.number], new Date(now()))).get(row.number) ?? []
    return presentMonitor(row, { ...(secrets && { secrets }), consents, accepted })
  }

  return {
    /**
     * Creates a monitor, which runs at once. `seed` names it if the request may be repeated. Rejects with
     * `limit_reached`.
     */
    create: async (input: MonitorInput, owner: Owner, seed?: string): Promise<MonitorAnswer> => {
      const { monitors, engine, storage } = await opened()
      await storage.admit(owner.id, 0)
      const asked = await consents.open(mailboxesOf(input.notify), owner.id)
      const { notify, secrets } = await kept(input.notify, owner)
      const at = new Date(now())
      const row = await monitors.add(
        {
          id: `mon_${seed ?? randomBytes(16).toString('base64url')}`,
          owner: owner.id,
          name: input.name,
          kind: input.kind,
          target: input.target,
          domain: input.domain,
          organization: organizationOf(input.domain),
          every_ms: input.everyMs,
          options: JSON.stringify(input.options),
          notify,
          conditions: JSON.stringify(input.when),
          quiet: input.quiet && JSON.stringify(input.quiet),
          is_public: input.isPublic,
          enabled: true,
          created_at: at,
          next_run: at,
          labels: input.labels,
          contact: input.contact,
          note: input.note,
        },
        MAX_MONITORS,
      )
      if (!row) throw monitorError('too_many', { max: MAX_MONITORS })
      await consents.ask(row, asked)
      engine.wake()
      return present(row, secrets)
    },
    show: async (id: string, owner: Owner) => present(await owned(opened, id, owner)),
    change: async (id: string, patch: MonitorPatch, owner: Owner): Promise<MonitorAnswer> => {
      const row = await owned(opened, id, owner)
      const { monitors, engine } = await opened()
      const asked = patch.notify ? await consents.open(mailboxesOf(patch.notify), row.owner) : []
      const targets = patch.notify && (await kept(patch.notify, { ...owner, id: row.owner }))
      const isWoken = patch.enabled === true && !row.enabled
      const edit: MonitorEdit = {
        ...(patch.name !== undefined && { name: patch.name }),
        ...(patch.everyMs !== undefined && { every_ms: patch.everyMs, next_run: sooner(row, patch.everyMs, now()) }),
        ...(patch.options && { options: JSON.stringify(patch.options) }),
        ...(targets && { notify: targets.notify }),
        ...(patch.when && { conditions: JSON.stringify(patch.when) }),
        ...(patch.quiet !== undefined && { quiet: patch.quiet && JSON.stringify(patch.quiet) }),
        ...(patch.isPublic !== undefined && { is_public: patch.isPublic }),
        ...(patch.enabled !== undefined && { enabled: patch.enabled }),
        ...(patch.labels && { labels: patch.labels }),
        ...(patch.contact !== undefined && { contact: patch.contact }),
        ...(patch.note !== undefined && { note: patch.note }),
        ...(isWoken && { next_run: new Date(now()) }),
      }
      const changed = Object.keys(edit).length === 0 ? row : await monitors.edit(row.number, edit)
      if (!changed) throw missing()
      await consents.ask(changed, asked)
      engine.wake()
      return present(changed, targets?.secrets)
    },
    remove: async (id: string, owner: Owner): Promise<MonitorAnswer> => {
      const row = await owned(opened, id, owner)
      if (!(await (await opened()).monitors.remove(id))) throw missing() // another request was faster
      return presentMonitor(row)
    },
  }
}

/** What a monitor found. */
function runsOf({ opened, now, profiles }: ServiceParts) {
  return {
    /** Runs a monitor now, at most once a minute; with `wait` until it has run. */
    run: async (id: string, wait: boolean, owner: Owner, signal: AbortSignal): Promise<MonitorRunAnswer> => {
      const row = await owned(opened, id, owner)
      const sinceMs = row.ran_at === null ? Number.POSITIVE_INFINITY : now() - row.ran_at.getTime()
      if (sinceMs >= 0 && sinceMs < RUN_EVERY_MS)
        throw monitorError('too_soon', undefined, {
          retryAfterSeconds: Math.ceil((RUN_EVERY_MS - sinceMs) / 1_000),
        })
      if (!row.enabled) throw monitorError('off')
      const { monitors, engine } = await opened()
      await monitors.edit(row.number, { next_run: new Date(now()) })
      engine.wake()
      const before = row.ran_at?.getTime()
      const waiting = { run: { monitor: id, state: 'waiting', point: null, lines: [] } } as const
      if (!wait) return waiting
      for (;;) {
        await sleep(LOOK_EVERY_MS, signal)
        const present = await owned(opened, id, owner)
        if (present.ran_at === null || present.ran_at.getTime() === before) continue
        const at = new Date(present.ran_at.getTime() - 1)
        const [point] = await monitors.points(present.number, { after: at, limit: 1 })
        const [changed] = await monitors.points(present.number, { after: at, limit: 1, changed: true })
        const lines = changed ? [...presentChange(changed).lines] : []
        return { run: { monitor: id, state: 'done', point: point ? presentPoint(point) : null, lines } }
      }
    },
    /** Points in the order of time, starting after `after`. */
    history: async (
      id: string,
      page: { readonly after?: Date; readonly limit: number },
      owner: Owner,
    ): Promise<readonly MonitorPoint[]> => {
      const row = await owned(opened, id, owner)
      return (await (await opened()).monitors.points(row.number, page)).map(presentPoint)
    },
    /** What changed, newest first. */
    changes: async (
      id: string,
      page: { readonly before?: Date; readonly limit: number },
      owner: Owner,
    ): Promise<readonly MonitorChange[]> => {
      const row = await owned(opened, id, owner)
      return (await (await opened()).monitors.points(row.number, { ...page, changed: true })).map(presentChange)
    },
    /** The badge of a public monitor, of its state or of a profile. */
    badge: async (id: string, profile?: string): Promise<BadgeAnswer> => {
      mustKnow(profile, profiles)
      const row = await (await opened()).monitors.byId(id)
      if (!row?.is_public) throw monitorError('no_badge')
      return badgeOf(presentMonitor(row), profile)
    },
  }
}

/** Test messages to the receivers of a monitor. */
function testMessages({ opened, now }: ServiceParts, mail: MailConsenting) {
  return {
    /** Sends a test message to every receiver of the monitor; with `only` to those that have a URL. */
    test: async (id: string, owner: Owner, signal: AbortSignal, only?: 'urls'): Promise<MonitorTestAnswer> => {
      const row = await owned(opened, id, owner)
      const { senders, tables, engine, mailRules } = await opened()
      const targets = toldTargets(row).filter(({ type }) => only !== 'urls' || type !== 'mail')
      const mailboxes = mailboxesOf(targets)
      await mail.take({ owner: row.owner, monitor: id, mails: mailboxes.length })
      await mail.ask(
        row,
        mailboxes.filter((one) => !needsNoConsent(mailRules, one)),
      ) // those that were not asked within a week
      engine.wake()
      const consents = await consentsOf(tables.consents, mailRules, row.owner, mailboxes)
      const event = testEvent(aboutOf(row), now())
      const body = JSON.stringify(event)
      const sent = await atMost(TESTS_AT_A_TIME, targets, async (target) => {
        const webhook = target.type === 'webhook' ? await tables.webhooks.byNumber(target.number) : undefined
        const message = { id: makeMessageId(), body, channel: channel.parse(channelOf(target)) }
        const unwanted = target.type === 'mail' ? mailRefusal(row, target.to, consents) : undefined
        if (unwanted !== undefined) return { type: target.type, to: shownTo(target), ok: false, reason: unwanted }
        const stored = await tables.deliveries.addSent({
          ...message,
          webhook: webhook?.number ?? null,
          monitor: row.number,
          channel: JSON.stringify(message.channel),
          type: event.type,
          createdAt: new Date(now()),
        })
        const signed = webhook && { url: webhook.url, secrets: secretsOf(webhook, now()) }
        const [begunMs, begun] = [now(), performance.now()]
        const sending = signed ? { ...message, webhook: signed } : message
        const result = await sendOnce(senders, sending, begunMs, signal)
        const { ok, error } = result
        await tables.deliveries.attempted(stored, attemptOf(begunMs, performance.now() - begun, result), {
          state: ok ? 'delivered' : 'failed',
          next: null,
        })
        return { type: target.type, to: shownTo(target), ok, ...(error !== null && { reason: error }) }
      })
      return { sent }
    },
  }
}

type MailConsenting = ReturnType<typeof mailConsents>

/** Whether addresses consent to mail, and the questions to those that were not asked. */
function mailConsents({ opened, now }: ServiceParts) {
  async function take(use: MailUse): Promise<void> {
    const { tables, mailRules } = await opened()
    const limit = await tables.consents.take(use, mailRules.perDay, new Date(now()))
    if (limit === 'tests') throw monitorError('tests', undefined, { retryAfterSeconds: 1_200 })
    if (limit === 'mails') throw monitorError('mails', { max: mailRules.perDay }, { retryAfterSeconds: 3_600 })
  }
  return {
    take,
    /**
     * The consents of addresses. Counts the questions to those that have none yet, before anything else is done. Throws
     * AppError `rate_limited`.
     */
    open: async (addresses: readonly string[], owner: string) => {
      const { tables, mailRules } = await opened()
      const wanted = addresses.filter((one) => !needsNoConsent(mailRules, one))
      const known = await tables.consents.states(owner, wanted)
      const asked = [...new Set(wanted)].filter((one) => !known.has(one))
      if (asked.length > 0) await take({ owner, mails: asked.length })
      return asked
    },
    ask: async (row: MonitorRow, addresses: readonly string[]): Promise<void> => {
      if (addresses.length === 0) return
      const { tables, database } = await opened()
      const about = row.domain === '' ? row.target : row.domain
      await askForConsent({ ...tables, database }, row.owner, addresses, about, makeMessageId, new Date(now()))
    },
    /**
     * Ends the digests of a token, or the mail of a monitor to the address of a message; after a question for consent,
     * all mail of this service.
     */
    unsubscribe: async (message: string): Promise<void> => {
      const { monitors, tables } = await opened()
      if (message.startsWith('dig_')) {
        if (!(await tables.digests.stop(message, new Date(now())))) throw monitorError('old_link')
        return
      }
      const delivery = await tables.deliveries.byId(message)
      const by = delivery && channel.parse(delivery.channel)
      if (!delivery || by?.type !== 'mail') throw monitorError('old_link')
      if (delivery.type === 'mail.consent') {
        const { data } = consentQuestion.parse(JSON.parse(delivery.body))
        await tables.consents.answer(data.consent, 'refused', new Date(now()))
        return
      }
      if (delivery.monitor === null) throw monitorError('old_link')
      const row = await monitors.byNumber(delivery.monitor)
      if (!row) return
      const all = new Set([...unsubscribedOf(row), by.to.toLowerCase()])
      await monitors.edit(row.number, { unsubscribed: JSON.stringify([...all].slice(-100)) })
    },
    /** An address consents to mail, by the id in the link that it got. */
    answer: async (id: string): Promise<void> => {
      const { tables } = await opened()
      if (!(await tables.consents.answer(id, 'given', new Date(now())))) throw monitorError('old_link')
    },
    /** Why mail to an address cannot be sent; undefined if it can. */
    mailFault: async (address: string): Promise<'no_mail' | 'no_public_url' | undefined> => {
      const { senders, mailRules } = await opened()
      if (senders.mail === undefined) return 'no_mail'
      return senders.publicUrl === undefined && !needsNoConsent(mailRules, address) ? 'no_public_url' : undefined
    },
  }
}

/** A shorter interval counts from the last run. */
const sooner = (row: MonitorRow, everyMs: number, nowMs: number): Date =>
  new Date(Math.max(nowMs, Math.min(row.next_run.getTime(), (row.ran_at?.getTime() ?? nowMs) + everyMs)))

const shownTo = (target: KeptTarget): string => {
  if (target.type === 'mail') return target.to
  return target.type === 'webhook' ? target.url : shownUrl(target)
}

/** The tables of monitors, and the engine that processes them. */
export type OpenedMonitors = {
  readonly monitors: Monitors
  readonly portfolio: Portfolio
  readonly tables: {
    readonly webhooks: Webhooks
    readonly deliveries: Deliveries
    readonly consents: MailConsents
    readonly digests: Digests
    readonly accepted: AcceptedFindings
  }
  readonly database: Database
  readonly mailRules: MailRules
  readonly senders: Senders
  readonly storage: Pick<StorageGuard, 'admit'>
  readonly engine: MonitorEngine
}
