import type { BounceAnswer, MessageAnswer, MessageResult, ReceivedMessageAnswer } from '../answers/message.ts'
import { counted } from '../base/text.ts'
import {
  type Block,
  blocksOf,
  code,
  conclude,
  type Document,
  facts,
  heading,
  type Line,
  type Mark,
  type Marked,
  type Parts,
  quiet,
  type TreeNode,
  table,
  text,
} from './block.ts'
import { findingBlock } from './check/findings.ts'
import { profileBlocks } from './profile.ts'
import { documentOf, duration, footerOf } from './words.ts'

const VERDICTS: Readonly<Record<MessageAnswer['verdict'], readonly [Mark, string]>> = {
  passes: ['good', 'passes'],
  needs_repair: ['bad', 'needs repair'],
  unknown: ['open', 'unknown'],
}

/** The mark of a result of SPF, DKIM, DMARC or ARC. */
const markOfResult = (result: string): Mark => {
  if (result === 'pass') return 'good'
  if (result === 'temperror' || result === 'unknown') return 'open'
  if (result === 'softfail' || result === 'policy' || result === 'neutral') return 'warn'
  return result === 'none' ? 'none' : 'bad'
}
const result = (word: string): Marked => ({ mark: markOfResult(word), text: word })

export const resultDocument = (answer: MessageResult, version: string): Document =>
  'bounce' in answer ? bounceDocument(answer, version) : messageDocument(answer, version)

const ACTIONS: Readonly<Record<BounceAnswer['bounce']['recipients'][number]['action'], Marked>> = {
  failed: { mark: 'bad', text: 'failed' },
  delayed: { mark: 'open', text: 'delayed' },
  delivered: { mark: 'good', text: 'delivered' },
  relayed: { mark: 'good', text: 'relayed' },
  expanded: { mark: 'good', text: 'sent on by a list' },
}
const ABOUT: Readonly<Record<BounceAnswer['bounce']['recipients'][number]['about'], string>> = {
  mailbox: 'the mailbox of the recipient',
  recipient_domain: 'the domain of the recipient',
  sender_domain: 'the domain of the sender',
  sender_address: 'the address of the sender',
  sending_host: 'the host that sent it',
  message: 'the message',
  policy: 'a rule of the receiver',
  unknown: 'not known',
}

/** Maximum length of a step in the first lines, characters. */
const MAX_STEP = 300

/** A reply of several lines (RFC 5321 §4.2.1), which a notice folds into one. */
const linesOf = (reply: string): string => reply.replace(/[ \t]+(?=[245]\d\d[- ][245]\.\d{1,3}\.\d{1,3}\s)/g, '\n')

const sentence = (note: string): Line => [`${note.charAt(0).toUpperCase()}${note.slice(1)}.`]

/** The file name of a DMARC or TLS report (RFC 7489 §7.2.1.1, RFC 8460 §5.1), and the types of a TLS report. */
const REPORT_FILE = /^[^!]{1,255}![^!]{1,255}!\d{9,11}!\d{9,11}[!.]/
const REPORT_TYPE = /^application\/tlsrpt\+/
type Attachment = MessageAnswer['headers']['attachments'][number]
/** What a message carries that another page or person needs. */
const CARRIED: readonly (readonly [is: (attachment: Attachment) => boolean, line: Line])[] = [
  [
    ({ name, type }) => REPORT_FILE.test(name) || REPORT_TYPE.test(type),
    ['It carries a DMARC or TLS report: the page Reports takes it, and shows what is in it.'],
  ],
  [
    ({ type }) => type === 'message/feedback-report',
    ['It is a complaint (ARF, RFC 5965) about another message, which is attached: take its recipient off the list.'],
  ],
  [
    ({ type }) => type === 'message/disposition-notification',
    ['It is a receipt (MDN, RFC 8098): the recipient’s program tells that the message arrived and what became of it.'],
  ],
]

/** A bounce: what became of each recipient, why, and what to do; then what came back. */
function bounceDocument({ bounce, summary, input, observed_at }: BounceAnswer, version: string): Document {
  const { recipients, returned } = bounce
  const worst = recipients.find(({ action }) => action === 'failed') ?? recipients[0]!
  const { mark, text: badge } = ACTIONS[worst.action]
  return {
    title: 'Bounce',
    blocks: blocksOf([
      conclude(returned?.subject || 'A reply of a mail server', mark, badge, summary, [
        ...(worst.to_do === undefined ? [] : [[{ strong: 'What to do: ' }, worst.to_do]]),
        ...input.notes.map(sentence),
      ]),
      recipients.map(
        (one): Parts => [
          heading(2, one.address ?? 'The reply'),
          facts(
            ['Result', [ACTIONS[one.action], one.permanent ? ', for good' : '']],
            one !== worst && ['Meaning', one.meaning],
            one !== worst && one.to_do !== undefined && ['What to do', one.to_do],
            (one.action === 'failed' || one.action === 'delayed') && ['It is about', ABOUT[one.about]],
            one.remote_mta !== null && ['Server', code(one.remote_mta)],
          ),
          one.text !== '' && { kind: 'seen', label: 'What the server said', text: linesOf(one.text) },
        ],
      ),
      returned && [
        heading(2, 'The message that came back', 'returned'),
        facts(
          ['From', returned.from],
          ['To', returned.to],
          ['Subject', returned.subject],
          ['Date', returned.date],
          returned.analysis && ['Analysis', returned.analysis.summary],
          ...(returned.analysis?.input.notes ?? []).map((note) => ['Note', note] as const),
        ),
      ],
    ]),
    footer: footerOf(version, observed_at),
  }
}

/**
 * A message taken apart: the verdict, what to repair, how it authenticates, the way it went, and the rest of the
 * evidence.
 */
export function messageDocument(answer: MessageAnswer, version: string): Document {
  const [mark, badge] = VERDICTS[answer.verdict]
  const { headers, from } = answer
  const told = answer.findings.filter(({ severity }) => severity !== 'info')
  const notes = answer.findings.filter(({ severity }) => severity === 'info')
  const date: Line = headers.date === undefined ? [] : [{ time: headers.date }]
  const isPart = answer.input.kind === 'header_only' && from.address === null
  const nameless = isPart ? 'A part of a header' : 'Message without an author'
  const author = from.address === null ? [] : [`From ${from.address}${date.length > 0 ? ', ' : ''}`]
  const sent: Line = [...author, ...date]
  const carried = CARRIED.flatMap(([is, line]) => (headers.attachments.some(is) ? [line] : []))
  // The summary tells the first thing to repair, and the step of a plan with it. A long one stands below alone.
  const { repair } = told.find(({ follows }) => follows === undefined) ?? {}
  const isTold = answer.verdict !== 'needs_repair' || answer.summary.includes(repair ?? '')
  const step = isTold || (repair ?? '').length > MAX_STEP ? undefined : repair
  return {
    title: `Message${from.domain === null ? '' : ` from ${from.domain}`}`,
    blocks: blocksOf([
      conclude(
        headers.subject ?? (from.address === null ? nameless : `Message from ${from.address}`),
        mark,
        badge,
        answer.summary,
        [
          ...(sent.length > 0 ? [sent] : []),
          ...answer.input.notes.map(sentence),
          ...carried,
          ...(step === undefined ? [] : [[{ strong: 'What to do: ' }, step]]),
        ],
      ),
      told.length > 0 && [heading(2, 'What to repair', 'findings'), told.map((one) => findingBlock(one, { level: 3 }))],
      heading(2, 'Authentication', 'authentication'),
      alignmentTree(answer),
      signaturesTable(answer) ?? (!isPart && text('The message has no DKIM signature.')),
      heading(2, 'The way it went', 'path'),
      pathParts(answer),
      claimParts(answer),
      arcParts(answer),
      !isPart && [
        heading(2, 'Rules for bulk senders', 'bulk-sender'),
        profileBlocks(answer.bulk_sender, 'Rules of Google, Yahoo and Microsoft'),
      ],
      answer.profile &&
        answer.profile.name !== answer.bulk_sender.name && [
          heading(3, `Profile ${answer.profile.name}`),
          profileBlocks(answer.profile, 'Rules'),
        ],
      heading(2, 'Blacklists and links', 'blacklists'),
      listParts(answer),
      heading(2, 'Form', 'form'),
      formFacts(answer),
      notes.length > 0 && [heading(2, 'Notes', 'notes'), notes.map((one) => findingBlock(one, { level: 3 }))],
      domainParts(answer),
    ]),
    footer: footerOf(version, answer.observed_at),
  }
}

const aligned = (is: boolean | null): string => (is === null ? 'alignment not known' : is ? 'aligned' : 'not aligned')

/** How DMARC comes to its result: the author domain, and each identifier with its result and whether it is aligned. */
function alignmentTree({ dmarc, spf, dkim, from }: MessageAnswer): Block {
  const node = (line: Line): TreeNode => ({ line })
  const spfLine: Line = [
    'SPF ',
    result(spf.result),
    ...(spf.domain === null ? [] : [' for ', code(spf.domain), `, ${aligned(spf.aligned)}`]),
    `: ${spf.because}`,
  ]
  const signatures = dkim.map(
    (one): TreeNode =>
      node([
        'DKIM ',
        result(one.result),
        ' for ',
        code(one.domain || 'an unknown domain'),
        `, ${aligned(one.aligned)}: ${one.because}`,
      ]),
  )
  const modes = dmarc.adkim === undefined ? '' : ` (adkim=${dmarc.adkim}, aspf=${dmarc.aspf})`
  const policy: Line = dmarc.policy === null ? [] : [`; policy ${dmarc.policy}${modes}`]
  return {
    kind: 'tree',
    tree: {
      label: 'DMARC and alignment',
      root: {
        line: [
          ...['DMARC ', result(dmarc.result), ' for ', code(from.domain ?? 'no single author domain'), ...policy],
          dmarc.because === '' ? '' : `: ${dmarc.because}`,
        ],
        children: [node(spfLine), ...(signatures.length > 0 ? signatures : [node(['DKIM ', result('none')])])],
      },
    },
  }
}

const signaturesTable = ({ dkim }: MessageAnswer): Block | undefined =>
  table(
    counted(dkim.length, 'DKIM signature'),
    dkim,
    ['Domain', ({ domain }) => code(domain || '–')],
    ['Selector', ({ selector }) => code(selector || '–')],
    ['Result', (one) => result(one.result)],
    ['Key', ({ key_bits, algorithm }) => (key_bits === null ? algorithm || '–' : `${algorithm}, ${key_bits} bits`)],
    [
      'Form',
      ({ canonicalization, body_length, expires_at }) => [
        canonicalization || '–',
        body_length === null ? '' : `, l=${body_length}`,
        expires_at === null ? '' : `, until ${expires_at}`,
      ],
    ],
  )

const KNOWN_FROM: Readonly<Record<MessageAnswer['envelope']['known_from'], string>> = {
  parameter: 'given by the caller',
  connection: 'seen by this service',
  received: 'from the fields of the receiver',
  none: 'not known',
}

function pathParts(answer: MessageAnswer): Parts {
  const { path, path_left_out, envelope } = answer
  const { ip, helo, mail_from, known_from } = envelope
  const sender = mail_from === '' ? 'empty (a bounce)' : mail_from === null ? 'not known' : code(mail_from)
  const older = path_left_out === undefined ? '' : `; ${path_left_out} older ones are left out`
  return [
    facts(
      ['Connecting address', ip === null ? 'not known' : [code(ip), `, ${KNOWN_FROM[known_from]}`]],
      ['HELO', helo === null ? 'not known' : code(helo)],
      ['Envelope sender', sender],
    ),
    receiverParts(answer),
    table(
      `${counted(path.length, 'hop')}, oldest first${older}`,
      path,
      ['From', (hop) => code(hop.from || '–')],
      ['Address', ({ address }) => (address === undefined ? '–' : code(address))],
      ['Names', namesOf],
      ['To', (hop) => code(hop.by || '–')],
      // A step within a host names no client.
      ['With', (hop) => [`${hop.with || '–'} `, hop.from === '' ? '' : tlsOf(hop.tls)]],
      ['After', ({ delay_ms }) => delayInWords(delay_ms)],
      ['Whose words', ({ trusted }) => (trusted ? 'the receiver' : 'a sender')],
    ) ?? text('The message has no Received fields.'),
  ]
}

function delayInWords(ms: number | undefined): string {
  if (ms === undefined) return '–'
  return ms < 0 ? `a clock is ${duration(-ms)} behind` : duration(ms)
}

/** Who may have received the message, where that is not sure. */
const receiverParts = ({ receivers = [], envelope }: MessageAnswer): Parts =>
  envelope.ip === null &&
  receivers.map(({ host, operator, address }, i) =>
    text(
      code(host),
      `${operator === undefined ? '' : ` (${operator})`} wrote that `,
      code(address),
      ' delivered this. If that is your mail host, analyse the message again with ',
      ...(receivers.findIndex((one) => one.host === host) === i
        ? ['received_by=', code(host)]
        : ['ip=', code(address)]),
      '.',
    ),
  )

function namesOf({ ptr, forward_confirmed: confirmed }: MessageAnswer['path'][number]): Line {
  if (ptr === undefined) return ['–']
  if (ptr.length === 0)
    return [confirmed === null ? { mark: 'open', text: 'could not be looked up' } : { mark: 'warn', text: 'none' }]
  const back: Marked =
    confirmed === null
      ? { mark: 'open', text: 'not known whether it resolves back' }
      : confirmed
        ? { mark: 'good', text: 'resolves back' }
        : { mark: 'warn', text: 'does not resolve back' }
  return [code(ptr[0]!), ' ', back]
}

const tlsOf = (tls: boolean | null): Marked =>
  tls === null
    ? { mark: 'none', text: 'TLS not told' }
    : tls
      ? { mark: 'good', text: 'TLS' }
      : { mark: 'warn', text: 'no TLS' }

const claimParts = ({ authentication_results: results }: MessageAnswer): Parts =>
  results.length > 0 && [
    heading(3, 'What receivers said'),
    table(
      counted(results.length, 'Authentication-Results field'),
      results,
      ['Host', ({ host }) => code(host || '–')],
      [
        'Claims',
        ({ claims }) =>
          claims
            .map(({ method, result: word, domain }) => `${method}=${word}${domain === '' ? '' : ` (${domain})`}`)
            .join(', ') || 'none',
      ],
      ['We come to', ({ agrees }) => agreementOf(agrees)],
      ['Whose words', ({ trusted }) => (trusted ? 'the receiver' : 'a sender')],
    ),
  ]

function agreementOf(agrees: boolean | null): Marked {
  if (agrees === null) return { mark: 'none', text: 'nothing to compare' }
  return agrees ? { mark: 'good', text: 'the same' } : { mark: 'warn', text: 'another result' }
}

const arcParts = ({ arc }: MessageAnswer): Parts =>
  arc.result !== 'none' && [
    heading(3, 'ARC'),
    text(
      result(arc.result),
      arc.because === undefined ? ': every seal holds.' : `: ${arc.because}.`,
      ' ARC is reported, and not scored.',
    ),
    table(
      counted(arc.sets.length, 'set'),
      arc.sets,
      ['Instance', ({ instance }) => String(instance), 'number'],
      ['Sealed by', ({ domain }) => code(domain || '–')],
      [
        'It says',
        ({ cv, claims }) =>
          [`chain ${cv}`, ...claims.map(({ method, result: word }) => `${method}=${word}`)].join(', '),
      ],
    ),
  ]

const LISTED: Readonly<Record<'clean' | 'listed' | 'incomplete', Marked>> = {
  clean: { mark: 'good', text: 'on no list' },
  listed: { mark: 'bad', text: 'listed' },
  incomplete: { mark: 'open', text: 'on no list that answered' },
}

/** Maximum number of hosts in links that are shown. */
const MAX_LINKS = 20

function listParts({ blacklists: { address, domains }, links }: MessageAnswer): Parts {
  const asked = [
    ...(address ? [{ ...address, subject: address.ip, as: ['connecting address'] }] : []),
    ...domains.map((one) => ({ ...one, subject: one.domain })),
  ]
  const listsOf = ({ host, lists }: MessageAnswer['links'][number]): string => {
    if (lists === null) return 'not asked'
    if (lists.length > 0) return lists.join(', ')
    return domains.some((one) => one.domain === host && one.verdict === 'incomplete') ? 'none that answered' : 'none'
  }
  return [
    table(
      'Where the sender and the links stand',
      asked,
      ['Subject', ({ subject }) => code(subject)],
      ['What it is', (one) => one.as.join(', ')],
      ['Verdict', ({ verdict }) => LISTED[verdict]],
      ['Lists', listNames],
    ) ?? text('Nothing of this message could be looked up.'),
    table(
      `${counted(links.length, 'host')} in links; none was visited`,
      links.slice(0, MAX_LINKS),
      ['Host', ({ host }) => code(host)],
      ['Times', ({ times }) => String(times), 'number'],
      ['Lists', listsOf],
    ) ?? text('The message has no links.'),
    links.length > MAX_LINKS && quiet(`and ${counted(links.length - MAX_LINKS, 'more host')}.`),
  ]
}

const listNames = ({
  listings,
  answered,
  total,
}: {
  listings: readonly { blacklist: string; tier: string }[]
  answered: number
  total: number
}): string =>
  listings.length > 0
    ? listings.map(({ blacklist, tier }) => `${blacklist} (tier ${tier})`).join(', ')
    : `${answered} of ${total} answered`

function formFacts({ headers, from }: MessageAnswer): Block | undefined {
  const names = headers.attachments.map(
    ({ name, type, bytes }) => `${name || 'without a name'} (${type}, ${bytes} bytes)`,
  )
  return facts(
    ['From', [from.name === undefined ? '' : `${from.name} `, code(from.address ?? '–')]],
    ['Message-ID', headers.message_id === undefined ? 'none' : code(headers.message_id)],
    ['Size', `${headers.bytes} bytes, ${counted(headers.lines, 'line')}, ${counted(headers.fields, 'header field')}`],
    ['Type', code(headers.mime)],
    ['Attachments', names.length === 0 ? 'none' : names.join('; ')],
  )
}

const domainParts = ({ domain }: MessageAnswer): Parts =>
  domain && [
    heading(2, 'The domain of the author', 'domain'),
    facts(
      ['Domain', { link: `/domain/${domain.domain}`, text: domain.domain }],
      [
        'Score',
        `${domain.score} of 100, ${domain.grade === null ? 'no grade, because too little is known' : `grade ${domain.grade}`}`,
      ],
      ['First finding', domain.first_finding?.title ?? 'none'],
    ),
  ]

const STATES: Readonly<Record<ReceivedMessageAnswer['state'], readonly [Mark, badge: string, words: string]>> = {
  waiting: ['busy', 'waiting', 'Send one message to the address below. None has come in yet.'],
  received: ['busy', 'received', 'The message came in and is being analysed.'],
  expired: ['none', 'expired', 'The address has expired. It takes no message any more.'],
}

/** What came to a one-time address: the analysis, or what is waited for. */
export function receivedMessageDocument(answer: ReceivedMessageAnswer, version: string): Document {
  const { state, address, expires_at, answer: analysis } = answer
  if (analysis) return messageDocument(analysis, version)
  return documentOf(
    'Message to a one-time address',
    version,
    conclude('One-time address', ...STATES[state]),
    { kind: 'seen', label: 'Address', text: address },
    state !== 'expired' && text('It is valid until ', { time: expires_at }, '.'),
    state === 'waiting' && text('The message is not stored, and no bounce is ever sent.'),
  )
}
