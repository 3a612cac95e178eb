import type { MonitorAnswer, MonitorKind } from '../answers/monitors.ts'
import { conditionInWords, kindInWords } from '../documents/monitors.ts'
import { type Html, html } from './html.ts'
import { csrfField } from './layout.ts'
import type { Visit } from './page.ts'

/** The forms that create and change a monitor. Its kind and target cannot be changed. */

type Fields = Visit['form']
const KINDS: readonly MonitorKind[] = ['report', 'check', 'verify', 'blacklist']
const EVERY = { '15m': '15 minutes', '1h': 'hour', '6h': '6 hours', '12h': '12 hours', '24h': 'day', '7d': 'week' }
const WHEN = ['changed', 'worse', 'listed'] as const
/** The possible receivers, each with its field. */
const RECEIVERS = [
  { type: 'mail', field: 'to', label: 'Mail to', hint: 'postmaster@example.org' },
  { type: 'webhook', field: 'url', label: 'Webhook (URL)', hint: 'https://hooks.example.org/mail' },
  {
    type: 'slack',
    field: 'url',
    label: 'Slack (URL of its incoming webhook)',
    hint: 'https://hooks.slack.com/services/…',
  },
  { type: 'ntfy', field: 'url', label: 'ntfy (URL of the topic)', hint: 'https://ntfy.sh/topic' },
] as const

/** The form for a new monitor with these fields filled in; secrets are not. */
export const createForm = (visit: Pick<Visit, 'token'>, fields: Fields): Html =>
  html`<form class="stack" method="post" action="/monitors#add">${csrfField(visit)}
<label>What to check <select name="kind">${options(Object.fromEntries(KINDS.map((kind) => [kind, kindInWords(kind)])), fields.kind)}</select></label>
<label>Domain, mailbox or IP address <input name="target" required maxlength="320" value="${fields.target ?? ''}" placeholder="example.org" autocapitalize="off" autocomplete="off" spellcheck="false"></label>
${settings(fields, true)}
${receivers(fields, 'Whom to notify (optional)')}
<button>Create the monitor</button></form>`

/** The form that changes a monitor. The addresses of its receivers are shown masked, so they are replaced as a whole or kept. */
export const changeForm = (visit: Pick<Visit, 'token'>, action: string, fields: Fields, hasSelector: boolean): Html =>
  html`<form class="stack" method="post" action="${action}">${csrfField(visit)}
${settings(fields, hasSelector)}
<fieldset class="wide"><legend>Recipients</legend><label class="tick"><input type="radio" name="notify" value="keep"${fields.notify !== 'replace' && html` checked`}> keep as it is</label><label class="tick"><input type="radio" name="notify" value="replace"${fields.notify === 'replace' && html` checked`}> replace by these (nobody if all are empty):</label></fieldset>
${receivers(fields, 'New recipients')}
<button>Save changes</button></form>`

function settings(fields: Fields, hasSelector: boolean): Html {
  const { every = '24h', name = '', selector = '', score_below = '', from = '', to = '', timezone = '' } = fields
  const intervals = Object.hasOwn(EVERY, every) ? EVERY : { [every]: every, ...EVERY }
  return html`<label>Every <select name="every">${options(intervals, every)}</select></label>
<label>Name <input name="name" maxlength="200" value="${name}" autocomplete="off"></label>
${hasSelector && html`<label>DKIM selectors (domains only) <input name="selector" maxlength="200" value="${selector}" autocapitalize="off" autocomplete="off" spellcheck="false"></label>`}
<fieldset class="wide"><legend>Notify when</legend>
${WHEN.map((one) => html`<label class="tick"><input type="checkbox" name="${one}" value="true"${fields[one] === 'true' && html` checked`}> ${conditionInWords(one)}</label>`)}
<label class="tick">the score falls below <input class="short" name="score_below" type="number" min="0" max="100" value="${score_below}"></label></fieldset>
<fieldset class="wide"><legend>Quiet hours (no notifications)</legend>
<label>From <input class="short" name="from" type="time" value="${from}"></label><label>To <input class="short" name="to" type="time" value="${to}"></label>
<label>Time zone <input name="timezone" maxlength="60" value="${timezone}" placeholder="Europe/Berlin" autocapitalize="off" autocomplete="off" spellcheck="false"></label></fieldset>
<label class="tick wide"><input type="checkbox" name="public" value="true"${fields.public === 'true' && html` checked`}> Public badge</label>`
}

const receivers = (fields: Fields, legend: string): Html => html`<fieldset class="wide"><legend>${legend}</legend>
${RECEIVERS.map(({ type, label, hint }) => html`<label>${label} <input name="${type}" maxlength="2000" value="${fields[type] ?? ''}" placeholder="${hint}" autocapitalize="off" autocomplete="off" spellcheck="false"></label>`)}
<label>ntfy access token, if the topic needs one <input name="ntfy_token" type="password" maxlength="200" autocomplete="off"></label></fieldset>`

const options = (names: Readonly<Record<string, string>>, chosen: string | undefined): readonly Html[] =>
  Object.entries(names).map(
    ([name, words]) => html`<option value="${name}"${name === chosen && html` selected`}>${words}</option>`,
  )

/** The fields of a form for a new monitor, with the values of a link. */
export const newFields = ({ kind, target }: Visit['query']): Fields => ({
  changed: 'true',
  every: '24h',
  ...(kind && { kind }),
  ...(target && { target }),
})

/** The fields with the present values of a monitor. */
export const fieldsOf = (monitor: MonitorAnswer): Fields => ({
  every: monitor.every,
  name: monitor.name,
  selector: monitor.options.selector ?? '',
  ...Object.fromEntries(monitor.when.map((one) => one.split(':')).map(([name = '', limit = 'true']) => [name, limit])),
  ...monitor.quiet_hours,
  public: String(monitor.public),
})

type Input = Readonly<Record<string, unknown>>

/** The fields of the form as the input of the operation that creates a monitor; empty ones are omitted. */
export function createInput(form: Fields): Input {
  const fields = trimmed(form)
  const { selector } = fields
  const plain = ['kind', 'target', 'every', 'name'].flatMap((name) => (fields[name] ? [[name, fields[name]]] : []))
  const quiet = quietOf(fields)
  return {
    ...Object.fromEntries(plain),
    ...(selector && { options: { selector } }),
    ...(quiet && { quiet_hours: quiet }),
    ...(fields.public === 'true' && { public: true }),
    when: whenOf(fields),
    notify: notifyOf(fields),
  }
}

/** The fields as the input of the operation that changes a monitor. Options that the form does not show stay unchanged. */
export function changeInput(form: Fields, { options: known, every: before }: MonitorAnswer): Input {
  const fields = trimmed(form)
  const { name = '', selector = '', every = '' } = fields
  const { selector: _, ...others } = known
  return {
    name,
    ...(every !== '' && every !== before && { every }),
    options: { ...others, ...(selector && { selector }) },
    when: whenOf(fields),
    quiet_hours: quietOf(fields) ?? null,
    public: fields.public === 'true',
    ...(fields.notify === 'replace' && { notify: notifyOf(fields) }),
  }
}

const trimmed = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value.trim()]))

function whenOf(fields: Fields): readonly string[] {
  const { score_below = '' } = fields
  return [
    ...WHEN.filter((name) => fields[name] === 'true'),
    ...(score_below === '' ? [] : [`score_below:${Number(score_below)}`]),
  ]
}

function quietOf(fields: Fields): Input | undefined {
  const { from = '', to = '', timezone = '' } = fields
  return `${from}${to}${timezone}` === '' ? undefined : { from, to, ...(timezone && { timezone }) }
}

function notifyOf(fields: Fields): readonly Input[] {
  const { ntfy_token: token } = fields
  return RECEIVERS.flatMap(({ type, field }) =>
    fields[type] ? [{ type, [field]: fields[type], ...(type === 'ntfy' && token && { token }) }] : [],
  )
}
