import type { BlacklistAnswer } from '../answers/blacklist.ts'
import type { CheckAnswer } from '../answers/check.ts'
import type { ProbeAnswer } from '../answers/probe.ts'
import type { VerifyAnswer } from '../answers/verify.ts'
import { isJsonRecord } from '../base/json.ts'

/** One sample. Names and labels come from closed lists; a target, an address or a reply never becomes one. */
type Sample = ProbeAnswer['samples'][number]
/** The outcome of an answer. */
export type Measured = Pick<ProbeAnswer, 'success' | 'unknown'> & { readonly samples: readonly Sample[] }

/** The meaning of each metric, in the order in which they are written. */
const HELP: Readonly<Record<string, string>> = {
  probe_success: 'Whether the target passed: 0 if it failed or could not be determined.',
  probe_duration_seconds: 'Duration of the probe.',
  mailsonde_probe_unknown: 'Whether the result could not be determined.',
  mailsonde_score: 'Score of the domain, 0 to 100. Absent if more than half of the points could not be determined.',
  mailsonde_score_min: 'Lowest possible score, while something is unknown.',
  mailsonde_score_max: 'Highest possible score, while something is unknown.',
  mailsonde_findings: 'Findings by severity.',
  mailsonde_check_status: 'Status of each check: 1 for the current one.',
  mailsonde_blacklist_answered: 'Blacklists that answered.',
  mailsonde_blacklist_listed: 'Whether the address is listed, for each blacklist that answered.',
  mailsonde_mailbox_deliverability: 'Verdict about the mailbox: 1 for the current one.',
  mailsonde_mailbox_confidence: 'Confidence in the verdict, 0 to 100.',
}

const sample = (name: string, value: number, labels: Readonly<Record<string, string>> = {}): Sample => ({
  name,
  labels,
  value,
})

/** One sample for each of several words, with the value 1 for the current one. */
const states = (name: string, label: string, words: readonly string[], holds: string, labels = {}): readonly Sample[] =>
  words.map((word) => sample(name, word === holds ? 1 : 0, { ...labels, [label]: word }))

const STATUSES = ['pass', 'warn', 'fail', 'unknown', 'not_applicable'] as const
const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const
const DELIVERABILITY = ['deliverable', 'risky', 'undeliverable', 'unknown'] as const

/** A check: successful unless its status is `fail`; unknown if that is its status. */
export function measureCheck(answer: CheckAnswer): Measured {
  const { score, score_min = score, score_max = score, grade, status, findings, mx_status } = answer
  const checks = Object.entries(answer).flatMap(([name, value]: [string, unknown]): (readonly [string, string])[] => {
    const held = isJsonRecord(value) ? STATUSES.find((one) => one === value.status) : undefined
    return held === undefined ? [] : [[name, held]]
  })
  return {
    success: status !== 'fail' && status !== 'unknown' && grade !== null,
    unknown: status === 'unknown' || (grade === null && status !== 'fail'),
    samples: [
      ...(grade === null ? [] : [sample('mailsonde_score', score)]),
      sample('mailsonde_score_min', score_min),
      sample('mailsonde_score_max', score_max),
      ...SEVERITIES.map((severity) =>
        sample('mailsonde_findings', findings.filter((one) => one.severity === severity).length, { severity }),
      ),
      ...[['mx', mx_status] as const, ...checks].flatMap(([check, holds]) =>
        states('mailsonde_check_status', 'status', STATUSES, holds, { check }),
      ),
    ],
  }
}

/** The blacklists of an address: successful if no list contains it, unknown if too few answered. */
export const measureBlacklist = ({ verdict, answered, results }: BlacklistAnswer): Measured => ({
  success: verdict === 'clean',
  unknown: verdict === 'incomplete',
  samples: [
    sample('mailsonde_blacklist_answered', answered),
    ...results
      .filter(({ status }) => status === 'listed' || status === 'not_listed')
      .map(({ zone, listed }) => sample('mailsonde_blacklist_listed', listed ? 1 : 0, { zone })),
  ],
})

/** A mailbox: successful if it is deliverable. */
export const measureMailbox = ({ deliverability, confidence }: VerifyAnswer): Measured => ({
  success: deliverability === 'deliverable',
  unknown: deliverability === 'unknown',
  samples: [
    ...states('mailsonde_mailbox_deliverability', 'verdict', DELIVERABILITY, deliverability),
    sample('mailsonde_mailbox_confidence', confidence),
  ],
})

/** The content type of {@link formatSamples}. */
export const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8'

/** A probe as text for Prometheus (exposition format 0.0.4); all metrics are gauges. */
export function formatSamples({ success, unknown, duration_ms, samples }: ProbeAnswer): string {
  const all = [
    sample('probe_success', success ? 1 : 0),
    sample('probe_duration_seconds', duration_ms / 1_000),
    sample('mailsonde_probe_unknown', unknown ? 1 : 0),
    ...samples,
  ]
  return Object.entries(HELP)
    .map(([name, help]) => {
      const lines = all.filter((one) => one.name === name).map(lineOf)
      return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('')}`
    })
    .join('')
}

function lineOf({ name, labels, value }: Sample): string {
  const written = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`)
  return `${name}${written.length === 0 ? '' : `{${written.join(',')}}`} ${value}\n`
}
