import type { Mailbox } from '../world.ts'

/** A behaviour of Postfix: one address, one domain that has it as its mail host. */
export type Listener = {
  readonly domain: string
  readonly address: string
  readonly address6?: string
  readonly shows: string
  readonly mailboxes: readonly Mailbox[]
  /** Settings of this listener over the common ones (postconf(5)). `$maps` is the folder of the maps in maps.ts. */
  readonly settings?: Readonly<Record<string, string>>
  readonly service?: 'smtpd' | 'postscreen'
  /** The certificate of its STARTTLS; none is offered without it. */
  readonly certificate?: 'good' | 'expired' | 'expiring' | 'self_signed' | 'wrong_name' | 'short_key'
  readonly signed?: true
  /** TLSA at the mail host: of its own certificate, or of another (RFC 7672). */
  readonly tlsa?: 'matching' | 'other'
}

const EXISTS: Mailbox = { local: 'user', code: 250, result: 'accepted', reason: 'mailbox_exists' }
const UNKNOWN: Mailbox = { local: 'nobody', code: 550, result: 'rejected', reason: 'mailbox_not_found' }
const says = (code: number, result: string, reason: string, local = 'user'): Mailbox => ({
  local,
  code,
  result,
  reason,
})
const AT_BANNER = { smtpd_delay_reject: 'no' }
const tls = (certificate: NonNullable<Listener['certificate']>) => ({ certificate })

/** The listeners of the one Postfix instance. Mailboxes: `user` and `postmaster` exist where nothing else is said. */
export const listeners: readonly Listener[] = [
  { domain: 'accept.test', address: '45.53.5.1', shows: 'knows its users', mailboxes: [EXISTS, UNKNOWN], signed: true },
  {
    domain: 'catchall.test',
    address: '45.53.5.2',
    address6: '2a02:53:5::2',
    shows: 'takes any mailbox',
    mailboxes: [says(250, 'catch_all', 'accept_all'), says(250, 'catch_all', 'accept_all', 'nobody')],
  },
  {
    domain: 'relay.test',
    address: '45.53.5.3',
    address6: '2a02:53:5::3',
    shows: 'does not serve the domain',
    mailboxes: [says(554, 'rejected', 'relay_denied')],
  },
  {
    domain: 'full.test',
    address: '45.53.5.4',
    address6: '2a02:53:5::4',
    shows: 'user is over quota, 452',
    mailboxes: [says(452, 'deferred', 'mailbox_full'), UNKNOWN],
  },
  {
    domain: 'overquota.test',
    address: '45.53.5.5',
    shows: 'user is over quota, 552',
    mailboxes: [says(552, 'rejected', 'mailbox_full'), UNKNOWN],
  },
  {
    domain: 'grey.test',
    address: '45.53.5.6',
    shows: 'greylists for 3 s (postgrey)',
    mailboxes: [says(450, 'deferred', 'greylisted'), UNKNOWN],
    settings: { smtpd_recipient_restrictions: 'reject_unlisted_recipient, check_policy_service inet:127.0.0.1:10023' },
  },
  {
    domain: 'banner.test',
    address: '45.53.5.7',
    address6: '2a02:53:5::7',
    shows: 'refuses 45.53.1.1 and 2a02:53:1::1 in its banner',
    mailboxes: [EXISTS, UNKNOWN],
    settings: { ...AT_BANNER, smtpd_client_restrictions: 'check_client_access cidr:$maps/refused-sources' },
  },
  {
    domain: 'rcpt.test',
    address: '45.53.5.8',
    address6: '2a02:53:5::8',
    shows: 'refuses 45.53.1.1 and 2a02:53:1::1 at RCPT',
    mailboxes: [EXISTS, UNKNOWN],
    settings: { smtpd_client_restrictions: 'check_client_access cidr:$maps/refused-sources' },
  },
  {
    domain: 'slow.test',
    address: '45.53.5.9',
    shows: 'banner after 4 s',
    mailboxes: [EXISTS, UNKNOWN],
    settings: { ...AT_BANNER, smtpd_client_restrictions: 'sleep 4' },
  },
  {
    domain: 'rate.test',
    address: '45.53.5.11',
    shows: 'three connections a minute, then 421',
    mailboxes: [EXISTS, UNKNOWN],
    settings: { smtpd_client_connection_rate_limit: '3', smtpd_client_event_limit_exceptions: '' },
  },
  {
    domain: 'pregreet.test',
    address: '45.53.5.12',
    shows: 'postscreen: who speaks before the banner is refused',
    mailboxes: [EXISTS, UNKNOWN],
    service: 'postscreen',
  },
  {
    domain: 'tls.test',
    address: '45.53.5.13',
    shows: 'STARTTLS with a good certificate',
    mailboxes: [EXISTS, UNKNOWN],
    ...tls('good'),
  },
  {
    domain: 'tlsexpired.test',
    address: '45.53.5.14',
    shows: 'STARTTLS, certificate of 2020',
    mailboxes: [EXISTS, UNKNOWN],
    ...tls('expired'),
  },
  {
    domain: 'tlsself.test',
    address: '45.53.5.15',
    shows: 'STARTTLS, signed by itself',
    mailboxes: [EXISTS, UNKNOWN],
    ...tls('self_signed'),
  },
  {
    domain: 'tlsrequired.test',
    address: '45.53.5.16',
    shows: 'no MAIL without STARTTLS',
    mailboxes: [EXISTS, UNKNOWN],
    ...tls('good'),
    settings: { smtpd_tls_security_level: 'encrypt' },
  },
  {
    domain: 'utf8.test',
    address: '45.53.5.17',
    shows: 'SMTPUTF8 (RFC 6531)',
    mailboxes: [EXISTS, UNKNOWN, says(250, 'accepted', 'mailbox_exists', 'jürgen')],
    settings: { smtputf8_enable: 'yes' },
  },
  {
    domain: 'disabled.test',
    address: '45.53.5.18',
    shows: 'user is switched off, 550 5.2.1',
    mailboxes: [says(550, 'rejected', 'mailbox_disabled'), UNKNOWN],
  },
  {
    domain: 'throttled.test',
    address: '45.53.5.19',
    shows: 'user gets mail too fast, 450 4.2.1',
    mailboxes: [says(450, 'deferred', 'recipient_throttled')],
  },
  {
    domain: 'ptrneeded.test',
    address: '45.53.5.20',
    shows: 'wants a PTR record of the client (45.53.1.3 has none)',
    mailboxes: [EXISTS, UNKNOWN],
    settings: {
      smtpd_peername_lookup: 'yes',
      smtpd_client_restrictions: 'reject_unknown_reverse_client_hostname',
      unknown_client_reject_code: '550',
    },
  },
  {
    domain: 'heloneeded.test',
    address: '45.53.5.21',
    shows: 'wants a HELO name that resolves',
    mailboxes: [EXISTS, UNKNOWN],
    settings: {
      smtpd_helo_required: 'yes',
      smtpd_helo_restrictions: 'reject_invalid_helo_hostname, reject_unknown_helo_hostname',
      unknown_hostname_reject_code: '550',
    },
  },
  {
    domain: 'sender.test',
    address: '45.53.5.22',
    address6: '2a02:53:5::22',
    shows: 'refuses every sender',
    mailboxes: [says(550, 'blocked', 'sender_refused')],
    settings: { smtpd_sender_restrictions: 'check_sender_access regexp:$maps/senders' },
  },
  {
    domain: 'dual.test',
    address: '45.53.5.23',
    address6: '2a02:53:5::17',
    shows: 'IPv4 and IPv6',
    mailboxes: [EXISTS, UNKNOWN],
    signed: true,
  },
  {
    domain: 'tempfail.test',
    address: '45.53.5.25',
    address6: '2a02:53:5::25',
    shows: '451 for user',
    mailboxes: [says(451, 'deferred', 'temporary_failure')],
  },
  {
    domain: 'blocked.test',
    address: '45.53.5.26',
    address6: '2a02:53:5::26',
    shows: 'refuses every client at RCPT, naming a blacklist',
    mailboxes: [says(554, 'blocked', 'source_blocked')],
    settings: { smtpd_client_restrictions: 'check_client_access cidr:$maps/blocked' },
  },
  {
    domain: 'overloaded.test',
    address: '45.53.5.35',
    address6: '2a02:53:5::35',
    shows: '421 in its banner, in the words of an access table',
    mailboxes: [says(421, 'deferred', 'temporary_failure')],
    settings: { ...AT_BANNER, smtpd_client_restrictions: 'check_client_access cidr:$maps/overloaded' },
  },
  {
    domain: 'danegood.test',
    address: '45.53.5.27',
    shows: 'TLSA of its own key',
    mailboxes: [EXISTS, UNKNOWN],
    signed: true,
    tlsa: 'matching',
    ...tls('good'),
  },
  {
    domain: 'danesecond.test',
    address: '45.53.5.48',
    shows: 'TLSA of its own key: the second mail host of healthy.test',
    mailboxes: [EXISTS, UNKNOWN],
    signed: true,
    tlsa: 'matching',
    ...tls('good'),
  },
  {
    domain: 'danebad.test',
    address: '45.53.5.28',
    shows: 'TLSA of another key',
    mailboxes: [EXISTS, UNKNOWN],
    signed: true,
    tlsa: 'other',
    ...tls('good'),
  },
  {
    domain: 'implicit.test',
    address: '45.53.5.29',
    shows: 'no MX, mail goes to its address (RFC 5321 §5.1)',
    mailboxes: [EXISTS, UNKNOWN],
  },
  {
    domain: 'deadfirst.test',
    address: '45.53.5.30',
    shows: 'first MX never answers, the second does',
    mailboxes: [EXISTS, UNKNOWN],
  },
  {
    domain: 'refusedfirst.test',
    address: '45.53.5.31',
    shows: 'first MX refuses connections, the second does not',
    mailboxes: [EXISTS, UNKNOWN],
  },
  {
    domain: 'busyfirst.test',
    address: '45.53.5.32',
    shows: 'first MX says 421, the second takes',
    mailboxes: [EXISTS, UNKNOWN],
  },
  {
    domain: 'six.test',
    address: '45.53.5.33',
    address6: '2a02:53:5::33',
    shows: 'IPv6 alone',
    mailboxes: [EXISTS, UNKNOWN],
  },
  {
    domain: 'tlswrong.test',
    address: '45.53.5.34',
    shows: 'STARTTLS, certificate of another host',
    mailboxes: [EXISTS, UNKNOWN],
    ...tls('wrong_name'),
  },
  {
    domain: 'tlsold.test',
    address: '45.53.5.80',
    shows: 'STARTTLS that also accepts TLS 1.0 and 1.1',
    mailboxes: [EXISTS, UNKNOWN],
    ...tls('good'),
    settings: { smtpd_tls_protocols: '>=TLSv1', tls_medium_cipherlist: 'DEFAULT:@SECLEVEL=0' },
  },
  {
    domain: 'tlsshort.test',
    address: '45.53.5.36',
    shows: 'STARTTLS, certificate with an RSA key of 1024 bits',
    mailboxes: [EXISTS, UNKNOWN],
    ...tls('short_key'),
    settings: { tls_medium_cipherlist: 'DEFAULT:@SECLEVEL=0' },
  },
  {
    domain: 'greeting.test',
    address: '45.53.5.37',
    shows: 'STARTTLS, greets as "localhost"',
    mailboxes: [EXISTS, UNKNOWN],
    ...tls('good'),
    settings: { myhostname: 'localhost', smtpd_banner: 'localhost ESMTP' },
  },
  {
    domain: 'greetingptr.test',
    address: '45.53.5.38',
    shows: 'STARTTLS, greets by another name than the PTR record has',
    mailboxes: [EXISTS, UNKNOWN],
    ...tls('good'),
    settings: { myhostname: 'mail.greetingptr.test' },
  },
  {
    domain: 'tlssoon.test',
    address: '45.53.5.39',
    shows: 'STARTTLS, certificate that ends in five days',
    mailboxes: [EXISTS, UNKNOWN],
    ...tls('expiring'),
  },
  {
    domain: 'inbox.test',
    address: '45.53.5.40',
    shows: 'keeps the mail that it takes',
    mailboxes: [EXISTS, UNKNOWN],
    ...tls('good'),
  },
]
