import type { Problem } from '../base/problem.ts'
import { canonicalField } from './canonical.ts'
import { type HashMail, headerHolds, isSignedBy, type LookupKey } from './dkim.ts'
import { type Field, type Mail, unfolded } from './parse.ts'
import { arcProblem } from './problems.ts'
import { parseSignature, parseTagList, withoutSignature, withoutSpace } from './signature.ts'

/** One ARC set: what one host found and sealed (RFC 8617 §4.1). */
type ArcSet = {
  readonly instance: number
  /** The sealing domain, empty if the seal cannot be read. */
  readonly domain: string
  readonly selector: string
  /** What the host said of the chain that it got: `cv`. */
  readonly cv: string
  /** The payload of ARC-Authentication-Results after the instance. */
  readonly results: string
}

export type ArcChain = {
  readonly result: 'none' | 'pass' | 'fail' | 'temperror'
  readonly because?: Problem
  /** Oldest first; at most {@link MAX_SETS}. */
  readonly sets: readonly ArcSet[]
}

/** Maximum number of sets of a chain (RFC 8617 §4.2.1). */
const MAX_SETS = 50

type Set3 = { seal: Field; message: Field; results: Field }

const NAMES = {
  'arc-seal': 'seal',
  'arc-message-signature': 'message',
  'arc-authentication-results': 'results',
} as const
type ArcName = keyof typeof NAMES
const isArcName = (name: string): name is ArcName => Object.hasOwn(NAMES, name)

/**
 * Validates the ARC chain of a message (RFC 8617 §5.2): its structure, the newest message signature, and every seal.
 * Never rejects because of the DNS.
 */
export async function verifyArc(mail: Mail, lookupKey: LookupKey, hash: HashMail): Promise<ArcChain> {
  const fields = mail.fields.filter(({ name }) => isArcName(name))
  if (fields.length === 0) return { result: 'none', sets: [] }
  if (fields.length > MAX_SETS * 3)
    return { result: 'fail', because: arcProblem('too_many', { max: MAX_SETS }), sets: [] }
  const collected = collect(fields)
  if ('id' in collected) return { result: 'fail', because: collected, sets: [] }
  const sets = collected.map(presentSet)
  const failed = await validate(mail, collected, lookupKey, hash)
  return failed ? { ...failed, sets } : { result: 'pass', sets }
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
  const results = unfolded(set.results.raw)
  return {
    instance: at + 1,
    domain: (tagOf(seal, 'd') ?? '').toLowerCase(),
    selector: (tagOf(seal, 's') ?? '').toLowerCase(),
    cv: (tagOf(seal, 'cv') ?? '').toLowerCase(),
    results: results.slice(results.indexOf(';') + 1).trim(),
  }
}

type Failure = Pick<ArcChain, 'result' | 'because'>
const failure = (because: Problem, result: 'fail' | 'temperror' = 'fail'): Failure => ({ result, because })

async function validate(
  mail: Mail,
  chain: readonly Set3[],
  lookupKey: LookupKey,
  hash: HashMail,
): Promise<Failure | undefined> {
  for (const [i, { seal }] of chain.entries()) {
    const cv = tagOf(seal.raw.slice(seal.raw.indexOf(':') + 1), 'cv')
    // RFC 8617 §5.2 steps 2 and 3: the first seal says none, the others pass.
    if (cv?.toLowerCase() !== (i === 0 ? 'none' : 'pass'))
      return failure(arcProblem('cv', { instance: i + 1, text: cv ?? '' }))
  }
  const newest = chain.at(-1)!
  const failedMessage = await failedSignature(mail, newest.message, chain.length, lookupKey, hash)
  if (failedMessage) return failedMessage
  const seals = await Promise.all(chain.map((_, i) => failedSeal(chain.slice(0, i + 1), lookupKey)))
  return seals.findLast((one) => one !== undefined)
}

/** RFC 8617 §5.2 step 4: the newest ARC-Message-Signature. */
async function failedSignature(
  mail: Mail,
  field: Field,
  instance: number,
  lookupKey: LookupKey,
  hash: HashMail,
): Promise<Failure | undefined> {
  const reading = parseSignature(field, 'arc')
  if (!reading.ok) return failure(arcProblem('signature', { instance, why: reading.problem }))
  const signature = reading.value
  // RFC 8617 §4.1.2: seals are not covered by the signature of a message.
  if (signature.names.includes('arc-seal')) return failure(arcProblem('seal_signed', { instance }))
  if (signature.algorithm !== 'rsa-sha256' && signature.algorithm !== 'ed25519-sha256')
    return failure(arcProblem('algorithm', { instance, text: signature.algorithm }))
  const key = await lookupKey(signature.domain, signature.selector)
  if (!key.ok)
    return failure(
      arcProblem('signature', { instance, why: key.because }),
      key.result === 'temperror' ? 'temperror' : 'fail',
    )
  if (!signature.algorithm.startsWith(`${key.type}-`) || !headerHolds(mail.fields, signature, key.key))
    return failure(arcProblem('header', { instance }))
  return hash(signature.body, signature.limit).hash === signature.bodyHash
    ? undefined
    : failure(arcProblem('body', { instance }))
}

/**
 * RFC 8617 §5.1.1: a seal covers the sets up to its own, each as results, message signature and seal, relaxed; its own
 * seal last, without its signature.
 */
async function failedSeal(chain: readonly Set3[], lookupKey: LookupKey): Promise<Failure | undefined> {
  const instance = chain.length
  const { seal } = chain.at(-1)!
  const list = parseTagList(seal.raw.slice(seal.raw.indexOf(':') + 1))
  if (!list.ok) return failure(arcProblem('seal_unreadable', { instance, why: list.problem }))
  const tags = list.value
  const [algorithm, domain, selector, value] = ['a', 'd', 's', 'b'].map((tag) => tags.get(tag) ?? '')
  const isNumber = !tags.has('t') || /^\d{1,12}$/.test(tags.get('t')!)
  if (!/^(?:rsa|ed25519)-sha256$/.test(algorithm!) || !domain || !selector || !value || tags.has('h') || !isNumber)
    return failure(arcProblem('seal_incomplete', { instance }))
  const key = await lookupKey(domain, selector)
  if (!key.ok)
    return failure(
      arcProblem('seal', { instance, why: key.because }),
      key.result === 'temperror' ? 'temperror' : 'fail',
    )
  const before = chain.slice(0, -1).flatMap((set) => [set.results, set.message, set.seal])
  const own: Field = { name: seal.name, raw: withoutSignature(seal.raw) }
  const text = [...before, chain.at(-1)!.results, chain.at(-1)!.message, own]
    .map((field) => canonicalField(field, 'relaxed'))
    .join('\r\n')
  const isGood =
    algorithm!.startsWith(key.type) && isSignedBy(text, Buffer.from(withoutSpace(value), 'base64'), key.key)
  return isGood ? undefined : failure(arcProblem('seal_invalid', { instance }))
}
