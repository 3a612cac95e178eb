import type { BlacklistAnswer } from '../../answers/blacklist.ts'
import type { MessageAnswer } from '../../answers/message.ts'
import type { ReportAnswer } from '../../answers/report.ts'
import type { ReportsWatch } from '../../answers/reports.ts'
import type { VerifyAnswer } from '../../answers/verify.ts'
import { better, list, neutral, pairs, type Row, type Said, turned, worse } from './row.ts'

type Lists = Pick<BlacklistAnswer, 'ip' | 'results'>

/** The lists of domains about the domain of a report, in the form of those about an address. */
const ofDomain = ({ domain_blacklists: lists }: ReportAnswer): readonly Lists[] =>
  lists ? [{ ip: lists.domain, results: lists.results }] : []

/** `SpamCop (Spam source)`: a list with the first meaning of its listing, if that adds information. */
export const listingName = ({ blacklist, meaning }: Lists['results'][number]): string =>
  meaning[0] === undefined || meaning[0] === 'listed' ? blacklist : `${blacklist} (${meaning[0]})`

/** New and removed listings between two answers about one address; a list without an answer is not compared. */
function listings(before: Lists, after: Lists, wanted: 'new' | 'gone'): readonly Said[] {
  const was = new Map(before.results.map((entry) => [entry.zone, entry.status]))
  return after.results.flatMap((entry): readonly Said[] => {
    const old = was.get(entry.zone)
    if (old === 'not_listed' && entry.status === 'listed' && wanted === 'new')
      return [worse(`${after.ip} is now on ${listingName(entry)}`)]
    if (old === 'listed' && entry.status === 'not_listed' && wanted === 'gone')
      return [better(`${after.ip} is no longer on ${entry.blacklist}`)]
    return []
  })
}

export const BLACKLIST_ROWS: readonly Row<BlacklistAnswer>[] = [
  { id: 'blacklist.listed', area: 'Blacklists', compare: (before, after) => listings(before, after, 'new') },
  { id: 'blacklist.delisted', area: 'Blacklists', compare: (before, after) => listings(before, after, 'gone') },
]

const perAddress =
  (wanted: 'new' | 'gone') =>
  (before: ReportAnswer, after: ReportAnswer): readonly Said[] => {
    const [was, is] = [before, after].map((one): readonly Lists[] => [...one.blacklists, ...ofDomain(one)])
    return pairs(was!, is!, ({ ip }) => ip).flatMap(([old, now]) => listings(old, now, wanted))
  }

export const REPORT_ROWS: readonly Row<ReportAnswer>[] = [
  { id: 'blacklist.listed', area: 'Blacklists', compare: perAddress('new') },
  { id: 'blacklist.delisted', area: 'Blacklists', compare: perAddress('gone') },
  {
    id: 'blacklist.new_address',
    area: 'Blacklists',
    compare: (before, after) => {
      const was = new Set(before.blacklists.map(({ ip }) => ip))
      // For such a host it is not known whether the address is new.
      const open = new Set(before.blacklist_summary.unknown_hosts)
      return after.blacklists
        .filter(({ ip, listed, mx_hosts }) => !was.has(ip) && listed > 0 && !mx_hosts.some((host) => open.has(host)))
        .map(({ ip, results }) =>
          worse(
            `${ip}, a new address of a mail host, is on ${results
              .filter(({ listed }) => listed)
              .map(({ blacklist }) => blacklist)
              .join(', ')}`,
          ),
        )
    },
  },
]

type Sender = ReportsWatch['senders'][number]

/** Fewer messages are no sender yet. */
const FEW_MESSAGES = 10
/** Senders that are remembered. */
const MAX_KNOWN = 1_000

/** Mail that somebody passed on, or forged, is told by the share of mail that fails. */
const isTold = ({ verdict, messages }: Sender): boolean =>
  !['forged', 'forwarded', 'not_ours'].includes(verdict) && messages >= FEW_MESSAGES

const VERDICT_WORDS: Readonly<Record<Sender['verdict'], string>> = {
  authorized: 'authorized',
  needs_setup: 'needs setup',
  forwarded: 'forwarded',
  forged: 'looks forged',
  not_ours: 'not yours',
  unknown: 'unknown',
}

export const REPORTS_ROWS: readonly Row<ReportsWatch>[] = [
  {
    id: 'reports.new_sender',
    area: 'Senders',
    compare: (before, after): readonly Said[] => {
      const known = new Set(before.senders.map(({ id }) => id))
      return after.senders
        .filter((one) => isTold(one) && !known.has(one.id))
        .map(({ name, verdict, messages }) =>
          neutral(`new sender ${name} (${VERDICT_WORDS[verdict]}, ${messages} messages)`),
        )
    },
  },
  {
    id: 'reports.verdict',
    area: 'Senders',
    compare: (before, after): readonly Said[] => {
      const known = new Map(before.senders.map((one) => [one.id, one]))
      return after.senders.flatMap((one): readonly Said[] => {
        const was = known.get(one.id)
        if (!was || !isTold(was) || !isTold(one) || was.verdict === one.verdict) return []
        const effect = was.verdict === 'authorized' ? 'worse' : one.verdict === 'authorized' ? 'better' : 'neutral'
        return [
          { effect, text: `${one.name} is ${VERDICT_WORDS[one.verdict]}, no longer ${VERDICT_WORDS[was.verdict]}` },
        ]
      })
    },
  },
]

/** A sender that was known stays so, also when it has no mail for a while; so does the time of the last report. */
export function rememberReports(before: ReportsWatch, after: ReportsWatch): ReportsWatch {
  const now = after.senders.filter(isTold)
  const ids = new Set(now.map(({ id }) => id))
  const senders = [...now, ...before.senders.filter(({ id }) => !ids.has(id))].slice(0, MAX_KNOWN)
  return { ...after, senders, last_report_at: after.last_report_at ?? before.last_report_at }
}

/** Results that are about the mailbox; the others mean that nothing could be determined. */
const FIRM: Readonly<Partial<Record<VerifyAnswer['result'], string>>> = {
  accepted: 'accepted',
  catch_all: 'accepted, like every address of the domain',
  rejected: 'rejected',
  invalid: 'not a valid address',
}

export const isFirm = ({ result }: VerifyAnswer): boolean => Object.hasOwn(FIRM, result)

const row = (
  id: string,
  compare: (before: VerifyAnswer, after: VerifyAnswer) => readonly Said[],
): Row<VerifyAnswer> => ({
  id: `verify.${id}`,
  area: 'Mailbox',
  compare: (before, after) => (isFirm(before) && isFirm(after) ? compare(before, after) : []),
})

const side = (name: 'disposable' | 'free', words: readonly [yes: string, no: string]): Row<VerifyAnswer> => ({
  id: `verify.${name}`,
  area: 'Mailbox',
  compare: (before, after) =>
    before.checked.includes(name) && after.checked.includes(name) && before[name] !== after[name]
      ? [neutral(after[name] ? words[0] : words[1])]
      : [],
})

export const VERIFY_ROWS: readonly Row<VerifyAnswer>[] = [
  row('result', (before, after) => {
    if (before.result === after.result) return []
    const words = `${FIRM[after.result]} (${after.reason}), was ${FIRM[before.result]} (${before.reason})`
    const goes = after.result === 'rejected' || after.result === 'invalid'
    return [goes ? worse(words) : before.result === 'rejected' ? better(words) : neutral(words)]
  }),
  row('reason', (before, after) =>
    before.result === after.result && before.result === 'rejected' && before.reason !== after.reason
      ? [neutral(`rejected with ${after.reason} instead of ${before.reason}`)]
      : [],
  ),
  row('provider', (before, after) =>
    before.provider !== undefined && after.provider !== undefined && before.provider !== after.provider
      ? [neutral(`the provider is ${after.provider} instead of ${before.provider}`)]
      : [],
  ),
  side('disposable', [
    'the domain is now a disposable-mail provider',
    'the domain is no longer a disposable-mail provider',
  ]),
  side('free', ['the domain is now a free-mail provider', 'the domain is no longer a free-mail provider']),
]

const GOOD = ['pass', 'passes', 'met']

/**
 * Kinds of change between the analyses of two messages of one author domain. What is unknown in one of them is no
 * change.
 */
export const MESSAGE_ROWS: readonly Row<MessageAnswer>[] = [
  resultRow('message.dmarc', 'DMARC', ({ dmarc }) => dmarc.result),
  resultRow('message.spf', 'SPF', ({ spf }) => spf.result),
  resultRow('message.dkim', 'DKIM', ({ dkim }) =>
    dkim.some(({ result }) => result === 'temperror')
      ? 'temperror'
      : ((dkim.find(({ result }) => result === 'pass') ?? dkim[0])?.result ?? 'none'),
  ),
  {
    id: 'message.findings',
    area: 'Findings',
    compare: (before, after) => {
      const ids = (answer: MessageAnswer) =>
        new Map(answer.findings.filter(({ severity }) => severity !== 'info').map(({ id, title }) => [id, title]))
      const [was, is] = [ids(before), ids(after)]
      const gone = [...was].filter(([id]) => !is.has(id)).map(([, title]) => title)
      const added = [...is].filter(([id]) => !was.has(id)).map(([, title]) => title)
      return [
        ...(gone.length > 0 ? [better(`gone: ${list(gone)}`)] : []),
        ...(added.length > 0 ? [worse(`new: ${list(added)}`)] : []),
      ]
    },
  },
]

function resultRow(id: string, area: string, result: (answer: MessageAnswer) => string): Row<MessageAnswer> {
  const known = (answer: MessageAnswer): string | undefined => {
    const word = result(answer)
    return word === 'unknown' || word === 'temperror' ? undefined : word
  }
  return {
    id,
    area,
    compare: (before, after) =>
      turned(known(before), known(after), (was, is) => {
        const text = `${is}, was ${was}`
        if (GOOD.includes(is)) return better(text)
        return GOOD.includes(was) ? worse(text) : neutral(text)
      }),
  }
}
