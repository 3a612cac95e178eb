import type {
  MonitorAnswer,
  MonitorChange,
  MonitorDigestAnswer,
  MonitorKind,
  MonitorPoint,
  MonitorRunAnswer,
  MonitorSummary,
  MonitorTestAnswer,
} from '../answers/monitors.ts'
import { counted, firstOf } from '../base/text.ts'
import { dmarc } from '../checks/registry.ts'
import { titleOfFinding } from '../score/accepted.ts'
import {
  type Block,
  bullets,
  type Column,
  code,
  conclude,
  type Document,
  facts,
  heading,
  type Inline,
  type Mark,
  type Marked,
  type Parts,
  pointLine,
  quiet,
  type TimePoint,
  table,
  text,
  withChange,
} from './block.ts'
import { type List, listDocument } from './list.ts'
import { documentOf, markOfScore, wordsOf } from './words.ts'

/** The question of each kind of monitor, and the meaning of its states. */
const KINDS: Readonly<Record<MonitorKind, { readonly asks: string; readonly ok: string; readonly bad: string }>> = {
  check: { asks: 'Domain check, without blacklists', ok: 'No check fails.', bad: 'A check fails.' },
  report: {
    asks: 'Domain report: checks and blacklists',
    ok: 'No check fails, and no address is on a blacklist.',
    bad: 'A check fails, or an address is on a blacklist.',
  },
  verify: {
    asks: 'Mailbox verification',
    ok: 'The mail server does not reject the mailbox.',
    bad: 'The mail server rejects the mailbox.',
  },
  blacklist: {
    asks: 'Blacklist lookup of an IP address',
    ok: 'The address is on no blacklist that answered.',
    bad: 'The address is on a blacklist.',
  },
  reports: {
    asks: 'Reports about a domain: who sends as it',
    ok: 'No condition holds.',
    bad: 'A condition holds.',
  },
}
export const kindInWords = (kind: MonitorKind): string => KINDS[kind].asks

/** The target in one line: the monitor's name, otherwise the target itself. */
export const monitorTitle = ({ name, target }: Pick<MonitorAnswer, 'name' | 'target'>): string =>
  name === '' ? target : name

/** The state of a monitor at a glance. */
export function monitorState({ enabled, state, last }: MonitorAnswer): Marked {
  if (!enabled) return { mark: 'none', text: 'Paused' }
  if (state === 'unknown') return { mark: 'open', text: last === null ? 'Not run yet' : 'Not known' }
  return state === 'ok' ? { mark: 'good', text: 'OK' } : { mark: 'bad', text: 'Bad' }
}

/** A condition as text: `score_below:80` as `the score is below 80`. */
export function conditionInWords(condition: string): string {
  const limit = /^score_below:(\d+)$/.exec(condition)?.[1]
  if (limit !== undefined) return `the score falls below ${limit}`
  const failing = /^failing_above:(\d+)$/.exec(condition)?.[1]
  if (failing !== undefined) return `more than ${failing} % of a day's mail fails DMARC`
  if (condition === 'new_sender') return 'a new sender is seen'
  if (condition === 'no_reports') return 'no report has come in for 3 days'
  if (condition === 'changed') return 'anything changes'
  if (condition === 'worse') return 'the status or the score gets worse'
  return condition === 'listed' ? 'an address is on a blacklist' : condition
}

/** A monitor: its state, target and interval, its conditions and receivers. */
export const monitorDocument = (monitor: MonitorAnswer, version: string): Document =>
  documentOf(
    `Monitor: ${monitorTitle(monitor)}`,
    version,
    conclusionOf(monitor),
    factsOf(monitor),
    receivers(monitor),
    testTable(monitor.tested ?? []),
  )

function conclusionOf(monitor: MonitorAnswer): Block {
  const { enabled, state, last, failures, kind } = monitor
  const { mark, text: badge } = monitorState(monitor)
  const found = gradeInWords(monitor) ?? (state === 'unknown' ? undefined : KINDS[kind][state])
  const known = found === undefined ? '' : `${enabled ? '' : 'When it last ran: '}${found}`
  const words = last === null ? (enabled ? 'The first run starts soon.' : 'The monitor has not run.') : known
  const runs = failures === 1 ? 'The last run' : `The last ${failures} runs`
  const why = last?.reason === undefined ? '' : ` (${last.reason})`
  const still = known === '' ? '' : '; this is the last known state'
  return conclude(
    monitorTitle(monitor),
    mark,
    badge,
    words,
    failures === 0 ? [] : [[`${runs} had no result${why}${still}.`]],
  )
}

/** `F, 43 of 100: No DMARC record.`; undefined where no grade is known. */
export function gradeInWords({ facts }: Pick<MonitorAnswer, 'facts'>): string | undefined {
  if (!facts || facts.grade === null || facts.score === null) return undefined
  return `Grade ${facts.grade}, ${facts.score} of 100: ${facts.worst?.title ?? 'nothing to repair'}.`
}

/** Its worst finding; whether it is accepted. */
export function worstInWords({ facts, accepted }: Pick<MonitorAnswer, 'facts' | 'accepted'>): string {
  if (!facts?.worst) return '–'
  const { finding, title } = facts.worst
  const until = accepted.find((one) => one.finding === finding)?.until
  return until === undefined ? title : `${title} (accepted until ${until.slice(0, 10)})`
}

/** Since when it is as it is: what the last run that changed something found; nothing while nothing has changed. */
export const sinceBlocks = ([last]: readonly MonitorChange[]): Block[] =>
  last === undefined ? [] : [text({ strong: 'Since ' }, { time: last.time }, `: ${firstOf(last.lines, 3, '; ')}.`)]

/** Findings that are about reports, or that the policy itself says. */
const BESIDE_POLICY = /^dmarc\.(?:no_rua|report_|rua_|policy_|legacy_differs|walk_gap|inherited|subdomains_weaker)/

/** The policy that applies to a domain and its phase; and, where it is not `reject`, what is wrong with its record. */
export function dmarcInWords(facts: MonitorAnswer['facts']): { readonly policy: string; readonly why?: string } {
  if (facts === null) return { policy: '–' }
  const { policy } = facts
  const id = facts.findings.find((one) => one.startsWith('dmarc.') && !BESIDE_POLICY.test(one))
  const why = DMARC_TITLES.get(id ?? '')
  const words = policy === 'absent' ? 'no policy' : policy === 'unknown' ? 'not known' : `p=${policy}`
  const phase = policy === 'absent' || policy === 'unknown' ? '' : `, ${phaseInWords(facts)}`
  return { policy: `${words}${phase}`, ...(policy !== 'reject' && why !== undefined && { why }) }
}

const DMARC_TITLES: ReadonlyMap<string, string> = new Map(
  Object.entries(dmarc.table).map(([id, { title }]) => [id, title]),
)

/** The phase of DMARC of a domain: `inherited: enforced` for one without a record of its own. */
export function phaseInWords(facts: MonitorAnswer['facts']): string {
  if (facts === null) return '–'
  return facts.inherited_phase === undefined ? facts.phase : `inherited: ${facts.inherited_phase}`
}

function factsOf(monitor: MonitorAnswer): Block | undefined {
  const { id, kind, target, every, options, last, enabled } = monitor
  return facts(
    ['Target', code(target)],
    ['Check', KINDS[kind].asks],
    ...Object.entries(options).map(([name, value]) => [name.replaceAll('_', ' '), code(value)] as const),
    monitor.facts !== null && [
      'DMARC',
      [
        phaseInWords(monitor.facts),
        ...(monitor.facts.inherited_because ? [`. ${monitor.facts.inherited_because}`] : []),
      ],
    ],
    ['Interval', every],
    [
      'Last run',
      last === null ? '–' : [{ time: last.time }, last.reason === undefined ? `: ${lastInWords(last)}` : ': no result'],
    ],
    ['Next run', enabled ? { time: monitor.next_run_at } : 'none: it is paused'],
    ['Badge', monitor.public ? code(`/v1/badge/${id}.svg`) : 'not public'],
    ...monitor.accepted.map(
      ({ finding, until, by, reason }) =>
        ['Accepted', [code(finding), ` until ${until.slice(0, 10)} by ${by}: ${reason}`]] as const,
    ),
    monitor.labels.length > 0 && ['Labels', monitor.labels.join(', ')],
    monitor.owner !== null && ['Owner', code(monitor.owner)],
    monitor.note !== '' && ['Note', monitor.note],
    ['Created', { time: monitor.created_at }],
    ['Id', code(id)],
  )
}

function receivers({ notify, when, quiet_hours: hours }: MonitorAnswer): Parts {
  if (notify.length === 0) return text('No notifications are sent; the history is kept.')
  return [
    table('Notifications', notify, ['By', ({ type }) => type], ['Address', receiver]),
    text(`Messages are sent when ${when.map(conditionInWords).join(', or when ')}.`),
    hours !== null && text(`No notifications are sent from ${hours.from} to ${hours.to} (${hours.timezone}).`),
    notify.map(
      (one) =>
        one.type === 'webhook' &&
        one.secret !== undefined && { kind: 'seen', label: 'Secret of the webhook, shown only once', text: one.secret },
    ),
  ]
}

function receiver(one: MonitorAnswer['notify'][number]): Inline[] {
  if (one.type !== 'mail') return [code(one.url)]
  const why = one.unsubscribed
    ? 'has unsubscribed'
    : one.consent === 'pending'
      ? 'has not consented yet'
      : one.consent === 'refused' && 'refused mail of this service'
  return [code(one.to), ...(why ? [` (${why})`] : [])]
}

/** Monitors in the order of the request. */
export const monitorListDocument = (list: List<MonitorAnswer>, version: string): Document =>
  listDocument(
    { title: 'Monitors', one: 'monitor' },
    list,
    version,
    table(
      'Monitors',
      list.data,
      ['Target', ({ name, target }) => [...(name === '' ? [] : [`${name}: `]), code(target)]],
      ['State', monitorState],
      ['Grade', ({ facts }) => facts?.grade ?? '–'],
      ['Worst finding', worstInWords],
      [
        'DMARC',
        ({ facts: known }) => [
          dmarcInWords(known).policy,
          ...[dmarcInWords(known).why ?? []].flat().map((why) => `: ${why}`),
        ],
      ],
      ['Labels', ({ labels }) => labels.join(', ') || '–'],
      ['Last run', ({ last }) => (last === null ? '–' : last.reason === undefined ? lastInWords(last) : 'no result')],
      ['Id', ({ id }) => code(id)],
    ),
  )

const READER_STATES: Readonly<Record<MonitorDigestAnswer['data'][number]['state'], Marked>> = {
  ready: { mark: 'good', text: 'gets it' },
  not_asked: { mark: 'open', text: 'has to consent; is asked when digests are on' },
  asked: { mark: 'open', text: 'has not consented yet' },
  refused: { mark: 'none', text: 'refused mail of this service' },
  unsubscribed: { mark: 'none', text: 'has unsubscribed' },
}
export const readerState = ({ state }: Pick<MonitorDigestAnswer['data'][number], 'state'>): Marked =>
  READER_STATES[state]
const INTERVALS = { off: 'Off', day: 'Every day', week: 'Every week' } as const

/** Who gets digests, and what one says now. */
export function monitorDigestDocument(answer: MonitorDigestAnswer, version: string): Document {
  const { every, next_at, cannot_send, owners, without_owner, data, has_more, preview } = answer
  return documentOf(
    'Digests to owners',
    version,
    conclude(
      'Digests to owners',
      every === 'off' ? 'none' : 'good',
      INTERVALS[every],
      `${counted(owners, 'address is', 'addresses are')} responsible for your monitors${without_owner === 0 ? '' : `; ${counted(without_owner, 'monitor has', 'monitors have')} nobody`}.`,
    ),
    next_at !== null &&
      text('The next ones are sent at ', { time: next_at }, ' to those for whom something has changed.'),
    cannot_send !== undefined && text(`Digests cannot be sent: ${cannot_send}.`),
    table(
      'Owners',
      data,
      ['Address', ({ address }) => code(address)],
      ['Monitors', ({ monitors }) => monitors, 'number'],
      ['Changed', ({ changed }) => changed, 'number'],
      ['State', ({ state, foreign }) => [READER_STATES[state], foreign ? '; at no domain of yours' : '']],
    ),
    has_more && quiet('More follow on the next page.'),
    preview !== null && [
      heading(2, `What ${preview.to} would get now`, 'preview'),
      { kind: 'seen', label: preview.subject, text: preview.text.trimEnd().split('\n') },
    ],
  )
}

/** The dimensions of a summary, with their headings. */
const DIMENSIONS = [
  ['grade', 'Grades'],
  ['state', 'States'],
  ['phase', 'Phases of DMARC'],
  ['policy', 'DMARC policies'],
  ['mta_sts', 'MTA-STS'],
  ['dnssec', 'DNSSEC'],
  ['provider', 'Providers of mail hosts'],
  ['role', 'Roles'],
  ['findings', 'Findings of the most domains'],
] as const satisfies readonly (readonly [keyof MonitorSummary, string])[]

/** Monitors counted by what is known of them; what is not known is a value of its own. */
export function monitorSummaryDocument(summary: MonitorSummary, version: string): Document {
  const { total, compare } = summary
  const unknown = summary.grade.find(({ value }) => value === 'unknown')?.count ?? 0
  const words = unknown === 0 ? 'The grade of each is known.' : `The grade of ${unknown} is not known.`
  return documentOf(
    'Summary of monitors',
    version,
    conclude('Monitors', 'none', counted(total, 'monitor'), words),
    DIMENSIONS.map(([name, caption]) =>
      table(
        caption,
        summary[name],
        ['Value', ({ value }) => (name === 'findings' ? [titleOfFinding(value), ' ', code(value)] : value)],
        ['Now', ({ count }) => `${count} (${Math.round((100 * count) / Math.max(1, total))} %)`, 'number'],
        ['7 days', (one) => signed(one.change_7_days), 'number'],
        ['28 days', (one) => signed(one.change_28_days), 'number'],
        ...(compare === undefined
          ? []
          : [
              [compare, ({ compared = 0 }) => compared, 'number'] as const satisfies Column<
                MonitorSummary['grade'][number]
              >,
            ]),
      ),
    ),
    table(
      'Profiles',
      summary.profiles,
      ['Profile', ({ name }) => name],
      ['Met', ({ met }) => `${met} of ${total}`, 'number'],
      ['Not met', ({ not_met }) => not_met, 'number'],
      ['Unknown', ({ unknown }) => unknown, 'number'],
      ['7 days', (one) => signed(one.change_7_days), 'number'],
      ['28 days', (one) => signed(one.change_28_days), 'number'],
    ),
  )
}

const signed = (change: number | null): string => (change === null ? '–' : change > 0 ? `+${change}` : String(change))

/** A requested run: whether it waits for its turn, or its result. */
export function monitorRunDocument({ run }: MonitorRunAnswer, version: string): Document {
  const { point } = run
  return documentOf(
    'Run of a monitor',
    version,
    run.state === 'done' && point !== null
      ? conclude(run.monitor, markOfStatus(point.status), 'Has run', `${lastInWords(point)}.`)
      : conclude(run.monitor, 'open', 'Waiting', 'The run starts as soon as there is capacity.'),
    bullets(run.lines),
  )
}

/** The results of the test messages. */
export function monitorTestDocument({ sent }: MonitorTestAnswer, version: string): Document {
  const failed = sent.filter(({ ok }) => !ok).length
  const subject = 'Test messages'
  return documentOf(
    subject,
    version,
    sent.length === 0
      ? conclude(subject, 'none', 'Nobody', 'The monitor has no recipients, so nothing was sent.')
      : failed === 0
        ? conclude(subject, 'good', 'Sent', 'Every message was accepted.')
        : conclude(subject, 'bad', 'Failed', `${counted(failed, 'message')} of ${sent.length} could not be sent.`),
    testTable(sent),
  )
}

/** What each receiver answered to a test message. */
const testTable = (sent: MonitorTestAnswer['sent']): Block | undefined =>
  table(
    'Test messages',
    sent,
    ['By', ({ type }) => type],
    ['Address', ({ to }) => code(to)],
    ['Outcome', (one) => (one.ok ? { mark: 'good', text: 'taken' } : { mark: 'bad', text: one.reason ?? 'failed' })],
  )

/** Words of statuses, results and verdicts, as marks. */
const MARKS: Readonly<Record<string, Mark>> = {
  pass: 'good',
  accepted: 'good',
  clean: 'good',
  warn: 'warn',
  catch_all: 'warn',
  fail: 'bad',
  rejected: 'bad',
  invalid: 'bad',
  listed: 'bad',
  not_applicable: 'none',
}
export const markOfStatus = (status: string): Mark => (Object.hasOwn(MARKS, status) ? MARKS[status]! : 'open')

/** Runs in a heartbeat. */
const BEATS = 40

/** The last runs, oldest first, and how many of them ended how; undefined without any. */
export function heartbeatOf(points: readonly MonitorPoint[]) {
  const marks = points.slice(-BEATS).map(({ status }) => markOfStatus(status))
  const count = (mark: Mark): number => marks.filter((one) => one === mark).length
  const parts = (['good', 'warn', 'bad', 'open'] as const).flatMap((mark) =>
    count(mark) === 0 ? [] : [`${count(mark)} ${BEAT_WORDS[mark]}`],
  )
  return marks.length === 0 ? undefined : { marks, words: `Last ${counted(marks.length, 'run')}: ${parts.join(', ')}` }
}
const BEAT_WORDS = { good: 'good', warn: 'with warnings', bad: 'bad', open: 'unknown' } as const

/** One point as text: the status, or why it is unknown. */
const statusInWords = ({ status, reason }: MonitorPoint): string =>
  reason === undefined ? wordsOf(status) : `could not be determined: ${reason}`

/** `pass, score 97, on no blacklist`. */
export const lastInWords = (point: MonitorPoint): string =>
  [
    statusInWords(point),
    ...(point.score === null ? [] : [`score ${point.score}`]),
    ...(point.listed === null ? [] : [listedInWords(point.listed)]),
  ].join(', ')
const listedInWords = (count: number): string => (count === 0 ? 'on no blacklist' : counted(count, 'listing'))

/** The runs of a monitor over time: score and listings as timelines; without numbers, the changes of the status. */
export function historyBlocks(points: readonly MonitorPoint[]): Block[] {
  if (points.length === 0) return [text('The monitor has not run yet.')]
  const hasScore = points.some(({ score }) => score !== null)
  const hasListed = points.some(({ listed }) => listed !== null)
  if (points.every(({ reason }) => reason !== undefined)) return [text('No run has had a result yet.')]
  if (!hasScore && !hasListed)
    return [{ kind: 'list', items: withChange(points.map(statusPoint)).slice(-MAX_LINES).map(pointLine) }]
  const most = Math.max(1, ...points.map(({ listed }) => listed ?? 0))
  return [
    ...(hasScore ? [line('Score, of 100', 100, points.map(scorePoint))] : []),
    ...(hasListed ? [line('Listings on blacklists', most, points.map(listedPoint))] : []),
  ]
}
/** Maximum number of status changes shown as text. */
const MAX_LINES = 50

const line = (label: string, most: number, points: readonly TimePoint[]): Block => ({
  kind: 'timeline',
  timeline: { label, least: 0, most, points },
})
const statusPoint = (point: MonitorPoint): TimePoint => ({
  time: point.time,
  value: null,
  mark: markOfStatus(point.status),
  text: statusInWords(point),
})
const scorePoint = (point: MonitorPoint): TimePoint => ({
  ...statusPoint(point),
  value: point.score,
  mark: point.score === null ? 'open' : markOfScore(point.score),
})
const listedPoint = (point: MonitorPoint): TimePoint => ({
  time: point.time,
  value: point.listed,
  mark: point.listed === null ? 'open' : point.listed === 0 ? 'good' : 'bad',
  text: point.listed === null ? statusInWords(point) : '',
})

export const monitorHistoryDocument = (list: List<MonitorPoint>, version: string): Document =>
  listDocument({ title: 'History', one: 'run' }, list, version, historyBlocks(list.data))

/** The changes and their times as text, newest first. */
export const changeBlocks = (changes: readonly MonitorChange[]): Block[] =>
  changes.flatMap(({ time, lines }): Block[] => [
    { kind: 'heading', level: 3, line: [{ time }] },
    { kind: 'list', items: lines.map((one) => [one]) },
  ])

export const monitorChangesDocument = (list: List<MonitorChange>, version: string): Document =>
  listDocument(
    { title: 'Changes', one: 'run with changes', many: 'runs with changes' },
    list,
    version,
    list.data.length > 0 && heading(2, 'Newest first'),
    changeBlocks(list.data),
  )
