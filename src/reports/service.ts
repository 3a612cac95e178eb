import { randomBytes } from 'node:crypto'
import { type Limiter, limiter } from '../base/limiter.ts'
import { type Lifetime, onceUnlessFailed, sharedWork } from '../base/share-work.ts'
import { dayOf } from '../base/time.ts'
import { ttlCache } from '../base/ttl-cache.ts'
import type { Heavy, HeavyAsk } from '../lane/heavy.ts'
import { type Domain, parseDomain } from '../names/domain.ts'
import { type Database, told } from '../store/postgres/connect.ts'
import { MAX_WORDS, type SenderWord } from '../store/postgres/report-notes.ts'
import type { ReportKind } from '../store/postgres/report-rows.ts'
import {
  type DaySum,
  type LeftOut,
  type Period,
  type PolicySeen,
  type ReportSums,
  type ReportsAbout,
  reportSumsOf,
} from '../store/postgres/report-sums.ts'
import { reportIntake } from '../store/postgres/reports.ts'
import type { StorageGuard } from '../store/postgres/storage.ts'
import type { Ctx, Log } from '../world.ts'
import { acrossDomains } from './across.ts'
import { type AskedFacts, askFacts, askSharedFacts, type FactSources } from './facts.ts'
import { isByAddresses } from './home.ts'
import { type Imported, type ImportRequest, importReports } from './import.ts'
import { BOUNDS, buffered } from './parse/containers.ts'
import { importError } from './problems.ts'
import { organizationOf } from './report.ts'
import type { Envelope } from './reporters.ts'
import { findSenders, passesDmarc, type Sender } from './senders.ts'

/** The senders of a domain in a period, with the facts by which they were judged. */
type SendersOf = {
  readonly senders: readonly Sender[]
  readonly facts: AskedFacts
  readonly names: readonly number[]
  readonly leftOut: LeftOut
}
export type Summary = SendersOf & {
  readonly about: ReportsAbout
  readonly days: readonly DaySum[]
  readonly policies: readonly PolicySeen[]
}
type Asking = Pick<Ctx, 'resolve' | 'signal'>
type Said = {
  readonly domain: Domain
  /** Of the sender. */
  readonly id: string
  readonly ours: boolean | null
  /** Undefined: that of an earlier word stays. */
  readonly note: string | undefined
  /** Id of the key. */
  readonly by: string
}

/** Uploads that are held in memory at the same time: each may have 25 MiB. */
const AT_ONCE = 4
/** Those of one key: others never wait for them alone. */
const AT_ONCE_OF_ONE = 2
/** Looks at the sources of a domain at the same time: each may hold as much as an answer is computed from. */
const LOOKS_AT_ONCE = 4
const SWEEP_EVERY_MS = 3_600_000
/** How long what does not count is kept, ms. */
const KEEP_APART_MS = 7 * 86_400_000
const SELECTORS_MS = 90 * 86_400_000
/** The period in which senders are usually looked at, beside all that is kept. */
const RECENT_MS = 27 * 86_400_000
/** Addresses that a word is about, those with most mail. */
const MAX_SAID = 1_000
const CACHED_HOSTS = 50_000

type ReportServiceSettings = {
  readonly heavy: Heavy
  readonly open: () => Promise<Pick<Database, 'db' | 'pool'>>
  /**
   * Whether the database exists; default true. What is read while there is none is {@link NO_SUMS}, and starts nothing.
   */
  readonly exists?: () => boolean
  readonly storage: Pick<StorageGuard, 'admit' | 'admitMail'>
  readonly envelopeOf: (message: Uint8Array, ask: HeavyAsk) => Promise<Envelope>
  readonly networkOf: FactSources['networkOf']
  readonly listedOn: FactSources['listedOn']
  /** Called when reports were stored. */
  readonly onStored?: () => Promise<void>
  readonly keepMs: number
  readonly maxOctets: number
  readonly now: () => number
  readonly monotonic: () => number
  readonly log: Pick<Log, 'warn'>
}

/** What is read before the first report. */
const NO_SUMS: Omit<ReportSums, 'countStranger' | 'rememberPlace' | 'waitingSince' | 'say' | 'unsay'> = {
  namesOf: async () => [],
  names: async () => [],
  words: async () => [],
  sources: async () => ({ sources: [], leftOut: { sources: 0, messages: 0 } }),
  days: async () => [],
  rows: async () => [],
  about: async () => ({ reports: 0, uncounted: 0, differing: 0, lastReceived: null, reporters: [], others: [] }),
  policies: async () => [],
  tls: async () => [],
  stored: async () => 0,
  domains: async () => [],
  strangers: async () => [],
  mailboxPlace: async () => undefined,
  monitored: async () => [],
  selectors: async () => [],
  forget: async () => 0,
  sweep: async () => {},
}

export type ReportService = ReturnType<typeof reportService>

/**
 * Reports. Every function opens the database when it is first needed (a function that reads: if it exists), and rejects
 * with AppError `upstream_unavailable` while it is away.
 */
export function reportService(settings: ReportServiceSettings) {
  const { now, monotonic, keepMs, maxOctets, storage, exists = () => true } = settings
  const database = onceUnlessFailed(settings.open)
  const opened = async (): Promise<ReportSums> => reportSumsOf((await database()).db)
  const sums = async (): Promise<typeof NO_SUMS> => (exists() ? opened() : NO_SUMS)
  const turns = limiter({ now: monotonic })
  const counts = { reports: 0, failureReports: 0, refused: 0 }
  let sweptAtMs = Number.NEGATIVE_INFINITY

  /** Removes what is older than the time that reports are kept; at most once an hour. */
  async function sweep(): Promise<void> {
    if (monotonic() - sweptAtMs < SWEEP_EVERY_MS) return
    sweptAtMs = monotonic()
    await (await sums()).sweep(dayOf(now() - keepMs), dayOf(now() - Math.min(keepMs, KEEP_APART_MS)))
  }
  async function inPlaces<T>({ owner = '', signal }: ImportRequest, work: () => Promise<T>): Promise<T> {
    const leaveOwn = await turns.enter(`import of ${owner}`, { concurrent: AT_ONCE_OF_ONE }, signal)
    try {
      const leave = await turns.enter('import', { concurrent: AT_ONCE }, signal)
      try {
        return await work()
      } finally {
        leave()
      }
    } finally {
      leaveOwn()
    }
  }
  return {
    ...senderLooks(settings, { opened, sums, turns, imported: () => counts.reports }),
    /**
     * Stores the reports of an input; what it names is stored when this resolves. At most {@link AT_ONCE} streams are
     * read at the same time: each is held in memory.
     */
    import: told(async (octets: Uint8Array | AsyncIterable<Uint8Array>, request: ImportRequest): Promise<Imported> => {
      const importing = {
        ...{ heavy: settings.heavy, envelopeOf: settings.envelopeOf, now, keepMs },
        intake: async (kind: ReportKind, isStranger: boolean) => {
          const { owner } = request
          const admit = () => (owner === undefined ? storage.admitMail(true) : storage.admit(owner, 0))
          if (owner !== undefined) await admit()
          return reportIntake((await database()).pool, kind, { admit, isCut: isStranger })
        },
        admitMail: storage.admitMail,
        onFault: (how: string) => settings.log.warn('a report was refused because of a fault of ours', { how }),
        ...{ newId: () => `rep_${randomBytes(16).toString('base64url')}`, bounds: { ...BOUNDS, maxOctets } },
      }
      const imported =
        octets instanceof Uint8Array
          ? await importReports(importing, octets, request)
          : await inPlaces(request, async () => importReports(importing, await buffered(octets, maxOctets), request))
      counts.reports += imported.reports.length
      counts.failureReports += imported.failureReports
      counts.refused += imported.refused.length
      if (imported.reports.length > 0) await settings.onStored?.()
      if (imported.reports.length > 0)
        sweep().catch((error) => settings.log.warn('old reports could not be removed', { reason: error.message }))
      return imported
    }),
    rows: told(async (...asked: Parameters<ReportSums['rows']>) => (await sums()).rows(...asked)),
    tls: told(async (period: Period) => (await sums()).tls(period)),
    /** The number of reports that may have rows about the domain, whichever process has stored them. */
    stored: told(async (domain: string) => (await sums()).stored(domain)),
    domains: told(async () => (await sums()).domains()),
    strangers: told(async () => (await sums()).strangers()),
    countStranger: told(async (domain: string) => (await opened()).countStranger(domain, new Date(now()))),
    mailboxPlace: told(async (name: string) => (await sums()).mailboxPlace(name)),
    rememberPlace: told(async (...asked: Parameters<ReportSums['rememberPlace']>) =>
      (await opened()).rememberPlace(...asked),
    ),
    /** When the message of this digest was first waited for. */
    waitingSince: told(async (digest: string) => (await opened()).waitingSince(digest, new Date(now()))),
    /** The domains of all monitors. */
    monitored: told(async () => (await sums()).monitored()),
    /** Selectors of verified signatures of the last 90 days, most mail first. */
    selectors: told(async (domain: Domain) => (await sums()).selectors(domain, dayOf(now() - SELECTORS_MS))),
    /** Removes the reports about a domain and the names below it. */
    forget: told(async (domain: string) => (await sums()).forget(domain)),
    /** Failure reports that came in since the start: they are counted and not kept. */
    counted: () => ({ ...counts }),
  }
}

type Looking = {
  readonly opened: () => Promise<ReportSums>
  readonly sums: () => Promise<typeof NO_SUMS>
  readonly turns: Limiter
  /** How many reports this process has stored. */
  readonly imported: () => number
}

/** Looks at who sends as a domain, and what its owner says about them. */
function senderLooks(
  { now, monotonic, keepMs, networkOf, listedOn }: ReportServiceSettings,
  { opened, sums, turns, imported }: Looking,
) {
  const factSources = { memory: factMemory(monotonic), networkOf, listedOn }
  const sharing = sharedWork<SendersOf>()
  let words = 0

  async function inPlace<T>({ signal }: Asking, work: () => Promise<T>): Promise<T> {
    const leave = await turns.enter('look', { concurrent: LOOKS_AT_ONCE }, signal)
    try {
      return await work()
    } finally {
      leave()
    }
  }
  async function sendersIn(ctx: Asking, period: Period & { readonly domain: Domain }): Promise<SendersOf> {
    const table = await sums()
    const names = await table.namesOf(period.domain)
    const { sources, leftOut } = await table.sources(names, period)
    const facts = await askFacts(
      ctx,
      period.domain,
      { sources, words: await table.words([period.domain]) },
      factSources,
    )
    return { senders: await findSenders(sources, facts), facts, names, leftOut }
  }
  /**
   * A page asks for summary, senders and policy of one period at the same time: they are found once. What was stored in
   * the meantime is found anew.
   */
  const senders = (ctx: Asking, period: Period & { readonly domain: Domain }): Promise<SendersOf> => {
    const key = JSON.stringify([period.domain, period.from, period.to, period.includeUncounted, imported(), words])
    const find = ({ signal }: Lifetime) => {
      const asking = { resolve: ctx.resolve, signal }
      return { result: inPlace(asking, () => sendersIn(asking, period)) }
    }
    return sharing(key, find, ctx).result
  }
  async function across(ctx: Asking, period: Omit<Period, 'domain'>, sees: (domain: Domain) => boolean) {
    const table = await sums()
    const names = (await table.names()).filter(({ name }) => {
      const domain = parseDomain(name)
      return domain.ok && sees(domain.value)
    })
    const numbers = names.map(({ number }) => number)
    const { sources, leftOut } = await table.sources(numbers, period)
    const organizations = [...new Set(sources.map(({ name }) => organizationOf(name)))]
    const [shared, words] = await Promise.all([askSharedFacts(ctx, sources, factSources), table.words(organizations)])
    const messages = sources.reduce((sum, one) => sum + one.messages, leftOut.messages)
    return { ...(await acrossDomains(sources, sees, { ...shared, words })), messages, leftOut }
  }
  async function say(ctx: Asking, { domain, id, ours, note, by }: Said): Promise<Sender | undefined> {
    const to = dayOf(now())
    const recent = { domain, from: dayOf(now() - RECENT_MS), to, includeUncounted: false }
    const all = { ...recent, from: dayOf(now() - keepMs) }
    const seen = async (): Promise<readonly Sender[]> => {
      const [lately, ever] = [await senders(ctx, recent), await senders(ctx, all)]
      return [...lately.senders, ...ever.senders].filter((one) => one.id === id)
    }
    const found = await seen()
    const known = (await (await sums()).words([domain])).find(({ sender }) => `${domain}:${sender}` === id)
    const key = found[0]?.key ?? known?.sender
    if (key === undefined) return undefined
    const addresses = new Set([...(known?.addresses ?? []), ...found.flatMap((one) => [...one.addresses.keys()])])
    const word: Omit<SenderWord, 'ours'> = {
      ...{ sender: key, note: note ?? known?.note ?? '', by, at: new Date(now()) },
      addresses: isByAddresses(key) ? [...addresses].slice(0, MAX_SAID) : [],
    }
    const table = await opened()
    if (ours === null) await table.unsay(domain, key)
    else if (!(await table.say(domain, { ...word, ours }))) throw importError('too_many_words', { max: MAX_WORDS })
    words++
    return (await seen())[0]
  }
  return {
    senders: told(senders),
    /** The senders over all domains that `sees` allows, and the messages from names in From that it allows. */
    across: told((...[ctx, period, sees]: Parameters<typeof across>) => inPlace(ctx, () => across(ctx, period, sees))),
    summary: told(async (ctx: Asking, period: Period & { readonly domain: Domain }): Promise<Summary> => {
      const [found, table] = await Promise.all([senders(ctx, period), sums()])
      const forwarded = found.senders
        .filter(({ verdict }) => verdict === 'forwarded')
        .flatMap(({ sources }) => sources.flatMap((one) => (passesDmarc(one) ? [] : [one.number])))
      const [about, days, policies] = await Promise.all([
        table.about('dmarc', period),
        table.days(found.names, period, forwarded),
        table.policies(period),
      ])
      return { ...found, about, days, policies }
    }),
    /**
     * Keeps what the owner of a domain says about one of its senders (`ours: null` takes it back), and returns the sender
     * as it is judged then. Undefined: no sender has this id. Rejects with AppError `limit_reached` for too many words.
     */
    say: told(say),
  }
}

const factMemory = (now: () => number): FactSources['memory'] => ({
  hosts: ttlCache({ maxEntries: CACHED_HOSTS, now }),
  ranges: ttlCache({ maxEntries: 1_000, now }),
  listed: ttlCache({ maxEntries: CACHED_HOSTS, now }),
})
