import { createHash } from 'node:crypto'
import type { AppError } from '../base/errors.ts'
import { isJsonRecord } from '../base/json.ts'
import { type BodyDigest, type Claim, type IdempotencyKeys, MAX_KEYS } from '../store/postgres/idempotency-keys.ts'
import type { Log } from '../world.ts'
import type { Given, Operation, Raw, Upload } from './operation.ts'
import { idempotencyError } from './problems.ts'

/** A request that its caller may repeat: the operation, its input, and the key that identifies it. */
type Repeatable = {
  readonly operation: Operation
  readonly raw: Raw
  readonly upload?: Upload
  readonly owner: string
  readonly key: string
}

/**
 * Runs the operation. What it creates is named by `seed`, which stays the same if a request is run again after a crash.
 * `lost` fires when this run stalled for so long that another one has taken over: it stops.
 */
type Run = (seed: string, upload: Upload | undefined, lost: AbortSignal) => Promise<Given>

/** Interval at which a claim is renewed, ms; it expires after 30 s. */
const HOLD_EVERY_MS = 10_000

/**
 * Answers a request at most once in 24 h (draft-ietf-httpapi-idempotency-key-header): the first call runs it, later
 * calls get the same answer. A problem is not stored, so the request can be repeated. Rejects with AppError
 * `idempotency_key_reused` for another request with this key, `idempotency_key_in_use` while the first one runs, and
 * `rate_limited` for a caller with too many keys.
 */
export async function answerOnce(keys: IdempotencyKeys, log: Log, asked: Repeatable, run: Run): Promise<Given> {
  const { operation, raw, upload, owner, key } = asked
  const claim = await keys.claim({ owner, key }, requestDigest(operation, raw, upload))
  if (claim.is === 'answered') return answerAgain(operation, claim, upload)
  if (claim.is !== 'mine') throw refusal(claim)
  const body = upload && digested(upload)
  const lost = new AbortController()
  const hold = async (): Promise<void> => {
    if (!(await keys.hold(claim.claim))) lost.abort(idempotencyError('lost'))
  }
  const holding = setInterval(() => void hold().catch(() => {}), HOLD_EVERY_MS)
  try {
    const given = await run(claim.seed, body?.upload, lost.signal)
    const kept = { status: given.status, answer: JSON.stringify(given.answer), body: body?.digest() }
    // What was created stays, whether its answer could be stored or not: a repetition finds it by its seed.
    await keys.keep(claim.claim, kept).catch((error: Error) => {
      log.warn('the answer of an Idempotency-Key could not be stored', { reason: error.message })
    })
    return given
  } catch (error) {
    await keys.release(claim.claim).catch(() => {}) // it expires by itself
    throw error
  } finally {
    clearInterval(holding)
  }
}

function refusal(claim: Exclude<Claim, { readonly is: 'mine' | 'answered' }>): AppError {
  if (claim.is === 'other_request') return reused()
  if (claim.is === 'full') return idempotencyError('too_many', { max: MAX_KEYS }, { retryAfterSeconds: 3_600 })
  return idempotencyError('in_use', undefined, { retryAfterSeconds: claim.retryAfterSeconds })
}

const reused = (): AppError => idempotencyError('reused')

/**
 * The stored answer, if the body equals that of the first request. The body is read for the comparison, at most to that
 * length.
 */
async function answerAgain(
  operation: Operation,
  { status, answer, body }: Extract<Claim, { readonly is: 'answered' }>,
  upload: Upload | undefined,
): Promise<Given> {
  if (upload && !(await isSameBody(upload, body))) throw reused()
  const given = operation.receive(JSON.parse(answer))
  if (!given.ok) throw new Error(`a stored answer of ${operation.name} cannot be read: ${given.problem.text}`)
  return { ...given.value, status, isRepeated: true }
}

async function isSameBody({ octets }: Upload, first: BodyDigest | undefined): Promise<boolean> {
  const hash = createHash('sha256')
  let length = 0
  for await (const chunk of octets) {
    length += chunk.length
    if (length > (first?.octets ?? 0)) return false
    hash.update(chunk)
  }
  return length === (first?.octets ?? 0) && (first === undefined || hash.digest('hex') === first.sha256)
}

/** The upload, and the digest of the part that was read so far. */
function digested(upload: Upload): { readonly upload: Upload; readonly digest: () => BodyDigest } {
  const hash = createHash('sha256')
  let length = 0
  async function* octets(): AsyncIterable<Uint8Array> {
    for await (const chunk of upload.octets) {
      length += chunk.length
      hash.update(chunk)
      yield chunk
    }
  }
  return {
    upload: { ...upload, octets: octets() },
    digest: () => ({ sha256: hash.digest('hex'), octets: length }),
  }
}

/** The digest of the request; it does not depend on the order of the parameters. */
const requestDigest = ({ name }: Operation, raw: Raw, upload: Upload | undefined): string =>
  createHash('sha256')
    .update(JSON.stringify([name, sorted(raw), upload?.contentType ?? null]))
    .digest('hex')

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isJsonRecord(value)) return value
  return Object.keys(value)
    .sort()
    .map((name) => [name, sorted(value[name])])
}
