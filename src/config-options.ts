import { readFileSync } from 'node:fs'
import { messageOf } from './base/errors.ts'
import { type Parsed, parsed, problem } from './base/problem.ts'
import { printable } from './base/text.ts'
import { formatDuration, parseDuration } from './base/time.ts'
import { valueProblem } from './base/value-problems.ts'
import { optionProblem } from './config-problems.ts'
import { type Cidr, parseCidr } from './names/cidr.ts'
import { parseDomain, parseDomainPattern } from './names/domain.ts'
import { formatEmail } from './names/email.ts'
import { parsePastedEmail } from './names/pasted.ts'
import { sourceProblem } from './names/problems.ts'
import { distinctEntries, NODE_ID, type PoolEntry, parsePoolEntry } from './names/source.ts'

/** Maximum length of the path of a Unix socket (sun_path in unix(7)), octets. */
const MAX_SOCKET_PATH = 107
/** A node's default lease: a heartbeat is due within it, ms. */
const LEASE_MS = 30_000

type Option<T> = {
  readonly flag: string
  readonly meaning: string
  /** The form of the value in the usage line; a switch has none. */
  readonly argument?: string
  readonly repeatable: boolean
  /** A list in the configuration file stands for its JSON. */
  readonly json?: true
  /** Never shown, never logged. */
  readonly secret?: boolean
  readonly parse: (text: string) => Parsed<unknown>
  /** The form in which a value is shown, if it differs from the stored one. */
  readonly format?: (value: number) => string
  readonly fallback: T
}

const one = <T, F = T>(
  flag: string,
  argument: string,
  fallback: F,
  meaning: string,
  parse: (text: string) => Parsed<T>,
  secret = false,
): Option<T | F> => ({
  flag,
  argument,
  fallback,
  meaning,
  parse,
  repeatable: false,
  secret,
})
const many = <T>(
  flag: string,
  argument: string,
  meaning: string,
  parse: (text: string) => Parsed<T | readonly T[]>,
  secret = false,
): Option<readonly T[]> => ({
  flag,
  argument,
  fallback: [],
  meaning,
  parse,
  repeatable: true,
  secret,
})
const flag = (name: string, meaning: string): Option<boolean> => ({
  flag: name,
  fallback: false,
  meaning,
  repeatable: false,
  parse: (text) =>
    text === 'true' || text === 'false' ? parsed(text === 'true') : problem(valueProblem('boolean', { text })),
})

const text = (value: string): Parsed<string> => (value === '' ? problem(valueProblem('empty')) : parsed(value))
const whole =
  (min: number, max: number) =>
  (value: string): Parsed<number> =>
    /^\d{1,13}$/.test(value) && Number(value) >= min && Number(value) <= max
      ? parsed(Number(value))
      : problem(valueProblem('whole', { text: value, min, max }))
const choice =
  <T extends string>(...choices: readonly T[]) =>
  (value: string): Parsed<T> =>
    (choices as readonly string[]).includes(value)
      ? parsed(value as T)
      : problem(valueProblem('choice', { text: value, known: choices }))
/** A text with user and password of its URL masked. */
export const withoutLogin = (text: string): string => text.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1********@')

const url = (value: string): Parsed<string> => {
  const good = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
  return good ? parsed(value.replace(/\/+$/, '')) : problem(valueProblem('url', { text: withoutLogin(value) }))
}

/** The value is not repeated, because it may contain a password. */
const databaseUrl = (value: string): Parsed<string> =>
  // ?host= names a socket, without a host before the path.
  /^postgres(?:ql)?:\/\//.test(value) && URL.canParse(value.replace('@/', '@localhost/'))
    ? parsed(value)
    : problem(optionProblem('database_url'))
/** The value is not repeated, because it may contain a password. */
const submissionUrl = (value: string): Parsed<string> =>
  /^smtps?:\/\/[^/]/.test(value) && URL.canParse(value) ? parsed(value) : problem(optionProblem('submission_url'))
const secret = (value: string): Parsed<string> =>
  value.length < 16 ? problem(optionProblem('short_secret', { min: 16 })) : parsed(value)
const nodeId = (value: string): Parsed<string> =>
  NODE_ID.test(value) ? parsed(value) : problem(valueProblem('node_id', { text: value }))
const line = (value: string): Parsed<string> =>
  value.length <= 100 && value === printable(value) ? parsed(value) : problem(valueProblem('line', { max: 100 }))
const ttl = (value: string): Parsed<number> => {
  const ms = parseDuration(value)
  return !ms.ok || (ms.value >= 1_000 && ms.value <= 3_600_000)
    ? ms
    : problem(valueProblem('outside', { text: value, min: '1s', max: '1h' }))
}

const lmtpPlace = (value: string): Parsed<string> => {
  if (value.includes('/')) return parsed(value)
  const [, host = '', port = ''] = /^(\[[0-9a-fA-F:.]+\]|[^:\s]+):(\d{1,5})$/.exec(value) ?? []
  return host !== '' && Number(port) <= 65_535 ? parsed(value) : problem(optionProblem('lmtp'))
}
const unixPlace = (value: string): Parsed<string> => {
  const [, path = ''] = /^unix:(.+)$/.exec(value) ?? []
  return path !== '' && Buffer.byteLength(path) <= MAX_SOCKET_PATH ? parsed(path) : problem(optionProblem('listen'))
}
const trustedProxy = (value: string): Parsed<Cidr | 'unix'> => (value === 'unix' ? parsed('unix') : parseCidr(value))
const messagesPlace = (value: string): Parsed<string> => {
  const place = lmtpPlace(value.replace(/^lmtp:/, ''))
  return place.ok ? parsed(value) : place
}
const mailbox = (value: string): Parsed<string> => {
  const address = parsePastedEmail(value)
  return address.ok ? parsed(formatEmail(address.value)) : address
}
/** The value is not repeated, because it may contain a password, which does not belong there. */
const imapUrl = (value: string): Parsed<string> => {
  if (!/^imaps?:\/\/[^/]+/.test(value) || !URL.canParse(value)) return problem(optionProblem('imap_url'))
  const { username, password } = new URL(value)
  return username !== '' && password === '' ? parsed(value) : problem(optionProblem('imap_url'))
}

const DAY_MS = 86_400_000
const keepTime = (value: string): Parsed<number> => {
  const ms = parseDuration(value)
  return !ms.ok || (ms.value >= DAY_MS && ms.value <= 4_000 * DAY_MS)
    ? ms
    : problem(valueProblem('outside', { text: value, min: '1d', max: '4000d' }))
}

const UNITS: Readonly<Record<string, number>> = { '': 1, KiB: 1_024, MiB: 1_048_576, GiB: 1_073_741_824 }
/** A number of octets, with or without a unit: `26214400`, `25MiB`. */
const size =
  (min: number, max: number) =>
  (value: string): Parsed<number> => {
    const [, digits = '', unit = ''] = /^(\d{1,13})(KiB|MiB|GiB)?$/.exec(value) ?? []
    const octets = digits === '' ? Number.NaN : Number(digits) * UNITS[unit]!
    return octets >= min && octets <= max ? parsed(octets) : problem(valueProblem('whole', { text: value, min, max }))
  }

/** Maximum number of sources in the pool. */
const MAX_POOL = 1_024

/**
 * The sources of `--pool`: each item is an address, a SOCKS5 proxy or a node, or `@file` with one per line (`#` starts
 * a comment); at most 1,024. Files are read again at every call. A problem never repeats a login.
 */
export function readPool(items: readonly string[]): Parsed<readonly PoolEntry[]> {
  const entries: PoolEntry[] = []
  for (const item of items) {
    const lines = item.startsWith('@') ? linesOf(item.slice(1)) : parsed([item])
    if (!lines.ok) return lines
    for (const line of lines.value) {
      const entry = parsePoolEntry(line)
      if (!entry.ok) return entry
      entries.push(entry.value)
    }
  }
  const distinct = distinctEntries(entries)
  return distinct.length <= MAX_POOL
    ? parsed(distinct)
    : problem(sourceProblem('too_many', { count: distinct.length, max: MAX_POOL }))
}

function linesOf(path: string): Parsed<readonly string[]> {
  try {
    const lines = readFileSync(path, 'utf8').split('\n')
    return parsed(lines.map((line) => line.replace(/#.*/, '').trim()).filter((line) => line !== ''))
  } catch (error) {
    return problem(sourceProblem('file', { path, reason: messageOf(error) }))
  }
}

/** An item of `--pool`, checked at startup and stored as written. */
function poolItem(value: string): Parsed<string> {
  const pool = readPool([value])
  return pool.ok ? parsed(value) : pool
}

/**
 * Every option: a flag, `MAILSONDE_…` in the environment and a key of the configuration file, all with the same name.
 * docs/config.md is generated from it.
 */
export const OPTIONS = {
  port: one('port', 'PORT', 8080, 'port to listen on', whole(0, 65_535)),
  host: one('host', 'ADDRESS', '127.0.0.1', 'address to listen on; one that is not loopback needs API keys', text),
  listen: one('listen', 'unix:PATH', undefined, 'Unix socket to listen on too', unixPlace),
  trustedProxies: many(
    'trust-proxy',
    'CIDR|unix',
    'proxies whose X-Forwarded-For and X-Forwarded-Proto are believed; unix: whoever can open the socket of --listen',
    trustedProxy,
  ),
  hostNames: many(
    'host-name',
    'NAME',
    'host names that requests may use while no API key is in force, besides loopback',
    (value) => (value === '' ? problem(valueProblem('empty')) : parsed(value.toLowerCase())),
  ),
  corsOrigins: many('cors-origin', 'ORIGIN', 'web origins allowed to read answers (CORS)', url),
  resolvers: many('resolver', 'HOST[:PORT]', 'recursive resolvers to use; default those of /etc/resolv.conf', text),
  trustAd: flag('trust-ad', 'trust the AD bit of all resolvers (without it: only of resolvers on loopback)'),
  allowNetworks: many(
    'allow-network',
    'CIDR',
    'private networks that SMTP, HTTPS and direct DNS may connect to',
    parseCidr,
  ),
  smtpPort: one('smtp-port', 'PORT', 25, 'port of mail servers, for labs', whole(1, 65_535)),
  noCourtesy: flag(
    'no-courtesy',
    'disable the limits toward mail hosts, providers and blacklists; for labs and your own servers',
  ),
  helo: one(
    'helo',
    'NAME',
    undefined,
    'name for EHLO; default the PTR of the source address, else an address literal',
    parseDomain,
  ),
  mailFrom: one('mail-from', 'ADDRESS', undefined, 'reverse-path, or <>; default verify-<changing>@<HELO name>', text),
  pool: many(
    'pool',
    'SOURCE|@FILE',
    "sources: addresses, socks5://user:password@host:port, peer:<id>; default this machine's public addresses",
    poolItem,
  ),
  addressEcho: many(
    'address-echo',
    'HOST',
    "mail hosts whose EHLO reply shows the client's address, used to find the outgoing address of a proxy; default two large providers",
    parseDomain,
  ),
  deny: many('deny-domain', 'DOMAIN', 'domains whose addresses are never verified, subdomains included', parseDomain),
  poolAttempts: one('pool-attempts', 'N', 3, 'source addresses that one verification may try', whole(1, 10)),
  apiKeys: many('api-key', 'KEY', 'API key with all scopes', text, true),
  apiKeysFile: one(
    'api-keys-file',
    'FILE',
    undefined,
    'file of hashed keys; default keys.json in the data folder',
    text,
  ),
  insecureNoAuth: flag('insecure-no-auth', 'serve requests without a key on non-loopback addresses too'),
  rate: one('rate', 'N', 60, 'requests a minute for each key, or for each address without one', whole(1, 10_000_000)),
  maxConcurrency: one('max-concurrency', 'N', 512, 'concurrent requests; further ones get 503', whole(1, 100_000)),
  maxConnections: one('max-connections', 'N', 10_000, 'open connections; further ones are closed', whole(1, 1_000_000)),
  dnsblLists: one(
    'dnsbl-lists',
    'FILE',
    undefined,
    'file of blacklists (JSON) that replaces the 29 built-in ones',
    text,
  ),
  dqsKey: one('dqs-key', 'KEY', undefined, 'Spamhaus DQS key', text, true),
  spamratsKey: one('spamrats-key', 'KEY', undefined, 'SpamRATS key', text, true),
  accept: {
    ...one(
      'accept',
      'FILE',
      undefined,
      'accepted findings of check, report and mcp: a file, or in the configuration file the list itself; not for serve, which stores its own',
      text,
    ),
    json: true as const,
  },
  profiles: many(
    'own-profile',
    'FILE.json',
    'own profiles that checks, monitors, their filters and badges know by name',
    text,
  ),
  geoDbs: many('geo-db', 'FILE.mmdb', 'MMDB files to use before the bundled country data', text),
  join: many('join', 'URL', 'nodes to register with and send heartbeats to', url),
  peerSecret: one(
    'peer-secret',
    'TEXT',
    undefined,
    'shared secret by which nodes authenticate each other',
    secret,
    true,
  ),
  nodeUrl: one('node-url', 'URL', undefined, 'URL at which other nodes reach this one', url),
  nodeId: one('node-id', 'ID', undefined, 'id of this node; default one that is generated and stored', nodeId),
  region: one('region', 'TEXT', '', 'location of this node, as shown to users', line),
  peerTtl: {
    ...one(
      'peer-ttl',
      'DURATION',
      LEASE_MS,
      'time without a heartbeat after which a node is suspect; dead after three times as long',
      ttl,
    ),
    format: formatDuration,
  },
  databaseUrl: one(
    'database-url',
    'URL',
    undefined,
    'PostgreSQL server for bulk jobs; nodes that use the same one also share their node list, limits and memory; default a private one in the data folder, started when first needed',
    databaseUrl,
    true,
  ),
  dbUser: one(
    'db-user',
    'USER',
    'nobody',
    'existing user that runs the private database server when started as root',
    text,
  ),
  postgresBin: one(
    'postgres-bin',
    'DIR',
    undefined,
    'folder of initdb and postgres for the private database; default those of the package, else the newest of the system from version 15 on',
    text,
  ),
  smtpUrl: one(
    'smtp-url',
    'URL',
    undefined,
    'submission server for mail from monitors: smtps://user:password@host or smtp://host',
    submissionUrl,
    true,
  ),
  notifyFrom: one('notify-from', 'ADDRESS', undefined, 'sender address of mail from monitors', text),
  mailRecipients: many(
    'mail-recipients',
    'DOMAIN',
    'domains, with their subdomains, whose addresses get mail from monitors without having consented',
    parseDomain,
  ),
  mailRate: one(
    'mail-rate',
    'N',
    20,
    'test messages and questions for consent that each key may cause by mail in 24 hours',
    whole(0, 1_000_000),
  ),
  publicUrl: one('public-url', 'URL', undefined, 'URL of this service for users, as in links in mail', url),
  maxUpload: one(
    'max-upload',
    'BYTES',
    2_147_483_648,
    'maximum size of an uploaded list in bytes, both compressed and decompressed',
    whole(1_024, 1_099_511_627_776),
  ),
  maxReport: one(
    'max-report',
    'SIZE',
    26_214_400,
    'maximum size of a report as it comes in, such as 25MiB; what it unpacks to is at most 256MiB',
    size(1_024, 1_073_741_824),
  ),
  reportsKeep: one('reports-keep', 'DURATION', 400 * DAY_MS, 'how long reports are kept', keepTime),
  reportsDomains: many(
    'reports-domains',
    'DOMAIN',
    'domains whose reports are taken from mail (LMTP, IMAP, a pipe): example.org, *.example.net; those of monitors and keys are taken too',
    parseDomainPattern,
  ),
  reportsTrust: many(
    'reports-trust',
    'HOST',
    'hosts whose Authentication-Results are believed for the messages that bring reports',
    parseDomain,
  ),
  reportsRua: one(
    'reports-rua',
    'ADDRESS',
    undefined,
    'mail address whose reports come in here; pages tell domain owners to publish it; default the user of --reports-imap, if that is an address',
    mailbox,
  ),
  maxMessage: one(
    'max-message',
    'SIZE',
    10_485_760,
    'maximum size of a message to analyse, such as 10MiB',
    size(1_024, 104_857_600),
  ),
  messagesListen: one(
    'messages-listen',
    'ADDRESS:PORT|PATH',
    undefined,
    'receive messages to analyse over SMTP, such as 0.0.0.0:25; over LMTP at lmtp:127.0.0.1:2525 or at the path of a socket',
    messagesPlace,
  ),
  messagesDomain: one(
    'messages-domain',
    'DOMAIN',
    undefined,
    'domain of the one-time addresses; its MX leads to --messages-listen',
    parseDomain,
  ),
  messagesCert: one(
    'messages-cert',
    'FILE',
    undefined,
    'certificate (PEM, with its chain) with which STARTTLS is offered; read again every hour',
    text,
  ),
  messagesKey: one('messages-key', 'FILE', undefined, 'private key of --messages-cert (PEM)', text),
  reportsLmtp: one(
    'reports-lmtp',
    'ADDRESS:PORT|PATH',
    undefined,
    'listen for reports by LMTP, such as 127.0.0.1:2424 or the path of a socket',
    lmtpPlace,
  ),
  reportsImap: one(
    'reports-imap',
    'URL',
    undefined,
    'mailbox with reports: imaps://user@host/INBOX; the password is in MAILSONDE_REPORTS_IMAP_PASSWORD or --reports-imap-password-file',
    imapUrl,
  ),
  reportsImapPassword: one(
    'reports-imap-password',
    'TEXT',
    undefined,
    'password of --reports-imap; set it in the environment',
    text,
    true,
  ),
  reportsImapPasswordFile: one(
    'reports-imap-password-file',
    'FILE',
    undefined,
    'file with the password of --reports-imap',
    text,
  ),
  maxRows: one('max-rows', 'N', 2_000_000, 'maximum number of records of a job', whole(1, 2_000_000_000)),
  maxOpenRows: one(
    'max-open-rows',
    'N',
    10_000_000,
    'maximum number of records of the open jobs of a key',
    whole(1, 1_000_000_000_000),
  ),
  maxKeyStorage: one(
    'max-key-storage',
    'BYTES',
    21_474_836_480,
    'maximum size of all that a key stores in the database (jobs, stored answers, monitors with their history and messages, reports), in bytes',
    whole(1_048_576, 1_125_899_906_842_624),
  ),
  maxStorage: one(
    'max-storage',
    'BYTES',
    107_374_182_400,
    'size of the database above which no new list, answer, monitor or report is stored, in bytes',
    whole(1_048_576, 1_125_899_906_842_624),
  ),
  minFreeDisk: one(
    'min-free-disk',
    'BYTES',
    1_073_741_824,
    'free space on the disk of a private database below which no new list, answer, monitor or report is stored, in bytes',
    whole(0, 1_125_899_906_842_624),
  ),
  dataDir: one('data-dir', 'DIR', './data', 'folder for stored data', text),
  logLevel: one(
    'log-level',
    'LEVEL',
    'info' as const,
    'debug, info, warn, error or silent',
    choice('debug', 'info', 'warn', 'error', 'silent'),
  ),
  logFormat: one(
    'log-format',
    'FORMAT',
    undefined,
    'pretty or json; default pretty on a terminal',
    choice('pretty', 'json'),
  ),
  logAddresses: flag('log-addresses', 'log mail addresses in full instead of masked'),
} as const

export type OptionKey = keyof typeof OPTIONS
export type OptionValues = { readonly [K in OptionKey]: (typeof OPTIONS)[K]['fallback'] }
