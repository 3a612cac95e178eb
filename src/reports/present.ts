import type {
  ReportRowAnswer,
  ReportSenderAnswer,
  ReportsAnswer,
  ReportsImportAnswer,
  SenderSummary,
} from '../answers/reports.ts'
import { printable } from '../base/text.ts'
import type { SenderWord } from '../store/postgres/report-notes.ts'
import type { DayRow, LeftOut, Period } from '../store/postgres/report-sums.ts'
import type { Imported } from './import.ts'
import type { Sender, Verdict } from './senders.ts'
import type { Summary } from './service.ts'

/** Senders of a summary, and the advice beside them. */
const SHOWN_SENDERS = 10
const timeOf = (ms: number): string => new Date(ms).toISOString()

export const presentImport = ({ reports, refused, failureReports }: Imported): ReportsImportAnswer => ({
  reports: reports.map(({ reportId, beginMs, endMs, organization, foreignRows, ...one }) => ({
    ...{
      id: one.id,
      kind: one.kind,
      domain: one.domain,
      organization: printable(organization),
      report_id: printable(reportId),
    },
    ...{ begin: timeOf(beginMs), end: timeOf(endMs), messages: one.messages, duplicate: one.duplicate },
    authenticated: one.authenticated,
    ...(!one.counts && { note: `kept apart, does not count: ${whyNot(one)}` }),
    ...(foreignRows > 0 && { foreign_rows: foreignRows }),
  })),
  refused: refused.map(({ name, code, detail, line }) => ({
    ...{ name: printable(name, 200), code, detail },
    ...(line !== undefined && { line }),
  })),
  failure_reports: failureReports,
  foreign_rows: reports.reduce((sum, { foreignRows }) => sum + foreignRows, 0),
})

const whyNot = ({ authenticated }: Pick<Imported['reports'][number], 'authenticated'>): string =>
  authenticated === true ? 'its sender is no known reporter' : 'its sender is not proven'

export function presentSummary(
  period: Period,
  { about, days, policies, senders, facts, leftOut }: Summary,
): ReportsAnswer {
  const all = days.map(({ day, messages, passing, forwarded }) => ({
    ...{ date: day, messages, passing, forwarded, failing: messages - passing - forwarded },
  }))
  const total = (of: 'messages' | 'passing' | 'forwarded' | 'failing'): number =>
    all.reduce((sum, one) => sum + one[of], 0)
  return {
    ...{ domain: period.domain, from: period.from, to: period.to, reports: about.reports },
    reporters: about.reporters.map(({ name, reports, is_known }) => ({
      name: printable(name),
      reports,
      known: is_known,
    })),
    other_reporters: about.others.map(({ name, ...one }) => ({ name: printable(name), ...one })),
    ...{
      messages: total('messages'),
      passing: total('passing'),
      forwarded: total('forwarded'),
      failing: total('failing'),
    },
    unauthenticated_reports: about.uncounted,
    policies: policies.map(({ domain, policy, first_day, last_day, reports }) => ({
      ...{ domain, policy, from: first_day, to: last_day, reports },
    })),
    days: all,
    senders: senders.slice(0, SHOWN_SENDERS).map(presentSummed),
    advice: adviceOf(senders),
    last_report_at: about.lastReceived?.toISOString() ?? null,
    differing_reports: about.differing,
    senders_total: senders.length,
    ...presentLeftOut(leftOut),
    unanswered: [...facts.unanswered],
  }
}

export const presentLeftOut = (leftOut: LeftOut): { readonly left_out?: LeftOut } =>
  leftOut.sources > 0 ? { left_out: leftOut } : {}

const presentSummed = ({ id, name, verdict, messages, passing, to_do }: Sender): SenderSummary => ({
  ...{ id, name: printable(name), verdict, messages, passing },
  ...(to_do !== undefined && { to_do }),
})

/** What to do, for the senders that lose most first. */
function adviceOf(senders: readonly Sender[]): ReportsAnswer['advice'] {
  return senders
    .filter(({ to_do }) => to_do !== undefined)
    .sort((a, b) => b.messages - b.passing - (a.messages - a.passing))
    .slice(0, SHOWN_SENDERS)
    .map(({ name, verdict, messages, to_do }) => ({ sender: printable(name), verdict, messages, text: to_do! }))
}

export const presentSender = (sender: Sender): ReportSenderAnswer => ({
  ...{ id: sender.id, name: printable(sender.name), verdict: sender.verdict },
  because: sender.because.map((text) => printable(text)),
  ...{ addresses: sender.addresses.size, messages: sender.messages, passing: sender.passing },
  ...{ spf_aligned: sender.spfAligned, dkim_aligned: sender.dkimAligned, dispositions: { ...sender.dispositions } },
  ...{ dkim_domains: [...sender.dkimDomains], selectors: [...sender.selectors] },
  ...{ envelope_domains: [...sender.envelopeDomains], first_seen: sender.firstSeen, last_seen: sender.lastSeen },
  ...(sender.to_do !== undefined && { to_do: sender.to_do }),
  ...(sender.said && { said: presentWord(sender.said) }),
})

const presentWord = ({ ours, note, by, at }: SenderWord): ReportSenderAnswer['said'] => ({
  ...{ ours, note, by, at: at.toISOString() },
})

export const presentRow = (
  row: DayRow,
  sender: { readonly name: string; readonly verdict: Verdict } | undefined,
): ReportRowAnswer => ({
  ...{ date: row.day, address: row.address, header_from: row.name, envelope_from: row.envelope_from },
  ...{ spf_domain: row.spf_domain, spf_result: row.spf_result, spf_aligned: row.spf_aligned },
  ...{ dkim_domain: row.dkim_domain, dkim_selector: row.dkim_selector, dkim_result: row.dkim_result },
  ...{ dkim_aligned: row.dkim_aligned, disposition: row.disposition },
  ...{ sender: printable(sender?.name ?? ''), verdict: sender?.verdict ?? 'unknown', messages: row.messages },
})
