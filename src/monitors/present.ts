import { z } from 'zod'
import {
  type BadgeAnswer,
  MESSAGE_SERVICES,
  type MonitorAnswer,
  type MonitorChange,
  type MonitorFacts,
  type MonitorPoint,
  monitorFacts,
  monitorKind,
  monitorPoint,
  monitorState,
} from '../answers/monitors.ts'
import { change } from '../answers/stored.ts'
import { escapeHtml, printable } from '../base/text.ts'
import { formatDuration } from '../base/time.ts'
import type { Acceptances } from '../score/accepted.ts'
import type { AcceptedRow } from '../store/postgres/accepted.ts'
import type { PointRow } from '../store/postgres/monitor-runs.ts'
import type { MonitorRow } from '../store/postgres/monitors.ts'
import type { ConsentState } from '../store/postgres/schema.ts'
import { changeLines } from './changes/changes.ts'
import type { Wanted } from './notify/machine.ts'
import { type Channel, type KeptTarget, keptTarget } from './notify/send.ts'

const targets = z.array(keptTarget)
const quietHours = z.strictObject({ from: z.string(), to: z.string(), timezone: z.string() }).nullable()
const strings = z.array(z.string())
const options = z.record(z.string(), z.string())

export const targetsOf = ({ notify }: MonitorRow): readonly KeptTarget[] => targets.parse(notify)
export const quietOf = ({ quiet }: MonitorRow): z.output<typeof quietHours> => quietHours.parse(quiet)
export const optionsOf = (row: MonitorRow): Readonly<Record<string, string>> => options.parse(row.options)
export const unsubscribedOf = ({ unsubscribed }: MonitorRow): readonly string[] => strings.parse(unsubscribed)
export const lastOf = ({ last }: MonitorRow): MonitorPoint | null => monitorPoint.nullable().parse(last)

/** The stored facts; null for those of an earlier version, which the next run replaces. */
function factsOfRow({ facts }: MonitorRow): MonitorFacts | null {
  const read = monitorFacts.nullable().safeParse(facts)
  return read.success ? read.data : null
}

/** The addresses that a monitor sends mail to. */
export const mailboxesOf = (targets: readonly { readonly type: string; readonly to?: string }[]): readonly string[] =>
  targets.flatMap((one) => (one.type === 'mail' && one.to !== undefined ? [one.to.toLowerCase()] : []))

export function wantedOf({ conditions }: MonitorRow): Wanted {
  const when = strings.parse(conditions)
  const limit = when.find((one) => one.startsWith('score_below:'))
  const failing = when.find((one) => one.startsWith('failing_above:'))
  return {
    changed: when.includes('changed'),
    worse: when.includes('worse'),
    listed: when.includes('listed'),
    scoreBelow: limit === undefined ? undefined : Number(limit.slice('score_below:'.length)),
    newSender: when.includes('new_sender'),
    failingAbove: failing === undefined ? undefined : Number(failing.slice('failing_above:'.length)),
    noReports: when.includes('no_reports'),
  }
}

/**
 * A monitor as an answer. `secrets`: of webhooks that this call has created, by their id. `consents`: of the addresses
 * that have to consent (notify/consent.ts). `accepted`: of its findings.
 */
export function presentMonitor(
  row: MonitorRow,
  {
    secrets = new Map(),
    consents = new Map(),
    accepted = [],
  }: {
    readonly secrets?: ReadonlyMap<string, string>
    readonly consents?: ReadonlyMap<string, ConsentState>
    readonly accepted?: readonly AcceptedRow[]
  } = {},
): MonitorAnswer {
  const stopped = unsubscribedOf(row)
  return {
    id: row.id,
    name: row.name,
    kind: monitorKind.parse(row.kind),
    target: row.target,
    every: formatDuration(row.every_ms),
    options: optionsOf(row),
    notify: targetsOf(row).map((one): MonitorAnswer['notify'][number] => {
      if (one.type === 'mail') {
        const address = one.to.toLowerCase()
        const consent = consents.get(address)
        const open = consent !== undefined &&
          consent !== 'given' && { consent: consent === 'asked' ? ('pending' as const) : consent }
        return { type: 'mail', to: one.to, ...(stopped.includes(address) && { unsubscribed: true }), ...open }
      }
      if (one.type !== 'webhook') return { type: one.type, url: shownUrl(one) }
      const secret = secrets.get(one.id)
      return { type: 'webhook', url: one.url, id: one.id, ...(secret !== undefined && { secret }) }
    }),
    when: strings.parse(row.conditions),
    quiet_hours: quietOf(row),
    public: row.is_public,
    enabled: row.enabled,
    labels: [...row.labels],
    owner: row.contact === '' ? null : row.contact,
    note: row.note,
    state: monitorState.parse(row.state),
    last: lastOf(row),
    below: row.domain !== row.organization && row.organization !== '' ? row.organization : null,
    facts: factsOfRow(row),
    accepted: [...acceptancesOf(accepted)].map(([finding, one]) => ({ finding, ...one })),
    changed_at: row.changed_at?.toISOString() ?? null,
    failures: row.failures,
    created_at: row.created_at.toISOString(),
    next_run_at: row.next_run.toISOString(),
  }
}

/** Without its path where who knows it may post there. */
export const shownUrl = ({ type, url }: Extract<Channel, { url: string }>): string =>
  MESSAGE_SERVICES[type].hasSecretUrl ? `${new URL(url).origin}/***` : url

/** Accepted findings by their ids; of several of one finding the one that ends last. */
export const acceptancesOf = (rows: readonly AcceptedRow[]): Acceptances =>
  new Map(
    rows.map(({ finding, author, reason, until }) => [finding, { by: author, reason, until: until.toISOString() }]),
  )

export const presentPoint = ({ at, status, score, listed, reason }: Omit<PointRow, 'changes'>): MonitorPoint => ({
  time: at.toISOString(),
  status,
  score,
  listed,
  ...(reason !== null && { reason }),
})

export function presentChange({ at, changes }: PointRow): MonitorChange {
  const all = z.array(change).parse(changes)
  return { time: at.toISOString(), lines: [...changeLines(all)], changes: all }
}

const OF_PROFILE = { met: 'brightgreen', not_met: 'red', unknown: 'lightgrey' } as const
const COLORS = { ok: 'brightgreen', bad: 'red', unknown: 'lightgrey' } as const

/**
 * The badge of a monitor: its target and its state, or whether it meets a profile. The target of a verification is not
 * shown.
 */
export function badgeOf(
  {
    kind,
    target,
    state,
    last,
    facts,
  }: Pick<MonitorAnswer, 'kind' | 'target' | 'state' | 'last'> & Partial<Pick<MonitorAnswer, 'facts'>>,
  profile?: string,
): BadgeAnswer {
  const label = kind === 'verify' ? 'mailbox' : kind === 'blacklist' ? 'blacklists' : `mail ${printable(target, 60)}`
  if (profile !== undefined) {
    const verdict = facts?.profiles[profile] ?? 'unknown'
    const message = verdict === 'not_met' ? 'not met' : verdict
    return { schemaVersion: 1, label: `${profile} ${printable(target, 60)}`, message, color: OF_PROFILE[verdict] }
  }
  return { schemaVersion: 1, label, message: messageOf(state, last), color: COLORS[state] }
}

function messageOf(state: MonitorAnswer['state'], last: MonitorAnswer['last']): string {
  if (state === 'unknown') return 'unknown'
  if (last?.score !== null && last?.score !== undefined) return `${last.score}/100`
  if (last?.listed !== null && last?.listed !== undefined) return last.listed === 0 ? 'on no list' : `on ${last.listed}`
  return state
}

/** Colours of shields.io by their names. */
const HEX: Readonly<Record<string, string>> = { brightgreen: '#2c7d1e', red: '#c22f2f', lightgrey: '#6b6b6b' }
/** Width of a character of the font, in px: an estimate, which `textLength` makes fit. */
const CHARACTER = 6.6

/** The badge as an image without external resources. */
export function badgeSvg({ label, message, color }: BadgeAnswer): string {
  const width = (text: string): number => Math.round([...text].length * CHARACTER) + 12
  const [left, right] = [width(label), width(message)]
  const [name, said] = [escapeHtml(label), escapeHtml(message)]
  const text = (x: number, length: number, words: string): string =>
    `<text x="${x}" y="14" textLength="${length - 12}" lengthAdjust="spacingAndGlyphs">${words}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${name}: ${said}"><title>${name}: ${said}</title><rect width="${left}" height="20" fill="#444"/><rect x="${left}" width="${right}" height="20" fill="${HEX[color] ?? '#6b6b6b'}"/><g fill="#fff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">${text(6, left, name)}${text(left + 6, right, said)}</g></svg>\n`
}
