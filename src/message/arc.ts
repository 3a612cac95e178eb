import { createHash } from 'node:crypto'
import type { Problem } from '../base/problem.ts'
import { type Claim, parseAuthenticationResults } from './authentication-results.ts'
import { canonicalField } from './canonical.ts'
import { fieldsOf, type HashSigned } from './dkim.ts'
import { type KeyAt, keyName, opened } from './keys.ts'
import { type Field, fieldBody, type Mail } from './parse.ts'
import { arcProblem, signatureProblem } from './problems.ts'
import { parseSignature, parseTagList, withoutSignature, withoutSpace } from './signature.ts'

/** One ARC set: what one host found and sealed (RFC 8617 §4.1). */
type ArcSet = {
  readonly instance: number
  /** The sealing domain, empty if the seal cannot be read. */
  readonly domain: string
  readonly selector: string
  /** What the host said of the chain that it got: `cv`. */
  readonly cv: string
  /** What its ARC-Authentication-Results claims; at most {@link MAX_CLAIMS}. */
  readonly claims: readonly Claim[]
}

export type ArcChain = {
  readonly result: 'none' | 'pass' | 'fail' | 'temperror' | 'unknown'
  readonly because?: Problem
  /** Oldest first; at most {@link MAX_SETS}. */
  readonly sets: readonly ArcSet[]
}

/** Maximum number of sets of a chain (RFC 8617 §4.2.1). */
const MAX_SETS = 50
/** Maximum number of claims of a set. */
const MAX_CLAIMS = 10

type Set3 = { seal: Field; message: Field; results: Field }

const NAMES = {
  'arc-seal': 'seal',
  'arc-message-signature': 'message',
  'arc-authentication-results': 'results',
} as const
type ArcName = keyof typeof NAMES
const isArcName = (name: string): name is ArcName => Object.hasOwn(NAMES, name)

/** The names of the keys that {@link verifyArc} needs: those of the newest message signature and of all seals. */
export function arcKeys(mail: Mail): readonly string[] {
  const chain = chainOf(mail)
  if (chain === undefined || 'id' in chain || failedStates(chain)) return []
  const message = parseSignature(chain.at(-1)!.message, 'arc')
  return [...(message.ok ? [message.value] : []), ...chain.flatMap((set) => sealOf(set) ?? [])].map(keyName)
}

/**
 * Validates the ARC chain of a message (RFC 8617 §5.2): its structure, the newest message signature, and every seal.
 * Each field is hashed once for all seals.
 */
export function verifyArc(mail: Mail, keyAt: KeyAt, hash: HashSigned): ArcChain {
  const chain = chainOf(mail)
  if (chain === undefined) return { result: 'none', sets: [] }
  if ('id' in chain) return { result: 'fail', because: chain, sets: [] }
  const sets = chain.map(presentSet)
  const failed =
    failedStates(chain) ??
    failedSignature(mail, chain.at(-1)!.message, chain.length, keyAt, hash) ??
    failedSeals(chain, keyAt)
  return failed ? { ...failed, sets } : { result: 'pass', sets }
}

/** The same of a header whose body is not here: its newest message signature cannot be verified. */
export function arcWithoutBody(mail: Mail): ArcChain {
  const chain = chainOf(mail)
  if (chain === undefined) return { result: 'none', sets: [] }
  if ('id' in chain) return { result: 'fail', because: chain, sets: [] }
  const open = { result: 'unknown', because: signatureProblem('body_missing') } as const
  return { ...(failedStates(chain) ?? open), sets: chain.map(presentSet) }
}

/** The sets of a message, or what is wrong with their structure; undefined if there are none. */
function chainOf(mail: Mail): readonly Set3[] | Problem | undefined {
  const fields = mail.fields.filter(({ name }) => isArcName(name))
  if (fields.length === 0) return undefined
  return fields.length > MAX_SETS * 3 ? arcProblem('too_many', { max: MAX_SETS }) : collect(fields)
}

/** The sets in the order of their instances, or what is wrong with their structure (RFC 8617 §5.2 steps 1 and 3). */
function collect(fields: readonly Field[]): readonly Set3[] | Problem {
  const sets = new Map<number, Partial<Set3>>()
  for (const field of fields) {
    const name = field.name as ArcName
    const instance = instanceOf(field)
    if (instance === undefined) return arcProblem('instance', { name: field.name })
    const set = sets.get(instance) ?? {}
    if (set[NAMES[name]]) return arcProblem('twice', { name: field.name, instance })
    set[NAMES[name]] = field
    sets.set(instance, set)
  }
  const chain: Set3[] = []
  for (let instance = 1; instance <= sets.size; instance++) {
    const { seal, message, results } = sets.get(instance) ?? {}
    if (!seal || !message || !results) return arcProblem('incomplete', { instance })
    chain.push({ seal, message, results })
  }
  return chain
}

/** RFC 8617 §4.1.1: in ARC-Authentication-Results the instance comes first, in the others it is a tag. */
function instanceOf({ name, raw }: Field): number | undefined {
  const value = raw.slice(raw.indexOf(':') + 1)
  const written =
    name === 'arc-authentication-results'
      ? /^[ \t\r\n]{0,998}i[ \t\r\n]{0,998}=[ \t\r\n]{0,998}(\d{1,2})[ \t\r\n]{0,998};/.exec(value)?.[1]
      : tagOf(value, 'i')
  if (written === undefined || !/^\d{1,2}$/.test(written)) return undefined
  const instance = Number(written)
  return instance >= 1 && instance <= MAX_SETS ? instance : undefined
}

function tagOf(value: string, tag: string): string | undefined {
  const list = parseTagList(value)
  return list.ok ? list.value.get(tag) : undefined
}

function presentSet(set: Set3, at: number): ArcSet {
  const seal = set.seal.raw.slice(set.seal.raw.indexOf(':') + 1)
  const results = fieldBody(set.results)
  return {
    instance: at + 1,
    domain: (tagOf(seal, 'd') ?? '').toLowerCase(),
    selector: (tagOf(seal, 's') ?? '').toLowerCase(),
    cv: (tagOf(seal, 'cv') ?? '').toLowerCase(),
    claims: parseAuthenticationResults(results.slice(results.indexOf(';') + 1)).claims.slice(0, MAX_CLAIMS),
  }
}

type Failure = Pick<ArcChain, 'result' | 'because'>
const failure = (because: Problem, result: 'fail' | 'temperror' = 'fail'): Failure => ({ result, because })

/** RFC 8617 §5.2 steps 2 and 3: the first seal says none, the others pass. */
function failedStates(chain: readonly Set3[]): Failure | undefined {
  for (const [i, { seal }] of chain.entries()) {
    const cv = tagOf(seal.raw.slice(seal.raw.indexOf(':') + 1), 'cv')
    if (cv?.toLowerCase() !== (i === 0 ? 'none' : 'pass'))
      return failure(arcProblem('cv', { instance: i + 1, text: cv ?? '' }))
  }
  return undefined
}

/** RFC 8617 §5.2 step 4: the newest ARC-Message-Signature. */
function failedSignature(
  mail: Mail,
  field: Field,
  instance: number,
  keyAt: KeyAt,
  hash: HashSigned,
): Failure | undefined {
  const reading = parseSignature(field, 'arc')
  if (!reading.ok) return failure(arcProblem('signature', { instance, why: reading.problem }))
  const signature = reading.value
  // RFC 8617 §4.1.2: seals are not covered by the signature of a message.
  if (signature.names.includes('arc-seal')) return failure(arcProblem('seal_signed', { instance }))
  if (signature.algorithm !== 'rsa-sha256' && signature.algorithm !== 'ed25519-sha256')
    return failure(arcProblem('algorithm', { instance, text: signature.algorithm }))
  const key = keyAt(keyName(signature))
  if (!key.ok)
    return failure(
      arcProblem('signature', { instance, why: key.because }),
      key.result === 'temperror' ? 'temperror' : 'fail',
    )
  const header = hash.fields(fieldsOf(mail.fields, signature), signature.header)
  const body = hash.body(signature.body, signature.limit)
  if (!header || !body) return failure(arcProblem('too_much', { instance }))
  const isSigned = signature.algorithm.startsWith(`${key.type}-`) && opened(key, signature.signature).isOver(header)
  if (!isSigned) return failure(arcProblem('header', { instance }))
  return body.hash === signature.bodyHash ? undefined : failure(arcProblem('body', { instance }))
}

type Seal = { readonly algorithm: string; readonly domain: string; readonly selector: string; readonly value: string }

/** What a seal says, undefined if it lacks a tag or has an invalid one. */
function sealOf({ seal }: Set3): Seal | undefined {
  const list = parseTagList(seal.raw.slice(seal.raw.indexOf(':') + 1))
  if (!list.ok) return undefined
  const tags = list.value
  const [algorithm, domain, selector, value] = ['a', 'd', 's', 'b'].map((tag) => tags.get(tag) ?? '')
  const isNumber = !tags.has('t') || /^\d{1,12}$/.test(tags.get('t')!)
  if (!/^(?:rsa|ed25519)-sha256$/.test(algorithm!) || !domain || !selector || !value || tags.has('h') || !isNumber)
    return undefined
  return { algorithm: algorithm!, domain, selector, value }
}

/**
 * RFC 8617 §5.1.1: a seal covers the sets up to its own, each as results, message signature and seal, relaxed; its own
 * seal last, without its signature. The newest one that fails.
 */
function failedSeals(chain: readonly Set3[], keyAt: KeyAt): Failure | undefined {
  const before = createHash('sha256')
  let failed: Failure | undefined
  for (const [i, set] of chain.entries()) {
    for (const field of [set.results, set.message]) before.update(canonicalField(field, 'relaxed')).update('\r\n')
    const own: Field = { name: set.seal.name, raw: withoutSignature(set.seal.raw) }
    const digest = before.copy().update(canonicalField(own, 'relaxed')).digest()
    before.update(canonicalField(set.seal, 'relaxed')).update('\r\n')
    failed = failedSeal(set, i + 1, digest, keyAt) ?? failed
  }
  return failed
}

function failedSeal(set: Set3, instance: number, digest: Buffer, keyAt: KeyAt): Failure | undefined {
  const seal = sealOf(set)
  if (!seal) return failure(arcProblem('seal_incomplete', { instance }))
  const key = keyAt(keyName(seal))
  if (!key.ok)
    return failure(
      arcProblem('seal', { instance, why: key.because }),
      key.result === 'temperror' ? 'temperror' : 'fail',
    )
  const isGood =
    seal.algorithm.startsWith(key.type) && opened(key, Buffer.from(withoutSpace(seal.value), 'base64')).isOver(digest)
  return isGood ? undefined : failure(arcProblem('seal_invalid', { instance }))
}
