import { type Parsed, type Problem, parsed, problem } from '../../base/problem.ts'
import { canonicalName } from '../../names/domain.ts'
import type { StarttlsFacts } from '../context.ts'
import { type TlsFault, tlsFault } from '../starttls/index.ts'
import { stsPolicyProblem } from './problems.ts'

export type Mode = 'enforce' | 'testing' | 'none'

/** An MTA-STS policy (RFC 8461 §3.2). */
export type StsPolicy = {
  readonly mode: Mode
  /** How long senders cache the policy, seconds. */
  readonly maxAgeSeconds: number
  /** Names, or `*.` and a name, in lower case. At most 100; empty for `none` only. */
  readonly mx: readonly string[]
}

/** Maximum size of a policy, octets; RFC 8461 §3.2 leaves the limit to senders, whose limits are similar. */
export const MAX_POLICY_BYTES = 65_536
/** Maximum value of max_age, seconds: about a year (RFC 8461 §3.2). */
export const MAX_AGE_SECONDS = 31_557_600
const MAX_LINES = 1_000
/** Maximum number of mx lines of a policy. */
const MAX_MX = 100

const KEY = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$/
const MODES: readonly Mode[] = ['enforce', 'testing', 'none']

/**
 * Reads the text of a policy (RFC 8461 §3.2). If a key other than `mx` occurs twice, the first counts. A text that
 * violates the grammar is not a policy.
 */
export function parseStsPolicy(text: string): Parsed<StsPolicy> {
  const lines = text.split('\n', MAX_LINES + 2)
  if (lines.length > MAX_LINES + 1) return problem(stsPolicyProblem('too_many_lines', { max: MAX_LINES }))
  if (lines.at(-1) === '') lines.pop()
  const values = new Map<string, string>()
  const mx: string[] = []
  for (const [i, line] of lines.entries()) {
    const colon = line.indexOf(':')
    const key = line.slice(0, Math.max(0, colon))
    const value = line
      .slice(colon + 1)
      .replace(/\r$/, '')
      .trim()
    const wrong = lineProblem(key, value)
    if (wrong) return problem(stsPolicyProblem('at', { line: i + 1, why: wrong }))
    if (key === 'mx') mx.push(canonicalName(value))
    else if (!values.has(key)) values.set(key, value)
  }
  return policyOf(values, mx)
}

export const formatStsPolicy = (policy: StsPolicy): string =>
  [
    'version: STSv1',
    `mode: ${policy.mode}`,
    ...policy.mx.map((mx) => `mx: ${mx}`),
    `max_age: ${policy.maxAgeSeconds}`,
    '',
  ].join('\n')

/** Whether a mail host matches the policy: `*.` stands for exactly one label (RFC 8461 §4.1). */
export function matchesMx(pattern: string, host: string): boolean {
  const name = canonicalName(host)
  if (!pattern.startsWith('*.')) return canonicalName(pattern) === name
  const dot = name.indexOf('.')
  return dot > 0 && name.slice(dot + 1) === canonicalName(pattern.slice(2))
}

/** RFC 8461 §3.3: the media type must be text/plain; parameters are ignored. */
export const isPlainText = (contentType: string): boolean =>
  contentType.split(';', 1)[0]!.trim().toLowerCase() === 'text/plain'

function policyOf(values: ReadonlyMap<string, string>, mx: readonly string[]): Parsed<StsPolicy> {
  if (values.get('version') !== 'STSv1') return problem(stsPolicyProblem('version'))
  const mode = MODES.find((candidate) => candidate === values.get('mode'))
  if (!mode) return problem(stsPolicyProblem('mode'))
  const age = values.get('max_age')
  if (age === undefined || !/^\d{1,10}$/.test(age)) return problem(stsPolicyProblem('max_age'))
  if (mx.length === 0 && mode !== 'none') return problem(stsPolicyProblem('no_mx', { mode }))
  if (mx.length > MAX_MX) return problem(stsPolicyProblem('too_many_mx', { max: MAX_MX }))
  return parsed({ mode, maxAgeSeconds: Number(age), mx })
}

function lineProblem(key: string, value: string): Problem | undefined {
  if (!KEY.test(key)) return stsPolicyProblem('form')
  if (value === '') return stsPolicyProblem('no_value', { key })
  if (/[\u0000-\u001f\u007f]/.test(value)) return stsPolicyProblem('control', { key })
  return key === 'mx' && !isPattern(value) ? stsPolicyProblem('host', { text: value }) : undefined
}

/** RFC 8461 §3.2 sts-policy-mx-value: a name, or `*.` and a name. */
function isPattern(value: string): boolean {
  const name = value.startsWith('*.') ? value.slice(2) : value
  return (
    name.length <= 253 &&
    name.split('.').every((label) => /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(label))
  )
}

/** A mail host to which senders that apply the policy do not deliver, and why. */
export type Refusal = { readonly host: string; readonly fault: 'not_named' | TlsFault }

/**
 * The mail hosts that an enforced policy excludes: those that it does not name (RFC 8461 §4.1), and those without
 * STARTTLS or without a valid certificate (§4.2), as far as their TLS was checked. None for the mode `none`.
 */
export function refusalsOf(policy: StsPolicy, hosts: readonly string[], tls: StarttlsFacts | undefined): Refusal[] {
  if (policy.mode === 'none') return []
  const faultOf = (host: string): Refusal['fault'] | undefined => {
    if (!policy.mx.some((pattern) => matchesMx(pattern, host))) return 'not_named'
    const seen = tls?.hosts.find((other) => other.host === host)
    return tls && seen ? tlsFault(seen, tls.nowMs) : undefined
  }
  return hosts.flatMap((host) => {
    const fault = faultOf(host)
    return fault ? [{ host, fault }] : []
  })
}
