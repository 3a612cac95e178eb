import { z } from 'zod'
import {
  MESSAGE_SERVICES,
  type MonitorAnswer,
  type MonitorKind,
  messageService,
  monitorKind,
} from '../../answers/monitors.ts'
import { invalidAt } from '../../base/errors.ts'
import { type Parsed, parsed, problem } from '../../base/problem.ts'
import { printable } from '../../base/text.ts'
import { valueProblem } from '../../base/value-problems.ts'
import { MAX_LABELS } from '../../monitors/portfolio.ts'
import { monitorError } from '../../monitors/problems.ts'
import { isTimezone } from '../../monitors/schedule.ts'
import type { MonitorInput, NotifyTarget } from '../../monitors/service.ts'
import { formatEmail } from '../../names/email.ts'
import { parsePastedDomain, parsePastedEmail, parsePastedIp } from '../../names/pasted.ts'
import { refusePrivateUrl } from '../../peers/ask.ts'
import type { Ctx } from '../../world.ts'
import { blacklist } from '../blacklist.ts'
import { check } from '../check.ts'
import type { Deps } from '../deps.ts'
import type { Caller } from '../operation.ts'
import { bodyFlagParam, durationParam, lineParam, listParam, objectParam, optional, textParam } from '../params.ts'
import { monitorInputError, monitorProblem } from '../problems.ts'
import { report } from '../report.ts'
import { refuseOthers } from '../reports/shared.ts'
import { reportsShow } from '../reports/show.ts'
import { verify } from '../verify.ts'

const idOf =
  (prefix: string, kind: 'monitor' | 'webhook' | 'delivery' | 'question') =>
  (text: string): Parsed<string> =>
    new RegExp(`^${prefix}_[\\w-]{22}$`).test(text) ? parsed(text) : problem(valueProblem('id', { text, kind }))

export const exampleMonitor = { id: 'mon_AAAAAAAAAAAAAAAAAAAAAA' }
export const monitorIdParam = textParam<string>('not_found', idOf('mon', 'monitor'), {
  description: 'id of the monitor',
  example: exampleMonitor.id,
})
export const exampleWebhook = { id: 'wh_AAAAAAAAAAAAAAAAAAAAAA' }
export const webhookIdParam = textParam<string>('not_found', idOf('wh', 'webhook'), {
  description: 'id of the webhook',
  example: exampleWebhook.id,
})
export const deliveryIdParam = textParam<string>('not_found', idOf('msg', 'delivery'), {
  description: 'id of the delivery',
  example: 'msg_AAAAAAAAAAAAAAAAAAAAAA',
})

/** What the link in a mail names: its delivery, or the reader of digests. */
export const unsubscribeParam = textParam<string>(
  'not_found',
  (text) => idOf(text.startsWith('dig_') ? 'dig' : 'msg', 'delivery')(text),
  { description: 'what the link in the mail has', example: 'msg_AAAAAAAAAAAAAAAAAAAAAA' },
)

export const consentIdParam = textParam<string>('invalid_parameter', idOf('con', 'question'), {
  description: 'id in the link of the question for consent',
  example: 'con_AAAAAAAAAAAAAAAAAAAAAA',
})

/**
 * Maximum number of characters of a recipient's URL, also as it is stored: there a character beyond ASCII has up to 12.
 */
const MAX_URL = 2_000
const receiverUrl = z.string().max(MAX_URL)

/**
 * Reads the URL of a receiver: HTTPS to public addresses, without a login; networks that the operator allowed are
 * accepted too, with plain HTTP. The address is checked again at every call. Throws AppError `invalid_parameter`.
 */
export async function readReceiver(
  ctx: Ctx,
  deps: Pick<Deps, 'mayCall'>,
  text: string,
  parameter: string,
): Promise<string> {
  const url = URL.parse(text.trim())
  const at = { parameter, at: parameter }
  if (!url || !/^https?:$/.test(url.protocol)) throw monitorInputError('url', undefined, at)
  if (url.username !== '' || url.password !== '') throw monitorInputError('login', undefined, at)
  url.hash = ''
  if (url.href.length > MAX_URL) throw monitorInputError('url_length', { max: MAX_URL }, at)
  await refusePrivateUrl(ctx, deps, url.origin, parameter)
  return url.href
}

export const monitorExample: MonitorAnswer = {
  ...exampleMonitor,
  name: 'our domain',
  kind: 'report',
  target: 'example.org',
  every: '24h',
  options: {},
  notify: [{ type: 'webhook', url: 'https://hooks.example.org/mail', id: exampleWebhook.id }],
  when: ['changed', 'listed'],
  quiet_hours: null,
  public: false,
  enabled: true,
  labels: ['customers'],
  owner: 'postmaster@example.org',
  note: '',
  state: 'ok',
  below: null,
  facts: {
    ...{ score: 97, grade: 'A', role: 'sends_and_accepts_mail', provider: 'Microsoft 365' },
    ...{ policy: 'quarantine', phase: 'enforced', mta_sts: 'none', dnssec: 'unsigned' },
    worst: { finding: 'dmarc.policy_quarantine', severity: 'low', title: 'DMARC policy quarantine' },
    findings: ['dmarc.policy_quarantine'],
    profiles: { 'bulk-sender': 'met', 'bod-18-01': 'not_met' },
  },
  accepted: [],
  changed_at: null,
  last: { time: '2026-01-02T03:04:05.000Z', status: 'pass', score: 97, listed: 0 },
  failures: 0,
  created_at: '2026-01-01T03:04:05.000Z',
  next_run_at: '2026-01-03T03:04:05.000Z',
}

const DAY_MS = 86_400_000
/** Maximum number of receivers of a monitor. */
const MAX_NOTIFY = 10
const MAX_OPTION_NAME = 40

const services = Object.entries(MESSAGE_SERVICES)
  .map(([type, { takesToken }]) => `{"type": "${type}", "url"${takesToken ? ', "token"?' : ''}}`)
  .join(' or ')
const notifyItem = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('webhook'), url: receiverUrl }),
  z.strictObject({ type: z.literal('mail'), to: z.string().max(320) }),
  z
    .strictObject({
      type: messageService,
      url: receiverUrl,
      token: z
        .string()
        .max(200)
        .regex(/^[\x21-\x7e]+$/)
        .optional(),
    })
    .refine(({ type, token }) => token === undefined || MESSAGE_SERVICES[type].takesToken, {
      message: monitorProblem('token').text,
      path: ['token'],
    }),
])
const CONDITION =
  /^(?:changed|worse|listed|score_below:(?:100|[1-9]?\d)|new_sender|failing_above:(?:100|[1-9]?\d)|no_reports)$/
/** Conditions of a monitor of reports, and of all others. */
const OF_REPORTS = /^(?:changed|new_sender|failing_above:\d+|no_reports)$/
const OF_OTHERS = /^(?:changed|worse|listed|score_below:\d+)$/
const clock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, monitorProblem('clock').text)
const quietHours = z.strictObject({
  from: clock,
  to: clock,
  timezone: z.string().refine(isTimezone, monitorProblem('timezone').text).default('UTC'),
})

/** Bounds of the interval of runs, ms. */
export const EVERY = { minMs: 900_000, maxMs: 31 * DAY_MS } as const
/** The interval of a monitor that names none. */
export const EVERY_MS = DAY_MS
const MAX_LABEL = 60
const label = z
  .string()
  .max(MAX_LABEL)
  .refine((text) => text === printable(text, MAX_LABEL), monitorProblem('label').text)
const labels = z.array(label).max(MAX_LABELS)

/** Labels without empty ones and white space around them, each once. Throws AppError `invalid_parameter`. */
export function labelsOf(texts: readonly string[]): readonly string[] {
  const read = labels.safeParse([...new Set(texts.map((text) => text.trim()).filter((text) => text !== ''))])
  if (read.success) return read.data
  throw monitorInputError('labels', { count: MAX_LABELS, max: MAX_LABEL }, { parameter: 'labels', at: 'labels' })
}

/** The mail address of who is responsible for a target; '' for nobody. Throws AppError `invalid_parameter`. */
export function readOwner(text: string): string {
  if (text.trim() === '') return ''
  const email = parsePastedEmail(text.trim())
  if (!email.ok) throw invalidAt('invalid_parameter', 'owner', email.problem)
  return formatEmail(email.value)
}

const noteText = lineParam('what to know of the target', 500)
const everyParam = durationParam(EVERY, {
  description: 'interval between runs',
  group: 'question',
  fallback: '24h',
  example: '24h',
})
/** What a request to many monitors may set. */
export const manySettings = z.strictObject({
  labels: labels.optional(),
  add_labels: labels.optional(),
  remove_labels: labels.optional(),
  owner: z.string().max(320).optional(),
  note: noteText.schema.optional(),
  every: everyParam.schema.optional(),
  enabled: z.boolean().optional(),
})

/** The settings of a monitor, at its creation and later. */
export const settingParams = {
  name: optional(lineParam('display name of the monitor', 200)),
  every: optional(everyParam),
  labels: listParam(label, MAX_LABELS, { description: 'labels, by which monitors are found and changed together' }),
  owner: optional(lineParam('mail address of who is responsible for the target', 320)),
  note: optional(noteText),
  options: {
    ...optional(
      objectParam(z.record(z.string().max(MAX_OPTION_NAME), z.union([z.string().max(500), z.boolean(), z.number()])), {
        description: 'other parameters of the kind, such as {"selector": "s1"}',
      }),
    ),
  },
  notify: listParam(notifyItem, MAX_NOTIFY, {
    description: `recipients of notifications: {"type": "webhook", "url"}, {"type": "mail", "to"} or ${services}`,
    group: 'notify',
  }),
  when: listParam(z.string().regex(CONDITION, monitorProblem('condition').text), 4, {
    description:
      'when to notify: changed, worse, listed, score_below:N; of reports changed, new_sender, failing_above:N, no_reports',
    group: 'notify',
    example: 'changed',
  }),
  quiet_hours: {
    ...optional(
      objectParam(quietHours, {
        description: 'hours without notifications: {"from": "22:00", "to": "07:00", "timezone": "Europe/Berlin"}',
        group: 'notify',
      }),
    ),
  },
  public: { ...bodyFlagParam('make its badge public') },
}

type Notify = z.output<typeof notifyItem>
type Used = Pick<Deps, 'mayCall' | 'monitors'>

/** Reads the receivers of a monitor. Throws AppError for an address that cannot get messages. */
export async function readNotify(ctx: Ctx, deps: Used, items: readonly Notify[]): Promise<readonly NotifyTarget[]> {
  const all: NotifyTarget[] = []
  for (const item of items) {
    if (item.type === 'mail') all.push({ type: 'mail', to: await readMailbox(deps, item.to) })
    else all.push({ ...item, url: await readReceiver(ctx, deps, item.url, 'notify') })
  }
  for (const one of all)
    if (one.type === 'ntfy' && new URL(one.url).pathname.replaceAll('/', '') === '')
      throw monitorInputError('ntfy', undefined, NOTIFY)
  return all
}

async function readMailbox({ monitors }: Used, text: string): Promise<string> {
  const email = parsePastedEmail(text.trim())
  if (!email.ok) throw invalidAt('invalid_parameter', 'notify', email.problem)
  const address = formatEmail(email.value)
  const fault = await (await monitors()).mailFault(address)
  if (fault !== undefined) throw monitorError(fault, undefined, NOTIFY)
  return address
}

const NOTIFY = { parameter: 'notify', at: 'notify' } as const

const OPERATION_OF = { check, report, verify, blacklist, reports: reportsShow } as const
/** Parameters of an operation that the monitor sets by itself. */
const OWN: readonly string[] = [
  'save',
  'expires_in',
  'format',
  'vantage',
  'max_age',
  'trace',
  'bind_ip',
  'peer',
  'mx_port',
]

/** Reads the target of a kind, and the options of its operation. Throws AppError. */
export function readTarget(
  kindText: string,
  text: string,
  given: Readonly<Record<string, string | boolean | number>>,
): Pick<MonitorInput, 'kind' | 'target' | 'domain' | 'options'> {
  const kind = monitorKind.parse(kindText)
  const { target, domain } = TARGETS[kind](text.trim())
  return { kind, target, domain, options: readOptions(kind, target, given) }
}

export function readOptions(
  kind: MonitorKind,
  target: string,
  given: Readonly<Record<string, string | boolean | number>>,
): Readonly<Record<string, string>> {
  const options = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]))
  const name = NAMES[kind]
  const own = Object.keys(options).find((one) => OWN.includes(one) || one === name)
  if (own !== undefined) throw monitorInputError('own_option', { name: own }, { parameter: 'options', at: 'options' })
  OPERATION_OF[kind].ask({ ...options, [name]: target }) // refused here in the same way as by the operation
  return options
}

/** When a monitor tells, without `when`. */
export const usualConditions = (kind: MonitorKind): readonly string[] =>
  kind === 'reports' ? ['new_sender', 'failing_above:5', 'no_reports'] : ['changed']

/**
 * Throws AppError for conditions that a kind does not have, and for a monitor of reports that the caller may not see or
 * that would show them to everybody.
 */
export function checkKind(
  { caller }: { readonly caller?: Caller },
  kind: MonitorKind,
  target: string,
  { when = [], isPublic }: { readonly when?: readonly string[]; readonly isPublic: boolean | undefined },
): void {
  const allowed = kind === 'reports' ? OF_REPORTS : OF_OTHERS
  const other = when.find((one) => !allowed.test(one))
  if (other !== undefined)
    throw monitorInputError('condition_kind', { condition: other, kind }, { parameter: 'when', at: 'when' })
  if (kind !== 'reports') return
  if (isPublic) throw monitorInputError('reports_private', undefined, { parameter: 'public', at: 'public' })
  if (caller?.maySeeReports === false) throw monitorInputError('no_scope', undefined, { parameter: 'kind', at: 'kind' })
  const domain = parsePastedDomain(target)
  if (domain.ok) refuseOthers({ ...(caller && { caller }) }, domain.value)
}

/** The parameter of each kind that names the target. */
export const NAMES: Readonly<Record<MonitorKind, string>> = {
  check: 'domain',
  report: 'domain',
  verify: 'email',
  blacklist: 'ip',
  reports: 'domain',
}

type Target = { readonly target: string; readonly domain: string }
const domainTarget = (text: string): Target => {
  const domain = parsePastedDomain(text)
  if (!domain.ok) throw invalidAt('invalid_domain', 'target', domain.problem)
  return { target: domain.value, domain: domain.value }
}
const TARGETS: Readonly<Record<MonitorKind, (text: string) => Target>> = {
  check: domainTarget,
  report: domainTarget,
  reports: domainTarget,
  verify: (text) => {
    const email = parsePastedEmail(text)
    if (!email.ok) throw invalidAt('invalid_parameter', 'target', email.problem)
    return { target: formatEmail(email.value), domain: email.value.domain }
  },
  blacklist: (text) => {
    const ip = parsePastedIp(text)
    if (!ip.ok) throw invalidAt('invalid_ip', 'target', ip.problem)
    return { target: ip.value, domain: '' }
  },
}
