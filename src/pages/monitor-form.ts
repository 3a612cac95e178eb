import { MESSAGE_SERVICES, type MonitorAnswer, type MonitorKind } from '../answers/monitors.ts'
import type { AppError } from '../base/errors.ts'
import { keysOf } from '../base/json.ts'
import { conditionInWords, kindInWords } from '../documents/monitors.ts'
import { classify } from './home.ts'
import { type Html, html } from './html.ts'
import { csrfField } from './layout.ts'
import type { Visit } from './page.ts'
import { above, beside, type FieldProblem, invalid, refusedWords } from './parts.ts'

/** The forms that create and change a monitor. Its kind and target cannot be changed. */

type Fields = Visit['form']
const KINDS: readonly MonitorKind[] = ['report', 'check', 'verify', 'blacklist', 'reports']
const EVERY = { '15m': '15 minutes', '1h': 'hour', '6h': '6 hours', '12h': '12 hours', '24h': 'day', '7d': 'week' }
const WHEN = ['changed', 'worse', 'listed'] as const
/** Conditions of a monitor of reports. */
const WHEN_REPORTS = ['new_sender', 'no_reports'] as const
const QUIET = ['from', 'to', 'timezone'] as const
/** The possible receivers, each with its field. */
const RECEIVERS = [
  { type: 'mail', field: 'to', label: 'Mail to', hint: 'postmaster@example.org' },
  { type: 'webhook', field: 'url', label: 'Webhook (URL)', hint: 'https://hooks.example.org/mail' },
  ...keysOf(MESSAGE_SERVICES).map((type) => {
    const { name, what, hint } = MESSAGE_SERVICES[type]
    return { type, field: 'url', label: `${name} (${what})`, hint }
  }),
] as const

/** What was wrong with the input that a form was read as. */
export type FormProblem = {
  /** The path of the value that was wrong, if one was: `quiet_hours.from`. */
  readonly at: string | undefined
  readonly words: string
}

export const formProblem = (error: AppError): FormProblem => ({
  at: error.at ?? error.parameter,
  words: refusedWords('Not saved', error),
})

type Given = {
  readonly fields: Fields
  readonly problem: FormProblem | undefined
  /** Whether this service can send mail. */
  readonly canMail: boolean
}
type Form = Omit<Given, 'problem'> & { readonly problem: FieldProblem | undefined }
const placed = ({ problem, ...form }: Given): Form => ({ ...form, problem: problem && placeOf(problem, form.fields) })

/**
 * The form for a new monitor with these fields filled in; secrets are not. It needs a target and one click; the rest is
 * folded.
 */
export function createForm(visit: Pick<Visit, 'token'>, given: Given): Html {
  const form = placed(given)
  const { fields, problem } = form
  return html`<form class="stack" method="post" action="/monitors#add">${csrfField(visit)}
${above(problem)}
<label>Domain, mailbox or IP address <input name="target" required maxlength="320" value="${fields.target ?? ''}" placeholder="example.org" autocapitalize="off" autocomplete="off" spellcheck="false"${invalid('target', problem)}>${beside('target', problem)}</label>
<button>Monitor it</button>
<details class="try"${problem !== undefined && problem.field !== 'target' && html` open`}><summary>More: what is checked, how often, whom to notify</summary>
<div class="stack"><label>What to check <select name="kind"${invalid('kind', problem)}><option value="">by the target</option>${options(Object.fromEntries(KINDS.map((kind) => [kind, kindInWords(kind)])), fields.kind)}</select>${beside('kind', problem)}</label>
${settings(form, true)}
${receivers(form, 'Whom to notify')}</div></details></form>`
}

/**
 * The form that changes a monitor. The addresses of its receivers are shown masked, so they are replaced as a whole or
 * kept.
 */
export function changeForm(visit: Pick<Visit, 'token'>, action: string, given: Given, hasSelector: boolean): Html {
  const form = placed(given)
  const { fields, problem } = form
  return html`<form class="stack" method="post" action="${action}">${csrfField(visit)}
${above(problem)}
${settings(form, hasSelector)}
<fieldset class="wide"><legend>Recipients</legend><label class="tick"><input type="radio" name="notify" value="keep"${fields.notify !== 'replace' && html` checked`}> keep as it is</label><label class="tick"><input type="radio" name="notify" value="replace"${fields.notify === 'replace' && html` checked`}> replace by these (nobody if all are empty):</label></fieldset>
${receivers(form, 'New recipients')}
<button>Save changes</button></form>`
}

/** The fields by the path of their value in the input. */
const PLACES: ReadonlyMap<string, string> = new Map([
  ...['target', 'kind', 'every', 'name', 'selector'].map((name) => [name, name] as const),
  ['options', 'selector'],
  ...['domain', 'email', 'ip'].map((name) => [name, 'target'] as const),
  ['quiet_hours', 'from'],
  ...QUIET.map((name) => [`quiet_hours.${name}`, name] as const),
])

/** The field that a problem is about. An address of a receiver stands in the words. */
function placeOf({ at = '', words }: FormProblem, fields: Fields): FieldProblem {
  const [name = '', index = ''] = at.split('.')
  if (name === 'when') return { field: whenOf(fields)[Number(index)]?.split(':')[0] ?? 'score_below', words }
  if (name !== 'notify') return { field: PLACES.get(at) ?? PLACES.get(name), words }
  const given = RECEIVERS.filter(({ type }) => (fields[type] ?? '').trim() !== '')
  const named = given.find(({ type }) => words.includes((fields[type] ?? '').trim()))
  return { field: (named ?? (given.length === 1 ? given[0] : undefined))?.type ?? 'notify', words }
}

function settings({ fields, problem }: Form, hasSelector: boolean): Html {
  const {
    every = '24h',
    name = '',
    selector = '',
    score_below = '',
    failing_above = '',
    from = '',
    to = '',
    timezone = '',
  } = fields
  const intervals = Object.hasOwn(EVERY, every) ? EVERY : { [every]: every, ...EVERY }
  return html`<label>Every <select name="every"${invalid('every', problem)}>${options(intervals, every)}</select>${beside('every', problem)}</label>
<label>Name <input name="name" maxlength="200" value="${name}" autocomplete="off"${invalid('name', problem)}>${beside('name', problem)}</label>
${hasSelector && html`<label>DKIM selectors (domains only) <input name="selector" maxlength="200" value="${selector}" autocapitalize="off" autocomplete="off" spellcheck="false"${invalid('selector', problem)}>${beside('selector', problem)}</label>`}
<fieldset class="wide"><legend>Notify when</legend>
${WHEN.map((one) => html`<label class="tick"><input type="checkbox" name="${one}" value="true"${fields[one] === 'true' && html` checked`}> ${conditionInWords(one)}</label>`)}
<label class="tick">the score falls below <input class="short" name="score_below" type="number" min="0" max="100" value="${score_below}"${invalid('score_below', problem)}></label>${beside('score_below', problem)}
${WHEN_REPORTS.map((one) => html`<label class="tick"><input type="checkbox" name="${one}" value="true"${fields[one] === 'true' && html` checked`}> ${conditionInWords(one)} (reports)</label>`)}
<label class="tick">the failing share of a day, in percent, is above <input class="short" name="failing_above" type="number" min="0" max="100" value="${failing_above}"${invalid('failing_above', problem)}> (reports)</label>${beside('failing_above', problem)}</fieldset>
<fieldset class="wide"><legend>Quiet hours (no notifications)</legend>
<label>From <input class="short" name="from" type="time" value="${from}"${invalid('from', problem)}></label><label>To <input class="short" name="to" type="time" value="${to}"${invalid('to', problem)}></label>
<label>Time zone <input name="timezone" maxlength="60" value="${timezone}" placeholder="Europe/Berlin" autocapitalize="off" autocomplete="off" spellcheck="false"${invalid('timezone', problem)}></label>${QUIET.map((name) => beside(name, problem))}</fieldset>
<label class="tick wide"><input type="checkbox" name="public" value="true"${fields.public === 'true' && html` checked`}> Public badge</label>`
}

function receivers({ fields, problem, canMail }: Form, legend: string): Html {
  const offered = RECEIVERS.filter(({ type }) => canMail || type !== 'mail')
  return html`<fieldset class="wide"${problem?.field === 'notify' && html` aria-describedby="problem"`}><legend>${legend}</legend>
${offered.map(({ type, label, hint }) => html`<label>${label} <input name="${type}" maxlength="2000" value="${fields[type] ?? ''}" placeholder="${hint}" autocapitalize="off" autocomplete="off" spellcheck="false"${invalid(type, problem)}>${beside(type, problem)}</label>`)}
<label>ntfy access token, if the topic needs one <input name="ntfy_token" type="password" maxlength="200" autocomplete="off"></label>
${!canMail && html`<p class="quiet wide">This service sends no mail: its operator has not set <code>--smtp-url</code>.</p>`}${beside('notify', problem)}</fieldset>`
}

const options = (names: Readonly<Record<string, string>>, chosen: string | undefined): readonly Html[] =>
  Object.entries(names).map(
    ([name, words]) => html`<option value="${name}"${name === chosen && html` selected`}>${words}</option>`,
  )

/** The fields of a form for a new monitor, with the values of a link. */
export const newFields = ({ kind, target }: Visit['query']): Fields => ({
  ...(kind === 'reports' ? { new_sender: 'true', no_reports: 'true', failing_above: '5' } : { changed: 'true' }),
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
  const { selector, target = '' } = fields
  const kind = fields.kind || kindOf(target)
  const plain = ['target', 'every', 'name'].flatMap((name) => (fields[name] ? [[name, fields[name]]] : []))
  const quiet = quietOf(fields)
  return {
    kind,
    ...Object.fromEntries(plain),
    ...(selector && { options: { selector } }),
    ...(quiet && { quiet_hours: quiet }),
    ...(fields.public === 'true' && { public: true }),
    when: whenOf(fields),
    notify: notifyOf(fields),
  }
}

/**
 * The fields as the input of the operation that changes a monitor. Options that the form does not show stay unchanged.
 */
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

/** What a target is: an address, an IP address, otherwise a domain. */
function kindOf(target: string): MonitorKind {
  const { kind } = classify(target)
  if (kind === 'address') return 'verify'
  return kind === 'ip' ? 'blacklist' : 'report'
}

const trimmed = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value.trim()]))

function whenOf(fields: Fields): readonly string[] {
  const { score_below = '', failing_above = '' } = fields
  return [
    ...WHEN.filter((name) => fields[name] === 'true'),
    ...(score_below === '' ? [] : [`score_below:${Number(score_below)}`]),
    ...WHEN_REPORTS.filter((name) => fields[name] === 'true'),
    ...(failing_above === '' ? [] : [`failing_above:${Number(failing_above)}`]),
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
