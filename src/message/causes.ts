import type { Problem } from '../base/problem.ts'
import { registrableDomain } from '../names/suffix.ts'
import { bodyCause, type Effort, mediaType, wrappedParts } from './body-causes.ts'
import { digestOf } from './canonical.ts'
import { fieldsOf, type Verifying } from './dkim.ts'
import { type Key, keyName, opened } from './keys.ts'
import { type Field, fieldBody, type Mail, parseFields } from './parse.ts'
import { causeProblem, signatureProblem } from './problems.ts'
import type { Signature } from './signature.ts'
import { addressForms, dateForms, datesInOtherZones, otherEncodings, typeForms, untagged } from './written-forms.ts'

/** Maximum length of a field of which another folding is tried. */
const MAX_FOLDED = 100_000
/** Maximum number of octets that are hashed for one message to find out what changed. */
const MAX_HASHED = 24 * 1_048_576
/** Maximum number of header forms that are tried for one message. */
const MAX_HEADER_FORMS = 400

export const fullEffort = (): Effort => ({ octets: MAX_HASHED, forms: MAX_HEADER_FORMS, bodies: new Map() })

/** Why a signature fails; `otherKey`: the key of another selector may have made it. */
type Cause = { readonly because?: Problem; readonly otherKey?: true }

/**
 * The cause of a failed signature, as far as it can be known: the change that undone makes it hold. Only what was
 * proven is named; otherwise the signature keeps the cause that it has.
 */
export function causeOf(mail: Mail, verifying: Verifying, effort: Effort): Cause {
  const { signature, key, compared, because } = verifying
  const own = because === undefined ? {} : { because }
  if (!signature) return own
  if (!key) return { ...own, otherKey: true }
  if (!compared || (compared.header && compared.body)) return own
  if (because?.id === 'signature.body_short') return own
  const header = compared.header ? undefined : headerCause(mail, signature, compared.opened.isOver, effort)
  if (!compared.header && header === undefined && !compared.opened.isMade)
    return {
      because: signatureProblem('other_key', { name: keyName(signature), hasOthers: key.hasOthers }),
      otherKey: true,
    }
  const body = compared.body ? undefined : bodyCause(mail, signature, effort)
  return { because: combined(compared, header, body, signature, mail) }
}

/** The first of these keys that makes the signature hold. */
export function madeWith<K extends { readonly key: Key }>(
  { fields }: Mail,
  signature: Signature,
  keys: readonly K[],
): K | undefined {
  const header = digestOf(fieldsOf(fields, signature), signature.header)
  return keys.find(
    ({ key }) =>
      key.ok && signature.algorithm.startsWith(`${key.type}-`) && opened(key, signature.signature).isOver(header),
  )
}

function combined(
  holds: { readonly header: boolean; readonly body: boolean },
  header: Problem | undefined,
  body: Problem | undefined,
  signature: Signature,
  mail: Mail,
): Problem {
  const anyHeader = header ?? unknownHeader(signature, mail)
  const anyBody = body ?? causeProblem('body', { simple: signature.body === 'simple' })
  if (holds.header || (header?.id === 'change.wrapped' && body?.id === header.id)) return anyBody
  return holds.body ? anyHeader : causeProblem('two', { first: anyBody, second: anyHeader })
}

/** Fields whose absence signers sign, so that nobody adds them (RFC 6376 §5.4.1). */
const SIGNED_AS_ABSENT =
  /^(?:from|reply-to|subject|date|to|cc|sender|resent-.+|in-reply-to|references|list-.+|message-id|mime-version|content-.+|precedence|autocrypt|dkim-signature)$/

/** Fields that servers on the way write or replace: nobody signs them (RFC 6376 §5.4). */
const TRACE =
  /^(?:return-path|received|received-spf|x-received|delivered-to|x-original-to|authentication-results|x-spam-.+|arc-.+)$/i

/** What can be said where no change that was undone made the header hold. */
function unknownHeader({ names, header, domain }: Signature, { fields }: Mail): Problem {
  const written = new Map(fields.map((field) => [field.name, writtenName(field)]))
  const absent = [...new Set(names)].filter((name) => !written.has(name))
  const gone = absent.filter((name) => !SIGNED_AS_ABSENT.test(name))
  if (gone.length > 0) return causeProblem('field_removed', { names: gone.map(usualName) })
  const signed = [...new Set(names)].flatMap((name) => written.get(name) ?? [])
  const trace = signed.filter((name) => TRACE.test(name))
  const messageId = names.includes('message-id') ? foreignIdOf(fields, domain) : ''
  return causeProblem('header', {
    simple: header === 'simple',
    names: signed,
    absent: absent.map(usualName),
    trace,
    messageId,
  })
}

/** The domain in Message-ID if it is of another organization than the signer: relays write their own. */
function foreignIdOf(fields: readonly Field[], signer: string): string {
  const field = fields.find(({ name }) => name === 'message-id')
  const domain = field && /@([a-z0-9.-]{1,253})>?$/i.exec(fieldBody(field).trim())?.[1]?.toLowerCase()
  const organization = domain === undefined ? undefined : registrableDomain(domain)
  return organization === undefined || organization === registrableDomain(signer) ? '' : domain!
}

function headerCause(
  mail: Mail,
  signature: Signature,
  isOver: (digest: Buffer) => boolean,
  effort: Effort,
): Problem | undefined {
  const size = mail.fields.reduce((sum, { raw }) => sum + raw.length, 0)
  const holdsIn = (fields: readonly Field[]): boolean => {
    effort.forms--
    effort.octets -= size
    return isOver(digestOf(fieldsOf(fields, signature), signature.header))
  }
  const isSpent = (): boolean => effort.forms < 0 || effort.octets < 0
  const edits: HeaderEdit[] = []
  for (const edit of headerEdits(mail, signature)) {
    if (isSpent()) return undefined
    if (holdsIn(edit.edit(mail.fields))) return edit.change
    if (!edit.isAlone) edits.push(edit)
  }
  // Two changes at once, such as a subject tag and a Reply-To of a list: each applied to what the other left.
  for (const [i, first] of edits.entries()) {
    for (const second of edits.slice(i + 1)) {
      if (isSpent()) return undefined
      if (holdsIn(second.edit(first.edit(mail.fields))))
        return causeProblem('two', { first: first.change, second: second.change })
    }
  }
  return undefined
}

type HeaderEdit = {
  readonly edit: (fields: readonly Field[]) => readonly Field[]
  readonly change: Problem
  /** One of many guesses, not tried together with other changes. */
  readonly isAlone?: true
}

/**
 * Each change that hosts on the way make, undone: one field removed, a subject without its tag, fields in another
 * order, an original value restored. They are made as they are tried.
 */
function* headerEdits(mail: Mail, { names, field: own, header }: Signature): Generator<HeaderEdit> {
  const signed = new Set(names)
  const fields = mail.fields.filter((field) => field !== own && signed.has(field.name))
  const byName = Map.groupBy(mail.fields, ({ name }) => name)
  yield* listFields(fields)
  if (header === 'simple') yield* otherNames(fields)
  for (const field of fields) {
    const shownName = writtenName(field)
    const value = field.raw.slice(field.raw.indexOf(':') + 1)
    const replaced = (by: string, change: Problem): HeaderEdit => {
      const raw = `${field.raw.slice(0, field.raw.indexOf(':') + 1)}${by}`
      return { edit: (all) => all.map((one) => (one === field ? { ...one, raw } : one)), change }
    }
    if (field.name === 'subject')
      for (const { rest, ...tag } of untagged(value)) yield replaced(rest, causeProblem('subject_tag', tag))
    if (field.name === 'subject')
      for (const encoded of otherEncodings(value))
        yield replaced(encoded, causeProblem('rewritten', { name: shownName, how: 'encoding' }))
    if (['from', 'to', 'cc', 'reply-to', 'sender'].includes(field.name))
      for (const form of addressForms(value))
        yield replaced(form, causeProblem('rewritten', { name: shownName, how: 'form' }))
    if (field.name === 'date')
      for (const form of dateForms(value))
        yield replaced(form, causeProblem('rewritten', { name: shownName, how: 'form' }))
    if (field.name === 'date')
      for (const form of datesInOtherZones(value))
        yield { ...replaced(form, causeProblem('rewritten', { name: shownName, how: 'form' })), isAlone: true }
    for (const other of originals(byName, field.name))
      yield replaced(
        other.raw.slice(other.raw.indexOf(':') + 1),
        causeProblem('field_replaced', { name: shownName, other: other.name }),
      )
    if (field.name === 'content-transfer-encoding')
      for (const encoding of ['8bit', '7bit', 'quoted-printable', 'base64', '8BIT', '7BIT'])
        yield replaced(` ${encoding}`, causeProblem('reencoded', { from: encoding.toLowerCase() }))
    if (field.name === 'content-type')
      for (const written of typeForms(value))
        yield replaced(written, causeProblem('rewritten', { name: shownName, how: 'form' }))
    // Of several, the first: the structure is that of it.
    if (field.name === 'content-type' && field === byName.get('content-type')![0])
      for (const inner of partFields(mail))
        yield {
          edit: (all) => [...all.filter(({ name }) => !name.startsWith('content-')), ...inner],
          change: causeProblem('wrapped', { type: mediaType(mail) }),
        }
    if (value.length <= MAX_FOLDED && value.includes('\r\n'))
      yield replaced(value.replace(/\r\n[ \t]+/g, ' '), causeProblem('refolded', { name: shownName }))
    yield {
      edit: (all) => all.filter((one) => one !== field && one.raw !== field.raw),
      change: causeProblem('field_added', { name: shownName }),
    }
  }
  for (const [name, values] of Object.entries(USUAL)) {
    if (byName.has(name) || !signed.has(name)) continue
    for (const value of values)
      yield {
        edit: (all) => [...all, { name, raw: `${name}: ${value}` }],
        change: causeProblem('field_removed', { names: [usualName(name)] }),
      }
  }
  for (const [name, all] of Map.groupBy(fields, (field) => field.name)) {
    if (all.length < 2) continue
    for (const order of ordersOf(all))
      yield { edit: (ones) => reordered(ones, name, own, order), change: causeProblem('reordered', { name }) }
  }
}

/** Fields that gateways remove, with the values that nearly all messages have. */
const USUAL: Readonly<Record<string, readonly string[]>> = {
  'mime-version': ['1.0'],
  'content-transfer-encoding': ['7bit', '8bit', 'quoted-printable', 'base64'],
  precedence: ['bulk', 'list'],
}

const writtenName = ({ raw }: Field): string => raw.slice(0, raw.indexOf(':')).trim()

/** The name of a field as programs write it: the tag h= has it in lower case. */
const usualName = (name: string): string => name.replace(/\b(?:(?:mime|id)\b|[a-z])/g, (part) => part.toUpperCase())

/** The name of a field with a capital at the begin of each word. */
const capitalName = (name: string): string => name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
const NAME_FORMS: readonly ((name: string) => string)[] = [
  usualName,
  capitalName,
  (name) => name,
  (name) => name.replace(/^[a-z]/, (letter) => letter.toUpperCase()),
  (name) => name.toUpperCase(),
]

/** Names in other letters, which c=simple counts (RFC 6376 §3.4.1): of all fields, then of each. */
function* otherNames(fields: readonly Field[]): Generator<HeaderEdit> {
  for (const some of [fields, ...fields.map((field) => [field])])
    for (const form of NAME_FORMS) {
      const renamed = new Map(some.map((field) => [field, form(field.name)]))
      const changed = some.filter((field) => writtenName(field) !== renamed.get(field))
      if (changed.length === 0) continue
      yield {
        edit: (all) =>
          all.map((one) => {
            const name = renamed.get(one)
            return name === undefined ? one : { ...one, raw: name + one.raw.slice(writtenName(one).length) }
          }),
        change: causeProblem('renamed', { names: changed.map(writtenName), was: renamed.get(changed[0]!)! }),
        isAlone: true,
      }
    }
}

/** The fields of a mailing list, all at once: a signature whose h= names them says that they were not there. */
function* listFields(fields: readonly Field[]): Generator<HeaderEdit> {
  for (const names of [/^(?:sender|precedence|list-.+)$/, /^(?:sender|precedence|reply-to|list-.+)$/]) {
    const added = new Set(fields.filter(({ name }) => names.test(name)))
    if (added.size < 2) continue
    const change = causeProblem('fields_added', { names: [...new Set([...added].map(writtenName))] })
    yield { edit: (all) => all.filter((one) => !added.has(one)), change }
  }
}

/** Fields in which hosts keep the original value of another one. */
function originals(fields: ReadonlyMap<string, readonly Field[]>, name: string): readonly Field[] {
  const names = [`x-original-${name}`, `original-${name}`, `x-${name}-original`, `old-${name}`]
  if (name === 'from') names.push('reply-to', 'x-from', 'x-rewritten-from')
  return names.flatMap((one) => fields.get(one) ?? []).slice(0, 3)
}

/** The Content-* fields of the first parts of a message, which a host that wrapped it kept. */
const partFields = (mail: Mail): readonly (readonly Field[])[] =>
  wrappedParts(mail)
    .map(({ start, end }) => parseFields(mail.body.subarray(start, end)).fields)
    .filter((fields) => fields.some(({ name }) => name === 'content-type'))
    .slice(0, 3)

/** Other orders of a few fields: reversed, and each pair of neighbours swapped. */
function ordersOf(same: readonly Field[]): readonly (readonly Field[])[] {
  const few = same.slice(0, 8)
  const swapped = few
    .slice(1)
    .map((_, i) => few.map((field, j) => (j === i ? few[i + 1]! : j === i + 1 ? few[i]! : field)))
  return few.length === 2 ? swapped : [[...few].reverse(), ...swapped]
}

function reordered(fields: readonly Field[], name: string, own: Field, order: readonly Field[]): readonly Field[] {
  const queue = [...order]
  return fields.map((field) => (field.name === name && field !== own ? (queue.shift() ?? field) : field))
}
