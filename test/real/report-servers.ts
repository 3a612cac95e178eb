import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { STATE } from './addresses.ts'
import { certificateFile } from './certificates.ts'
import { txt } from './dns/zone.ts'
import { logFile, runTool, startServer } from './processes.ts'
import { untilTaken } from './smtp/connect.ts'
import { makeQueue, SERVICES } from './smtp/postfix.ts'

/**
 * The servers between the organizations that report and the program: opendkim signs, Postfix delivers by LMTP, to a
 * pipe and to a Maildir, dovecot serves it.
 */

/** Where mail for reports is taken. */
export const REPORT_MAIL = '45.53.3.65'
export const REPORT_IMAP = { host: 'imap.reports.test', address: '45.53.3.66' } as const
const SELECTOR = 'lab'
const MILTER_PORT = 8_891

/** Records that unbound has beside its zones. */
export async function publishNames(lines: readonly string[]): Promise<void> {
  const control = ['-s', `${STATE}/unbound.control`, '-c', `${STATE}/unbound.conf`]
  for (const line of lines) await runTool('unbound-control', [...control, 'local_data', line])
}
export const txtRecord = (name: string, text: string): string => `${name}. 1 IN TXT ${txt(text)}`

export type ReportServers = {
  /** The folder of the mailbox. */
  readonly maildir: string
  /** The folder of Postfix's configuration; its queue is tried again every second. */
  readonly queue: string
  readonly stop: () => void
}

/**
 * Starts them. `signers`: the domains whose mail is signed. `pipe`: the command of the alias. `lmtp`: the ports behind
 * lmtp.reports.test and proxy.reports.test.
 */
export async function startReportServers(
  signers: readonly string[],
  pipe: string,
  lmtp: { readonly direct: number; readonly proxy: number },
): Promise<ReportServers> {
  const home = mkdtempSync(`${STATE}/reports-`)
  chmodSync(home, 0o755)
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  await publishNames(signers.map((domain) => txtRecord(`${SELECTOR}._domainkey.${domain}`, `v=DKIM1; k=rsa; p=${key}`)))
  writeFileSync(`${home}/key`, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  writeFileSync(`${home}/keys`, signers.map((one) => `${one} ${one}:${SELECTOR}:${home}/key\n`).join(''))
  writeFileSync(`${home}/signing`, signers.map((one) => `*@${one} ${one}\n`).join(''))
  writeFileSync(`${home}/hosts`, '0.0.0.0/0\n')
  writeFileSync(`${home}/opendkim.conf`, milterConfig(home))
  const maildir = `${home}/mail/joe`
  for (const name of ['cur', 'new', 'tmp']) mkdirSync(`${maildir}/${name}`, { recursive: true })
  for (const folder of ['queue', 'data']) mkdirSync(`${home}/postfix/${folder}`, { recursive: true })
  writeFileSync(`${home}/postfix/aliases`, `dmarc "|${pipe}"\n`)
  writeFileSync(`${home}/postfix/main.cf`, mainConfig(home, lmtp))
  writeFileSync(
    `${home}/postfix/master.cf`,
    `${SERVICES}lmtp unix - - n - - lmtp\nlocal unix - n n - - local\n${REPORT_MAIL}:25 inet n - n - - smtpd\n`,
  )
  writeFileSync(`${home}/dovecot.conf`, imapConfig(home))
  await runTool('chown', ['-R', 'nobody:nogroup', `${home}/mail`])
  await makeQueue(`${home}/postfix`)
  const servers = [
    startServer('opendkim', 'opendkim', ['-f', '-x', `${home}/opendkim.conf`]),
    startServer('dovecot', 'dovecot', ['-F', '-c', `${home}/dovecot.conf`]),
  ]
  await untilTaken('opendkim', ['127.0.0.1'], MILTER_PORT)
  servers.push(startServer('reports-postfix', '/usr/lib/postfix/sbin/master', ['-d', '-c', `${home}/postfix`]))
  await Promise.all([
    untilTaken('reports-postfix', [REPORT_MAIL], 25),
    untilTaken('dovecot', [REPORT_IMAP.address], 993),
  ])
  return { maildir, queue: `${home}/postfix`, stop: () => servers.forEach((one) => void one.kill('SIGTERM')) }
}

const milterConfig = (home: string): string => `Socket inet:${MILTER_PORT}@127.0.0.1
PidFile ${home}/opendkim.pid
Mode s
Syslog no
RequireSafeKeys no
KeyTable file:${home}/keys
SigningTable refile:${home}/signing
InternalHosts ${home}/hosts
ExternalIgnoreList ${home}/hosts
`

const mainConfig = (home: string, lmtp: { readonly direct: number; readonly proxy: number }): string =>
  `compatibility_level = 3.6
queue_directory = ${home}/postfix/queue
data_directory = ${home}/postfix/data
maillog_file_prefixes = ${STATE}
maillog_file = ${logFile('reports-mail')}
myhostname = mail.reports.test
mydestination = pipe.reports.test
mynetworks = 0.0.0.0/0
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
message_size_limit = 31457280
mailbox_size_limit = 0
alias_maps = texthash:${home}/postfix/aliases
local_recipient_maps =
local_destination_concurrency_limit = 2
virtual_mailbox_domains = imap.reports.test
virtual_mailbox_maps = inline:{ dmarc@imap.reports.test=joe/ }
virtual_mailbox_base = ${home}/mail
virtual_uid_maps = static:65534
virtual_gid_maps = static:65534
transport_maps = inline:{ lmtp.reports.test=lmtp:inet:127.0.0.1:${lmtp.direct}, proxy.reports.test=lmtp:inet:127.0.0.1:${lmtp.proxy} }
smtpd_peername_lookup = no
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_milters = inet:127.0.0.1:${MILTER_PORT}
milter_default_action = tempfail
queue_run_delay = 1s
minimal_backoff_time = 1s
maximal_backoff_time = 2s
destination_concurrency_failed_cohort_limit = 0
in_flow_delay = 0
`

const imapConfig = (home: string): string => `base_dir = ${home}/run
log_path = ${home}/dovecot.log
protocols = imap
listen = ${REPORT_IMAP.address}
ssl = required
ssl_cert = <${certificateFile(REPORT_IMAP.host)}
ssl_key = <${certificateFile(REPORT_IMAP.host)}
mail_location = maildir:${home}/mail/%u
first_valid_uid = 1
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=${home}/mail/%u
}
service imap-login {
  inet_listener imap {
    port = 0
  }
}
namespace inbox {
  inbox = yes
  separator = .
  prefix = INBOX.
}
`
