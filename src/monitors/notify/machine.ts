import { z } from 'zod'
import { type Change, change } from '../../answers/stored.ts'
import { changeLines } from '../changes/changes.ts'

/** `rank`: how good the status is, higher is better. `listedAs`: the listings as text. */
export type Facts = {
  readonly status: string
  readonly rank: number
  readonly score: number | null
  /** Rank and score beside what is accepted. */
  readonly beside?: { readonly rank: number; readonly score: number | null }
  readonly listed: number | null
  readonly listedAs: string
  /** Of a monitor of reports. */
  readonly reports?: ReportFacts
}

export type ReportFacts = {
  /** The last day with 100 messages or more; null: none. */
  readonly failing: { readonly date: string; readonly messages: number; readonly failing: number } | null
  /** Full days since the last report; null: there never was one. */
  readonly silentDays: number | null
}

const topic = z.strictObject({
  /** A condition that holds now, in its last reported form. */
  isBad: z.boolean(),
  told: z.boolean(),
  line: z.string().default(''),
})
/** The earlier state: the status as text, its rank, the score. */
const level = z.strictObject({ status: z.string().default(''), rank: z.number(), score: z.number().nullable() })
/** The state of a monitor's notifier. Times are ms since the epoch. */
export const notifyState = z.strictObject({
  failures: z.int(),
  topics: z.record(z.string(), topic),
  /** When each topic was last reported; times older than an hour are removed. */
  toldAt: z.record(z.string(), z.number()),
  /** Topics whose first recovery within the hour was reported. */
  recovered: z.array(z.string()),
  /** The changes in the messages of the last hour. */
  toldTexts: z.array(z.string()).default([]),
  /** What is held until the hour, or the quiet hours, are over. */
  held: z
    .strictObject({
      count: z.int(),
      topics: z.array(z.string()),
      /** Topics of these that had been reported within the hour when they occurred. */
      flapping: z.array(z.string()),
      changes: z.array(change),
      /** The changes since the last message, to recognize a reverted change. */
      texts: z.array(z.string()).default([]),
      dueMs: z.number(),
    })
    .nullable(),
  /** The state before it became worse. */
  better: level.nullable(),
})
export type NotifyState = z.output<typeof notifyState>

export const NEW_STATE: NotifyState = {
  failures: 0,
  topics: {},
  toldAt: {},
  recovered: [],
  toldTexts: [],
  held: null,
  better: null,
}

type Level = NonNullable<NotifyState['better']>
const levelOf = ({ status, rank, score, beside: level = { rank, score } }: Facts): Level => ({ status, ...level })
const ACCEPTED = ', without what is accepted'
const levelWords = (facts: Facts): string => {
  const { status, score } = levelOf(facts)
  return `${status}${score === null ? '' : `, score ${score}`}${facts.beside ? ACCEPTED : ''}`
}
/** `fail instead of pass, score 55 instead of 91` */
const beside = (now: Level, before: Level): string =>
  [
    ...(now.status === before.status || before.status === '' ? [] : [`${now.status} instead of ${before.status}`]),
    ...(now.score === before.score || now.score === null || before.score === null
      ? []
      : [`score ${now.score} instead of ${before.score}`]),
  ].join(', ')

/** When a monitor sends messages: `score_below:N` has its number beside it. */
export type Wanted = {
  readonly changed: boolean
  readonly worse: boolean
  readonly listed: boolean
  readonly scoreBelow: number | undefined
  /** Of a monitor of reports. */
  readonly newSender?: boolean
  /** Percent of a day's mail. */
  readonly failingAbove?: number | undefined
  readonly noReports?: boolean
}

/**
 * The result of a run. `facts` are of the last known state; `open` lists what could not be determined, empty if
 * everything could.
 */
export type Observation = {
  readonly facts: Facts | undefined
  /** Of the last known state before this run. */
  readonly before?: Facts | undefined
  readonly changes: readonly Change[]
  readonly open: readonly string[]
  /** No earlier state is known: nothing has changed, and nothing is worse. */
  readonly isBaseline: boolean
}
type MessageType = 'monitor.changed' | 'monitor.recovered' | 'monitor.failing'
/** A message to send. `count`: the number of changes since the last message. */
export type Message = {
  readonly type: MessageType
  readonly lines: readonly string[]
  readonly changes: readonly Change[]
  readonly count: number
  /** The first line is about a condition that began or ended. */
  readonly isCondition: boolean
}

/** Number of consecutive runs without a result after which that is reported. */
export const FAILING_AFTER = 3
/** Minimum interval between messages about the same topic, except for its first recovery, ms. */
const HOUR_MS = 3_600_000
/** Maximum number of changes held back. */
const MAX_HELD = 50
/** Maximum number of reported changes that are kept. */
const MAX_TEXTS = 60

/** One topic that a run gives reason to report. */
type Reason = { readonly topic: string; readonly isRecovery: boolean }
export type Step = {
  readonly state: NotifyState
  readonly message: Message | undefined
  readonly dueMs: number | undefined
}

/**
 * The messages after a run, and the new state; pure. Each topic (a condition, an area of changes, failing runs) is
 * reported when it begins and when it ends. Within an hour of its last message, except for its first recovery, and in
 * the quiet hours it is held, and reported once with the count. `quietUntilMs`: the end of the quiet hours, if they are
 * in progress.
 */
export function afterRun(
  before: NotifyState,
  seen: Observation,
  wanted: Wanted,
  nowMs: number,
  quietUntilMs: number | undefined,
): Step {
  const state = observed(withoutOld(before, nowMs), seen, wanted)
  const reasons = reasonsOf(before, state, seen, wanted)
  return settle(state, reasons, seen.isBaseline ? [] : toldChanges(seen.changes, reasons, wanted), nowMs, quietUntilMs)
}

/** The changes in a message: all if they are wanted, otherwise those that explain a condition that begins or ends. */
function toldChanges(changes: readonly Change[], reasons: readonly Reason[], wanted: Wanted): readonly Change[] {
  if (wanted.changed) return changes
  const effects = reasons.flatMap(({ topic, isRecovery }) =>
    topic === 'worse' || topic === 'score' ? [isRecovery ? 'better' : 'worse'] : [],
  )
  const areas = reasons.flatMap(({ topic }) => (topic === 'listed' ? ['Blacklists'] : []))
  const isNewSender = ({ id }: Change): boolean => wanted.newSender === true && id === NEW_SENDER
  return changes.filter((one) => areas.includes(one.area) || effects.includes(one.effect) || isNewSender(one))
}

/** The messages when held ones are due, without a run. */
export const afterWait = (before: NotifyState, nowMs: number, quietUntilMs: number | undefined): Step =>
  settle(withoutOld(before, nowMs), [], [], nowMs, quietUntilMs)

/**
 * Times in the future come from a clock that stepped back: they are ignored, so that nothing is held for longer than an
 * hour.
 */
function withoutOld(state: NotifyState, nowMs: number): NotifyState {
  const entries = Object.entries(state.toldAt).filter(([, at]) => nowMs - at < HOUR_MS && at <= nowMs)
  const toldAt = Object.fromEntries(entries)
  const held = state.held && { ...state.held, dueMs: Math.min(state.held.dueMs, nowMs + DAY_MS) }
  const toldTexts = entries.length === 0 ? [] : state.toldTexts
  return { ...state, toldAt, held, toldTexts, recovered: state.recovered.filter((name) => name in toldAt) }
}
const DAY_MS = 86_400_000

/** The state after the facts of a run; unknown parts leave the conditions unchanged. */
function observed(state: NotifyState, { facts, before, open, isBaseline }: Observation, wanted: Wanted): NotifyState {
  const failures = open.length > 0 ? state.failures + 1 : 0
  const failing = failures >= FAILING_AFTER || (failures > 0 && state.topics.failing?.isBad === true)
  const topics: Record<string, NotifyState['topics'][string]> = { ...state.topics }
  const set = (name: (typeof CONDITIONS)[number], isBad: boolean, line: string): void => {
    if (isBad || topics[name])
      topics[name] = { isBad, told: topics[name]?.told ?? false, line: line.slice(0, MAX_LINE) }
  }
  const failed = `could not be checked ${FAILING_AFTER} times in a row: ${open.join('; ')}`
  set('failing', failing, failing ? failed : 'can be checked again')
  if (!facts) return { ...state, failures, topics }
  const better = isBaseline ? null : worseThan(state.better ?? (before ? levelOf(before) : null), levelOf(facts))
  const { score, listed, listedAs } = facts
  if (wanted.worse)
    set(
      'worse',
      better !== null,
      better
        ? `worse than before: ${beside(levelOf(facts), better)}${facts.beside ? ACCEPTED : ''}`
        : `as good as before again: ${levelWords(facts)}`,
    )
  if (wanted.listed && listed !== null)
    set(
      'listed',
      listed > 0,
      listed > 0
        ? `on ${listed === 1 ? 'a blacklist' : `${listed} blacklists`}: ${listedAs}`
        : 'no longer on any blacklist',
    )
  if (wanted.scoreBelow !== undefined && score !== null) {
    const isBelowLimit = score < wanted.scoreBelow
    set(
      'score',
      isBelowLimit,
      `score ${score} is ${isBelowLimit ? '' : 'no longer '}below the limit of ${wanted.scoreBelow}`,
    )
  }
  if (facts.reports) observeReports(facts.reports, wanted, set)
  for (const [name, isWanted] of [
    ['failing_mail', wanted.failingAbove !== undefined],
    ['no_reports', wanted.noReports === true],
    ['worse', wanted.worse],
    ['listed', wanted.listed],
    ['score', wanted.scoreBelow !== undefined],
  ] as const)
    if (!isWanted) delete topics[name]
  return { ...state, failures, topics, better }
}

type Set = (name: 'failing_mail' | 'no_reports', isBad: boolean, line: string) => void

function observeReports({ failing, silentDays }: ReportFacts, wanted: Wanted, set: Set): void {
  const { failingAbove: limit, noReports } = wanted
  if (limit !== undefined && failing) {
    const percent = (failing.failing / failing.messages) * 100
    const isAbove = percent > limit
    set(
      'failing_mail',
      isAbove,
      `${percent.toFixed(1)} % of the ${failing.messages} messages of ${failing.date} fail DMARC, ${isAbove ? 'more' : 'not more'} than ${limit} %`,
    )
  }
  if (noReports && silentDays !== null)
    set(
      'no_reports',
      silentDays >= SILENT_DAYS,
      silentDays >= SILENT_DAYS ? `no report has come in for ${silentDays} days` : 'reports come in again',
    )
}
/** Days without a report that are told. */
const SILENT_DAYS = 3
/** The change that `new_sender` tells. */
const NEW_SENDER = 'reports.new_sender'

/** Worse lasts until the state is as good as it was before: the level from before, or null if none is better. */
const worseThan = (before: Level | null, now: Level): Level | null =>
  before && (now.rank < before.rank || (now.score !== null && before.score !== null && now.score < before.score))
    ? before
    : null

function reasonsOf(before: NotifyState, after: NotifyState, seen: Observation, wanted: Wanted): readonly Reason[] {
  const turned = Object.entries(after.topics).flatMap(([topic, { isBad }]): Reason[] =>
    (before.topics[topic]?.isBad ?? false) === isBad ? [] : [{ topic, isRecovery: !isBad }],
  )
  const told = seen.changes.filter(({ id }) => wanted.changed || (wanted.newSender && id === NEW_SENDER))
  const areas = seen.isBaseline ? [] : [...new Set(told.map(({ area }) => area))]
  return [...turned, ...areas.map((area) => ({ topic: `changed ${area}`, isRecovery: false }))]
}

function settle(
  state: NotifyState,
  reasons: readonly Reason[],
  changes: readonly Change[],
  nowMs: number,
  quietUntilMs: number | undefined,
): Step {
  const isNew = ({ topic, isRecovery }: Reason): boolean => {
    const wasTold = state.topics[topic]?.told ?? false
    if (isRecovery && !wasTold) return false // nobody was told about it, and it is over
    return !(topic in state.toldAt) || (isRecovery && !state.recovered.includes(topic))
  }
  const isHeldDue = state.held !== null && nowMs >= state.held.dueMs
  if (quietUntilMs === undefined && (isHeldDue || reasons.some(isNew))) return told(state, reasons, changes, nowMs)
  if (reasons.length === 0 && state.held === null) return { state, message: undefined, dueMs: undefined }
  const held = withHeld(state, reasons, changes)
  if (held === null) return { state: { ...state, held }, message: undefined, dueMs: undefined }
  const hourMs = Math.min(...held.topics.map((topic) => (state.toldAt[topic] ?? nowMs - HOUR_MS) + HOUR_MS))
  const dueMs = Math.max(quietUntilMs ?? 0, Number.isFinite(hourMs) ? hourMs : 0, nowMs)
  return { state: { ...state, held: { ...held, dueMs } }, message: undefined, dueMs }
}

/** The held messages combined with another run; null if all of it is over and its beginning was not reported. */
function withHeld(state: NotifyState, reasons: readonly Reason[], changes: readonly Change[]): NotifyState['held'] {
  const { held } = state
  const named = reasons.map(({ topic }) => topic)
  const flapping = [...new Set([...(held?.flapping ?? []), ...named.filter((name) => name in state.toldAt)])]
  const topics = [...new Set([...(held?.topics ?? []), ...named])].filter((name) => {
    const topic = state.topics[name]
    // A condition that began and ended in quiet hours is not reported; one that was reported within the hour flaps.
    return topic === undefined || topic.isBad || topic.told || flapping.includes(name)
  })
  if (topics.length === 0) return null
  const count = (held?.count ?? 0) + (reasons.length > 0 ? 1 : 0)
  const texts = [...(held?.texts ?? []), ...changes.map(textOf)].slice(-MAX_TEXTS)
  // An area whose change is reverted is flapping: only its latest change is reported.
  const seen = new Set([...state.toldTexts, ...(held?.texts ?? [])])
  const back = new Set(changes.filter((one) => seen.has(textOf(one))).map(({ area }) => area))
  const earlier = (held?.changes ?? []).filter(({ area }) => !back.has(area))
  return {
    count,
    topics,
    flapping,
    changes: [...earlier, ...changes].slice(-MAX_HELD),
    texts,
    dueMs: held?.dueMs ?? 0,
  }
}

const textOf = ({ area, text }: Change): string => `${area} ${text}`.slice(0, 120)

function told(state: NotifyState, reasons: readonly Reason[], changes: readonly Change[], nowMs: number): Step {
  const held = withHeld(state, reasons, changes)
  const cleared = { ...state, held: null }
  if (held === null) return { state: cleared, message: undefined, dueMs: undefined }
  const latest = lastOfEach(held.changes)
  const conditions = CONDITIONS.filter((name) => held.topics.includes(name) && name in state.topics)
  const begun = conditions.filter((name) => state.topics[name]!.isBad)
  const ended = conditions.filter((name) => !state.topics[name]!.isBad)
  const type: MessageType = begun.includes('failing')
    ? 'monitor.failing'
    : begun.length > 0 || ended.length === 0
      ? 'monitor.changed'
      : 'monitor.recovered'
  const said = latest.filter((one) => !isSaid(begun, ended)(one))
  const lines = [...[...begun, ...ended].map((name) => state.topics[name]!.line || name), ...changeLines(said)]
  const topics = Object.fromEntries(
    Object.entries(state.topics).map(([name, topic]) => [
      name,
      conditions.some((one) => one === name) ? { ...topic, told: topic.isBad } : topic,
    ]),
  )
  const toldAt = { ...state.toldAt, ...Object.fromEntries(held.topics.map((name) => [name, nowMs])) }
  const recovered = [...new Set([...state.recovered, ...ended])]
  return {
    state: { ...cleared, topics, toldAt, recovered, toldTexts: [...state.toldTexts, ...held.texts].slice(-MAX_TEXTS) },
    message: { type, lines, changes: latest, count: held.count, isCondition: conditions.length > 0 },
    dueMs: undefined,
  }
}

/** The conditions, in the order in which they are reported. */
const CONDITIONS = ['failing', 'listed', 'worse', 'score', 'failing_mail', 'no_reports'] as const
const LISTINGS: readonly string[] = ['blacklist.listed', 'blacklist.new_address']
/** Maximum number of characters of a line. */
const MAX_LINE = 600

/** Whether the line of a reported condition already contains this change: the listings, the score. */
const isSaid =
  (begun: readonly string[], ended: readonly string[]) =>
  ({ id }: Change): boolean =>
    (begun.includes('listed') && LISTINGS.includes(id)) ||
    (id === 'score' && [...begun, ...ended].some((name) => name === 'score' || name === 'worse'))

/**
 * Of changes of the same kind about the same subject the last one: a flapping change is reported in its present state.
 */
function lastOfEach(changes: readonly Change[]): readonly Change[] {
  if (changes.length < 2) return changes
  const last = new Map<string, Change>()
  for (const one of changes) {
    const key = `${one.area} ${one.text}`
    last.delete(key)
    last.set(key, one)
  }
  return [...last.values()].slice(-20)
}
