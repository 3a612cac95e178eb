import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
/** Octets of a secret (Standard Webhooks: 24 to 64). */
const SECRET_OCTETS = 32

/** A new secret, in the form in which it is returned. */
export const makeSecret = (): string => `${PREFIX}${randomBytes(SECRET_OCTETS).toString('base64')}`

/**
 * The header fields of a message (Standard Webhooks 1.0): `webhook-signature` has one `v1` signature for each valid secret, over id, timestamp and body.
 * `atMs`: the time of sending.
 */
export function signedHeaders(
  message: { readonly id: string; readonly body: string },
  secrets: readonly string[],
  atMs: number,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(atMs / 1_000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${message.id}.${timestamp}.${message.body}`).digest('base64')}`
  })
  return {
    'content-type': 'application/json',
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
