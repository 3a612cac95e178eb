import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Problem } from '../base/problem.ts'
import { ttlCache } from '../base/ttl-cache.ts'
import { proofProblem } from './problems.ts'

/**
 * A call between nodes proves that it knows the cluster's secret: `Mailsonde-Peer id=…, ts=…, nonce=…, sig=…`, an
 * HMAC-SHA-256 over the request.
 */
export const SCHEME = 'Mailsonde-Peer'
/** Maximum difference between the clocks of two nodes, ms. */
const WINDOW_MS = 60_000
/** How long a nonce is stored, ms: a call from a clock that is ahead stays valid for two windows. */
const NONCE_MS = 2 * WINDOW_MS + 1_000
/** Maximum number of nonces kept; beyond it the oldest are dropped. */
const MAX_NONCES = 100_000

/**
 * The signed parts of a call. `origin` is that of the called node, so that no other node accepts the call; `path`
 * includes the query.
 */
export type Call = {
  readonly method: string
  readonly origin: string
  readonly path: string
  readonly body: string
}
type Proof = { readonly id: string; readonly ts: number; readonly nonce: string; readonly sig: string }

/**
 * The header value of a call. `nonce` is 16 to 64 characters of base64url that were never used before; `nowMs` is sent
 * in whole seconds.
 */
export function formatProof(
  call: Call,
  by: { readonly id: string; readonly nonce: string; readonly nowMs: number },
  secret: string,
): string {
  const ts = Math.floor(by.nowMs / 1_000)
  return `${SCHEME} id=${by.id}, ts=${ts}, nonce=${by.nonce}, sig=${signature(call, { id: by.id, ts, nonce: by.nonce }, secret)}`
}

/** Reads the header value; undefined if it has another form. Nothing is verified yet. */
export function parseProof(header: string): Proof | undefined {
  if (header.length > 512) return undefined
  const match =
    /^Mailsonde-Peer id=([A-Za-z0-9._-]{1,64}), ?ts=(\d{1,12}), ?nonce=([A-Za-z0-9_-]{16,64}), ?sig=([0-9a-f]{64})$/.exec(
      header,
    )
  if (!match) return undefined
  const [, id = '', ts = '', nonce = '', sig = ''] = match
  return { id, ts: Number(ts), nonce, sig }
}

export type ProofCheck = {
  readonly secret: string
  readonly nowMs: number
  /** Earlier calls are refused: nonces that were seen before a restart are not known. */
  readonly notBeforeMs?: number
  /** Returns whether a nonce was seen, and stores it. */
  readonly seen: (nonce: string) => boolean
}

/**
 * Why a proof is invalid, or undefined if it is valid: signature (in constant time), then age, then whether its nonce
 * was seen.
 */
export function refuteProof(proof: Proof, call: Call, check: ProofCheck): Problem | undefined {
  const expected = Buffer.from(signature(call, proof, check.secret), 'hex')
  if (!timingSafeEqual(expected, Buffer.from(proof.sig, 'hex')))
    return proofProblem('signature', { origin: call.origin })
  if (Math.abs(check.nowMs - proof.ts * 1_000) > WINDOW_MS) return proofProblem('clock')
  if (check.notBeforeMs !== undefined && proof.ts * 1_000 + 1_000 <= check.notBeforeMs)
    return proofProblem('before_start')
  return check.seen(`${proof.id} ${proof.nonce}`) ? proofProblem('replay') : undefined
}

function signature(
  call: Call,
  by: { readonly id: string; readonly ts: number; readonly nonce: string },
  secret: string,
): string {
  const body = createHash('sha256').update(call.body).digest('hex')
  return createHmac('sha256', secret)
    .update([call.method, call.origin, call.path, body, by.id, by.ts, by.nonce].join('\n'))
    .digest('hex')
}

/**
 * Stores the nonces of verified calls: returns whether one was seen within the validity of its call, and stores it. At
 * most 100,000.
 */
export function nonceMemory(now: () => number): (nonce: string) => boolean {
  const kept = ttlCache<{ readonly seen: true }>({ maxEntries: MAX_NONCES, now })
  return (nonce) => {
    if (kept.get(nonce)) return true
    kept.set(nonce, { seen: true }, NONCE_MS)
    return false
  }
}
