import type {
  ReportRowsAnswer,
  ReportSenderAnswer,
  ReportSendersAnswer,
  ReportsAnswer,
  ReportsDomainsAnswer,
  ReportsImportAnswer,
  ReportsOfDomain,
  ReportsPolicyAnswer,
  ReportsTlsAnswer,
  SenderVerdict,
} from '../answers/reports.ts'
import { counted } from '../base/text.ts'
import {
  type Block,
  type Conclusion,
  code,
  type Document,
  heading,
  type Line,
  type Marked,
  quiet,
  text,
} from './block.ts'
import { footerOf } from './words.ts'

/** What a verdict is called, and how it is marked. */
const VERDICTS: Readonly<Record<SenderVerdict, Marked>> = {
  authorized: { mark: 'good', text: 'authorized' },
  needs_setup: { mark: 'warn', text: 'needs setup' },
  forwarded: { mark: 'none', text: 'forwarded' },
  forged: { mark: 'none', text: 'looks forged' },
  unknown: { mark: 'open', text: 'unknown' },
}

const number = (value: number): string => value.toLocaleString('en-US')
const mails = (count: number): string => `${number(count)} ${count === 1 ? 'message' : 'messages'}`
/** A share in percent, never 0 or 100 for a part that is neither. */
const percent = (part: number, whole: number): string => {
  if (whole === 0) return '–'
  const value = (part / whole) * 100
  if (value === 0 || value === 100) return `${value} %`
  return value < 1 ? '< 1 %' : `${Math.min(99, Math.round(value))} %`
}
/**
 * The shares of parts of one whole that stand beside each other, by largest remainder: they add to 100 %. Small parts
 * and nearly the whole as {@link percent} has them.
 */
export function percents(parts: readonly number[]): readonly string[] {
  const whole = parts.reduce((sum, part) => sum + part, 0)
  if (whole === 0) return parts.map(() => '–')
  const exact = parts.map((part) => (part / whole) * 100)
  const left = 100 - exact.reduce((sum, value) => sum + Math.floor(value), 0)
  const raised = [...exact.keys()].sort((a, b) => (exact[b]! % 1) - (exact[a]! % 1)).slice(0, Math.round(left))
  return exact.map((value, i) => {
    if (value === 0 || value === 100) return `${value} %`
    const rounded = Math.floor(value) + (raised.includes(i) ? 1 : 0)
    return rounded === 0 || value < 1 ? '< 1 %' : `${Math.min(99, rounded)} %`
  })
}
const conclusion = (one: Conclusion): Block => ({ kind: 'conclusion', conclusion: one })
const period = ({ from, to }: { readonly from: string; readonly to: string }): string => `${from} to ${to}`

/** What came in. */
export function reportsImportDocument(
  { reports, refused, failure_reports, foreign_rows }: ReportsImportAnswer,
  version: string,
): Document {
  const fresh = reports.filter(({ duplicate }) => !duplicate).length
  return {
    title: 'Reports',
    blocks: [
      conclusion({
        ...{ subject: counted(reports.length, 'report'), mark: reports.length > 0 ? 'good' : 'open', badge: '' },
        words: `${counted(fresh, 'is', 'are')} new, ${reports.length - fresh} already stored, ${refused.length} refused.`,
        notes: [
          ...(failure_reports === 0 ? [] : [[`${counted(failure_reports, 'failure report')} counted and not kept.`]]),
          ...(foreign_rows === 0
            ? []
            : [[`${counted(foreign_rows, 'row')} about another domain than the report: not stored.`]]),
        ],
      }),
      ...table(
        'Reports',
        ['Domain', 'Organization', 'From', 'Messages', 'Stored', 'Sender proven'],
        [3],
        reports.map((one) => [
          [code(one.domain)],
          [one.organization],
          [{ time: one.begin }],
          [number(one.messages)],
          [one.duplicate ? 'before' : 'now'],
          [
            one.authenticated === null ? 'not known' : one.authenticated ? 'yes' : 'no',
            one.note === undefined ? '' : `; ${one.note}`,
          ],
        ]),
      ),
      ...table(
        'Refused',
        ['File', 'Why'],
        [],
        refused.map(({ name, detail, line }) => [[code(name)], [detail, line === undefined ? '' : ` (line ${line})`]]),
      ),
    ],
    footer: footerOf(version),
  }
}

function table(
  caption: string,
  head: readonly string[],
  numeric: readonly number[],
  rows: readonly (readonly Line[])[],
): readonly Block[] {
  return rows.length === 0 ? [] : [{ kind: 'table', table: { caption, head, rows, numeric } }]
}

/** Who sends as a domain: the verdict, what to do, the senders, the days. */
export function reportsDocument(answer: ReportsAnswer, version: string): Document {
  return {
    title: `Who sends as ${answer.domain}`,
    blocks: [
      conclusion(conclusionOf(answer)),
      ...repairBlocks(answer),
      ...senderBlocks(answer),
      ...dayBlocks(answer),
      ...basisBlocks(answer),
    ],
    footer: footerOf(version),
  }
}

function conclusionOf({
  domain,
  messages,
  passing,
  forwarded,
  failing,
  reports,
  repairs,
  from,
  to,
}: ReportsAnswer): Conclusion {
  const subject = domain
  if (reports === 0)
    return {
      ...{ subject, mark: 'open', badge: 'No reports' },
      words: `No reports about ${from} to ${to} have come in. That says nothing about mail.`,
      notes: [],
    }
  const notes: Line[] = [[`${mails(messages)} from ${from} to ${to}, by ${counted(reports, 'report')}.`]]
  const [passes, passedOn, fails] = percents([passing, forwarded, failing])
  const rest = [forwarded === 0 ? '' : `${passedOn} was forwarded`, failing === 0 ? '' : `${fails} fails`]
  const words = `${passes} of the mail passes DMARC${rest
    .filter((one) => one !== '')
    .map((one) => `, ${one}`)
    .join('')}.`
  const isGood = repairs.length === 0
  return {
    subject,
    mark: isGood ? 'good' : 'warn',
    badge: isGood ? 'Nothing to do' : counted(repairs.length, 'sender to look at', 'senders to look at'),
    words,
    notes,
  }
}

const repairBlocks = ({ repairs }: ReportsAnswer): readonly Block[] =>
  repairs.length === 0
    ? []
    : [
        heading(2, 'What to do', 'repairs'),
        {
          kind: 'list',
          items: repairs.map(({ sender, verdict, messages, text: words }) => [
            { strong: sender },
            ' ',
            VERDICTS[verdict],
            `, ${mails(messages)}: ${words}`,
          ]),
        },
      ]

function dayBlocks({ days }: ReportsAnswer): readonly Block[] {
  if (days.length === 0) return []
  return [
    heading(2, 'By day', 'days'),
    {
      kind: 'stack',
      stack: {
        label: 'Messages by day',
        parts: [
          { label: 'passing', mark: 'good' },
          { label: 'forwarded', mark: 'none' },
          { label: 'failing', mark: 'bad' },
        ],
        bars: days.map(({ date, passing, forwarded, failing }) => ({ date, counts: [passing, forwarded, failing] })),
      },
    },
    ...table(
      'Messages by day',
      ['Day', 'Messages', 'Passing', 'Forwarded', 'Failing'],
      [1, 2, 3, 4],
      days.map((one) => [
        [one.date],
        [number(one.messages)],
        [number(one.passing)],
        [number(one.forwarded)],
        [number(one.failing)],
      ]),
    ),
  ]
}

/** Who sends as a domain, in the document of its check; how to get reports while there are none. */
export function reportsOfDomainBlocks(answer: ReportsOfDomain): readonly Block[] {
  const { unknown, how_to_get: how, messages, passing, forwarded, failing, reports, days } = answer
  const head = heading(2, 'Who sends as this domain', 'sent')
  if (unknown !== undefined) return [head, text(`Not known: ${unknown}.`)]
  if (how) return [head, ...howToGetBlocks(how)]
  return [
    head,
    text(
      { strong: `${percent(passing, messages)} of the mail passes DMARC` },
      `: of ${mails(messages)} from ${period(answer)}, ${number(forwarded)} were forwarded and ${number(failing)} fail.`,
    ),
    ...senderTable(answer),
    quiet(`By ${counted(reports, 'report')} about ${counted(days, 'day')}.`),
  ]
}

/** The records that bring reports here. */
function howToGetBlocks({ rua, publish, authorization }: NonNullable<ReportsOfDomain['how_to_get']>): readonly Block[] {
  const record = (one: NonNullable<typeof publish>): Block => ({
    kind: 'publish',
    record: { name: one.name, rtype: one.type, value: one.value },
  })
  if (rua === null)
    return [
      text('No reports about this domain have come in.'),
      quiet('This installation names no address for reports: ', code('--reports-rua'), ' sets it.'),
    ]
  return [
    text(
      'No reports about this domain have come in. Receivers send them to the ',
      code('rua'),
      ' of its DMARC record; this installation reads ',
      code(rua),
      '.',
    ),
    ...(publish ? [quiet('With a DMARC record, add the rua to it. Without one, begin with:'), record(publish)] : []),
    ...(authorization
      ? [quiet('The domain of that address allows reports about this one (RFC 9990 §4):'), record(authorization)]
      : []),
  ]
}

const senderBlocks = (answer: ReportsAnswer): readonly Block[] =>
  answer.senders.length === 0 ? [] : [heading(2, 'Senders', 'senders'), ...senderTable(answer)]

const senderTable = ({
  senders,
  senders_total,
  left_out,
}: Pick<ReportsAnswer, 'senders' | 'senders_total' | 'left_out'>): readonly Block[] => [
  ...table(
    'Senders, largest first',
    ['Sender', 'Verdict', 'Messages', 'Passing', 'What to do'],
    [2, 3],
    senders.map((one) => [
      [one.name],
      [VERDICTS[one.verdict]],
      [number(one.messages)],
      [percent(one.passing, one.messages)],
      [one.to_do ?? (one.verdict === 'authorized' || one.verdict === 'unknown' ? '' : 'nothing')],
    ]),
  ),
  ...(senders_total > senders.length
    ? [quiet(`${senders_total - senders.length} more senders are in the list of senders.`)]
    : []),
  ...leftOutBlocks(left_out),
]

const leftOutBlocks = (leftOut: ReportsAnswer['left_out']): readonly Block[] =>
  leftOut
    ? [quiet(`Not judged: the ${number(leftOut.sources)} smallest sources, with ${mails(leftOut.messages)}.`)]
    : []

function basisBlocks({
  reporters,
  other_reporters,
  policies,
  unauthenticated_reports,
  differing_reports,
  unanswered,
  last_report_at,
}: ReportsAnswer): readonly Block[] {
  const known = reporters.filter((one) => one.known)
  const others = reporters.filter((one) => !one.known)
  const names = (some: readonly { readonly name: string; readonly reports: number }[]): string =>
    some
      .slice(0, 10)
      .map(({ name, reports }) => `${name} (${reports})`)
      .join(', ')
  const rows: (readonly [string, Line])[] = [
    ...(known.length > 0 ? [['Reporters', [names(known)]] as const] : []),
    ...(others.length > 0 ? [['Other reporters', [names(others)]] as const] : []),
    ...policies.slice(0, 5).map((one): [string, Line] => [
      'Policy seen',
      [
        code(
          `${one.domain}: ${Object.entries(one.policy)
            .map(([tag, value]) => `${tag}=${value}`)
            .join('; ')}`,
        ),
        `, ${period(one)}`,
      ],
    ]),
    ...(last_report_at === null ? [] : [['Last report', [{ time: last_report_at }]] as const]),
    ...(other_reporters.length === 0
      ? []
      : [['By mail, not counted', [`reports of others: ${names(other_reporters)}`]] as const]),
    ...(unauthenticated_reports === 0
      ? []
      : [['Not counted', [`${counted(unauthenticated_reports, 'report')} whose sender is not proven`]] as const]),
    ...(differing_reports === 0
      ? []
      : [['Came again', [`${counted(differing_reports, 'report')} with other numbers; the first counts`]] as const]),
    ...(unanswered.length === 0 ? [] : [['Not known', [`the DNS did not answer: ${unanswered.join(', ')}`]] as const]),
  ]
  return rows.length === 0 ? [] : [heading(2, 'What this rests on', 'basis'), { kind: 'facts', rows }]
}

/** Senders with their evidence. */
export const reportSendersDocument = ({ data, has_more }: ReportSendersAnswer, version: string): Document => ({
  title: 'Senders',
  blocks: [
    conclusion({
      ...{ subject: counted(data.length, 'sender'), mark: 'none', badge: '', notes: [] },
      words: has_more ? 'The largest; the rest is on the next page.' : 'All senders of this time, largest first.',
    }),
    ...data.map((one): Block => ({ kind: 'group', look: 'check', blocks: senderDetails(one) })),
  ],
  footer: footerOf(version),
})

/** One sender: evidence, numbers, and what the DNS and the blacklists say now. */
export function senderDetails(one: ReportSenderAnswer): readonly Block[] {
  const { today } = one
  const rows: (readonly [string, Line])[] = [
    ['Because', [one.because.join('; ')]],
    [
      'Messages',
      [
        `${number(one.messages)} from ${counted(one.addresses, 'address', 'addresses')}, ${percent(one.passing, one.messages)} pass DMARC`,
      ],
    ],
    ['Aligned', [`SPF ${percent(one.spf_aligned, one.messages)}, DKIM ${percent(one.dkim_aligned, one.messages)}`]],
    ['Seen', [`${one.first_seen} to ${one.last_seen}`]],
    ...namesRow('DKIM domains', one.dkim_domains),
    ...namesRow('Selectors', one.selectors),
    ...namesRow('Return paths', one.envelope_domains),
    ...(today ? todayRows(today) : []),
  ]
  return [
    { kind: 'heading', level: 2, line: [one.name, ' ', VERDICTS[one.verdict]] },
    ...(one.to_do === undefined ? [] : [text(one.to_do)]),
    { kind: 'facts', rows },
  ]
}

const namesRow = (label: string, names: readonly string[]): [string, Line][] =>
  names.length === 0 ? [] : [[label, [code(names.slice(0, 8).join(', '))]]]

function todayRows(today: NonNullable<ReportSenderAnswer['today']>): (readonly [string, Line])[] {
  const passing = today.spf.filter(({ result }) => result === 'pass').length
  const missing = today.keys.filter(({ status }) => status === 'missing')
  return [
    [
      'SPF now',
      [
        `${passing} of ${counted(today.asked, 'address', 'addresses')} pass${today.left_out === 0 ? '' : `, ${today.left_out} were not asked`}`,
      ],
    ],
    ...(missing.length === 0
      ? []
      : [
          [
            'Keys now',
            [`missing: ${missing.map(({ selector, domain }) => `${selector}._domainkey.${domain}`).join(', ')}`],
          ] as const,
        ]),
    [
      'Blacklists now',
      [
        today.listed.length === 0
          ? `not listed (${today.lists_answered} lists answered for each)`
          : today.listed.map(({ blacklist, share }) => `${blacklist} (${percent(share, 1)} of the mail)`).join(', '),
      ],
    ],
  ]
}

/** What a policy would have done to the mail that was seen. */
export function reportsPolicyDocument(answer: ReportsPolicyAnswer, version: string): Document {
  const { domain, policy, affected, messages, passing_before, passing_after, days, not_reevaluated, unanswered } =
    answer
  const lost = affected.filter(({ verdict }) => verdict !== 'forged').reduce((sum, one) => sum + one.messages, 0)
  const act = policy === 'reject' ? 'refused' : policy === 'quarantine' ? 'sent to the spam folder' : 'touched'
  return {
    title: `What p=${policy} would do to the mail of ${domain}`,
    blocks: [
      conclusion({
        subject: domain,
        ...(messages === 0
          ? {
              mark: 'open' as const,
              badge: 'No reports',
              words: 'Without reports it is not known what a policy would do.',
            }
          : policy === 'none'
            ? { mark: 'none' as const, badge: 'Nothing', words: 'p=none touches no mail.' }
            : lost === 0
              ? {
                  mark: 'good' as const,
                  badge: 'Nobody loses mail',
                  words: `No mail but what looks forged would have been ${act}.`,
                }
              : {
                  mark: 'warn' as const,
                  badge: `${mails(lost)}`,
                  words: `would have been ${act}, beside what looks forged.`,
                }),
        notes: [
          [
            `Rests on ${mails(messages)} of ${counted(days, 'day')} with reports; ${number(passing_before)} passed, ${number(passing_after)} would pass.`,
          ],
          ...(not_reevaluated === 0 ? [] : [[`For ${mails(not_reevaluated)} the reported SPF result stands.`]]),
          ...(unanswered.length === 0 ? [] : [[`The DNS did not answer: ${unanswered.join(', ')}.`]]),
        ],
      }),
      ...table(
        'Affected senders',
        ['Sender', 'Verdict', 'Messages', 'Of its mail', 'What to do first'],
        [2, 3],
        affected.map((one) => [
          [one.name],
          [VERDICTS[one.verdict]],
          [number(one.messages)],
          [percent(one.share, 1)],
          [one.to_do ?? ''],
        ]),
      ),
    ],
    footer: footerOf(version),
  }
}

/** TLS reports beside what is seen now. */
export function reportsTlsDocument({ domain, from, to, policies }: ReportsTlsAnswer, version: string): Document {
  const failed = policies.reduce((sum, one) => sum + (one.failed ?? 0), 0)
  const successful = policies.reduce((sum, one) => sum + (one.successful ?? 0), 0)
  return {
    title: `TLS reports about ${domain}`,
    blocks: [
      conclusion({
        subject: domain,
        ...(policies.length === 0
          ? { mark: 'open', badge: 'No reports', words: `No TLS reports about ${from} to ${to} have come in.` }
          : {
              mark: failed === 0 ? 'good' : 'warn',
              badge: failed === 0 ? 'No failures' : `${number(failed)} failed`,
              words: `${number(successful)} sessions succeeded, ${number(failed)} failed.`,
            }),
        notes: [],
      }),
      ...policies.flatMap((one): readonly Block[] => [
        heading(
          2,
          `${one.type} of ${one.domain}: ${number(one.successful ?? 0)} succeeded, ${number(one.failed ?? 0)} failed`,
        ),
        ...table(
          'Failures by mail host',
          ['Mail host', 'Failure', 'Sessions', 'STARTTLS now', 'Certificate now', 'MTA-STS now', 'DANE now'],
          [2],
          one.mail_hosts.flatMap((host) =>
            host.failures.map((failure) => [
              [host.host === null ? 'not named' : code(host.host)],
              [failure.type],
              [failure.sessions === null ? 'not given' : number(failure.sessions)],
              ...(['starttls', 'certificate', 'mta_sts', 'dane'] as const).map(
                (key): Line => [
                  host.now[key].status,
                  host.now[key].detail === undefined ? '' : `: ${host.now[key].detail}`,
                ],
              ),
            ]),
          ),
        ),
      ]),
    ],
    footer: footerOf(version),
  }
}

/** The domains that have reports. */
export const reportsDomainsDocument = (
  { domains, unknown_domains, ways }: ReportsDomainsAnswer,
  version: string,
): Document => ({
  title: 'Reports',
  blocks: [
    conclusion({
      subject: counted(domains.length, 'domain'),
      mark: 'none',
      badge: '',
      words: domains.length === 0 ? 'No reports have come in.' : 'have reports.',
      notes: [],
    }),
    ...table(
      'Domains',
      ['Domain', 'Reports', 'Messages', 'Last report'],
      [1, 2],
      domains.map((one) => [
        [code(one.domain)],
        [number(one.reports)],
        [number(one.messages)],
        [{ time: one.last_report_at }],
      ]),
    ),
    ...table(
      'Reports about domains that nobody here takes',
      ['Domain', 'Reports', 'Last report'],
      [1],
      unknown_domains.map((one) => [[code(one.domain)], [number(one.reports)], [{ time: one.last_report_at }]]),
    ),
    ...table(
      'Ways in, since the service started',
      ['Way', 'Place', 'State', 'With reports', 'Unreadable', 'Other mail', 'Last message'],
      [3, 4, 5],
      ways.map((one) => [
        [one.way === 'lmtp' ? 'LMTP' : 'IMAP'],
        [code(one.place)],
        one.problem === null
          ? [{ mark: 'good', text: 'works' }]
          : [{ mark: 'bad', text: 'does not work' }, ` ${one.problem}`],
        [number(one.taken)],
        [number(one.unreadable)],
        [number(one.others)],
        [one.last_at === null ? '–' : { time: one.last_at }],
      ]),
    ),
  ],
  footer: footerOf(version),
})

/** The summed rows of one page. */
export const reportRowsDocument = ({ data, has_more }: ReportRowsAnswer, version: string): Document => ({
  title: 'Rows of reports',
  blocks: [
    conclusion({
      subject: counted(data.length, 'row'),
      mark: 'none',
      badge: '',
      words: has_more ? 'The next page has more.' : '',
      notes: [],
    }),
    ...table(
      'Rows',
      ['Date', 'Address', 'From', 'Return path', 'SPF', 'DKIM', 'Done', 'Sender', 'Messages'],
      [8],
      data.map((one) => [
        [one.date],
        [code(one.address)],
        [code(one.header_from)],
        [code(one.envelope_from)],
        [`${one.spf_result} ${one.spf_aligned ? 'aligned' : ''}`],
        [`${one.dkim_result} ${one.dkim_domain} ${one.dkim_aligned ? 'aligned' : ''}`],
        [one.disposition],
        [one.sender],
        [number(one.messages)],
      ]),
    ),
  ],
  footer: footerOf(version),
})
