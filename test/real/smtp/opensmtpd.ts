import { mkdirSync, writeFileSync } from 'node:fs'
import { STATE } from '../addresses.ts'
import { unpacked } from '../packages.ts'
import { startServer } from '../processes.ts'
import { untilTaken } from './connect.ts'
import { openSmtpdListeners } from './other-listeners.ts'

const HOME = `${STATE}/opensmtpd`
const addresses = openSmtpdListeners.flatMap((row) => [row.address, row.address6 ?? []].flat())

/** Starts OpenSMTPD; resolves when it takes connections. */
export async function startOpenSmtpd(): Promise<void> {
  mkdirSync(HOME, { recursive: true })
  writeFileSync(`${HOME}/smtpd.conf`, config(), { mode: 0o600 })
  const { program, env } = unpacked('usr/sbin/smtpd')
  startServer('opensmtpd', 'env', [...env, program, '-d', '-f', `${HOME}/smtpd.conf`])
  await untilTaken('opensmtpd', addresses)
}

const config = (): string => `table users { "user@opensmtpd.test" = nobody, "postmaster@opensmtpd.test" = nobody }
table anybody { "@opensmtpdall.test" = nobody }
${addresses.map((address) => `listen on ${address} hostname mx.opensmtpd.test`).join('\n')}
action "known" maildir "${HOME}/mail" virtual <users>
action "any" maildir "${HOME}/mail" virtual <anybody>
match from any for domain "opensmtpd.test" action "known"
match from any for domain "opensmtpdall.test" action "any"
`
