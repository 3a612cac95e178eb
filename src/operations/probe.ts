import { type ProbeAnswer, probeAnswer } from '../answers/probe.ts'
import { invalidAt } from '../base/errors.ts'
import { presentBlacklist } from '../dnsbl/present.ts'
import { presentVerification } from '../mailbox/present.ts'
import { parseDomain } from '../names/domain.ts'
import { parseIp } from '../names/ip.ts'
import { checkDomain } from './check.ts'
import type { Deps } from './deps.ts'
import { type Call, defineOperation, ok } from './operation.ts'
import { choiceParam, lineParam, timeoutParam } from './params.ts'
import {
  formatSamples,
  type Measured,
  measureBlacklist,
  measureCheck,
  measureMailbox,
  PROMETHEUS,
} from './probe-samples.ts'
import { accessError } from './problems.ts'

/** Half a second under the time that Prometheus waits for a scrape by default. */
const DEADLINE_MS = 9_500
/** Additional time for a verification to return its result after its deadline. */
const GRACE_MS = 300

const MODULES = ['domain', 'mailbox', 'ip'] as const
type Module = (typeof MODULES)[number]
type Uses = Pick<Deps, 'heloName' | 'smtpPort' | 'verifier' | 'blacklists'>

/** Probes a target for Prometheus, as blackbox_exporter does: the status is always 200, and metrics describe the target. */
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
      : { status: 200, stream: { contentType: PROMETHEUS, text: once(formatSamples(answer)) } }
  },
  verdict: ({ success, unknown }) => (unknown ? 'unclear' : success ? 'good' : 'bad'),
})

async function* once(text: string): AsyncGenerator<string> {
  yield text
}

type Measure = (ctx: Call, deps: Uses, target: string, timeoutMs: number) => Promise<Measured>

/** Throws AppError for a target that the module does not accept. */
const MEASURES: Readonly<Record<Module, Measure>> = {
  domain: async (ctx, deps, target) => {
    const domain = parseDomain(target)
    if (!domain.ok) throw invalidAt('invalid_domain', 'target', domain.problem)
    return measureCheck(await checkDomain(ctx, deps, domain.value, { selectors: [], starttls: false }))
  },
  ip: async (ctx, { blacklists }, target) => {
    const ip = parseIp(target)
    if (!ip.ok) throw invalidAt('invalid_ip', 'target', ip.problem)
    return measureBlacklist(presentBlacklist(await blacklists.lookup(ctx, ip.value), ctx))
  },
  mailbox: async (ctx, { verifier }, email, timeoutMs) => {
    const asked = { email, timeoutMs, disposable: false, free: false, pool: false, role: false, suggestion: false }
    return measureMailbox(presentVerification(await verifier.verify(ctx, asked), { trace: false }))
  },
}
