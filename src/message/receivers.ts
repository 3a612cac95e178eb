import { hasKnownSuffix } from '../names/suffix.ts'

/** An operator of mail hosts that have names of several domains. */
type Operator = {
  readonly name: string
  /** Domains whose names are its hosts, in lower case. */
  readonly hosts: readonly string[]
  /**
   * Those of its hosts that take mail from the outside, and no mail of its own users: what they write names the
   * connection, also without Authentication-Results. Absent where hosts of one name do both, or are not known.
   */
  readonly takes?: RegExp
  /** Where such lines were seen. */
  readonly source: string
  readonly seen: Month
}
type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
type Month = `20${Digit}${Digit}-${0 | 1}${Digit}`

const ARCHIVES = 'headers in public archives of mailing lists'
const SEEN = '2026-11'

const SES_REGIONS = [
  ...['us-east-1', 'us-east-2', 'us-west-2', 'ca-central-1', 'eu-central-1', 'eu-west-1', 'eu-west-2'],
  ...['ap-northeast-1', 'ap-southeast-1', 'ap-southeast-2'],
]

const OPERATORS: readonly Operator[] = [
  {
    name: 'Microsoft 365',
    hosts: ['outlook.com', 'office365.com', 'office365.us', 'exchangelabs.com', 'outlook.cn', 'mx.microsoft.com'],
    takes: /\.mail\.protection\.(?:outlook\.com|office365\.us|partner\.outlook\.cn)$/,
    source: `learn.microsoft.com/defender-office-365/message-headers-eop-mdo; ${ARCHIVES}`,
    seen: SEEN,
  },
  {
    name: 'Google',
    hosts: ['google.com', 'googlemail.com', 'gmail.com'],
    takes: /^mx\.google\.com$/,
    source: `support.google.com/mail/answer/29436; ${ARCHIVES}`,
    seen: SEEN,
  },
  {
    name: 'Yahoo',
    hosts: ['yahoo.com', 'yahoo.net', 'aol.com', 'yahoodns.net'],
    source: ARCHIVES,
    seen: SEEN,
  },
  {
    name: 'iCloud Mail',
    hosts: ['icloud.com', 'me.com', 'mac.com', 'apple.com'],
    takes: /^p\d+-icloudmta-smtpin-/,
    source: `tests of mail programs with headers of iCloud; ${ARCHIVES}`,
    seen: SEEN,
  },
  {
    name: 'GMX and web.de',
    hosts: ['gmx.net', 'gmx.com', 'gmx.de', 'gmx.at', 'gmx.ch', 'web.de', 'mail.com', '1und1.de', 'kundenserver.de'],
    takes: /^(?:mx-ha|mx|mxint)\d*\.(?:gmx\.net|gmx\.com|web\.de|mail\.com|kundenserver\.de)$/,
    source: `"(Nemesis)" in ${ARCHIVES}; mail.gmx.net and smtp.web.de take mail of users`,
    seen: SEEN,
  },
  {
    name: 'STRATO',
    hosts: ['strato.com', 'strato.de', 'rzone.de'],
    takes: /^smtpin\.rzone\.de$/,
    source: `${ARCHIVES}, and tests of mail programs: it writes results as strato.com; smtp.strato.de takes mail of users`,
    seen: SEEN,
  },
  {
    name: 'Zoho Mail',
    hosts: [
      ...['zoho.com', 'zoho.eu', 'zoho.in', 'zoho.jp', 'zoho.com.au', 'zoho.sa', 'zohocloud.ca'],
      ...['zohomail.com', 'zohomail.eu', 'zohomail.in', 'zohomail.jp', 'zohomail.com.au'],
    ],
    source: `${ARCHIVES}: mx.zohomail.com takes mail of users, too`,
    seen: SEEN,
  },
  {
    name: 'Fastmail',
    hosts: ['messagingengine.com', 'fastmail.com', 'pobox.com'],
    takes: /^(?:[a-z0-9]+-)?mx-?\d+\.messagingengine\.com$/,
    source: `${ARCHIVES}: mail.messagingengine.com takes mail of users`,
    seen: SEEN,
  },
  {
    name: 'Proton Mail',
    hosts: ['protonmail.ch', 'proton.ch', 'protonmail.com', 'proton.me'],
    takes: /^mailin\d+\.protonmail\.ch$/,
    source: `its MX hosts; ${ARCHIVES}: mail-41103.protonmail.ch sends`,
    seen: SEEN,
  },
  {
    name: 'Yandex',
    hosts: ['yandex.net', 'yandex.ru', 'yandex.com'],
    takes:
      /^(?:mail-nwsmtp-)?mxfront[a-z0-9-]*\.(?:mail\.yandex\.net|[a-z0-9.-]+\.yp?-c\.yandex\.net|[a-z0-9.-]+\.yc\.yandex\.net)$/,
    source: `test data of mail programs; ${ARCHIVES}`,
    seen: SEEN,
  },
  {
    name: 'Mail.ru',
    hosts: ['mail.ru'],
    takes: /^mx\d+\.i\.mail\.ru$/,
    source:
      'results of mxs.mail.ru, below From, that name mx289.i.mail.ru, in test data of mail programs; its smtp and fallback hosts send',
    seen: SEEN,
  },
  {
    name: 'Amazon SES',
    hosts: ['amazonses.com', ...SES_REGIONS.map((region) => `inbound-smtp.${region}.amazonaws.com`)],
    takes: /^inbound-smtp\./,
    source: 'docs.aws.amazon.com/general/latest/gr/ses.html (email receiving endpoints); events of SES in public code',
    seen: SEEN,
  },
  {
    name: 'Orange',
    hosts: ['orange.fr', 'wanadoo.fr'],
    takes: /^(?:mwinf5c\d{2}|opmta1mti[a-z0-9]{2,6})$/,
    source: `replies of its MX hosts name them; ${ARCHIVES}: mwinf5d… takes mail of users`,
    seen: SEEN,
  },
  {
    name: 'QQ Mail',
    hosts: ['qq.com'],
    takes: /^new(?:mx|xmmx)[a-z0-9-]*\.qq\.com$/,
    source: 'replies of its MX hosts name them; headers in public code: "(NewMx)", and results of mx.qq.com',
    seen: SEEN,
  },
  {
    name: 'mailbox.org',
    hosts: ['mailbox.org', 'heinlein-hosting.de'],
    source: `${ARCHIVES}, and tests of mail programs: mx1.mailbox.org takes mail of users, too`,
    seen: SEEN,
  },
  {
    name: 'Libero',
    hosts: ['libero.it', 'italiaonline.it', 'iol.local'],
    source: `${ARCHIVES}: smtp-16.iol.local takes mail of users, too, and sends it as smtp-16.italiaonline.it`,
    seen: SEEN,
  },
  {
    name: 'Cloudflare Email Routing',
    hosts: ['cloudflare-email.net', 'cloudflare-email.com', 'mx.cloudflare.net', 'email.cloudflare.net'],
    takes: /^cloudflare-email\.net$/,
    source:
      'developers.cloudflare.com/email-routing/postmaster; headers in public code: it writes results as mx.cloudflare.net',
    seen: SEEN,
  },
]

const BY_DOMAIN = new Map(OPERATORS.flatMap((one) => one.hosts.map((domain) => [domain, one] as const)))

/** The operator of a host in lower case; undefined for all others. */
export function operatorOf(host: string): Operator | undefined {
  if (!host.includes('.')) return OPERATORS.find(({ takes }) => takes?.test(host))
  for (let at = 0; at >= 0; at = host.indexOf('.', at) + 1 || -1) {
    const found = BY_DOMAIN.get(host.slice(at))
    if (found) return found
  }
  return undefined
}

/** Whether a host is an inner one, which no other organization names: without a dot, or below `internal`. */
export const isInnerHost = (host: string): boolean => !host.includes('.') || /\.(?:internal|localdomain)$/.test(host)

/** Whether a name is below a top level that only networks use for themselves, that of a receiver or of a sender. */
export const isPrivateName = (host: string): boolean =>
  /\.(?:local|lan|home|corp|intranet)$/.test(host) ||
  (/\.[a-z]{2,}$/.test(host) && !hasKnownSuffix(host) && !RESERVED.test(host))
/** Top levels of documentation (RFC 2606), which stand for public ones. */
const RESERVED = /\.(?:example|test|invalid)$/
