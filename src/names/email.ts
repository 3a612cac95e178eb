import { type Parsed, type Problem, parsed, problem } from '../base/problem.ts'
import { type Domain, parseDomain } from './domain.ts'
import { emailProblem } from './problems.ts'

/**
 * A parsed mailbox address (RFC 5321 §4.1.2, RFC 6531 §3.3). `local` is the decoded local part (unquoted). Format it
 * only with {@link formatEmail}: the original text never reaches the wire.
 */
export type Email = {
  readonly local: string
  readonly domain: Domain
  /** The local part has non-ASCII characters: the server must offer SMTPUTF8 (RFC 6531 §3.1). */
  readonly smtputf8: boolean
}

const ATEXT = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\u{10ffff}-]+$/u // RFC 5321 §4.1.2 Atom, RFC 6531 §3.3
/** A dot-string of ASCII characters, the form of nearly all local parts. */
const PLAIN = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u
const WIDE_SPACE = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/
const LONGEST_LOCAL = 64 // RFC 5321 §4.5.3.1.1, octets
const LONGEST = 254 // RFC 5321 §4.5.3.1.3: a path of 256 octets with its brackets

/**
 * Reads `local@domain` (RFC 5321 §4.1.2 Mailbox, RFC 6531 §3.3). The local part is a dot-string or one quoted string,
 * at most 64 octets; the whole address at most 254 octets; {@link parseDomain} reads the domain. Non-ASCII local parts
 * are converted to NFC (RFC 6532 §3.1). Comments, folding white space, address literals, display names, and the
 * obsolete forms of RFC 5322 §4.4 are refused; so is `>`, even quoted, which some servers treat as the end of the path.
 */
export function parseEmail(text: string): Parsed<Email> {
  if (text === '') return problem(emailProblem('empty'))
  if (text.length > 1_000) return problem(emailProblem('too_long', { max: LONGEST }))
  const halves = text.startsWith('"') ? quotedHalf(text) : plainHalf(text)
  if (!halves.ok) return halves
  const { rest, quoted } = halves.value
  const local = halves.value.local.normalize('NFC')
  // The original text is checked too: NFC combines ">" and a combining mark into one character.
  const fault = localFault(halves.value.local, quoted) ?? localFault(local, quoted)
  if (fault !== undefined) return problem(fault)
  if (rest.startsWith('[')) return problem(emailProblem('literal'))
  if (rest.endsWith('.')) return problem(emailProblem('final_dot')) // RFC 5321 §4.1.2
  const name = parseDomain(rest)
  if (!name.ok) return name
  const email = { local, domain: name.value, smtputf8: /[^\u0000-\u007f]/.test(local) }
  if (octets(formatEmail(email)) > LONGEST) return problem(emailProblem('too_long', { max: LONGEST }))
  return parsed(email)
}

/**
 * The address for the wire and for people: the local part as a dot-string if possible, otherwise quoted
 * (RFC 5321 §4.1.2). One line, without control characters and `>`.
 */
export const formatEmail = (email: Pick<Email, 'local' | 'domain'>): string => `${localOf(email.local)}@${email.domain}`

/**
 * Text with the local part masked except for its first character, for logs: `j***@example.org`. Accepts any text; text
 * without an `@` is masked completely.
 */
export function maskEmail(text: string): string {
  const at = text.lastIndexOf('@')
  if (at < 0) return '***'
  const first = [...text.slice(0, 2)][0] ?? ''
  return `${/[\p{L}\p{N}]/u.test(first) ? first : ''}***${text.slice(at)}`
}

type Half = { readonly local: string; readonly rest: string; readonly quoted: boolean }

function plainHalf(text: string): Parsed<Half> {
  const at = text.indexOf('@')
  if (at < 0) return problem(emailProblem('no_at'))
  if (at === 0) return problem(emailProblem('no_local'), 0)
  return parsed({ local: text.slice(0, at), rest: text.slice(at + 1), quoted: false })
}

/** RFC 5321 §4.1.2 Quoted-string: qtextSMTP, or a backslash before a printable ASCII character. */
function quotedHalf(text: string): Parsed<Half> {
  let local = ''
  for (let i = 1; i < text.length; i++) {
    const c = text[i]!
    if (c === '"') {
      if (text[i + 1] !== '@') return problem(emailProblem('after_quote'), i + 1)
      return parsed({ local, rest: text.slice(i + 2), quoted: true })
    }
    if (c === '\\') {
      const escaped = text[++i] ?? ''
      if (!/^[ -~]$/.test(escaped)) return problem(emailProblem('escape'), i)
      local += escaped
    } else local += c
  }
  return problem(emailProblem('open_quote'))
}

function localFault(local: string, quoted: boolean): Problem | undefined {
  if (HIDDEN.test(local)) return emailProblem('hidden')
  if (local.includes('\uFFFD')) return emailProblem('undecodable')
  if (WIDE_SPACE.test(local)) return emailProblem('white_space')
  if (local.includes('>')) return emailProblem('bracket')
  if (octets(localOf(local)) > LONGEST_LOCAL) return emailProblem('local_too_long', { max: LONGEST_LOCAL })
  // RFC 5198 §3: no preceding character to combine with
  if (/^\p{M}/u.test(local)) return emailProblem('combining_mark')
  if (quoted) return undefined
  const atoms = local.split('.')
  if (atoms.includes('')) return emailProblem('dots')
  if (!atoms.every((atom) => ATEXT.test(atom))) return emailProblem('characters')
  return undefined
}

const localOf = (local: string): string =>
  PLAIN.test(local) || local.split('.').every((atom) => ATEXT.test(atom))
    ? local
    : `"${local.replace(/["\\]/g, '\\$&')}"`

const octets = (text: string): number => Buffer.byteLength(text)
