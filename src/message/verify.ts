import type { HeavyKind } from '../lane/heavy.ts'
import { type ArcChain, arcWithoutBody, verifyArc } from './arc.ts'
import { causeOf, fullEffort, madeWith } from './causes.ts'
import {
  expiredBy,
  hashing,
  plainOf,
  signaturesOf,
  type VerifiedSignature,
  type Verifying,
  verifyMail,
  withoutBody,
} from './dkim.ts'
import { type KeyAnswers, keysOf } from './keys.ts'
import { type Mail, parseAgain } from './parse.ts'
import { causeProblem, signatureProblem } from './problems.ts'

type Counted = {
  /** LF without CR, as `outline` counted them: the octets are not counted again. */
  readonly lfEnds: number
}
export type VerifyInput = Counted & {
  /** What the DNS said of each key that `outline` named. */
  readonly keys: KeyAnswers
  /** The time at which expiry is judged, ms since the epoch. */
  readonly at: number
  /** A report comes with it: keys for TLS reports alone (RFC 8460 §3) are keys too, and nobody asks for causes. */
  readonly isReport?: true
  /** The body is not here; `intact`: the header is as it was. */
  readonly headerOnly?: { readonly intact: boolean }
  /** The text was changed when it was copied: a change that is not proven may be that one. */
  readonly isCopied?: true
}

/** What the signatures of a message prove: plain data. */
export type Verified = {
  /** From top to bottom, with the cause of each failure. */
  readonly dkim: readonly VerifiedSignature[]
  readonly arc: ArcChain
  /** The indexes of those that a key of another selector may have made. */
  readonly otherKey: readonly number[]
}

/** Verifies the signatures of a message (RFC 6376, RFC 8617). */
export const verify: HeavyKind<VerifyInput, Verified> = {
  name: 'verify',
  work: (octets, { lfEnds, keys, at, isReport, headerOnly, isCopied }) => {
    const mail = parseAgain(octets, lfEnds)
    const keyAt = keysOf(keys, isReport)
    const hash = hashing(mail)
    const verified = verifyMail(mail, keyAt, hash, at)
    if (isReport) return { dkim: verified.map(plainOf), arc: { result: 'none', sets: [] }, otherKey: [] }
    if (headerOnly) {
      const dkim = verified.map((one) =>
        plainOf(isShortened(one) ? { ...one, ...COPIED } : withoutBody(one, headerOnly.intact)),
      )
      return { dkim, arc: arcWithoutBody(mail), otherKey: [] }
    }
    const arc = verifyArc(mail, keyAt, hash)
    return { ...explained(mail, verified, at, isCopied), arc }
  },
}

const COPIED = { result: 'unknown', because: signatureProblem('copied') } as const

/** Whether somebody left out a part of the signature: `b=...`. */
const isShortened = ({ because }: Verifying): boolean =>
  because?.id === 'signature.tag_invalid' && /\.\.\.|\u2026|\xe2\x80\xa6/.test(String(because.values.text))

/** Changes that no attempt to undo them has proven. */
const UNPROVEN = new Set(['change.header', 'change.body', 'change.two', 'signature.body_short', 'signature.other_key'])

function explained(
  mail: Mail,
  verified: readonly Verifying[],
  at: number,
  isCopied = false,
): Pick<Verified, 'dkim' | 'otherKey'> {
  const effort = fullEffort()
  const otherKey: number[] = []
  const dkim = verified.map((one, i) => {
    if (isShortened(one)) return plainOf({ ...one, ...COPIED })
    const isFailure = one.result === 'fail' || (one.result === 'permerror' && one.signature !== undefined)
    if (!isFailure || mail.cut) return plainOf(one)
    const { because, otherKey: isOther } = causeOf(mail, one, effort)
    if (isCopied && because && UNPROVEN.has(because.id)) return plainOf({ ...one, ...COPIED })
    if (isOther) otherKey.push(i)
    const expired = one.compared && one.signature && expiredBy(one.signature, at)
    return plainOf({
      ...one,
      ...(because && { because: expired ? causeProblem('two', { first: because, second: expired }) : because }),
    })
  })
  return { dkim, otherKey }
}

type CausesInput = Counted & {
  /** Signatures by their index, and the selectors whose keys may have made them. */
  readonly wanted: readonly {
    readonly index: number
    readonly candidates: readonly { readonly selector: string; readonly name: string }[]
  }[]
  readonly keys: KeyAnswers
}

/** For each signature the selector whose key made it, undefined if it is none of them. */
export const causes: HeavyKind<CausesInput, readonly (string | undefined)[]> = {
  name: 'causes',
  work: (octets, { lfEnds, wanted, keys }) => {
    const mail = parseAgain(octets, lfEnds)
    const keyAt = keysOf(keys)
    const signatures = signaturesOf(mail)
    return wanted.map(({ index, candidates }) => {
      const signature = signatures[index]
      const tried = candidates.map(({ selector, name }) => ({ selector, key: keyAt(name) }))
      return signature && madeWith(mail, signature, tried)?.selector
    })
  },
}
