import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { STATE } from '../addresses.ts'
import { certificateFile } from '../certificates.ts'
import { type Unpacked, unpacked } from '../packages.ts'
import { runTool, startServer } from '../processes.ts'
import { untilTaken } from './connect.ts'
import { eximListeners } from './other-listeners.ts'

const HOME = `${STATE}/exim`
const CERTIFICATE = `${HOME}/certificate.pem`
const addresses = eximListeners.flatMap((row) => [row.address, row.address6 ?? []].flat())

/** Starts Exim 4; resolves when it takes connections. It holds its answer to QUIT back for 200 ms. */
export async function startExim(): Promise<void> {
  mkdirSync(`${HOME}/spool`, { recursive: true })
  copyFileSync(certificateFile('mx.exim.test'), CERTIFICATE)
  await runTool('chown', ['-R', 'Debian-exim', HOME])
  writeFileSync(`${HOME}/exim.conf`, config()) // the server wants it to be root's
  const { program, env }: Unpacked = unpacked('usr/sbin/exim4')
  startServer('exim', 'env', [...env, program, '-C', `${HOME}/exim.conf`, '-bdf'])
  await untilTaken('exim', addresses)
}

/** `verify = recipient` runs the routers, as the configurations that are shipped do. */
const config = (): string => `primary_hostname = mx.exim.test
spool_directory = ${HOME}/spool
log_file_path = ${HOME}/%slog
keep_environment =
local_interfaces = <; ${addresses.join(' ; ')}
domainlist ours = exim.test : eximall.test
smtp_accept_max = 0
smtp_accept_queue_per_connection = 0
tls_advertise_hosts = *
tls_certificate = ${CERTIFICATE}
prdr_enable = false
acl_smtp_rcpt = at_rcpt
acl_smtp_data = deny
queue_only

begin acl
at_rcpt:
  require message = relay not permitted
          domains = +ours
  require verify = recipient
  accept

begin routers
anybody:
  driver = accept
  domains = eximall.test
  transport = nowhere
users:
  driver = accept
  domains = +ours
  local_parts = user : postmaster
  transport = nowhere

begin transports
nowhere:
  driver = appendfile
  file = /dev/null
`
