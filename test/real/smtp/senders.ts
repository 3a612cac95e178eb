import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { LAB_PRIVATE } from '../../lab/messages.ts'
import { MESSAGES, STATE } from '../addresses.ts'
import { unpacked } from '../packages.ts'
import { logFile, runTool, startServer } from '../processes.ts'
import { untilTaken } from './connect.ts'
import { makeQueue, SERVICES } from './postfix.ts'

const HOME = `${STATE}/senders`
const KEY = `${HOME}/key.pem`
const MILTER = 10_026
const EXIM = `${HOME}/exim.conf`

/**
 * Starts a Postfix whose mail opendkim signs, a forwarder, and prepares an Exim that signs by itself; all send to the
 * MX of a recipient. Gives the function that ends them.
 */
export async function startSenders(): Promise<() => void> {
  mkdirSync(`${HOME}/exim`, { recursive: true })
  writeFileSync(KEY, LAB_PRIVATE, { mode: 0o640 })
  writeFileSync(`${HOME}/opendkim.conf`, OPENDKIM)
  const opendkim = startServer('opendkim', 'opendkim', ['-f', '-x', `${HOME}/opendkim.conf`])
  await untilTaken('opendkim', ['127.0.0.1'], MILTER)
  const servers = await Promise.all([
    postfix('sender', MESSAGES.postfix, 'mail.signer.test', SENDER, [`${MESSAGES.postfix}:25 inet n - n - - smtpd`]),
    postfix('forwarder', MESSAGES.forwarder, 'mx.forward.test', FORWARDER, [
      `${MESSAGES.forwarder}:25 inet n - n - - smtpd`,
      `${MESSAGES.narrow}:25 inet n - n - - smtpd\n  -o smtpd_discard_ehlo_keywords=8bitmime,smtputf8`,
    ]),
  ])
  writeFileSync(EXIM, exim())
  await runTool('chown', ['-R', 'Debian-exim', `${HOME}/exim`, KEY])
  return () => {
    for (const server of [...servers, opendkim]) server.kill('SIGTERM')
  }
}

async function postfix(name: string, address: string, host: string, settings: string, services: readonly string[]) {
  const home = `${HOME}/${name}`
  for (const folder of ['queue', 'data']) mkdirSync(`${home}/${folder}`, { recursive: true })
  writeFileSync(`${home}/main.cf`, mainConfig(home, name, address, host) + settings)
  writeFileSync(
    `${home}/master.cf`,
    `${SERVICES}smtp unix - - n - - smtp\nrelay unix - - n - - smtp\n${services.join('\n')}\n`,
  )
  await makeQueue(home)
  const server = startServer(name, '/usr/lib/postfix/sbin/master', ['-d', '-c', home])
  await untilTaken(name, [address])
  return server
}

const mainConfig = (home: string, name: string, address: string, host: string): string => `compatibility_level = 3.6
queue_directory = ${home}/queue
data_directory = ${home}/data
maillog_file_prefixes = ${STATE}
maillog_file = ${logFile(`${name}-mail`)}
myhostname = ${host}
mydestination =
mynetworks = 0.0.0.0/0
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
alias_maps =
local_recipient_maps =
smtpd_peername_lookup = no
smtp_bind_address = ${address}
smtp_tls_security_level = may
smtp_host_lookup = dns
in_flow_delay = 0
`
const SENDER = `smtpd_milters = inet:127.0.0.1:${MILTER}\nmilter_default_action = tempfail\n`
/** Without SRS: the envelope sender stays, as with most forwarders. */
const FORWARDER = `virtual_alias_domains = forward.test, narrow.test\nvirtual_alias_maps = regexp:{{/^(t-[a-z2-7]+)@/ $1@inbound.test}}\n`

const OPENDKIM = `Mode s
Domain signer.test
Selector a
KeyFile ${KEY}
Canonicalization relaxed/simple
Socket inet:${MILTER}@127.0.0.1
InternalHosts 0.0.0.0/0
RequireSafeKeys no
Background no
Syslog no
`

const exim = (): string => `primary_hostname = exim.signer.test
spool_directory = ${HOME}/exim
log_file_path = ${HOME}/exim/%slog
exim_path = ${unpacked('usr/sbin/exim4').program}
keep_environment =
trusted_users = root

begin routers
dns:
  driver = dnslookup
  transport = out

begin transports
out:
  driver = smtp
  interface = ${MESSAGES.exim}
  dkim_domain = signer.test
  dkim_selector = a
  dkim_private_key = ${KEY}
  dkim_canon = relaxed
`

/** Sends a message by Exim, from its command line; rejects with its log unless it was delivered. */
export async function sendByExim(from: string, to: string, message: string): Promise<void> {
  const { program, env } = unpacked('usr/sbin/exim4')
  const file = `${HOME}/exim-message`
  writeFileSync(file, message, 'latin1')
  const said = await runTool('sh', [
    '-c',
    `env ${env.join(' ')} ${program} -C ${EXIM} -odq -oi -f "$1" "$2" < ${file} && env ${env.join(' ')} ${program} -C ${EXIM} -v -qff 2>&1`,
    'sh',
    from,
    to,
  ])
  const log = readFileSync(`${HOME}/exim/mainlog`, 'utf8')
  if (!log.includes(` => ${to} `)) throw new Error(`Exim did not deliver:\n${log.slice(-2_000)}\n${said.slice(-2_000)}`)
}
