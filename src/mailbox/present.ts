import type { PoolRowAnswer } from '../answers/pool.ts'
import type { VerifyAnswer } from '../answers/verify.ts'
import { maskTranscript } from '../net/smtp/transcript.ts'
import type { PoolRow } from './source/pool.ts'
import type { Attempt, Verification } from './verification.ts'

/**
 * A verification as the answer of `/v1/verify`: the original fields first, in their published order, then later ones.
 * `trace` adds the transcript, with other people's addresses masked. One literal without spreads, which V8 creates in
 * one step: each row of a job is presented.
 */
export function presentVerification(v: Verification, options: { readonly trace?: boolean } = {}): VerifyAnswer {
  return {
    email: v.email,
    result: v.result,
    code: v.code,
    message: v.message,
    mx_server: v.mxServer,
    disposable: v.side.disposable,
    free: v.side.free,
    ip_used: v.ipUsed,
    is_role: v.side.isRole,
    role: v.side.role,
    suggestion: v.side.suggestion,
    reason: v.reason,
    deliverability: v.deliverability,
    confidence: v.confidence,
    enhanced_code: v.enhancedCode,
    catch_all: v.catchAll,
    smtputf8: v.smtputf8,
    starttls: v.starttls,
    provider: v.provider,
    mx_tried: v.mxTried,
    attempts: v.attempts.map(presentAttempt),
    skipped_sources: v.skippedSources.length > 0 ? v.skippedSources.map(presentSkipped) : undefined,
    checked: v.side.checked,
    retry_after_ms: v.retryAfterMs,
    observed_at: new Date(v.observedAtMs).toISOString(),
    cached: v.cached,
    duration_ms: v.durationMs,
    transcript: options.trace ? transcriptOf(v) : undefined,
    peer: v.peer,
  }
}

const presentSkipped = ({ address, why }: Verification['skippedSources'][number]) => ({
  address: address ?? '',
  reason: why,
})

export const presentAttempt = (attempt: Attempt): VerifyAnswer['attempts'][number] => ({
  ip_used: attempt.ipUsed ?? '',
  mx_server: attempt.mxServer,
  address: attempt.address,
  stage: attempt.stage,
  code: attempt.code,
  enhanced_code: attempt.enhancedCode,
  message: attempt.message,
  reason: attempt.reason,
  duration_ms: attempt.durationMs,
  proxy: attempt.proxy,
  peer: attempt.peer,
})

const transcriptOf = (v: Verification): VerifyAnswer['transcript'] =>
  maskTranscript(v.transcript, [v.email.toLowerCase()]).map(({ atMs, from, text }) => ({ at_ms: atMs, from, text }))

/** One source address as the answer of `GET /v1/pool`. */
export const presentPoolRow = ({ address, configured, providers }: PoolRow): PoolRowAnswer => ({
  address: address ?? '',
  configured,
  providers: providers.map((row) => ({
    provider: row.provider,
    breaker: row.breaker,
    paused_reason: row.pausedReason,
    paused_until: timeOf(row.pausedUntilMs),
    per_minute: row.perMinute,
    successes: row.successes,
    refusals: row.refusals,
    last_refusal: row.lastRefusal && {
      reason: row.lastRefusal.reason,
      message: row.lastRefusal.text,
      at: timeOf(row.lastRefusal.atMs),
    },
    last_used_at: row.lastUsedMs === 0 ? undefined : timeOf(row.lastUsedMs),
    latency_ms: row.latencyMs,
  })),
})

const timeOf = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString()
