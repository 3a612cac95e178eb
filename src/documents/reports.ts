import type {
  ReportRowsAnswer,
  ReportSenderAnswer,
  ReportSendersAnswer,
  ReportsAnswer,
  ReportsDomainsAnswer,
  ReportsImportAnswer,
  ReportsOfDomain,
  ReportsPolicyAnswer,
  ReportsProvidersAnswer,
  ReportsTlsAnswer,
  SenderVerdict,
} from '../answers/reports.ts'
import { counted } from '../base/text.ts'
import {
  type Block,
  blocksOf,
  bullets,
  code,
  conclude,
  type Document,
  type Fact,
  facts,
  group,
  grouped,
  heading,
  type Line,
  type Mark,
  type Marked,
  type Parts,
  quiet,
  table,
  text,
} from './block.ts'
import { documentOf } from './words.ts'

/** What a verdict is called, and how it is marked. */
const VERDICTS: Readonly<Record<SenderVerdict, Marked>> = {
  authorized: { mark: 'good', text: 'authorized' },
  needs_setup: { mark: 'warn', text: 'needs setup' },
  forwarded: { mark: 'none', text: 'forwarded' },
  forged: { mark: 'none', text: 'looks forged' },
  not_ours: { mark: 'none', text: 'not yours' },
  unknown: { mark: 'open', text: 'unknown' },
}

/** What is written where there is nothing to do. Of an unknown sender it is asked whose it is, unless too little is known. */
const TO_DO: Readonly<Partial<Record<SenderVerdict, string>>> = {
  authorized: '',
  unknown: 'nothing yet: too little is known of it',
}

const mails = (count: number): string => `${grouped(count)} ${count === 1 ? 'message' : 'messages'}`
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
const period = ({ from, to }: { readonly from: string; readonly to: string }): string => `${from} to ${to}`

/** An answer about a body, with the name of the file that was sent in it. */
export const ofFile = (answer: ReportsImportAnswer, file: string): ReportsImportAnswer => ({
  ...answer,
  refused: answer.refused.map((one) => ({ ...one, name: one.name.replace(/^body(?=#|$)/, () => file) })),
})

/** What came in. */
export function reportsImportDocument(
  { reports, refused, failure_reports, foreign_rows }: ReportsImportAnswer,
  version: string,
): Document {
  const fresh = reports.filter(({ duplicate }) => !duplicate).length
  const apart = reports.filter(({ note }) => note !== undefined).length
  return documentOf(
    'Reports',
    version,
    conclude(
      counted(reports.length, 'report'),
      reports.length > apart ? 'good' : 'open',
      '',
      `${counted(fresh, 'is', 'are')} new, ${reports.length - fresh} already stored, ${refused.length} refused.`,
      [
        ...(apart === 0 ? [] : [[`${counted(apart, 'of them does not count', 'of them do not count')}, see below.`]]),
        ...(failure_reports === 0 ? [] : [[`${counted(failure_reports, 'failure report')} counted and not kept.`]]),
        ...(foreign_rows === 0
          ? []
          : [[`${counted(foreign_rows, 'row')} about another domain than the report: not stored.`]]),
      ],
    ),
    table(
      'Reports',
      reports,
      ['Domain', ({ domain }) => code(domain)],
      ['Organization', ({ organization }) => organization],
      ['From', ({ begin }) => ({ time: begin })],
      ['Messages', ({ messages }) => messages, 'number'],
      ['Stored', ({ duplicate }) => (duplicate ? 'before' : 'now')],
      [
        'Sender proven',
        ({ authenticated, note }) => [
          authenticated === null ? 'not known' : authenticated ? 'yes' : 'no',
          note === undefined ? '' : `; ${note}`,
        ],
      ],
    ),
    table(
      'Refused',
      refused,
      ['File', ({ name }) => code(name)],
      ['Why', ({ detail, line }) => [detail, line === undefined ? '' : ` (line ${line})`]],
    ),
  )
}

/** Who sends as a domain: the verdict, what to do, the senders, the days. */
export const reportsDocument = (answer: ReportsAnswer, version: string): Document =>
  documentOf(
    `Who sends as ${answer.domain}`,
    version,
    conclusionOf(answer),
    adviceParts(answer),
    answer.senders.length > 0 && [heading(2, 'Senders', 'senders'), senderTable(answer)],
    dayParts(answer),
    basisParts(answer),
  )

function conclusionOf(answer: ReportsAnswer): Block {
  const { domain, messages, passing, forwarded, failing, reports, advice, from, to } = answer
  if (reports === 0) {
    const words = `No reports about ${from} to ${to} have come in. That says nothing about mail.`
    return conclude(domain, 'open', 'No reports', words)
  }
  const [passes, passedOn, fails] = percents([passing, forwarded, failing])
  const words = [
    `${passes} of the mail passes DMARC`,
    ...(forwarded === 0 ? [] : [`${passedOn} was forwarded`]),
    ...(failing === 0 ? [] : [`${fails} fails`]),
  ]
  const unknown = answer.senders.filter(({ verdict }) => verdict === 'unknown').length
  const [mark, badge]: [Mark, string] =
    advice.length > 0
      ? ['warn', counted(advice.length, 'sender to look at', 'senders to look at')]
      : unknown > 0
        ? ['open', counted(unknown, 'sender is not judged yet', 'senders are not judged yet')]
        : ['good', 'Nothing to do']
  return conclude(domain, mark, badge, `${words.join(', ')}.`, [
    [`${mails(messages)} from ${from} to ${to}, by ${counted(reports, 'report')}.`],
  ])
}

const adviceParts = ({ advice }: ReportsAnswer): Parts =>
  advice.length > 0 && [
    heading(2, 'What to do', 'advice'),
    bullets(
      advice.map(({ sender, verdict, messages, text: words }) => [
        { strong: sender },
        ' ',
        VERDICTS[verdict],
        `, ${mails(messages)}: ${words}`,
      ]),
    ),
  ]

const dayParts = ({ days }: ReportsAnswer): Parts =>
  days.length > 0 && [
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
    table(
      'Messages by day',
      days,
      ['Day', ({ date }) => date],
      ['Messages', ({ messages }) => messages, 'number'],
      ['Passing', ({ passing }) => passing, 'number'],
      ['Forwarded', ({ forwarded }) => forwarded, 'number'],
      ['Failing', ({ failing }) => failing, 'number'],
    ),
  ]

/** Who sends as a domain, in the document of its check; how to get reports while there are none. */
export function reportsOfDomainBlocks(answer: ReportsOfDomain): readonly Block[] {
  const { unknown, how_to_get: how, messages, passing, forwarded, failing, reports, days } = answer
  if (unknown !== undefined) return [text(`Who sends is not known: ${unknown}.`)]
  if (how) return howToGetBlocks(how)
  return blocksOf([
    text(
      { strong: `${percent(passing, messages)} of the mail passes DMARC` },
      `: of ${mails(messages)}, ${forwarded === 0 ? '' : `${grouped(forwarded)} were forwarded and `}${grouped(failing)} fail (${period(answer)}, ${counted(reports, 'report')} about ${counted(days, 'day')}).`,
    ),
    senderTable(answer),
  ])
}

function howToGetBlocks({ rua, authorization }: NonNullable<ReportsOfDomain['how_to_get']>): readonly Block[] {
  const record = (one: NonNullable<typeof authorization>): Block => ({
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
      'No reports about this domain have come in. Receivers send them to the addresses in ',
      code('rua'),
      ' of its DMARC record; this installation reads ',
      code(rua),
      ': put ',
      code(`mailto:${rua}`),
      ' beside what the record of the plan has there.',
    ),
    ...(authorization
      ? [quiet('The domain of that address allows reports about this one (RFC 9990 §4):'), record(authorization)]
      : []),
  ]
}

/** A table of senders, of which a phone shows each in a line or two. */
function senders<Item>(...given: Parameters<typeof table<Item>>): Block | undefined {
  const block = table(...given)
  return block && { ...block, table: { ...block.table, isBrief: true } }
}

const senderTable = ({
  senders: shown,
  senders_total,
  left_out,
}: Pick<ReportsAnswer, 'senders' | 'senders_total' | 'left_out'>): Parts => [
  senders(
    'Senders, largest first',
    shown,
    ['Sender', ({ name }) => name],
    ['Verdict', ({ verdict }) => VERDICTS[verdict]],
    ['Messages', ({ messages }) => messages, 'number'],
    ['Passing', ({ passing, messages }) => percent(passing, messages), 'number'],
    ['What to do', ({ to_do, verdict }) => to_do ?? TO_DO[verdict] ?? 'nothing'],
  ),
  senders_total > shown.length && quiet(`${senders_total - shown.length} more senders are in the list of senders.`),
  left_out && quiet(`Not judged: the ${grouped(left_out.sources)} smallest sources, with ${mails(left_out.messages)}.`),
]

function basisParts(answer: ReportsAnswer): Parts {
  const { reporters, other_reporters, policies, unauthenticated_reports, differing_reports, unanswered } = answer
  const known = reporters.filter((one) => one.known)
  const others = reporters.filter((one) => !one.known)
  const basis = facts(
    known.length > 0 && ['Reporters', names(known)],
    others.length > 0 && ['Other reporters', names(others)],
    ...policies.slice(0, 5).map((one): Fact => ['Policy seen', [code(policyOf(one)), `, ${period(one)}`]]),
    answer.last_report_at !== null && ['Last report', { time: answer.last_report_at }],
    other_reporters.length > 0 && ['By mail, not counted', `reports of others: ${names(other_reporters)}`],
    unauthenticated_reports > 0 && [
      'Not counted',
      `${counted(unauthenticated_reports, 'report')} whose sender is not proven`,
    ],
    differing_reports > 0 && [
      'Came again',
      `${counted(differing_reports, 'report')} with other numbers; the first counts`,
    ],
    unanswered.length > 0 && ['Not known', `the DNS did not answer: ${unanswered.join(', ')}`],
  )
  return basis && [heading(2, 'What this rests on', 'basis'), basis]
}

const names = (some: readonly { readonly name: string; readonly reports: number }[]): string =>
  some
    .slice(0, 10)
    .map(({ name, reports }) => `${name} (${reports})`)
    .join(', ')

function policyOf({ domain, policy }: ReportsAnswer['policies'][number]): string {
  const tags = Object.entries(policy).map(([tag, value]) => `${tag}=${value}`)
  return `${domain}: ${tags.join('; ')}`
}

/** Who sends for several domains, and where their mail still fails. */
export function reportsProvidersDocument(answer: ReportsProvidersAnswer, version: string): Document {
  const { data, domains, messages, other_messages, has_more, left_out } = answer
  const failing = data.filter(({ failing_domains }) => failing_domains > 0)
  return documentOf(
    'Senders across domains',
    version,
    messages === 0
      ? conclude('Senders across domains', 'open', 'No reports', `No reports about ${period(answer)} have come in.`)
      : conclude(
          'Senders across domains',
          failing.length === 0 ? 'good' : 'warn',
          failing.length === 0
            ? 'Nothing fails'
            : counted(failing.length, 'sender has failing mail', 'senders have failing mail'),
          `${counted(data.length, 'sender sends', 'senders send')} for several of ${counted(domains, 'domain')}.`,
          [[`${mails(messages)} from ${period(answer)}.`]],
        ),
    providerTable(data),
    messages > 0 &&
      quiet(
        `${mails(other_messages)} in no row: forwarded, looks forged, not named, or of a sender for one domain alone.`,
      ),
    has_more && quiet('The 200 senders with most domains are shown; the CSV has all.'),
    left_out &&
      quiet(`Not judged: the ${grouped(left_out.sources)} smallest sources, with ${mails(left_out.messages)}.`),
  )
}

const NAMED_DOMAINS = 8

const providerTable = (providers: ReportsProvidersAnswer['data']): Parts =>
  table(
    'Senders, those with most domains first',
    providers,
    ['Sender', ({ name }) => name],
    ['Domains', ({ domains }) => domains, 'number'],
    ['Messages', ({ messages }) => messages, 'number'],
    ['Passing', ({ passing, messages }) => percent(passing, messages), 'number'],
    [
      'Still fails for',
      ({ at, failing_domains }) => {
        const some = at.filter((one) => one.passing < one.messages).slice(0, NAMED_DOMAINS)
        const more = failing_domains - some.length
        return some.length === 0
          ? 'none'
          : [
              ...some.flatMap(
                (one, i): Line => [
                  i === 0 ? '' : ', ',
                  code(one.domain),
                  ` (${grouped(one.messages - one.passing)} of ${grouped(one.messages)})`,
                ],
              ),
              more > 0 ? ` and ${counted(more, 'more domain')}` : '',
            ]
      },
    ],
  )

/** One sender with its evidence. */
export function reportSenderDocument(one: ReportSenderAnswer, version: string): Document {
  const { mark, text: badge } = VERDICTS[one.verdict]
  return documentOf(
    one.name,
    version,
    conclude(one.name, mark, badge, one.to_do ?? ''),
    ...senderDetails(one).slice(-1),
  )
}

/** Senders with their evidence. */
export const reportSendersDocument = ({ data, has_more }: ReportSendersAnswer, version: string): Document =>
  documentOf(
    'Senders',
    version,
    conclude(
      counted(data.length, 'sender'),
      'none',
      '',
      has_more ? 'The largest; the rest is on the next page.' : 'All senders of this time, largest first.',
    ),
    data.map((one) => group('check', senderDetails(one))),
  )

/** One sender: evidence, numbers, and what the DNS and the blacklists say now. */
export function senderDetails(one: ReportSenderAnswer): readonly Block[] {
  const { messages, today } = one
  return blocksOf([
    { kind: 'heading', level: 2, line: [one.name, ' ', VERDICTS[one.verdict]] },
    one.to_do !== undefined && text(one.to_do),
    facts(
      ['Id', code(one.id)],
      ['Because', one.because.join('; ')],
      [
        'Messages',
        `${grouped(messages)} from ${counted(one.addresses, 'address', 'addresses')}, ${percent(one.passing, messages)} pass DMARC`,
      ],
      ['Aligned', `SPF ${percent(one.spf_aligned, messages)}, DKIM ${percent(one.dkim_aligned, messages)}`],
      ['Seen', `${one.first_seen} to ${one.last_seen}`],
      namesFact('DKIM domains', one.dkim_domains),
      namesFact('Selectors', one.selectors),
      namesFact('Return paths', one.envelope_domains),
      ...(today ? todayFacts(today) : []),
    ),
  ])
}

const namesFact = (label: string, all: readonly string[]): Fact =>
  all.length > 0 && [label, code(all.slice(0, 8).join(', '))]

function todayFacts({ spf, keys, asked, left_out, listed, lists_answered }: Today): readonly Fact[] {
  const passing = spf.filter(({ result }) => result === 'pass').length
  const missing = keys.filter(({ status }) => status === 'missing')
  const notAsked = left_out === 0 ? '' : `, ${left_out} were not asked`
  return [
    ['SPF now', `${passing} of ${counted(asked, 'address', 'addresses')} pass${notAsked}`],
    missing.length > 0 && [
      'Keys now',
      `missing: ${missing.map(({ selector, domain }) => `${selector}._domainkey.${domain}`).join(', ')}`,
    ],
    [
      'Blacklists now',
      listed.length === 0
        ? `not listed (${lists_answered} lists answered for each)`
        : listed.map(({ blacklist, share }) => `${blacklist} (${percent(share, 1)} of the mail)`).join(', '),
    ],
  ]
}
type Today = NonNullable<ReportSenderAnswer['today']>

/** What a policy would have done to the mail that was seen. */
export function reportsPolicyDocument(answer: ReportsPolicyAnswer, version: string): Document {
  const { domain, policy, affected, messages, not_reevaluated, unanswered } = answer
  const [before, after] = [grouped(answer.passing_before), grouped(answer.passing_after)]
  const notes: Line[] = [
    [
      `Rests on ${mails(messages)} of ${counted(answer.days, 'day')} with reports; ${before} passed, ${after} would pass.`,
    ],
    ...(not_reevaluated === 0 ? [] : [[`For ${mails(not_reevaluated)} the reported SPF result stands.`]]),
    ...(unanswered.length === 0 ? [] : [[`The DNS did not answer: ${unanswered.join(', ')}.`]]),
  ]
  return documentOf(
    `What p=${policy} would do to the mail of ${domain}`,
    version,
    conclude(domain, ...effectOf(answer), notes),
    senders(
      'Affected senders',
      affected.filter(({ verdict }) => verdict !== 'forged'),
      ['Sender', ({ name }) => name],
      ['Verdict', ({ verdict }) => VERDICTS[verdict]],
      ['Messages', (one) => one.messages, 'number'],
      ['Of its mail', ({ share }) => percent(share, 1), 'number'],
      ['What to do first', ({ to_do, verdict }) => to_do ?? TO_DO[verdict] ?? ''],
    ),
  )
}

function effectOf({ policy, affected, messages }: ReportsPolicyAnswer): readonly [Mark, badge: string, words: string] {
  if (messages === 0) return ['open', 'No reports', 'Without reports it is not known what a policy would do.']
  if (policy === 'none') return ['none', 'Nothing', 'p=none touches no mail.']
  const act = policy === 'reject' ? 'refused' : 'sent to the junk folder'
  const lost = affected.filter(({ verdict }) => verdict !== 'forged').reduce((sum, one) => sum + one.messages, 0)
  return lost === 0
    ? ['good', 'Nobody loses mail', `No mail but what looks forged would have been ${act}.`]
    : ['warn', mails(lost), `would have been ${act}, beside what looks forged.`]
}

/** TLS reports beside what is seen now. */
export function reportsTlsDocument({ domain, from, to, policies }: ReportsTlsAnswer, version: string): Document {
  const failed = policies.reduce((sum, one) => sum + (one.failed ?? 0), 0)
  const successful = policies.reduce((sum, one) => sum + (one.successful ?? 0), 0)
  return documentOf(
    `TLS reports about ${domain}`,
    version,
    policies.length === 0
      ? conclude(domain, 'open', 'No reports', `No TLS reports about ${from} to ${to} have come in.`)
      : conclude(
          domain,
          failed === 0 ? 'good' : 'warn',
          failed === 0 ? 'No failures' : `${grouped(failed)} failed`,
          `${grouped(successful)} sessions succeeded, ${grouped(failed)} failed.`,
        ),
    policies.map(policyParts),
  )
}

const policyParts = ({ type, domain, successful, failed, mail_hosts }: TlsPolicy): Parts => [
  heading(2, `${type} of ${domain}: ${grouped(successful ?? 0)} succeeded, ${grouped(failed ?? 0)} failed`),
  table(
    'Failures by mail host',
    mail_hosts.flatMap((host) => host.failures.map((failure) => ({ ...host, failure }))),
    ['Mail host', ({ host }) => (host === null ? 'not named' : code(host))],
    ['Failure', ({ failure }) => failure.type],
    ['Sessions', ({ failure }) => failure.sessions ?? 'not given', 'number'],
    ['STARTTLS now', ({ now }) => nowOf(now.starttls)],
    ['Certificate now', ({ now }) => nowOf(now.certificate)],
    ['MTA-STS now', ({ now }) => nowOf(now.mta_sts)],
    ['DANE now', ({ now }) => nowOf(now.dane)],
  ),
]
type TlsPolicy = ReportsTlsAnswer['policies'][number]

const nowOf = ({ status, detail }: TlsPolicy['mail_hosts'][number]['now']['dane']): Line => [
  status,
  detail === undefined ? '' : `: ${detail}`,
]

/** The domains that have reports, and the ways by which reports come in. */
export const reportsDomainsDocument = (
  { data: domains, unknown_domains, ways }: ReportsDomainsAnswer,
  version: string,
): Document =>
  documentOf(
    'Reports',
    version,
    conclude(
      counted(domains.length, 'domain'),
      'none',
      '',
      domains.length === 0 ? 'No reports have come in.' : 'have reports.',
    ),
    table(
      'Domains',
      domains,
      ['Domain', ({ domain }) => code(domain)],
      ['Reports', ({ reports }) => reports, 'number'],
      ['Messages', ({ messages }) => messages, 'number'],
      ['Last report', (one) => ({ time: one.last_report_at })],
    ),
    table(
      'Reports about domains that nobody here takes',
      unknown_domains,
      ['Domain', ({ domain }) => code(domain)],
      ['Reports', ({ reports }) => reports, 'number'],
      ['Last report', (one) => ({ time: one.last_report_at })],
    ),
    table(
      'Ways in, since the service started',
      ways,
      ['Way', ({ way }) => (way === 'lmtp' ? 'LMTP' : 'IMAP')],
      ['Place', ({ place }) => code(place)],
      [
        'State',
        ({ problem }) =>
          problem === null ? { mark: 'good', text: 'works' } : [{ mark: 'bad', text: 'does not work' }, ` ${problem}`],
      ],
      ['With reports', ({ taken }) => taken, 'number'],
      ['Unreadable', ({ unreadable }) => unreadable, 'number'],
      ['Other mail', ({ others }) => others, 'number'],
      ['Last message', (one) => (one.last_at === null ? '–' : { time: one.last_at })],
    ),
  )

/** The summed rows of one page. */
export const reportRowsDocument = ({ data, has_more }: ReportRowsAnswer, version: string): Document =>
  documentOf(
    'Rows of reports',
    version,
    conclude(counted(data.length, 'row'), 'none', '', has_more ? 'The next page has more.' : ''),
    table(
      'Rows',
      data,
      ['Date', ({ date }) => date],
      ['Address', ({ address }) => code(address)],
      ['From', (one) => code(one.header_from)],
      ['Return path', (one) => code(one.envelope_from)],
      ['SPF', (one) => `${one.spf_result} ${one.spf_aligned ? 'aligned' : ''}`],
      ['DKIM', (one) => `${one.dkim_result} ${one.dkim_domain} ${one.dkim_aligned ? 'aligned' : ''}`],
      ['Done', ({ disposition }) => disposition],
      ['Sender', ({ sender }) => sender],
      ['Messages', ({ messages }) => messages, 'number'],
    ),
  )
