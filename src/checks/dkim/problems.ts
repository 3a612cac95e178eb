import { type Problem, problemsOf, quoted, shown } from '../../base/problem.ts'
import { counted } from '../../base/text.ts'

type Text = { text: string }
type Max = { max: number }
type Count = { count: number }

/** Why a DKIM key record cannot be read. */
export const keyRecordProblem = problemsOf('dkim_record', {
  bare_key: () => 'it is the key alone, without "v=DKIM1; k=rsa; p=" before it',
  alias: () => 'it is the target of an alias written as text: the record must be a CNAME',
  too_long: ({ max }: Max) => `the record is longer than ${max} characters`,
  version: ({ text }: Text) => `the version is ${quoted(text, 20)} instead of "DKIM1"`,
  version_first: () => 'the tag v must be the first tag',
  no_key: () => 'the tag p (the key) is missing',
  base64: () => 'the tag p is not base64',
  too_many: ({ max }: Max) => `the record has more than ${max} tags`,
  tag: ({ text }: Text) => `${quoted(text, 40)} is not a tag and its value`,
  twice: ({ text }: Text) => `the tag ${shown(text, 40)} occurs twice`,
  none: () => 'there is no key',
})

/** Why a DKIM key cannot verify mail. */
export const keyProblem = problemsOf('dkim_key', {
  hashes: ({ hashes }: { hashes: readonly string[] }) =>
    `it allows only the hash ${shown(hashes.join(', '))}; only sha256 may be used`,
  services: ({ services }: { services: readonly string[] }) =>
    `it is for ${shown(services.join(', ')) || 'no service'}, not for mail`,
  type: ({ text }: Text) => `the key type ${quoted(text, 40)} is not known`,
  /** `wrapped`: the octets are a SubjectPublicKeyInfo. */
  ed25519: ({ count, wrapped }: Count & { wrapped: boolean }) =>
    `an Ed25519 key has 32 bytes, but this one has ${count}${wrapped ? '; it is a SubjectPublicKeyInfo, of which only the last 32 are the key' : ''}`,
  private: () => 'it is the private key: everybody can read it and sign with it',
  large_exponent: () => 'its exponent is larger than 2^32, which verifiers refuse',
  small_exponent: ({ text }: Text) => `its exponent ${shown(text, 20)} allows anybody to forge signatures`,
  modulus: ({ count }: Count) => `its modulus of ${count} octets is too long for verifiers`,
  short: ({ bits }: { bits: number }) => `an RSA key of ${bits} bits is too short to be trusted`,
  ed25519_as_rsa: () => 'its 32 bytes are not an RSA public key; an Ed25519 key needs k=ed25519',
  truncated: ({ count, expected }: Count & { expected: number }) =>
    `the key is truncated: it declares ${expected} bytes, but has ${count}`,
  not_rsa: () => 'the key is not an RSA public key',
})

/** Why it is not known whether the domain has a usable key. */
export const dkimUnknown = problemsOf('dkim_unknown', {
  parent: ({ parent }: { parent: string }) =>
    `mail may be signed with the key of ${shown(parent, 255)}, which cannot be seen in the DNS`,
  better: ({ count }: { count: number }) => `${counted(count, 'lookup')} had no answer: a better key may exist`,
  unanswered: ({ count, why }: { count: number; why: Problem }, say) =>
    `${counted(count, 'lookup')} had no answer: ${say(why)}`,
  none_found: ({ count }: { count: number }) => `${count} selectors have no key, and selectors cannot be listed`,
})
