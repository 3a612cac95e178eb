import { createPublicKey, type KeyObject } from 'node:crypto'
import type { Problem } from '../base/problem.ts'
import { parseKeyRecord, readKey, resemblesKey } from '../checks/dkim/index.ts'
import { DnsError, settled } from '../net/dns/resolver.ts'
import type { Ctx } from '../world.ts'
import { signatureProblem } from './problems.ts'

/** The key of a signature, or why there is none. */
export type Key =
  | {
      readonly ok: true
      readonly key: KeyObject
      readonly type: 'rsa' | 'ed25519'
      readonly bits: number
      /** `t=s`: the identity has to be in the signing domain itself (RFC 6376 §3.6.1). */
      readonly strict: boolean
      readonly testing: boolean
      /** It is for TLS reports alone (`s=tlsrpt`, RFC 8460 §3). */
      readonly onlyFor?: 'tlsrpt'
    }
  | { readonly ok: false; readonly result: 'permerror' | 'temperror' | 'policy'; readonly because: Problem }

/** Looks up the key of a signing domain and selector; never rejects because of the DNS. */
export type LookupKey = (domain: string, selector: string) => Promise<Key>

/** A {@link LookupKey} that asks for each key once. `takesReports`: keys for TLS reports alone are keys too. */
export function lookingUpKeys(ctx: Pick<Ctx, 'resolve' | 'signal'>, takesReports = false): LookupKey {
  const asked = new Map<string, Promise<Key>>()
  return (domain, selector) => {
    const name = `${selector}._domainkey.${domain}`.toLowerCase()
    const known = asked.get(name) ?? lookup(ctx, name, takesReports)
    asked.set(name, known)
    return known
  }
}

async function lookup(ctx: Pick<Ctx, 'resolve' | 'signal'>, name: string, takesReports: boolean): Promise<Key> {
  const answer = await settled(ctx.resolve(name, 'TXT', ctx.signal))
  if (answer instanceof DnsError) {
    const result = answer.reason === 'invalid_name' ? 'permerror' : 'temperror'
    return { ok: false, result, because: signatureProblem('no_answer', { name, why: answer.problem }) }
  }
  const keys = answer.records.filter((text) => resemblesKey(text)).map((text) => readRecord(name, text, takesReports))
  // Of several records, one that can be used (RFC 6376 §3.6.2.2 leaves the choice open).
  const best = keys.find((key) => key.ok && !key.onlyFor) ?? keys.find((key) => key.ok) ?? keys[0]
  if (best) return best
  const first = answer.records[0]
  return first === undefined ? gone(name) : readRecord(name, first, takesReports)
}

const gone = (name: string): Key => ({
  ok: false,
  result: 'permerror',
  because: signatureProblem('key_gone', { name }),
})

function readRecord(name: string, text: string, takesReports: boolean): Key {
  const record = parseKeyRecord(text)
  if (!record.ok) return unusable(name, record.problem)
  const { services } = record.value
  const isOfReports =
    takesReports && services.includes('tlsrpt') && !['*', 'email'].some((one) => services.includes(one))
  const state = readKey(isOfReports ? { ...record.value, services: ['*'] } : record.value)
  if (state.state === 'revoked')
    return { ok: false, result: 'permerror', because: signatureProblem('key_revoked', { name }) }
  if (state.state === 'broken') {
    const { bits } = state
    // RFC 8301 §3.2: verifiers must not consider signatures by keys of less than 1,024 bits as valid.
    if (bits !== undefined && bits < 1_024)
      return { ok: false, result: 'policy', because: signatureProblem('key_short', { name, bits }) }
    return unusable(name, state.problem)
  }
  const { flags, publicKey } = record.value
  const key = keyObject(state.type, Buffer.from(publicKey, 'base64'))
  const { type, bits, testing } = state
  return {
    ...{ ok: true, key, type, bits, strict: flags.includes('s'), testing },
    ...(isOfReports && { onlyFor: 'tlsrpt' as const }),
  }
}

const unusable = (name: string, why: Problem): Key => ({
  ok: false,
  result: 'permerror',
  because: signatureProblem('key_unusable', { name, why }),
})

/** A SubjectPublicKeyInfo of Ed25519 up to its key (RFC 8410 §4). */
const ED25519_HEAD = Buffer.from('302a300506032b6570032100', 'hex')

/** The key of octets that `readKey` accepted: an RSA key in either of its two forms, or the 32 octets of Ed25519. */
function keyObject(type: 'rsa' | 'ed25519', octets: Buffer): KeyObject {
  if (type === 'ed25519')
    return createPublicKey({ key: Buffer.concat([ED25519_HEAD, octets]), format: 'der', type: 'spki' })
  try {
    return createPublicKey({ key: octets, format: 'der', type: 'spki' })
  } catch {
    return createPublicKey({ key: octets, format: 'der', type: 'pkcs1' })
  }
}
