import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { STATE, SUBMISSION } from '../addresses.ts'
import { certificateFile } from '../certificates.ts'
import { logFile, runTool, startServer } from '../processes.ts'
import { untilTaken } from './connect.ts'
import { MAILBOXES, makeQueue, SERVICES } from './postfix.ts'

const HOME = `${STATE}/submission`
export const SUBMISSION_HOST = 'submit.notify.test'
/** Who may submit mail, and the password, which needs to be escaped in a URL. */
export const SUBMITTER = { user: 'watch@notify.test', password: 'p@ss:w/rd %' } as const

/**
 * Starts a Postfix of its own as submission server (RFC 6409): port 587 with STARTTLS, port 465 with TLS; mail is taken
 * after AUTH alone, which is offered over TLS alone, and goes on to the MX of its recipient. Gives the function that
 * ends it. Mail to `user+…@inbox.test` goes to the mailbox `user`.
 */
export async function startSubmission(): Promise<() => void> {
  for (const folder of ['queue', 'data', 'sasl']) mkdirSync(`${HOME}/${folder}`, { recursive: true })
  const [name, realm] = SUBMITTER.user.split('@')
  await runTool(
    'sh',
    ['-c', 'printf %s "$1" | saslpasswd2 -p -c -f "$2" -u "$3" "$4"'].concat(
      'sh',
      SUBMITTER.password,
      `${HOME}/sasldb`,
      realm!,
      name!,
    ),
  )
  await runTool('chown', ['postfix', `${HOME}/sasldb`])
  writeFileSync(
    `${HOME}/sasl/smtpd.conf`,
    `pwcheck_method: auxprop\nauxprop_plugin: sasldb\nsasldb_path: ${HOME}/sasldb\nmech_list: PLAIN LOGIN\n`,
  )
  writeFileSync(`${HOME}/recipients`, '/^user\\+.*@inbox\\.test$/ user@inbox.test\n')
  writeFileSync(`${HOME}/main.cf`, mainConfig())
  writeFileSync(`${HOME}/master.cf`, masterConfig())
  await makeQueue(HOME)
  const server = startServer('submission', '/usr/lib/postfix/sbin/master', ['-d', '-c', HOME])
  await Promise.all([untilTaken('submission', [SUBMISSION], 587), untilTaken('submission', [SUBMISSION], 465)])
  return () => void server.kill('SIGTERM')
}

/** The mail that came to a mailbox of inbox.test, oldest first, as it was stored. */
export const mailOf = (mailbox: string): readonly string[] =>
  globSync(`${MAILBOXES}/${mailbox}/new/*`)
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }))
    .toSorted((a, b) => arrivedAt(a.file) - arrivedAt(b.file))
    .map(({ text }) => text)

/**
 * When a file of a Maildir was made, µs: its name begins with the second; the rest of that second follows the inode
 * (`1700000000.VfeI12M345678.host`).
 */
const arrivedAt = (file: string): number => {
  const [, second, rest = '0'] = /\/(\d+)\.(?:V\w*?M(\d+))?[^/]*$/.exec(file) ?? []
  return Number(second) * 1_000_000 + Number(rest)
}

const mainConfig = (): string => `compatibility_level = 3.6
queue_directory = ${HOME}/queue
data_directory = ${HOME}/data
maillog_file_prefixes = ${STATE}
maillog_file = ${logFile('submission-mail')}
myhostname = ${SUBMISSION_HOST}
mydestination =
mynetworks = 192.0.2.255/32
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
alias_maps =
local_recipient_maps =
smtpd_peername_lookup = no
smtpd_tls_security_level = may
smtpd_tls_auth_only = yes
smtpd_tls_chain_files = ${certificateFile(SUBMISSION_HOST)}
smtpd_sasl_auth_enable = yes
smtpd_sasl_type = cyrus
smtpd_sasl_path = smtpd
cyrus_sasl_config_path = ${HOME}/sasl
recipient_canonical_maps = regexp:${HOME}/recipients
recipient_canonical_classes = envelope_recipient
smtpd_relay_restrictions = permit_sasl_authenticated, reject
smtpd_sender_login_maps = inline:{ { watch@notify.test = ${SUBMITTER.user} } }
smtpd_sender_restrictions = reject_sender_login_mismatch
smtp_tls_security_level = may
smtputf8_enable = yes
in_flow_delay = 0
`

const masterConfig = (): string => `${SERVICES}smtp unix - - n - - smtp
relay unix - - n - - smtp
${SUBMISSION}:587 inet n - n - - smtpd
${SUBMISSION}:465 inet n - n - - smtpd
  -o smtpd_tls_wrappermode=yes
`
