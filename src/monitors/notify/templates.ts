import type { MonitorEvent } from '../../answers/webhooks.ts'
import { counted, printable } from '../../base/text.ts'
import type { PostRequest } from '../../net/post.ts'
import type { Mail } from '../../net/submit-mail.ts'
import type { ConsentQuestion } from './consent.ts'
import type { DigestEvent } from './digest.ts'
import type { Message } from './machine.ts'

/** The targets of the links in a message, if the service has a public URL. */
type Links = {
  /** `https://…`, without a final slash. */
  readonly publicUrl: string | undefined
  /** One click, and this address gets no more mail of this monitor (RFC 8058). */
  readonly unsubscribe?: string
  /** The operator's address for unsubscription requests by mail. */
  readonly unsubscribeTo?: string
}

/** Maximum number of characters of a line. */
const MAX_LINE = 600
/** Maximum number of lines of a message. */
const MAX_LINES = 40

const linesOf = ({ data }: MonitorEvent): readonly string[] =>
  data.lines.slice(0, MAX_LINES).map((line) => printable(line, MAX_LINE))

/** The lines without the one that is the title. */
const linesBesideTitle = (event: MonitorEvent): readonly string[] =>
  linesOf(event).filter((line) => `${event.data.monitor.target}: ${line}` !== event.data.title)

/** The present state, in one line. */
function standing({ data: { last, monitor } }: MonitorEvent): string {
  if (!last) return ''
  const score = last.score === null ? '' : `, score ${last.score}`
  const listed =
    last.listed === null
      ? ''
      : `, ${last.listed === 0 ? 'on no list' : `on ${last.listed} list${last.listed === 1 ? '' : 's'}`}`
  return `Now: ${last.status}${score}${listed} (${monitor.kind} at ${last.time.slice(0, 16).replace('T', ' ')} UTC)`
}

/** A message by mail: plain text, with one-click unsubscription (RFC 2369, RFC 8058). */
export function mailOf(event: MonitorEvent, to: string, links: Links): Mail {
  const { monitor, title } = event.data
  const text = [
    ...linesOf(event),
    '',
    standing(event),
    `Monitor: ${monitor.id}`, // not its name, which its key has worded
    ...(links.unsubscribe === undefined ? [] : [`Unsubscribe from this monitor: ${links.unsubscribe}`]),
  ]
  const shownTarget = targetInMail(monitor)
  const subject = shownTarget === monitor.target ? title : title.replaceAll(monitor.target, shownTarget)
  return { to, subject: printable(subject, 150), text: textOf(text), headers: headersOf(links, monitor.id) }
}

/** The target, without a quoted local part: its key could write a sentence there. */
function targetInMail(monitor: Pick<MonitorEvent['data']['monitor'], 'kind' | 'target'>): string {
  const at = monitor.target.lastIndexOf('@')
  return monitor.kind === 'verify' && !/^[\w.+=-]{1,64}$/.test(monitor.target.slice(0, at))
    ? `an address at ${monitor.target.slice(at + 1)}`
    : monitor.target
}

/** The question whether an address wants mail of monitors, before it gets any. All of it is worded here. */
export function consentMailOf({ data: { about, consent } }: ConsentQuestion, to: string, links: Links): Mail {
  const { publicUrl = '', unsubscribe } = links
  const text = [
    `Somebody who uses the mailsonde service at ${publicUrl} wants it to send messages about ${about} to this address: one when something changes there, at most one an hour.`,
    '',
    'If you want them, open this page and confirm:',
    `${publicUrl}/v1/consent/${consent}`,
    '',
    'If you do nothing, no messages are sent.',
    ...(unsubscribe === undefined ? [] : [`If this service must not ask you again, open this page: ${unsubscribe}`]),
  ]
  const subject = printable(`Do you want messages about ${about}?`, 150)
  return { to, subject, text: textOf(text), headers: headersOf(links, 'questions') }
}

/** What changed at the targets of an owner, and the worst of them. */
export function digestMailOf(data: DigestEvent['data'], to: string, links: Links): Mail {
  const { changes, changed, targets, worst } = data
  const more = changed - changes.length
  const text = [
    targets === 1
      ? 'What changed since the last digest:'
      : `${changed} of your ${targets} targets changed since the last digest.`,
    ...changes.flatMap(({ kind, target, now, lines, left_out }) => [
      '',
      `${targetInMail({ kind, target })}, now ${now}`,
      ...lines.map((line) => `  ${line}`),
      ...(left_out > 0 ? [`  and ${counted(left_out, 'earlier change')}`] : []),
    ]),
    ...(more > 0 ? ['', `and ${counted(more, 'more target')}`] : []),
    ...(worst.length > 0 ? ['', 'Worst now:'] : []),
    ...worst.map(({ target, grade, title }) => `  ${target}: ${grade}, ${title}`),
    '',
    `You get this because you are named as the owner of these targets${links.publicUrl === undefined ? '' : ` at ${links.publicUrl}`}.`,
    ...(links.unsubscribe === undefined ? [] : [`Stop this mail: ${links.unsubscribe}`]),
  ]
  const [first] = changes
  const what = changed === 1 && first ? targetInMail(first) : `${changed} of your ${targets} targets`
  const subject = printable(`Mail checks: ${what} changed`, 150)
  return {
    ...{ to, subject, text: textOf(text.map((line) => printable(line, MAX_LINE))) },
    headers: headersOf(links, 'digest'),
  }
}

const textOf = (lines: readonly string[]): string =>
  `${lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`

function headersOf(links: Links, unsubscribed: string): Mail['headers'] {
  const ways = [
    ...(links.unsubscribe === undefined ? [] : [`<${links.unsubscribe}>`]),
    ...(links.unsubscribeTo === undefined
      ? []
      : [`<mailto:${links.unsubscribeTo}?subject=unsubscribe%20${encodeURIComponent(unsubscribed)}>`]),
  ]
  return {
    'auto-submitted': 'auto-generated', // RFC 3834 §5: no vacation notice comes back
    'x-auto-response-suppress': 'All',
    ...(ways.length > 0 && { 'list-unsubscribe': ways.join(', ') }),
    // RFC 8058 §3.1: only beside an HTTPS URI.
    ...(links.unsubscribe?.startsWith('https://') && { 'list-unsubscribe-post': 'List-Unsubscribe=One-Click' }),
  }
}

/** A message to an incoming webhook of Slack. */
export function slackOf(event: MonitorEvent, { url }: { readonly url: string }): PostRequest {
  const lines = linesBesideTitle(event).map((line) => `• ${slackText(line)}`)
  const text = [`*${slackText(printable(event.data.title, 200))}*`, ...lines, slackText(standing(event))].filter(
    (line) => line !== '',
  )
  return {
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: text.join('\n').slice(0, 3_900) }),
  }
}

/** Slack's special characters, and its formatting, become plain text. */
const slackText = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[*_~`]/g, (mark) => `${mark}\u200b`)

const NTFY = {
  'monitor.changed': { priority: 4, tags: ['warning'] },
  'monitor.failing': { priority: 3, tags: ['grey_question'] },
  'monitor.recovered': { priority: 3, tags: ['white_check_mark'] },
} as const

/** A message to a topic of ntfy, published as JSON at the root of its server. */
export function ntfyOf(
  event: MonitorEvent,
  { url, token }: { readonly url: string; readonly token?: string | undefined },
): PostRequest {
  const { origin, pathname } = new URL(url)
  const message = [...linesBesideTitle(event), standing(event)].filter((line) => line !== '').join('\n')
  const { priority, tags } = event.data.test ? { priority: 3, tags: ['test_tube'] } : NTFY[event.type]
  const title = printable(event.data.title, 200)
  const topic = pathname.split('/').filter(Boolean).at(-1) ?? ''
  const base = pathname.split('/').filter(Boolean).slice(0, -1)
  return {
    url: [origin, ...base].join('/') + (base.length === 0 ? '/' : ''),
    headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ topic, title, message: message.slice(0, 3_900), priority, tags }),
  }
}

export type About = MonitorEvent['data']['monitor']

const KIND_WORDS = {
  check: 'mail setup',
  report: 'mail setup',
  verify: 'mailbox',
  blacklist: 'listings',
  reports: 'mail',
} as const

export function eventOf(
  about: About,
  message: Message,
  last: MonitorEvent['data']['last'],
  nowMs: number,
): MonitorEvent {
  const { type, lines, changes, count } = message
  const title = `${about.target}: ${titleOf(about, message)}`
  const said = count > 1 ? [...lines, `There were ${count} changes since the last message.`] : [...lines]
  return {
    type,
    timestamp: new Date(nowMs).toISOString(),
    data: { monitor: about, title, lines: said, changes: [...changes], count, last },
  }
}

/** Maximum number of characters of a title. */
const MAX_TITLE = 90
/** The first line if it is the only one or a condition, otherwise the subject. */
function titleOf({ kind }: About, { type, lines, changes, isCondition }: Message): string {
  if (type === 'monitor.failing') return `the ${KIND_WORDS[kind]} could not be checked 3 times in a row`
  const domain = changes.find(({ area }) => area === 'Domain')
  if (domain) return `the domain ${domain.effect === 'worse' ? 'no longer exists' : 'exists again'}`
  const first = lines[0] ?? ''
  if ((lines.length === 1 || isCondition) && first.length <= MAX_TITLE) return first
  if (isCondition) return (first.split(': ')[0] ?? '').slice(0, MAX_TITLE)
  const areas = [...new Set(changes.map(({ area }) => area))].filter(
    (area) => area !== 'Score' && area !== 'Solved' && area !== 'New findings',
  )
  return areas.length > 0 && areas.length <= 3 ? `${areas.join(', ')} changed` : `the ${KIND_WORDS[kind]} changed`
}

/** The message of a test, which identifies itself as one. */
export const testEvent = (about: About, nowMs: number): MonitorEvent => ({
  type: 'monitor.changed',
  timestamp: new Date(nowMs).toISOString(),
  data: {
    monitor: about,
    title: `${about.target}: this is a test`,
    lines: ['This is a test of the messages of this monitor. Nothing has changed.'],
    changes: [],
    count: 0,
    last: null,
    test: true,
  },
})
