import { parseIp } from '../../names/ip.ts'
import type { Stage } from '../../net/smtp/reply.ts'
import type { Reason } from '../reasons.ts'
import { classify, enhancedOf } from './classify.ts'
import { anyOf, type Detail } from './row.ts'

/** What a refusal is about, for who sent the message. */
export type About =
  | 'mailbox'
  | 'recipient_domain'
  | 'sender_domain'
  | 'sender_address'
  | 'sending_host'
  | 'message'
  | 'policy'
  | 'unknown'

/** A reply explained to who sent the message. */
export type Explanation = {
  readonly reason: Reason
  readonly about: About
  /**
   * Whether the cause is final: sending the same again gets the same answer. Not where a host gave up for a temporary
   * cause.
   */
  readonly permanent: boolean
  /** SMTP reply code; absent if the text has none. */
  readonly code?: number
  /** Enhanced status code (RFC 3463); absent if the text has none. */
  readonly status?: string
  readonly meaning: string
  /** Absent where nothing is to be done. */
  readonly toDo?: string
}

/** The names of the message that was refused, as far as they are known. */
export type Refused = {
  readonly asked?: string | undefined
  readonly sender?: string | undefined
  /** Name or address of the host that sent it. */
  readonly host?: string | undefined
  readonly stage?: Stage
  /** Whether a text without a code is a temporary reply. */
  readonly temporary?: boolean
}

/**
 * What a reply means for who sent the message, by the reply table of verification. `text` is one reply of one or more
 * lines: with its codes (`550-5.7.1 …`), with an enhanced code alone, or words alone. The stage is `data` unless it is
 * given or the text speaks of RCPT. Pure, total, linear; reads at most 4 KiB.
 */
export function explainReply(text: string, refused: Refused = {}): Explanation {
  const lines = text
    .slice(0, MAX_TEXT)
    .split(/\r?\n/)
    .map((line) => line.replace(LINE_CODE, ''))
  const written = Number(CODE.exec(text.slice(0, MAX_TEXT))?.[1] ?? 0)
  const status = enhancedOf({ code: 0, lines })
  const isTemporary = written === 0 && (status === undefined ? refused.temporary === true : status.startsWith('4'))
  const code = written || (isTemporary ? 450 : 550)
  const { asked, sender, host } = refused
  const isAddress = host !== undefined && parseIp(host).ok
  const parties = { asked, sender, ...(isAddress ? { source: host } : { helo: host }) }
  const stage = refused.stage ?? (/\brcpt\b/i.test(text) ? 'rcpt' : 'data')
  const { reason, detail } = classify({ stage, reply: { code, lines }, parties })
  const byStatus = status === undefined ? undefined : DETAIL_OF_STATUS[status.slice(2)]
  const cause = detail ?? (reason === 'policy' || reason === 'unclear_refusal' ? byStatus : undefined) ?? reason
  const known = EXPLANATIONS[cause] ?? UNKNOWN
  const said = lines.join(' ')
  const isOpen = known[0] === 'unknown' || (written === 0 && OWN_CONNECTION.test(said))
  const own = isOpen ? rowIn(OWN_WORDS, said) : undefined
  const row = rowIn(WHATEVER_REASON, said) ?? rowIn(NARROWER[cause], said) ?? own ?? known
  const [about, meaning, toDo] = row
  // Who gives up after many attempts tells how long it tried, not that the next attempt would fail.
  const isUntold = written === 0 && (status === undefined || status === '5.0.0')
  const isTemporaryCause =
    row === UNREACHABLE || TLS_FAULTS.some(([, fault]) => fault === row && about === 'recipient_domain')
  const gaveUp = isUntold && (isTemporaryCause || RETRIED.test(said))
  return {
    reason,
    about,
    permanent: code >= 500 && !gaveUp,
    ...(written > 0 && { code: written }),
    ...(status !== undefined && { status }),
    meaning,
    ...(toDo !== undefined && { toDo }),
  }
}

/** Words of the sending host that stand where the reply of another one would. */
const OWN_CONNECTION =
  /^\s*(?:lost connection with|connect to \S+:|conversation with \S+ timed out|\S+ timed out while)|\bunable to connect successfully\b|\bname server: \S{1,255}: host name look-?up failure/i

const rowIn = (table: WordRows | undefined, text: string): Row | undefined =>
  table?.find(([words]) => words.test(text))?.[1]

const MAX_TEXT = 4_096
const CODE = /(?:^|[^\w./])([245]\d\d)(?:[ -]|$)/
const LINE_CODE = /^\s*(?:(?:smtp|x-\w{1,20}) ?; ?)?(?:[245]\d\d(?:[ -]|$))?/i

/** Status codes that say what a reply without known words refused (RFC 3463 §3.3, §3.4, §3.7). */
const DETAIL_OF_STATUS: Readonly<Record<string, Detail>> = {
  '2.3': 'message_size',
  '3.4': 'message_size',
  '6.0': 'message_content',
  '6.1': 'message_content',
  '6.2': 'message_content',
  '6.3': 'message_content',
  '6.5': 'message_content',
}

type Row = readonly [about: About, meaning: string, toDo?: string]
const UNKNOWN: Row = [
  'unknown',
  'The server refused the message without a reason that is known.',
  'Show the text of the reply to the postmaster of the recipient’s domain.',
]
const LATER: Row = [
  'unknown',
  'The server of the recipient could not accept the message at that time. This says nothing about the recipient.',
  'Wait: mail servers try again by themselves. If it stays so for days, tell the recipient another way.',
]
const UNREACHABLE: Row = [
  'recipient_domain',
  'The mail server of the recipient’s domain could not be reached, or did not take the message in time. This says nothing about the mailbox.',
  'Check the spelling of the domain, and whether its mail server answers. A delayed message is sent again by itself; send one that failed again later, or tell the recipient another way.',
]
const RETRIED = /\bretry time(?: ?out|\b.{0,10}\bnot reached)/i

/** Explanations by the words of a reply, the first that matches: narrower than what the reason alone can say. */
type WordRows = readonly (readonly [words: RegExp, row: Row])[]
/** Words that are clear whatever the reason is: most are of the sending host or of a list. */
const WHATEVER_REASON: WordRows = [
  [
    /\bgroup\b.{0,80}\bmay not exist\b/i,
    [
      'mailbox',
      'The group has another name or does not exist, or it takes no messages from your address; its server does not tell which.',
      'Check the name of the group; if it is right, ask its owner for permission to post.',
    ],
  ],
  [
    /\bmax defers and failures\b|\bexceeded the max e-?mails per hour\b/i,
    [
      'sending_host',
      'Your own host kept the message back: your domain has sent more, or failed more often, in this hour than the host allows. The recipient’s server was not asked.',
      'Look for scripts and accounts that send to addresses that do not exist, or let your hosting provider raise the limit; then send again in an hour.',
    ],
  ],
  [
    anyOf(
      /\bhas suppressed sending\b|\b(?:is|was|are) on (?:(?:the|your|our|its) )?(?:\w{1,12} )?suppression list/i,
      /\bnot delivering to (?:a )?(?:previously bounced|suppressed)/i,
    ),
    [
      'mailbox',
      'Your provider did not send the message: the address refused an earlier one, or complained, and is on the provider’s suppression list.',
      'Check the spelling of the address; if it is right and its mailbox exists, take it off the suppression list of your provider.',
    ],
  ],
]
/** What the sending host tells itself, where no reply of another server gives the reason. */
const OWN_WORDS: WordRows = [
  [
    anyOf(
      /\bno mx record|\bhost unknown\b|\bunknown host\b|\bhost (?:or domain )?name (?:was )?not found|nxdomain/i,
      /no relevant answers|\bhost ?name look-?up fail|\b(?:no data known|could not find a gateway)/i,
      /\bname service error\b.{0,120}\bnot found|\bdomain does not exist|\bhost \S{1,255} not found|dns query failed/i,
    ),
    [
      'recipient_domain',
      'The domain of the recipient’s address has no mail host that the sending host could find in the DNS.',
      'Check the spelling of the domain; if it is right, tell the recipient another way.',
    ],
  ],
  [
    anyOf(
      /\b(?:mail|forwarding|routing) loop\b|\bloops? back to\b|\btoo many hops|\bhop count\b|\bforwarded more than\b/i,
      /^\s*[45]\.4\.6\b/i,
    ),
    [
      'recipient_domain',
      'The message went round in a circle between servers until it was stopped: a forwarding or an MX record of the recipient’s domain leads back to itself.',
      'Tell the postmaster of the recipient’s domain; if you forward the address yourself, end that forwarding.',
    ],
  ],
  [
    anyOf(
      /\bconnect(?:ion|ed|ing)?\b.{0,120}\b(?:refused|timed out|time-?out|reset|dropped)/i,
      /\b(?:operation|session) timed out|\bno route to host|\bnetwork (?:is )?unreachable|\bhost is down/i,
      /\b(?:did not accept our requests|unable|failed|able) to (?:connect|establish an smtp connection)/i,
      /\blost connection|\bretry (?:time ?out|time not reached)|\ball hosts\b.{0,60}\bfailing/i,
      /\b(?:message|queue|envelope|delivery|delivery time)[ .](?:is )?expired|\bin (?:the )?queue too long/i,
      /\bcould not be delivered for\b|\b(?:multiple|several|\d{1,3}) (?:retries|attempts)\b|\bfor \d{1,3} days\b/i,
      /\bnetwork error\b|\bunable to connect successfully\b|\bcould not deliver for\b|\bhost not reachable\b/i,
      /^\s*[45]\.4\.[127]\b/i,
    ),
    UNREACHABLE,
  ],
]

/** Faults of TLS: the receiver calls the sending side `your`; all others are of the receiver's own TLS. */
const TLS_FAULTS: WordRows = [
  [
    /\byour (?:\w{1,12} ){0,2}(?:server|host|client|certificate|mta)\b.{0,60}\b(?:tls|ssl|certificate|encrypt\w{0,4}|trusted|expired|verified)\b/i,
    [
      'sending_host',
      'The receiver found no TLS at the sending host, or does not accept its certificate.',
      'Switch on STARTTLS for outgoing mail on the sending host, and renew its certificate if the reply names one.',
    ],
  ],
  [
    /\b[45]\.7\.324\b|\bdnssec\b(?:-invalid|.{0,40}\b(?:invalid|fail|bogus|error))|\b(?:invalid|bogus) dnssec\b/i,
    [
      'recipient_domain',
      'The DNS of the recipient’s domain failed its DNSSEC validation, so the sending side delivers nothing there.',
      'Tell the postmaster of the recipient’s domain: its DNSSEC records (DS, DNSKEY or RRSIG) are wrong.',
    ],
  ],
  [
    anyOf(
      /\b[45]\.7\.323\b|\btlsa\b|\bdane\b.{0,40}\b(?:fail|valid|invalid|required|verif)/i,
      /\b(?:fail|invalid|requires) dane\b|\bmta-?sts\b/i,
    ),
    [
      'recipient_domain',
      'The mail server of the recipient’s domain could not be reached with the encryption that the domain asks for (MTA-STS or DANE).',
      'Tell the postmaster of the recipient’s domain: its policy, its TLSA records or the certificate of its server are wrong.',
    ],
  ],
  [
    anyOf(
      /\b[45]\.7\.32[25]\b/i,
      /(?<!\b(?:client|your) )\bcertificate(?: chain)?(?:-| (?:has |is |was |has been )?)(?:expired|mismatch|invalid|untrusted|revoked|self-signed|verif\w{1,7} failed|verify failed|not (?:trusted|verified|valid|yet valid)|does not match)/i,
      /\b(?:subjectmismatch|untrustedroot|certificateexpired)\b/i,
    ),
    [
      'recipient_domain',
      'The sending side does not trust the TLS certificate of the recipient’s mail server: it has expired, names another host, or its issuer is not known.',
      'Tell the postmaster of the recipient’s domain: the certificate of its mail server must be renewed or must name the host of the MX record.',
    ],
  ],
  [
    anyOf(
      /\b[45]\.7\.321\b|\bstarttls-not-supported\b/i,
      /\b(?:destination|remote|recipient)\b.{0,40}\b(?:must|does not|did not|doesn't) (?:support|offer) (?:start)?tls\b/i,
      /\b(?:start)?tls\b.{0,40}\b(?:not (?:been )?offered by|(?:did not|does not|didn't|doesn't) (?:offer|support|advertise)|refused to start tls)/i,
      /\b(?:start)?tls (?:is )?(?:currently |temporarily )?(?:not (?:available|supported|offered)|unavailable)/i,
      /\btls is required,? but unavailable|\bcannot start tls\b/i,
      /\b(?:attempt to establish|failed to (?:start|establish)) tls\b|\btls handshake fail|^\s*tls session: /i,
      /\[message=\d{3} \S{5,9} starttls is required/i,
    ),
    [
      'recipient_domain',
      'The mail server of the recipient’s domain offers no TLS, or its TLS failed; the sending side uses TLS and requires it.',
      'Tell the postmaster of the recipient’s domain: its mail server must offer STARTTLS that works.',
    ],
  ],
]

/** Recipients with another address (RFC 5321 §3.4). */
const MOVED: WordRows = [
  [
    /(?:\bplease try|\b(?:moved|changed|not local|relocated|new (?:e-?mail )?address)\b(?!.{0,80}\b(?:contact|postmaster|relay|abuse|support|help ?desk)\b).{0,60}?\b(?:try|use|to|at|is|address)\b)[: ]{1,3}[<("']{0,2}[^\s<>()"'@]{1,64}@[\w-]{1,63}\./i,
    [
      'mailbox',
      'The recipient has another address now, which the reply names (RFC 5321 §3.4).',
      'Send the message to the new address in the reply, and correct it in your address book and lists.',
    ],
  ],
  [
    /\b5\.1\.6\b|\b(?:user|recipient|mailbox|account) (?:has |was |is )?moved\b/i,
    [
      'mailbox',
      'The recipient’s mailbox has moved, and the reply does not name the new address.',
      'Ask the recipient for the new address in another way.',
    ],
  ],
]

/** Faults of the message that have a name of their own, and malware of the host that is not in the message. */
const OF_MESSAGE: WordRows = [
  [
    anyOf(
      /\binfected (?:host|ip|computer|machine|system)\b/i,
      /\byour (?:ip|host|server|computer|network|system|machine)\b.{0,30}\binfected\b/i,
    ),
    [
      'sending_host',
      'The receiver has blocked the address of the sending host, because a virus or other malware sends from there.',
      'Examine the computers behind the address for malware, then look it up on the blacklists and ask for delisting.',
    ],
  ],
  [
    anyOf(
      /(?<!\banti-)(?<!\bspam (?:or|and) )\bvirus(?:es)?\b(?! (?:or|and) spam)|\bmalware\b|\binfected\b|\btrojan\b/i,
      /\bworm\.|\bclamav\b|\beicar\b|\.unofficial\b/i,
      /\b(?:win|doc|pdf|html|xls|js|unix|txt|email|heuristics|sanesecurity)\.(?:test|trojan|malware|phishing|dropper|downloader|exploit|macro|ransomware|packed|virus|worm|backdoor)\b/i,
    ),
    [
      'message',
      'The receiver’s scanner found a virus or other malware in the message or in an attachment.',
      'Examine the attachment and the computer that sent the message for malware before anything is sent again.',
    ],
  ],
  [
    /\bbare ?(?:lf|<lf>|cr|<cr>|line ?-?feeds?)(?!\w)|\b5\.6\.11\b/i,
    [
      'message',
      'The message has lines that end with a bare LF or CR instead of CRLF (RFC 5321 §2.3.8), which the server does not accept.',
      'Let the program that sent the message write CRLF at the end of each line; the content is not the cause.',
    ],
  ],
  [
    /\b5\.1\.20\b|\b(?:multiple|several|more than one) (?:from|addresses in (?:the )?from)\b/i,
    [
      'message',
      'The From field of the message has more than one address, or stands there twice.',
      'Send the message with one From field that has one address.',
    ],
  ],
  [
    anyOf(
      /\b(?:unsafe|malicious|dangerous|harmful|bad|blocked|suspicious|phishing) (?:links?|urls?)\b/i,
      /\b(?:links?|urls?) (?:is |are |was |were )?(?:unsafe|malicious|dangerous|harmful|blocked|blacklisted|suspicious)\b/i,
    ),
    [
      'message',
      'The receiver’s filter refused the message for a link in it.',
      'Remove the links or look their domains up on the domain blacklists, then send the message again.',
    ],
  ],
]

const BLOCKED_ACCOUNT: WordRows = [
  [
    /\b5\.7\.50[1-3]\b|\bbad outbound sender\b|\bspam abuse detected\b/i,
    [
      'sender_address',
      'The provider has blocked the sending account, because spam was sent from it.',
      'Find out what sent the spam, change the password of the account, then let its administrator or provider release it.',
    ],
  ],
]

/** What each reason is about, what it means, and what to do. */
const EXPLANATIONS: Readonly<Partial<Record<Reason | Detail, Row>>> = {
  mailbox_not_found: [
    'mailbox',
    'There is no such mailbox: the server of the recipient’s domain does not know the address.',
    'Check the spelling of the address, and remove it from lists if it is right.',
  ],
  mailbox_disabled: [
    'mailbox',
    'The mailbox is disabled, locked or abandoned.',
    'Remove the address from lists, and reach the recipient another way.',
  ],
  mailbox_full: [
    'mailbox',
    'The mailbox is full: the recipient’s storage quota is used up.',
    'Send the message again later, or tell the recipient another way.',
  ],
  recipient_throttled: [
    'mailbox',
    'The mailbox exists and receives too many messages at the moment.',
    'Send the message again later.',
  ],
  recipient_restricted: [
    'mailbox',
    'The mailbox, group or list exists and accepts no mail from outside, or only from certain senders.',
    'Ask its owner to permit your address.',
  ],
  domain_not_found: [
    'recipient_domain',
    'The domain of the recipient’s address does not exist, or has no mail host.',
    'Check the spelling of the domain.',
  ],
  no_mail_host: ['recipient_domain', 'The domain of the recipient’s address accepts no mail.', 'Check its spelling.'],
  null_mx: [
    'recipient_domain',
    'The domain of the recipient’s address declares that it accepts no mail (RFC 7505).',
    'Check its spelling.',
  ],
  relay_denied: [
    'recipient_domain',
    'The server does not accept mail for the recipient’s domain (relaying denied): the domain’s MX record may name the wrong host, or your mail program must log in first.',
    'If it is your own outgoing server, switch on its login (SMTP authentication); otherwise tell the postmaster of the recipient’s domain.',
  ],
  smtputf8_required: [
    'recipient_domain',
    'The server accepts no address with non-ASCII characters (SMTPUTF8, RFC 6531).',
    'Use an ASCII address of the recipient.',
  ],
  unauthenticated: [
    'sender_domain',
    'The message did not pass the authentication that the receiver requires of your domain: SPF, DKIM or DMARC.',
    'Publish SPF, DKIM and DMARC for the domain of the From address, and sign the mail of every host that sends for it.',
  ],
  login_required: [
    'sending_host',
    'The server takes this mail only from who logs in (SMTP authentication).',
    'Set the user name and the password of the account in the program or server that sent it.',
  ],
  sender_refused: [
    'sender_address',
    'The server refuses the sender address: it does not exist, cannot receive replies, or is blocked there.',
    'Send from an address that exists, at a domain with MX records.',
  ],
  source_blocked: [
    'sending_host',
    'The address of the sending host is on a blocklist or has a bad reputation at the receiver.',
    'Look the address up on the blacklists, remove the cause, then ask for delisting; at a provider, tell its support.',
  ],
  reverse_dns_required: [
    'sending_host',
    'The address of the sending host has no PTR record (reverse DNS), or one that does not match.',
    'Let the owner of the address set a PTR record to a name that resolves to it.',
  ],
  helo_refused: [
    'sending_host',
    'The server refuses the name by which the sending host introduces itself (HELO).',
    'Set the host’s HELO name to its full name, which must resolve to its address.',
  ],
  tls_required: [
    'sending_host',
    'The server accepts mail only over TLS.',
    'Switch on STARTTLS for outgoing mail on the sending host.',
  ],
  rate_limited: [
    'sending_host',
    'The sending host sends too much in too short a time for this receiver.',
    'Send more slowly; mail servers try again by themselves.',
  ],
  greylisted: [
    'policy',
    'The receiver greylists: it refuses the first attempt of an unknown sender and accepts a later one.',
    'Nothing: mail servers try again by themselves after some minutes.',
  ],
  too_many_recipients: [
    'message',
    'The message has more recipients than the server accepts at once.',
    'Send it to fewer recipients at a time.',
  ],
  message_size: [
    'message',
    'The message is larger than the receiver accepts (size limit).',
    'Send a smaller message, or a link to the file.',
  ],
  message_content: [
    'message',
    'The receiver’s filter refused the message as spam or for its content, a header field or an attachment.',
    'Look for links, attachments and words that filters refuse, and send it in another form.',
  ],
  policy: [
    'policy',
    'A rule of the receiver refused the message.',
    'Show the text of the reply to the postmaster of the recipient’s domain.',
  ],
  temporary_failure: LATER,
  verification_in_progress: LATER,
}

/** What the words say more exactly than the reason. */
const NARROWER: Readonly<Partial<Record<Reason | Detail, WordRows>>> = {
  mailbox_not_found: MOVED,
  mailbox_disabled: MOVED,
  sender_refused: BLOCKED_ACCOUNT,
  source_blocked: BLOCKED_ACCOUNT,
  message_content: OF_MESSAGE,
  tls_required: TLS_FAULTS,
  temporary_failure: TLS_FAULTS,
  unclear_refusal: [...TLS_FAULTS, ...OF_MESSAGE, ...MOVED],
  policy: [...TLS_FAULTS, ...OF_MESSAGE],
}
