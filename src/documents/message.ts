import type { BounceAnswer, MessageAnswer, MessageResult, ReceivedMessageAnswer } from '../answers/message.ts'
import { counted } from '../base/text.ts'
import {
  type Block,
  type Conclusion,
  code,
  type Document,
  heading,
  type Line,
  type Mark,
  type Marked,
  quiet,
  type TreeNode,
  text,
} from './block.ts'
import { findingBlock } from './check/findings.ts'
import { duration, footerOf } from './words.ts'

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

const RULES: Readonly<Record<MessageAnswer['bulk_sender']['rules'][number]['status'], Marked>> = {
  met: { mark: 'good', text: 'met' },
  not_met: { mark: 'bad', text: 'not met' },
  unknown: { mark: 'open', text: 'unknown' },
  not_applicable: { mark: 'none', text: 'does not apply' },
  not_observable: { mark: 'none', text: 'cannot be seen' },
}

/** The answer about an upload: a message, or a bounce. */
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

/** A bounce: what became of each recipient, why, and what to do; then what came back. */
function bounceDocument({ bounce, summary, input, observed_at }: BounceAnswer, version: string): Document {
  const { recipients, returned } = bounce
  const worst = recipients.find(({ action }) => action === 'failed') ?? recipients[0]!
  const blocks = recipients.flatMap((one): Block[] => [
    heading(2, one.address ?? 'The reply'),
    {
      kind: 'facts',
      rows: [
        ['Result', [ACTIONS[one.action], one.permanent ? ', for good' : '']],
        ['Meaning', [one.meaning]],
        ...(one.to_do === undefined ? [] : [['What to do', [one.to_do]] as const]),
        ['It is about', [ABOUT[one.about]]],
        ...(one.remote_mta === null ? [] : [['Server', [code(one.remote_mta)]] as const]),
      ],
    },
    ...(one.text === '' ? [] : [{ kind: 'seen', label: 'What the server said', text: one.text } as const]),
  ])
  return {
    title: 'Bounce',
    blocks: [
      {
        kind: 'conclusion',
        conclusion: {
          subject: returned?.subject || 'A reply of a mail server',
          mark: ACTIONS[worst.action].mark,
          badge: ACTIONS[worst.action].text,
          words: summary,
          notes: input.notes.map((note): Line => [note]),
        },
      },
      ...blocks,
      ...(returned
        ? [
            heading(2, 'The message that came back', 'returned'),
            {
              kind: 'facts',
              rows: [
                ['From', [returned.from]],
                ['To', [returned.to]],
                ['Subject', [returned.subject]],
                ['Date', [returned.date]],
                ...(returned.analysis ? [['Analysis', [returned.analysis.summary]] as const] : []),
                ...(returned.analysis?.input.notes ?? []).map((note) => ['Note', [note]] as const),
              ],
            } as const,
          ]
        : []),
    ],
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
  return {
    title: `Message${from.domain === null ? '' : ` from ${from.domain}`}`,
    blocks: [
      {
        kind: 'conclusion',
        conclusion: {
          subject: headers.subject === undefined ? `Message from ${from.address ?? 'nobody'}` : headers.subject,
          mark,
          badge,
          words: answer.summary,
          notes: [
            [
              `From ${from.address ?? 'nobody'}${headers.date === undefined ? '' : ', '}`,
              ...(headers.date === undefined ? [] : [{ time: headers.date }]),
            ],
            ...answer.input.notes.map((note): Line => [`${note.charAt(0).toUpperCase()}${note.slice(1)}.`]),
          ],
        },
      },
      heading(2, 'Authentication', 'authentication'),
      alignmentTree(answer),
      ...(answer.dkim.length > 0 ? [signaturesTable(answer)] : [text('The message has no DKIM signature.')]),
      ...(told.length > 0
        ? [heading(2, 'What to repair', 'findings'), ...told.map((one) => findingBlock(one, { level: 3 }))]
        : []),
      heading(2, 'The way it went', 'path'),
      ...pathBlocks(answer),
      ...claimBlocks(answer),
      ...arcBlocks(answer),
      heading(2, 'Rules for bulk senders', 'bulk-sender'),
      ...bulkBlocks(answer),
      heading(2, 'Blacklists and links', 'blacklists'),
      ...listBlocks(answer),
      heading(2, 'Form', 'form'),
      ...formBlocks(answer),
      ...(notes.length > 0
        ? [heading(2, 'Notes', 'notes'), ...notes.map((one) => findingBlock(one, { level: 3 }))]
        : []),
      ...domainBlocks(answer),
    ],
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

const signaturesTable = ({ dkim }: MessageAnswer): Block => ({
  kind: 'table',
  table: {
    caption: counted(dkim.length, 'DKIM signature'),
    head: ['Domain', 'Selector', 'Result', 'Key', 'Form'],
    rows: dkim.map((one): Line[] => [
      [code(one.domain || '–')],
      [code(one.selector || '–')],
      [result(one.result)],
      [one.key_bits === null ? one.algorithm || '–' : `${one.algorithm}, ${one.key_bits} bits`],
      [
        `${one.canonicalization || '–'}${one.body_length === null ? '' : `, l=${one.body_length}`}${one.expires_at === null ? '' : `, until ${one.expires_at}`}`,
      ],
    ]),
  },
})

function pathBlocks(answer: MessageAnswer): Block[] {
  const { path, path_left_out, envelope } = answer
  const KNOWN = {
    parameter: 'given by the caller',
    connection: 'seen by this service',
    received: 'from the fields of the receiver',
    none: 'not known',
  } as const
  const rows: [string, Line][] = [
    ['Connecting address', [envelope.ip === null ? 'not known' : code(envelope.ip), `, ${KNOWN[envelope.known_from]}`]],
    ['HELO', [envelope.helo === null ? 'not known' : code(envelope.helo)]],
    [
      'Envelope sender',
      [
        envelope.mail_from === null
          ? 'not known'
          : envelope.mail_from === ''
            ? 'empty (a bounce)'
            : code(envelope.mail_from),
      ],
    ],
  ]
  const table: Block = {
    kind: 'table',
    table: {
      caption: `${counted(path.length, 'hop')}, oldest first${path_left_out === undefined ? '' : `; ${path_left_out} older ones are left out`}`,
      head: ['From', 'Address', 'Names', 'To', 'With', 'After', 'Whose words'],
      rows: path.map((hop): Line[] => [
        [code(hop.from || '–')],
        [hop.address === undefined ? '–' : code(hop.address)],
        namesOf(hop),
        [code(hop.by || '–')],
        [`${hop.with || '–'} `, tlsOf(hop.tls)],
        [
          hop.delay_ms === undefined
            ? '–'
            : hop.delay_ms < 0
              ? `a clock is ${duration(-hop.delay_ms)} behind`
              : duration(hop.delay_ms),
        ],
        [hop.trusted ? 'the receiver' : 'a sender'],
      ]),
    },
  }
  return [
    { kind: 'facts', rows },
    ...receiverBlocks(answer),
    ...(path.length === 0 ? [text('The message has no Received fields.')] : [table]),
  ]
}

/** Who may have received the message, where that is not sure. */
function receiverBlocks({ receivers = [], envelope }: MessageAnswer): Block[] {
  if (receivers.length === 0 || envelope.ip !== null) return []
  return receivers.map(({ host, operator, address }) =>
    text(
      code(host),
      `${operator === undefined ? '' : ` (${operator})`} wrote that `,
      code(address),
      ' delivered this. If that is your mail host, analyse the message again with received_by=',
      code(host),
      '.',
    ),
  )
}

function namesOf({ ptr, forward_confirmed }: MessageAnswer['path'][number]): Line {
  if (ptr === undefined) return ['–']
  if (ptr.length === 0)
    return [
      {
        mark: forward_confirmed === null ? 'open' : 'warn',
        text: forward_confirmed === null ? 'could not be looked up' : 'none',
      },
    ]
  const mark: Mark = forward_confirmed === null ? 'open' : forward_confirmed ? 'good' : 'warn'
  const words =
    forward_confirmed === null
      ? 'not known whether it resolves back'
      : forward_confirmed
        ? 'resolves back'
        : 'does not resolve back'
  return [code(ptr[0]!), ' ', { mark, text: words }]
}

const tlsOf = (tls: boolean | null): Marked =>
  tls === null
    ? { mark: 'none', text: 'TLS not told' }
    : tls
      ? { mark: 'good', text: 'TLS' }
      : { mark: 'warn', text: 'no TLS' }

function claimBlocks({ authentication_results: results }: MessageAnswer): Block[] {
  if (results.length === 0) return []
  return [
    heading(3, 'What receivers said'),
    {
      kind: 'table',
      table: {
        caption: counted(results.length, 'Authentication-Results field'),
        head: ['Host', 'Claims', 'We come to', 'Whose words'],
        rows: results.map((one): Line[] => [
          [code(one.host || '–')],
          [
            one.claims
              .map(({ method, result: word, domain }) => `${method}=${word}${domain === '' ? '' : ` (${domain})`}`)
              .join(', ') || 'none',
          ],
          [
            one.agrees === null
              ? { mark: 'none', text: 'nothing to compare' }
              : one.agrees
                ? { mark: 'good', text: 'the same' }
                : { mark: 'warn', text: 'another result' },
          ],
          [one.trusted ? 'the receiver' : 'a sender'],
        ]),
      },
    },
  ]
}

function arcBlocks({ arc }: MessageAnswer): Block[] {
  if (arc.result === 'none') return []
  return [
    heading(3, 'ARC'),
    text(
      result(arc.result),
      arc.because === undefined ? ': every seal holds.' : `: ${arc.because}.`,
      ' ARC is reported, and not scored.',
    ),
    {
      kind: 'table',
      table: {
        caption: counted(arc.sets.length, 'set'),
        head: ['Instance', 'Sealed by', 'It says'],
        rows: arc.sets.map(({ instance, domain, cv, claims }): Line[] => [
          [String(instance)],
          [code(domain || '–')],
          [[`chain ${cv}`, ...claims.map(({ method, result: word }) => `${method}=${word}`)].join(', ')],
        ]),
        numeric: [0],
      },
    },
  ]
}

/** A page of a provider; a text that is no URL stays as it is. */
const sourceLink = (url: string): Line[number] =>
  URL.canParse(url) && url.startsWith('https://') ? { link: url, text: new URL(url).hostname } : url

function bulkBlocks({ bulk_sender: { met, not_met, unknown, rules, source } }: MessageAnswer): Block[] {
  return [
    text(`${met} met, ${not_met} not met, ${unknown} unknown.`),
    {
      kind: 'table',
      table: {
        caption: 'Rules of Google, Yahoo and Microsoft',
        head: ['Rule', 'By', 'Status', 'Why'],
        rows: rules.map((rule): Line[] => [[rule.text], [rule.by.join(', ')], [RULES[rule.status]], [rule.because]]),
      },
    },
    quiet('From ', ...source.split(', ').flatMap((url, i) => [i === 0 ? '' : ', ', sourceLink(url)]), '.'),
  ]
}

const LISTED: Readonly<Record<'clean' | 'listed' | 'incomplete', Marked>> = {
  clean: { mark: 'good', text: 'on no list' },
  listed: { mark: 'bad', text: 'listed' },
  incomplete: { mark: 'open', text: 'on no list that answered' },
}

function listBlocks({ blacklists: { address, domains }, links }: MessageAnswer): Block[] {
  const rows: Line[][] = [
    ...(address ? [[[code(address.ip)], ['connecting address'], [LISTED[address.verdict]], [listNames(address)]]] : []),
    ...domains.map((one): Line[] => [[code(one.domain)], [one.as.join(', ')], [LISTED[one.verdict]], [listNames(one)]]),
  ]
  const isOpen = (host: string): boolean => domains.some((one) => one.domain === host && one.verdict === 'incomplete')
  return [
    ...(rows.length === 0
      ? [text('Nothing of this message could be looked up.')]
      : [
          {
            kind: 'table',
            table: {
              caption: 'Where the sender and the links stand',
              head: ['Subject', 'What it is', 'Verdict', 'Lists'],
              rows,
            },
          } as const,
        ]),
    ...(links.length === 0
      ? [text('The message has no links.')]
      : [
          {
            kind: 'table',
            table: {
              caption: `${counted(links.length, 'host')} in links; none was visited`,
              head: ['Host', 'Times', 'Lists'],
              rows: links
                .slice(0, 20)
                .map(({ host, times, lists }): Line[] => [
                  [code(host)],
                  [String(times)],
                  [
                    lists === null
                      ? 'not asked'
                      : lists.length > 0
                        ? lists.join(', ')
                        : isOpen(host)
                          ? 'none that answered'
                          : 'none',
                  ],
                ]),
              numeric: [1],
            },
          } as const,
          ...(links.length > 20 ? [quiet(`and ${counted(links.length - 20, 'more host')}.`)] : []),
        ]),
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

function formBlocks({ headers, from }: MessageAnswer): Block[] {
  const names = headers.attachments.map(
    ({ name, type, bytes }) => `${name || 'without a name'} (${type}, ${bytes} bytes)`,
  )
  const rows: [string, Line][] = [
    ['From', [from.name === undefined ? '' : `${from.name} `, code(from.address ?? '–')]],
    ['Message-ID', [headers.message_id === undefined ? 'none' : code(headers.message_id)]],
    ['Size', [`${headers.bytes} bytes, ${counted(headers.lines, 'line')}, ${counted(headers.fields, 'header field')}`]],
    ['Type', [code(headers.mime)]],
    ['Attachments', [names.length === 0 ? 'none' : names.join('; ')]],
  ]
  return [{ kind: 'facts', rows }]
}

function domainBlocks({ domain }: MessageAnswer): Block[] {
  if (!domain) return []
  return [
    heading(2, 'The domain of the author', 'domain'),
    {
      kind: 'facts',
      rows: [
        ['Domain', [{ link: `/domain/${domain.domain}`, text: domain.domain }]],
        [
          'Score',
          [
            `${domain.score} of 100, ${domain.grade === null ? 'no grade, because too little is known' : `grade ${domain.grade}`}`,
          ],
        ],
        ['First finding', [domain.first_finding?.title ?? 'none']],
      ],
    },
  ]
}

const STATES: Readonly<Record<ReceivedMessageAnswer['state'], Pick<Conclusion, 'mark' | 'badge' | 'words'>>> = {
  waiting: { mark: 'busy', badge: 'waiting', words: 'Send one message to the address below. None has come in yet.' },
  received: { mark: 'busy', badge: 'received', words: 'The message came in and is being analysed.' },
  expired: { mark: 'none', badge: 'expired', words: 'The address has expired. It takes no message any more.' },
}

/** What came to a one-time address: the analysis, or what is waited for. */
export function receivedMessageDocument(answer: ReceivedMessageAnswer, version: string): Document {
  const { state, address, expires_at, answer: analysis } = answer
  if (analysis) return messageDocument(analysis, version)
  const until = state === 'expired' ? [] : [text('It is valid until ', { time: expires_at }, '.')]
  return {
    title: 'Message to a one-time address',
    blocks: [
      { kind: 'conclusion', conclusion: { subject: 'One-time address', ...STATES[state], notes: [] } },
      { kind: 'seen', label: 'Address', text: address },
      ...until,
      ...(state === 'waiting' ? [text('The message is not stored, and no bounce is ever sent.')] : []),
    ],
    footer: footerOf(version),
  }
}
