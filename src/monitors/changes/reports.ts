import type { ReportsWatch } from '../../answers/reports.ts'
import { neutral, type Row, type Said } from './row.ts'

type Sender = ReportsWatch['senders'][number]

/** Fewer messages are no sender yet. */
const FEW_MESSAGES = 10
/** Senders that are remembered. */
const MAX_KNOWN = 1_000

/** Mail that somebody passed on, or forged, is told by the share of mail that fails. */
const isTold = ({ verdict, messages }: Sender): boolean =>
  verdict !== 'forged' && verdict !== 'forwarded' && messages >= FEW_MESSAGES

const VERDICT_WORDS: Readonly<Record<Sender['verdict'], string>> = {
  authorized: 'authorized',
  needs_setup: 'needs setup',
  forwarded: 'forwarded',
  forged: 'looks forged',
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
