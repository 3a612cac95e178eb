import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { STATE } from '../addresses.ts'
import { certificateFile } from '../certificates.ts'
import { logFile, runTool, startServer } from '../processes.ts'
import { untilTaken } from './connect.ts'
import { type Listener, listeners } from './listeners.ts'
import { maps } from './maps.ts'

const HOME = `${STATE}/postfix`
const MAPS = `${HOME}/maps`
/** Where the mail of inbox.test is kept: a Maildir each mailbox. */
export const MAILBOXES = `${STATE}/mailboxes`

/** Starts Postfix with a listener a behaviour, and postgrey; resolves when every listener takes connections. */
export async function startPostfix(): Promise<void> {
  for (const folder of ['maps', 'queue', 'data', 'grey']) mkdirSync(`${HOME}/${folder}`, { recursive: true })
  mkdirSync(MAILBOXES, { recursive: true, mode: 0o777 })
  chmodSync(MAILBOXES, 0o777)
  for (const [name, lines] of Object.entries(maps)) writeFileSync(`${MAPS}/${name}`, `${lines.join('\n')}\n`)
  writeFileSync(`${HOME}/none`, '')
  writeFileSync(`${HOME}/main.cf`, mainConfig())
  writeFileSync(`${HOME}/master.cf`, masterConfig())
  startServer('postgrey', 'postgrey', postgreyOptions())
  await makeQueue(HOME)
  startServer('postfix', '/usr/lib/postfix/sbin/master', ['-d', '-c', HOME])
  const all = listeners.flatMap((row) => [row.address, row.address6 ?? []].flat())
  await Promise.all([untilTaken('postfix', all), untilTaken('postgrey', ['127.0.0.1'], 10_023)])
}

/** What `postfix start` would do in two seconds: the folders of the queue of an instance, with their owners. */
export async function makeQueue(home: string): Promise<void> {
  const owned = 'active bounce corrupt defer deferred flush hold incoming private saved trace'.split(' ')
  for (const folder of [...owned, 'maildrop', 'public', 'pid'])
    mkdirSync(`${home}/queue/${folder}`, { recursive: true })
  await runTool('chown', ['postfix', `${home}/data`, ...owned.map((folder) => `${home}/queue/${folder}`)])
  await runTool('chown', ['postfix:postdrop', `${home}/queue/maildrop`, `${home}/queue/public`])
  for (const folder of owned) chmodSync(`${home}/queue/${folder}`, 0o700)
  chmodSync(`${home}/queue/maildrop`, 0o730)
  chmodSync(`${home}/queue/public`, 0o710)
}

const postgreyOptions = (): string[] => [
  '--inet=127.0.0.1:10023',
  '--delay=3',
  `--dbdir=${HOME}/grey`,
  '--user=root',
  '--group=root',
  `--whitelist-clients=${HOME}/none`,
  `--whitelist-recipients=${HOME}/none`,
  '--auto-whitelist-clients=0',
]

const mainConfig = (): string => `compatibility_level = 3.6
maps = ${MAPS}
queue_directory = ${HOME}/queue
data_directory = ${HOME}/data
maillog_file_prefixes = ${STATE}
maillog_file = ${logFile('maillog')}
myhostname = mail.lab.test
mydestination =
mynetworks = 192.0.2.255/32
inet_interfaces = 127.0.0.1
inet_protocols = all
alias_maps =
local_recipient_maps =
virtual_mailbox_domains = texthash:$maps/domains
virtual_mailbox_maps = texthash:$maps/mailboxes
virtual_mailbox_base = ${MAILBOXES}
virtual_transport = discard
transport_maps = inline:{ inbox.test=virtual: }
virtual_uid_maps = static:65534
virtual_gid_maps = static:65534
smtpd_peername_lookup = no
smtpd_delay_reject = yes
smtpd_relay_restrictions = reject_unauth_destination
smtpd_recipient_restrictions = reject_unlisted_recipient, check_recipient_access texthash:$maps/recipients
smtpd_client_connection_count_limit = 0
smtpd_error_sleep_time = 0
smtpd_hard_error_limit = 1000
smtpd_soft_error_limit = 1000
smtpd_timeout = 60s
smtputf8_enable = no
in_flow_delay = 0
smtpd_tls_loglevel = 0
smtpd_tls_protocols = >=TLSv1.2
default_process_limit = 100
postscreen_greet_action = enforce
postscreen_greet_wait = 2s
postscreen_access_list =
postscreen_cache_map = btree:$data_directory/postscreen_cache
postscreen_dnsbl_sites =
`

/** The services that smtpd needs beside it; only the mail of inbox.test is delivered. */
export const SERVICES = `pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
anvil unix - - n - 1 anvil
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
virtual unix - n n - - virtual
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
smtpd pass - - n - - smtpd
`

const masterConfig = (): string => SERVICES + listeners.flatMap(services).join('')

function services(row: Listener): string[] {
  const at = [row.address, row.address6 ? `[${row.address6}]` : []].flat()
  const program = row.service === 'postscreen' ? 'n - n - 1 postscreen' : 'n - n - - smtpd'
  const tls = row.certificate
    ? { smtpd_tls_security_level: 'may', smtpd_tls_chain_files: certificateFile(`mx.${row.domain}`) }
    : {}
  const settings: Readonly<Record<string, string>> = { myhostname: `mx.${row.domain}`, ...tls, ...row.settings }
  const options = Object.entries(settings).map(([name, value]) => `  -o { ${name} = ${value} }\n`)
  return at.map((address) => `${address}:25 inet ${program}\n${options.join('')}`)
}
