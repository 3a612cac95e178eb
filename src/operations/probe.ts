import type { BlacklistAnswer } from '../answers/blacklist.ts'
import type { CheckAnswer } from '../answers/check.ts'
import { type ProbeAnswer, probeAnswer } from '../answers/service.ts'
import type { VerifyAnswer } from '../answers/verify.ts'
import { only } from '../base/at-most.ts'
import { invalidAt } from '../base/errors.ts'
import { isJsonRecord } from '../base/json.ts'
import { presentBlacklist } from '../dnsbl/present.ts'
import { presentVerification } from '../mailbox/present.ts'
import { parsePastedDomain, parsePastedIp } from '../names/pasted.ts'
import { checkDomain } from './check.ts'
import type { Deps } from './deps.ts'
import { type Call, defineOperation, ok } from './operation.ts'
import { choiceParam, lineParam, timeoutParam } from './params.ts'
import { accessError } from './problems.ts'

/** Half a second under the time that Prometheus waits for a scrape by default. */
const DEADLINE_MS = 9_500
/** Additional time for a verification to return its result after its deadline. */
const GRACE_MS = 300

const MODULES = ['domain', 'mailbox', 'ip'] as const
type Module = (typeof MODULES)[number]
type Uses = Pick<Deps, 'heloName' | 'smtpPort' | 'verifier' | 'blacklists'>

/**
 * Probes a target for Prometheus, as blackbox_exporter does: the status is always 200, and metrics describe the target.
 */
export const probe = defineOperation({
  name: 'probe',
  method: 'GET',
  path: '/probe',
  summary: 'Probe a target for Prometheus, like blackbox_exporter',
  scope: 'read',
  streams: ['prometheus'],
  params: {
    target: { ...lineParam('target: a domain, a mailbox or an IP address', 320), example: 'example.org' },
    module: choiceParam(MODULES, 'domain', {
      description: 'probe: check of a domain, verification of a mailbox (scope verify), or blacklist lookup',
      group: 'question',
    }),
    timeout: timeoutParam('time limit of the probe; less than scrape_timeout', DEADLINE_MS),
    format: choiceParam(['prometheus', 'json'], 'prometheus', { description: 'format of the answer' }),
  },
  answer: probeAnswer,
  example: {
    input: { target: 'example.org', module: 'domain', format: 'json' },
    output: {
      target: 'example.org',
      module: 'domain',
      success: true,
      unknown: false,
      duration_ms: 84,
      samples: [
        { name: 'mailsonde_score', labels: {}, value: 92 },
        { name: 'mailsonde_findings', labels: { severity: 'high' }, value: 0 },
        { name: 'mailsonde_check_status', labels: { check: 'spf', status: 'pass' }, value: 1 },
      ],
    },
  },
  deadlineMs: DEADLINE_MS,
  graceMs: GRACE_MS,
  uses: ['heloName', 'smtpPort', 'verifier', 'blacklists'],
  run: async (ctx, deps, { target, module, format, timeout = DEADLINE_MS }) => {
    if (module === 'mailbox' && ctx.caller?.mayVerify === false)
      throw accessError('probe_mailbox', undefined, { parameter: 'module' })
    const beganMs = ctx.monotonic()
    const { samples, ...measured } = await MEASURES[module](ctx, deps, target, timeout)
    const answer: ProbeAnswer = {
      target,
      module,
      ...measured,
      duration_ms: ctx.monotonic() - beganMs,
      samples: [...samples],
    }
    return format === 'json'
      ? ok(answer)
      : { status: 200, stream: { contentType: PROMETHEUS, text: only(formatSamples(answer)) } }
  },
  verdict: ({ success, unknown }) => (unknown ? 'unclear' : success ? 'good' : 'bad'),
})

type Measure = (ctx: Call, deps: Uses, target: string, timeoutMs: number) => Promise<Measured>

/** Throws AppError for a target that the module does not accept. */
const MEASURES: Readonly<Record<Module, Measure>> = {
  domain: async (ctx, deps, target) => {
    const domain = parsePastedDomain(target)
    if (!domain.ok) throw invalidAt('invalid_domain', 'target', domain.problem)
    return measureCheck(await checkDomain(ctx, deps, domain.value, { selectors: [], starttls: false }))
  },
  ip: async (ctx, { blacklists }, target) => {
    const ip = parsePastedIp(target)
    if (!ip.ok) throw invalidAt('invalid_ip', 'target', ip.problem)
    return measureBlacklist(presentBlacklist(await blacklists.lookup(ctx, ip.value), ctx))
  },
  mailbox: async (ctx, { verifier }, email, timeoutMs) => {
    const asked = { email, timeoutMs, disposable: false, free: false, pool: false, role: false, suggestion: false }
    return measureMailbox(presentVerification(await verifier.verify(ctx, asked), { trace: false }))
  },
}

/** One sample. Names and labels come from closed lists; a target, an address or a reply never becomes one. */
type Sample = ProbeAnswer['samples'][number]
type Measured = Pick<ProbeAnswer, 'success' | 'unknown'> & { readonly samples: readonly Sample[] }

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

const measureMailbox = ({ deliverability, confidence }: VerifyAnswer): Measured => ({
  success: deliverability === 'deliverable',
  unknown: deliverability === 'unknown',
  samples: [
    ...states('mailsonde_mailbox_deliverability', 'verdict', DELIVERABILITY, deliverability),
    sample('mailsonde_mailbox_confidence', confidence),
  ],
})

/** The content type of {@link formatSamples}. */
const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8'

/** A probe as text for Prometheus (exposition format 0.0.4); all metrics are gauges. */
function formatSamples({ success, unknown, duration_ms, samples }: ProbeAnswer): string {
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
