import { type Email, formatEmail } from '../../names/email.ts'
import { familyOf, type Ip } from '../../names/ip.ts'

/** One command line without its CRLF. Only this file creates it, so external text cannot begin a line of its own. */
export type Command = string & { readonly __brand: 'Command' }

/**
 * The extensions that EHLO announced: keyword in upper case and its parameters (RFC 5321 §4.1.1.1). At most 100 lines.
 */
export type Capabilities = ReadonlyMap<string, string>

export const ehlo = (name: string): Command => line(`EHLO ${heloArgument(name)}`)
export const helo = (name: string): Command => line(`HELO ${heloArgument(name)}`)
export const STARTTLS = 'STARTTLS' as Command
export const RSET = 'RSET' as Command
export const QUIT = 'QUIT' as Command

/** `undefined` is the null reverse-path (RFC 5321 §4.5.5). */
export const mailFrom = (sender: Email | undefined, options: { readonly smtputf8: boolean }): Command =>
  line(`MAIL FROM:<${sender ? path(sender) : ''}>${options.smtputf8 ? ' SMTPUTF8' : ''}`) // RFC 6531 §3.4

export const rcptTo = (recipient: Email): Command => line(`RCPT TO:<${path(recipient)}>`)

/** The name of a host for EHLO, or its address literal (RFC 5321 §4.1.3). */
export const addressLiteral = (address: Ip): string => (familyOf(address) === 6 ? `[IPv6:${address}]` : `[${address}]`)

/** The lines after the greeting of an EHLO reply. */
export function parseCapabilities(lines: readonly string[]): Capabilities {
  const capabilities = new Map<string, string>()
  for (const text of lines.slice(1, 101)) {
    const row = /^\s*([A-Za-z0-9][A-Za-z0-9-]*)(?:[\s=]+(.*))?$/.exec(text)
    if (row) capabilities.set(row[1]!.toUpperCase(), (row[2] ?? '').trim())
  }
  return capabilities
}

const HELO_NAME = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f.:IPv]+\])$/

function heloArgument(name: string): string {
  if (name.length > 255 || !HELO_NAME.test(name))
    throw new TypeError(`not a HELO name: ${JSON.stringify(name.slice(0, 80))}`)
  return name
}

/** An address between angle brackets. Parsing already makes it harmless; this is asserted again. */
function path(email: Email): string {
  const text = formatEmail(email)
  if (/[\r\n\0>]/.test(text)) throw new TypeError('an address with a character that would end the path or line')
  return text
}

function line(text: string): Command {
  if (/[\u0000-\u001f\u007f]/.test(text) || Buffer.byteLength(text) > 1_000)
    throw new TypeError('not a valid command line')
  return text as Command
}
