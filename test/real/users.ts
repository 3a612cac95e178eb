import { execFileSync } from 'node:child_process'
import { appendFileSync, copyFileSync, mkdirSync } from 'node:fs'
import { STATE } from './addresses.ts'

/** Users that servers ask for by name and that their packages, which are only unpacked, did not make. */
const USERS = ['Debian-exim', 'opensmtpd', 'opensmtpq'] as const
const FIRST_ID = 64_901

/**
 * Adds the users of the unpacked servers, and empties /var/spool and /var/lib, inside the private mount namespace
 * alone.
 */
export function addUsers(): void {
  const home = `${STATE}/empty`
  mkdirSync(home, { recursive: true, mode: 0o755 })
  for (const file of ['passwd', 'group']) copyFileSync(`/etc/${file}`, `${STATE}/${file}`)
  USERS.forEach((name, n) => {
    const id = FIRST_ID + n
    appendFileSync(`${STATE}/passwd`, `${name}:x:${id}:${id}::${home}:/usr/sbin/nologin\n`)
    appendFileSync(`${STATE}/group`, `${name}:x:${id}:\n`)
  })
  for (const file of ['passwd', 'group']) execFileSync('mount', ['--bind', `${STATE}/${file}`, `/etc/${file}`])
  for (const folder of ['/var/spool', '/var/lib'])
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', folder])
  mkdirSync('/var/lib/opensmtpd/empty', { recursive: true, mode: 0o755 }) // where it locks itself in
}
