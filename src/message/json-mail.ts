/** Maximum number of values of a text in JSON that are looked at. */
const MAX_VALUES = 20_000

/** What a provider tells in JSON about a recipient to whom a message was not delivered. */
export type Told = { readonly address: string; readonly text: string; readonly status?: string }

/** The value that a text in JSON writes; undefined for any other text. */
export function valueIn(text: string): unknown {
  if (!/^\s*[[{"]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** All values in one, outer ones first, up to a number of them; a text that is JSON itself (Amazon SNS) is read. */
function valuesIn(top: unknown): readonly unknown[] {
  const values: unknown[] = [top]
  for (let i = 0; i < values.length && values.length < MAX_VALUES; i++) {
    const value = values[i]
    const inner = typeof value === 'string' && /^\s*\{"/.test(value) ? valueIn(value) : undefined
    if (inner !== undefined) values.push(inner)
    else if (isFields(value)) for (const one of Object.values(value)) values.push(one)
  }
  return values
}

const BASE64 = /^[A-Za-z0-9+/_=\s-]{100,}$/
const TEXT = /^(?:From |[!-9;-~]{1,76}[ \t]*:)[^\n]*\n(?:[^\n]*\n){2}/

/**
 * The message in the answer or the call of a provider's interface: a text, the base64 of one, or the fields of its
 * header as pairs of name and value (Gmail, Microsoft Graph, Mailgun, Postmark, SendGrid, Amazon SES). Linear.
 */
export function messageInJson(top: unknown): string | undefined {
  const values = valuesIn(top)
  for (const value of values) {
    if (typeof value !== 'string') continue
    const text = BASE64.test(value) ? Buffer.from(value, 'base64').toString('latin1') : value
    if (TEXT.test(text)) return text === value ? Buffer.from(text).toString('latin1') : text
  }
  const header = values.map(headerIn).find((one) => one !== undefined)
  return header && Buffer.from(header).toString('latin1')
}

/** A header whose fields are a list of pairs. */
function headerIn(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length < 3) return undefined
  const fields = value.flatMap((one: unknown) => {
    const [name, text] = Array.isArray(one) ? one : isFields(one) ? [one.name ?? one.Name, one.value ?? one.Value] : []
    if (typeof name !== 'string' || typeof text !== 'string' || !/^[!-9;-~]{1,76}$/.test(name)) return []
    return [`${name}: ${text.replace(/\r?\n(?![ \t])/g, ' ')}\r\n`]
  })
  return fields.length === value.length ? fields.join('') : undefined
}

const ADDRESS_KEYS = ['emailAddress', 'recipient', 'rcpt_to', 'email', 'Email', 'to', 'To', 'Recipient']
const TEXT_KEYS = [
  'diagnosticCode',
  'raw_reason',
  'reason',
  'response',
  'message',
  'Details',
  'Description',
  'description',
]
const STATUS_KEYS = ['status', 'enhanced-code', 'code', 'Status']

const REFUSED = /\b[45]\d\d\b|[45]\.\d{1,3}\.\d{1,3}|bounced|suppress|unknown|reject/i

/** The recipients whose bounce a provider's webhook tells. Linear. */
export function bouncesInJson(top: unknown): readonly Told[] {
  const fields = valuesIn(top).filter(isFields)
  const reasonOf = (one: Fields): string =>
    TEXT_KEYS.map((key) => textAt(one, [key]))
      .join(' ')
      .trim()
      .replace(/^(?:smtp|x-[\w-]{1,20})\s*;\s*/i, '')
  return fields.flatMap((one) => {
    const address = textAt(one, ADDRESS_KEYS)
    if (!/^[^\s@<>]{1,64}@[^\s@<>]{1,255}$/.test(address)) return []
    // The reason may stand in a part of its own (Mailgun).
    const told = [one, ...Object.values(one).filter(isFields)].find((part) => REFUSED.test(reasonOf(part)))
    if (!told) return []
    const status = textAt(told, STATUS_KEYS)
    return [{ address, text: reasonOf(told), ...(/^[45]\.\d{1,3}\.\d{1,3}$/.test(status) && { status }) }]
  })
}

/** The first of some fields that is a text or a number. */
function textAt(fields: Fields, names: readonly string[]): string {
  for (const name of names) {
    const value = fields[name]
    if (typeof value === 'string' && value !== '') return value
    if (typeof value === 'number') return String(value)
  }
  return ''
}
