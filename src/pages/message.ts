import type { BounceAnswer, MessageResult } from '../answers/message.ts'
import { only } from '../base/at-most.ts'
import { ERRORS } from '../base/errors.ts'
import { htmlBlocks } from '../documents/html/html.ts'
import { parseDomain } from '../names/domain.ts'
import { parseIp } from '../names/ip.ts'
import { hasKnownSuffix } from '../names/suffix.ts'
import { type Html, html, rendered, verbatim } from './html.ts'
import { csrfField, pageOf } from './layout.ts'
import { readForm } from './multipart.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import { beside, documentOf, type FieldProblem, invalid, isCorrectable, type Parts, refusedWords } from './parts.ts'
import { domainPath, ipPath } from './paths.ts'

/** Maximum size of a message that the page takes, octets; the operation has its own limit. */
const MAX_MESSAGE = 10_485_760

/** `/message`: a message is dropped or pasted, and taken apart. Nothing of it is kept. */
export const messagePages = (parts: Parts): readonly Page[] => [
  { method: 'GET', path: '/message', scope: 'read', visit: async (visit) => page(parts, visit) },
  { method: 'POST', path: '/message', scope: 'read', uploads: true, visit: (visit) => analysed(parts, visit) },
]

async function analysed(parts: Parts, visit: Visit): Promise<PageAnswer> {
  let typed: Fields = {}
  try {
    const { fields, files } = await readForm(visit, MAX_MESSAGE)
    typed = fields
    const file = files.find(({ octets }) => octets.length > 0)
    const waiting = Buffer.from(fields.message ?? '', 'base64')
    const octets = file?.octets ?? (waiting.length > 0 ? waiting : Buffer.from(fields.text ?? '', 'utf8'))
    const given = Object.fromEntries(
      KNOWN.flatMap((name) => ((fields[name] ?? '').trim() === '' ? [] : [[name, fields[name]!.trim()]])),
    )
    const upload = { octets: only(octets), contentType: 'message/rfc822' }
    const answer = await parts.execute(parts.operation('message'), given, { ...visit.by, upload })
    const document = documentOf(parts, answer, 'Message')
    const result = answer.answer as MessageResult
    return page(parts, visit, {
      result: html`<div class="head">${rendered(htmlBlocks(document.blocks.slice(0, 1)))}${subjectLinks(result)}</div>
${receiverForm(visit, result, octets, given)}${rendered(htmlBlocks(document.blocks.slice(1)))}${rendered(htmlBlocks(document.footer.map((line) => ({ kind: 'text', line, quiet: true }))))}`,
    })
  } catch (error) {
    if (!isCorrectable(error)) throw error
    const known = KNOWN.find((name) => name === error.parameter)
    const field = known ?? ((typed.text ?? '') === '' ? 'file' : 'text')
    return page(
      parts,
      visit,
      { typed, problem: { field, words: refusedWords('Not analysed', error) } },
      ERRORS[error.code].status,
    )
  }
}

/** The domains or the host that a message or a bounce is about, each with the way to its page. */
function subjectLinks(answer: MessageResult): Html | undefined {
  const subjects =
    'bounce' in answer
      ? subjectsOfBounce(answer.bounce)
      : [answer.from.domain ?? answer.dkim[0]?.domain ?? answer.spf.domain ?? '']
  const paths = new Map<string, string>(
    subjects.flatMap((one): [string, string][] => {
      const [address, domain] = [parseIp(one), parseDomain(one)]
      if (address.ok) return [[address.value, ipPath(address.value)]]
      return domain.ok && hasKnownSuffix(domain.value) ? [[domain.value, domainPath(domain.value)]] : []
    }),
  )
  return paths.size === 0
    ? undefined
    : html`<div class="actions">${[...paths].slice(0, 2).map(([subject, path]) => html`<a class="button" href="${path}">Check ${subject}</a>`)}</div>`
}

/** The domain of the sender or the recipient, or the sending host, where the cause is one; what the reply names. */
function subjectsOfBounce({ recipients: [first], returned }: BounceAnswer['bounce']): readonly string[] {
  const { about, address = null, text = '' } = first ?? {}
  // The names in such a reply are those of lists; other numbers of its form are codes of the server.
  if (about === 'sending_host')
    return text.match(/(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f]{1,4}:[\da-f:]{3,35})(?![\w.:]\w)/i) ?? []
  const isSender = about === 'sender_domain' || about === 'sender_address'
  // What other replies name are hosts of the receiver, which have nothing to do with the cause.
  if (!isSender && about !== 'recipient_domain') return []
  const [, domain = ''] = /@([^\s<>@]+)>?\s*$/.exec((isSender ? returned?.from : address) ?? '') ?? []
  if (!isSender && domain !== '') return [domain]
  return [domain, ...(text.match(/(?<![\w@/.:%=-])[\w-]+(?:\.[\w-]+)*\.[a-z]{2,24}(?![\w@/.:-]\w)/gi) ?? [])]
}

/** Maximum size of a message that waits in the page for its receiver to be named, octets. */
const MAX_WAITING = 2_097_152

/**
 * The question who received the message, with an answer for each host: the message waits in the page, never on the
 * server, and comes again with the click.
 */
function receiverForm(
  visit: Visit,
  answer: MessageResult,
  octets: Uint8Array,
  given: Readonly<Record<string, string>>,
): Html | undefined {
  if ('bounce' in answer || answer.envelope.ip !== null || octets.length > MAX_WAITING) return undefined
  const { receivers = [] } = answer
  if (receivers.length === 0) return undefined
  return html`<form class="stack" method="post" action="/message?_csrf=${visit.token}" enctype="multipart/form-data">
<input type="hidden" name="message" value="${rendered(Buffer.from(octets).toString('base64'))}">
${Object.entries(given)
  .filter(([name]) => name !== 'received_by')
  .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<p>SPF is judged by the address that delivered the message, and who received it is not sure. Which of these is your mail host?</p>
${receivers.map(
  ({ host, operator, address }, i) =>
    html`<p>${host}${operator !== undefined && html` (${operator})`} wrote that ${address} delivered this. ${
      receivers.findIndex((one) => one.host === host) === i
        ? html`<button name="received_by" value="${host}">${host} is mine</button>`
        : html`<button name="ip" value="${address}">judge it by ${address}</button>`
    }</p>`,
)}</form>`
}

type Fields = Readonly<Record<string, string>>
/** What a visitor may know of the connection. */
const KNOWN = ['ip', 'helo', 'mail_from', 'received_by'] as const
type Shown = { readonly result?: Html; readonly typed?: Fields; readonly problem?: FieldProblem }

const page = (parts: Parts, visit: Visit, { result, typed = {}, problem }: Shown = {}, status = 200): PageAnswer =>
  pageOf(parts, visit, {
    status,
    title: 'Message',
    main: html`<main id="main" tabindex="-1">${
      result ??
      html`<h1>Analyse a message</h1>
<p class="lead">Who touched it, what verifies, what does not and why. Why a message came back, too.</p>`
    }
${result && html`<h2 id="another">Another message</h2>`}
${parts.canReceive() ? addressForm(visit) : NO_ADDRESSES}
<form class="stack" method="post" action="/message?_csrf=${visit.token}" enctype="multipart/form-data">
<label class="wide">Message file (.eml, .emlx, .msg, .mbox, .txt): choose it, or drop it here <input type="file" name="file" accept=".eml,.emlx,.msg,.mbox,.txt,message/rfc822"${invalid('file', problem)}>${beside('file', problem)}</label>
<label class="wide">or paste its source with all header fields, a bounce, or what a server said <textarea name="text" rows="8" spellcheck="false" placeholder="550 5.7.1 …"${invalid('text', problem)}>${verbatim(typed.text ?? '')}</textarea>${beside('text', problem)}</label>
<details${KNOWN.some((name) => (typed[name] ?? '') !== '') && html` open`}><summary>What you know of the connection</summary>
<label>Address that sent it <input name="ip" maxlength="60" placeholder="192.0.2.1" value="${typed.ip ?? ''}"${invalid('ip', problem)}>${beside('ip', problem)}</label>
<label>HELO name <input name="helo" maxlength="255" value="${typed.helo ?? ''}"${invalid('helo', problem)}>${beside('helo', problem)}</label>
<label>Envelope sender <input name="mail_from" maxlength="320" value="${typed.mail_from ?? ''}"${invalid('mail_from', problem)}>${beside('mail_from', problem)}</label>
<label>Your mail hosts, which received it <input name="received_by" maxlength="2000" placeholder="mx.example.net" value="${typed.received_by ?? ''}"${invalid('received_by', problem)}>${beside('received_by', problem)}</label></details>
<button>Analyse</button></form>
<p class="quiet">The message is not stored and not logged. Links in it are not followed.</p></main>`,
  })

/** What one-time addresses need, where this service has none. */
const NO_ADDRESSES = html`<details class="try"><summary>Send it to a one-time address: not set up here</summary><p>The operator starts the service with <code>--messages-listen 0.0.0.0:25 --messages-domain test.example.org</code>, and publishes at a domain of its own the record that leads here:</p>
<pre>test.example.org. MX 10 mailsonde.example.org.</pre><p><a href="/docs/message#one-time-addresses">How it works</a></p></details>`

const addressForm = (visit: Visit): Html =>
  html`<form class="actions" method="post" action="/message/address">${csrfField(visit)}<button>Send it to a one-time address</button> <span class="quiet">The next page shows the address, and the result when the message is there.</span></form>
<h2>Or from a file</h2>`
