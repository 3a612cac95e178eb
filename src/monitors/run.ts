import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { type MonitorFacts, monitorKind } from '../answers/monitors.ts'
import { type PlanStep, planStep } from '../answers/plan.ts'
import { raced, timedOut } from '../base/deadline.ts'
import { AppError } from '../base/errors.ts'
import type { OwnProfiles } from '../profiles/domain.ts'
import type { AcceptedFindings } from '../store/postgres/accepted.ts'
import { type Database, isAway } from '../store/postgres/connect.ts'
import type { Deliveries, NewDelivery } from '../store/postgres/deliveries.ts'
import type { ClaimedMonitor } from '../store/postgres/monitor-runs.ts'
import type { MonitorRow, Monitors } from '../store/postgres/monitors.ts'
import type { StorageGuard } from '../store/postgres/storage.ts'
import type { Log } from '../world.ts'
import { knownRun, type Reading } from './kinds.ts'
import {
  afterRun,
  afterWait,
  FAILING_AFTER,
  NEW_STATE,
  type NotifyState,
  notifyState,
  type Step,
} from './notify/machine.ts'
import type { KeptTarget } from './notify/send.ts'
import { type About, eventOf } from './notify/templates.ts'
import {
  acceptancesOf,
  lastOf,
  optionsOf,
  presentPoint,
  quietOf,
  targetsOf,
  unsubscribedOf,
  wantedOf,
} from './present.ts'
import { monitorError } from './problems.ts'
import { nextRun, quietUntil } from './schedule.ts'

/** Asks the question of a monitor once. Rejects with AppError if it cannot be asked, and with the signal's reason. */
export type RunOnce = (
  kind: string,
  target: string,
  options: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<unknown>

export type Running = {
  readonly database: Database
  readonly monitors: Monitors
  readonly deliveries: Deliveries
  readonly accepted: AcceptedFindings
  readonly runOnce: RunOnce
  readonly storage: Pick<StorageGuard, 'admitRun'>
  readonly profiles: OwnProfiles
  readonly now: () => number
  readonly random: () => number
  readonly log: Pick<Log, 'error'>
}

/**
 * Processes a claimed monitor: runs it if that is due, and sends held messages that are due. A question that fails is a
 * run without a result. Rejects with the signal's reason unless its time ran out, if the database is unavailable, and
 * for a fault that leaves nothing to store ({@link putOff}).
 */
export async function workOn(parts: Running, row: ClaimedMonitor, signal: AbortSignal): Promise<void> {
  if (row.next_run.getTime() <= parts.now()) await run(parts, row, signal)
  else await sendHeld(parts, row)
}

/** Puts a claimed monitor off that cannot be processed: the run has no result, and the next one is later. */
export async function putOff({ monitors, now, random }: Running, row: ClaimedMonitor): Promise<void> {
  const at = new Date(now())
  const failures = row.failures + 1
  const reason = monitorError('internal').message
  await monitors.putOff(row, {
    at,
    failures,
    next: new Date(nextRunOf(row, failures, at.getTime(), random)),
    last: JSON.stringify(presentPoint({ at, status: 'unknown', score: null, listed: null, reason })),
  })
}

const nextRunOf = (row: ClaimedMonitor, failures: number, nowMs: number, random: () => number): number =>
  nextRun(
    {
      everyMs: row.every_ms,
      dueMs: row.next_run.getTime(),
      isFirst: row.ran_at === null,
      failures,
      tellFailuresAfter: FAILING_AFTER,
    },
    nowMs,
    random,
  )

async function run(parts: Running, row: ClaimedMonitor, signal: AbortSignal): Promise<void> {
  const { now, database, monitors, deliveries } = parts
  const seen = await look(parts, row, signal)
  const atMs = now()
  const before = stateOf(row)
  const wanted = wantedOf(row)
  const { reading, open } = seen
  const observation = {
    facts: reading?.known === undefined ? undefined : reading.facts,
    before: reading?.before,
    changes: reading?.changes ?? [],
    open,
    isBaseline: reading?.isBaseline ?? false,
  }
  const step = afterRun(before, observation, wanted, atMs, quietUntil(atMs, quietOf(row) ?? undefined))
  const isOpen = open.length > 0
  const point = {
    at: new Date(atMs),
    status: reading?.status ?? 'unknown',
    score: isOpen ? null : (reading?.facts.score ?? null),
    listed: isOpen ? null : (reading?.facts.listed ?? null),
    reason: isOpen ? open.join('; ').slice(0, 500) : null,
    changes: observation.changes.length > 0 ? JSON.stringify(observation.changes) : null,
  }
  const advice = step.message?.type === 'monitor.changed' ? await stepsOf(parts, row, signal) : []
  const { failures } = step.state
  const state = monitorStateOf(row, step.state, reading)
  const last = presentPoint(point)
  const nextMs = nextRunOf(row, failures, atMs, parts.random)
  const messages = messagesOf(row, step, { ...aboutOf(row), state }, last, atMs, advice)
  const write = async (on: Database['db']): Promise<void> => {
    const isWritten = await monitors.write(on, row, {
      point,
      isKept: seen.isKept,
      nextRun: new Date(nextMs),
      everyMs: row.every_ms,
      messageDue: dateOf(step),
      state,
      failures,
      last: JSON.stringify(last),
      known: reading?.known,
      facts: newFacts(row, reading?.about),
      notifier: JSON.stringify(step.state),
    })
    if (isWritten) await deliveries.add(on, messages)
  }
  await (messages.length === 0 ? write(database.db) : database.db.transaction().execute(write))
}

/** Maximum number of steps of the plan in a message. */
const MAX_STEPS = 5

/**
 * What to do, in lines: the steps of the domain's plan that need not wait, each with its records. A monitor makes the
 * plan only when it tells; without one the message has none.
 */
async function stepsOf(
  { runOnce, log }: Running,
  row: ClaimedMonitor,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (row.kind !== 'check' && row.kind !== 'report') return []
  try {
    const options = { ...optionsOf(row), plan: 'true' }
    return stepLines(await raced(signal, runOnce(row.kind, row.target, options, signal)))
  } catch (error) {
    if (isAway(error) || (signal.aborted && !timedOut(signal))) throw error
    if (!(error instanceof AppError) && !timedOut(signal))
      log.error('the plan for a message of a monitor failed: an internal error', { monitor: row.id, err: error })
    return []
  }
}

const withPlan = z.object({ plan: z.object({ steps: z.array(planStep) }) })

/** The steps of an answer with a plan that need not wait, in lines. */
export function stepLines(answer: unknown): readonly string[] {
  const steps = withPlan.safeParse(answer).data?.plan.steps ?? []
  const later = steps.findIndex(({ wait, optional }) => wait !== undefined || optional === true)
  return steps.slice(0, Math.min(MAX_STEPS, later < 0 ? steps.length : later)).flatMap(linesOf)
}

const linesOf = ({ title, by, records, before, score, grade }: PlanStep, at: number): readonly string[] => [
  `Step ${at + 1}: ${title}${by === 'dns' ? '' : ` (by the ${by})`}${grade === null ? '' : `, then ${grade} (${score})`}`,
  ...before.map((one) => `  First: ${one}`),
  ...records
    .filter(({ action }) => action !== 'keep')
    .map(({ action, name, type, value }) => `  ${action === 'remove' ? 'Remove' : 'Publish'} ${name} ${type} ${value}`),
]

/** The facts as JSON, if they differ from the stored ones. */
const newFacts = ({ facts }: MonitorRow, about: MonitorFacts | undefined): string | undefined =>
  about === undefined || isDeepStrictEqual(about, facts) ? undefined : JSON.stringify(about)

type Seen = {
  readonly reading: Reading | undefined
  readonly open: readonly string[]
  /** False: the key stores as much as it may. Nothing is asked then, and the history does not grow. */
  readonly isKept: boolean
}

async function look(
  { runOnce, storage, log, accepted, profiles, now }: Running,
  row: ClaimedMonitor,
  signal: AbortSignal,
): Promise<Seen> {
  try {
    const kind = monitorKind.parse(row.kind)
    const known = knownRun(kind, row.known)
    const { selectors: selector } = known
    const options = { ...(selector !== undefined && { selector }), ...optionsOf(row) }
    await storage.admitRun(row.owner)
    const answer = await raced(signal, runOnce(row.kind, row.target, options, signal))
    const isCheck = kind === 'check' || kind === 'report'
    const rows = isCheck ? await accepted.ofDomain(row.owner, row.domain, new Date(now()), row.number) : []
    const reading = known.compare(answer, acceptancesOf(rows), profiles)
    return { reading, open: reading.open, isKept: true }
  } catch (error) {
    if (isAway(error) || (signal.aborted && !timedOut(signal))) throw error
    if (error instanceof AppError)
      return { reading: undefined, open: [error.message], isKept: error.code !== 'too_much_stored' }
    if (timedOut(signal)) return { reading: undefined, open: [monitorError('late').message], isKept: true }
    if (row.failures < FAILING_AFTER)
      log.error('the run of a monitor failed: an internal error', { monitor: row.id, err: error })
    return { reading: undefined, open: [monitorError('internal').message], isKept: true }
  }
}

/**
 * Bad if a condition holds or the answer itself is bad; unknown before anything is known, and after three runs without
 * a result.
 */
function monitorStateOf(row: MonitorRow, state: NotifyState, reading: Reading | undefined): About['state'] {
  if (state.failures >= FAILING_AFTER || state.topics.failing?.isBad) return 'unknown'
  if (reading?.known === undefined) return aboutOf(row).state
  const holds = Object.entries(state.topics).some(([name, { isBad }]) => name !== 'failing' && isBad)
  return holds || reading.isBad ? 'bad' : 'ok'
}

async function sendHeld({ now, database, monitors, deliveries }: Running, row: ClaimedMonitor): Promise<void> {
  const atMs = now()
  const step = afterWait(stateOf(row), atMs, quietUntil(atMs, quietOf(row) ?? undefined))
  await database.db.transaction().execute(async (tx) => {
    const isWritten = await monitors.writeNotifier(tx, row, JSON.stringify(step.state), dateOf(step))
    if (isWritten) await deliveries.add(tx, messagesOf(row, step, aboutOf(row), lastOf(row), atMs))
  })
}

const dateOf = ({ dueMs }: Step): Date | null => (dueMs === undefined ? null : new Date(dueMs))

/** The notifier's state; the state of an earlier version is discarded. */
function stateOf({ notifier }: ClaimedMonitor): NotifyState {
  const read = notifyState.safeParse(notifier)
  return read.success ? read.data : NEW_STATE
}

export const aboutOf = (row: MonitorRow): About => ({
  id: row.id,
  name: row.name,
  kind: monitorKind.parse(row.kind),
  target: row.target,
  state: row.state === 'ok' || row.state === 'bad' ? row.state : 'unknown',
})

/** The receivers of a monitor, without those that unsubscribed. */
export function toldTargets(row: MonitorRow): readonly KeptTarget[] {
  const stopped = unsubscribedOf(row)
  return targetsOf(row).filter((one) => one.type !== 'mail' || !stopped.includes(one.to.toLowerCase()))
}

export const makeMessageId = (): string => `msg_${randomBytes(16).toString('base64url')}`

function messagesOf(
  row: MonitorRow,
  { message }: Step,
  about: About,
  last: ReturnType<typeof lastOf>,
  nowMs: number,
  advice: readonly string[] = [],
): readonly NewDelivery[] {
  if (!message) return []
  const event = eventOf(about, { ...message, lines: [...message.lines, ...advice] }, last, nowMs)
  const body = JSON.stringify(event)
  return toldTargets(row).map((target) => ({
    id: makeMessageId(),
    webhook: target.type === 'webhook' ? target.number : null,
    monitor: row.number,
    channel: JSON.stringify(channelOf(target)),
    type: event.type,
    body,
    createdAt: new Date(nowMs),
  }))
}

export const channelOf = (target: KeptTarget) => (target.type === 'webhook' ? { type: 'webhook' as const } : target)
