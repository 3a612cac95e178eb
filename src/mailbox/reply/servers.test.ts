import { expect, it } from 'vitest'
import type { Stage } from '../../net/smtp/reply.ts'
import type { Reason } from '../reasons.ts'
import { classify } from './classify.ts'

/**
 * Replies in the manner of real servers, by software or operator; each with the reasons that are right for it. At RCPT
 * unless a stage stands before the code. The mailbox asked for is user@example.org; we are verify-1@probe.example at
 * probe.example [192.0.2.1].
 */
const SERVERS: Readonly<Record<string, readonly (readonly [reasons: string, text: string])[]>> = {
  Postfix: [
    ['sender_refused', '450 4.1.8 <verify-1@probe.example>: Sender address rejected: Domain not found'],
    [
      'mailbox_not_found',
      '550 5.1.1 <user@example.org>: Recipient address rejected: undeliverable address: host store.example.org[10.0.0.5] said: 550 5.1.1 <user@example.org>: Recipient address rejected: User unknown in local recipient table (in reply to RCPT TO command)',
    ],
    [
      'temporary_failure',
      '450 4.1.1 <user@example.org>: Recipient address rejected: undeliverable address: mail for example.org loops back to myself',
    ],
    [
      'source_blocked',
      "554 5.7.1 <probe.example[192.0.2.1]>: Client host rejected: Mail from dynamic hosts is not accepted; use your provider's relay",
    ],
    [
      'recipient_restricted',
      '550 5.7.1 <user@example.org>: Recipient address rejected: this address is for internal use only',
    ],
    ['temporary_failure', '454 4.7.1 <user@example.org>: Relay access denied'],
    ['temporary_failure', '450 4.7.1 Unable to relay for user@example.org'],
    ['helo_refused', '450 4.7.1 <probe.example>: Helo command rejected: Host not found'],
    [
      'sender_refused',
      '550 5.1.7 <verify-1@probe.example>: Sender address rejected: undeliverable address: host mx.probe.example[192.0.2.9] said: 550 5.1.1 User unknown (in reply to RCPT TO command)',
    ],
    [
      'mailbox_not_found',
      '550 5.1.1 <user@example.org>: Recipient address rejected: User unknown in relay recipient table; from=<verify-1@probe.example> proto=ESMTP helo=<probe.example>',
    ],
  ],
  Exim: [
    ['sender_refused', '550-verify-1@probe.example is not a valid address here\n550 Sender verify failed'],
    [
      'temporary_failure',
      '451-Could not complete recipient verify callout for <user@example.org>\n451 The server for this address is not available',
    ],
    [
      'mailbox_not_found',
      '550-Callout verification failed:\n550-Called: 10.1.1.1\n550-Sent: RCPT TO:<user@example.org>\n550-Response: 550 5.1.1 user@example.org... User unknown\n550 Recipient verify failed',
    ],
    [
      'unclear_refusal',
      '550-Callout verification failed:\n550-Called: 10.1.1.1\n550-Sent: RCPT TO:<user@example.org>\n550 Response: 452 4.2.2 over quota',
    ],
    ['temporary_failure', '451-Recipient callout failed: 550 5.1.1 no such user\n451 try again'],
    ['relay_denied', '550 relay not permitted from [192.0.2.1]'],
    [
      'rate_limited',
      '550-Too many failed recipients (12)\n550 your host probe.example [192.0.2.1] must wait for one hour',
    ],
    ['rate_limited', '421 Too many failed recipients from your host'],
    ['policy', '550 Administrative prohibition'],
    ['relay_denied|policy', '550 authentication required'],
    ['sender_refused', '550 Sender domain probe.example has no MX, A or AAAA record'],
  ],
  Exchange: [
    ['source_blocked', '550 5.7.1 Recipient not authorized, your IP has been found on a block list'],
    ['recipient_restricted', '550 5.7.1 RESOLVER.RST.NotAuthorized; not authorized'],
    ['temporary_failure', '452 4.3.1 Insufficient system resources (UsedDiskSpace)'],
    ['policy', '550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for this recipient'],
    ['unclear_refusal', '550 4.4.7 QUEUE.Expired; message expired'],
    ['mailbox_not_found', '550 5.1.1 RESOLVER.ADR.RecipNotFound; not found'],
    ['unclear_refusal', '550 5.3.2 STOREDRV.Deliver; System not accepting network messages, try again later'],
  ],
  'Microsoft 365': [
    [
      'source_blocked',
      '550 5.7.708 Service unavailable. Access denied, traffic not accepted from this IP. For more information please go to http://go.microsoft.com/fwlink/?LinkId=526653 AS(9312)',
    ],
    [
      'sender_refused|policy',
      '550 5.7.515 Access denied, sending domain PROBE.EXAMPLE does not meet the required authentication level.',
    ],
    ['rate_limited|temporary_failure', '451 4.7.500 Server busy. Please try again later from [192.0.2.1]. (AS77712)'],
    [
      'source_blocked',
      "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3140).",
    ],
    [
      'temporary_failure',
      '450 4.4.317 Cannot establish session with remote server [Message=451 4.4.0 DNS query failed]',
    ],
    ['unclear_refusal|relay_denied', '550 5.4.14 Hop count exceeded - possible mail loop ATTR34 [HE1EUR04FT042]'],
    ['temporary_failure', '450 4.7.1 Unable to relay recipient in non-accepted domain (ATTR14)'],
  ],
  Gmail: [
    [
      'mailbox_full',
      "452-4.2.2 The recipient's inbox is out of storage space and inactive. Please\n452-4.2.2 direct the recipient to\n452 4.2.2 https://support.google.com/mail/?p=OverQuotaTemp d9443c01a7336 - gsmtp",
    ],
    [
      'policy|source_blocked',
      '550-5.7.1 [192.0.2.1      12] Our system has detected that this message is\n550-5.7.1 likely unsolicited mail. To reduce the amount of spam sent to Gmail,\n550 5.7.1 this message has been blocked.',
    ],
    [
      'reverse_dns_required',
      '550-5.7.25 [192.0.2.1] The IP address sending this message does not have a PTR record, or the corresponding forward DNS entry does not point to the sending IP.',
    ],
    ['rate_limited', '550 5.4.5 Daily user sending limit exceeded. https://support.google.com/a/answer/166852 - gsmtp'],
    [
      'sender_refused|policy',
      '421-4.7.0 This message does not pass authentication checks (SPF and DKIM both\n421 4.7.0 do not pass). SPF check for [probe.example] does not pass with ip: [192.0.2.1]',
    ],
    [
      'mailbox_not_found',
      '550-5.1.1 The email account that you tried to reach does not exist. If the address was copied, ask the\n550 5.1.1 recipient for it again. https://support.google.com/mail/?p=NoSuchUser - gsmtp',
    ],
  ],
  qmail: [
    ['sender_refused', '553 sorry, your envelope sender is in my badmailfrom list (#5.7.1)'],
    ['sender_refused', '553 Sorry, your envelope sender domain must exist (#5.7.1)'],
    ['temporary_failure', '451 qq temporary problem (#4.3.0)'],
    ['policy', '552 sorry, that message size exceeds my databytes limit (#5.3.4)'],
    [
      'mailbox_disabled|policy|recipient_restricted|unclear_refusal',
      '553 sorry, your envelope recipient is in my badrcptto list (#5.7.1)',
    ],
    [
      'relay_denied',
      "553 sorry, that domain isn't in my list of allowed rcpthosts; no valid cert for gatewaying (#5.7.1)",
    ],
  ],
  Sendmail: [
    ['relay_denied', '550 5.7.1 user@example.org... Relaying denied. IP name possibly forged [192.0.2.1]'],
    [
      'relay_denied|reverse_dns_required',
      '550 5.7.1 user@example.org... Relaying denied. IP name lookup failed [192.0.2.1]',
    ],
    [
      'sender_refused',
      '553 5.1.8 verify-1@probe.example... Domain of sender address verify-1@probe.example does not exist',
    ],
    ['sender_refused', '451 4.1.8 Domain of sender address verify-1@probe.example does not resolve'],
    ['mailbox_disabled', '550 5.2.1 user@example.org... Mailbox disabled for this recipient'],
    [
      'domain_not_found|mailbox_not_found',
      '550 5.1.2 user@example.org... Host unknown (Name server: example.org.: host not found)',
    ],
    ['rate_limited', 'banner 421 4.3.2 Connection rate limit exceeded.'],
  ],
  Courier: [
    ['mailbox_not_found', '550 User unknown.'],
    ['relay_denied', '513 Relaying denied.'],
    ['temporary_failure', '450 Service temporarily unavailable.'],
    [
      'sender_refused',
      '517-MX records for probe.example violate section 3.3.9 of RFC 1035.\n517 Invalid domain, see <URL:http://www.courier-mta.org/faq.html#rfc1035>',
    ],
  ],
  cPanel: [
    [
      'relay_denied',
      '550-probe.example (probe.example) [192.0.2.1] is not permitted to relay through\n550-this server without authentication',
    ],
    ['policy', '550 The mail server detected your message as spam and has prevented delivery.'],
    ['mailbox_full', "550-The recipient's mailbox has exceeded its quota,\n550 please try again later"],
    ['greylisted', '451-Temporary local problem: 192.0.2.1 is greylisted\n451 please try later'],
    [
      'mailbox_not_found',
      '550-"The account user does not exist on this server. If you think that this is\n550 an error, ask the owner of example.org whether your IP 192.0.2.1 is blocked"',
    ],
  ],
  Proofpoint: [
    ['policy', '550 5.7.0 Local Policy Violation - <user@example.org>'],
    ['temporary_failure|policy|greylisted', '451 4.7.1 Access denied by DCC'],
    ['source_blocked', 'banner 554 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.1'],
    ['verification_in_progress', '450 4.1.1 <user@example.org>: Recipient verification in progress, please retry'],
  ],
  Mimecast: [
    [
      'temporary_failure',
      '451 Account inbounds disabled - https://community.mimecast.com/docs/DOC-1369#451 [AbCdEf.uk1]',
    ],
    [
      'policy|sender_refused',
      '550 Rejected by header based Anti-Spoofing policy: verify-1@probe.example - https://community.mimecast.com/docs/DOC-1369#550',
    ],
    [
      'policy',
      '554 Email rejected due to security policies - MCSpamSignature.sa.12.2 - https://community.mimecast.com/docs/DOC-1369#554',
    ],
    ['greylisted', '451 Local greylisting, please retry - https://community.mimecast.com/docs/DOC-1369#451'],
  ],
  Barracuda: [
    ['rate_limited', '421 Barracuda: [192.0.2.1] exceeded rate control, temporarily blocked'],
    ['mailbox_not_found', '550 5.1.1 No such recipient (user@example.org) - barracuda bess'],
  ],
  Cisco: [
    ['rate_limited|too_many_recipients', '452 4.5.3 Too many recipients received from the host this hour'],
    ['recipient_restricted', '550 5.7.1 This mailbox is restricted to senders inside the company'],
    ['mailbox_not_found', '550 #5.1.0 Address rejected user@example.org'],
  ],
  GMX: [
    [
      'sender_refused|policy',
      '550-Requested action not taken: mailbox unavailable\n550 SPF: probe.example does not designate 192.0.2.1 as permitted sender',
    ],
    [
      'mailbox_not_found',
      '550-Requested action not taken: mailbox unavailable\n550 For explanation visit https://postmaster.gmx.net/en/error-messages?ip=192.0.2.1&c=no',
    ],
    [
      'rate_limited|source_blocked|temporary_failure',
      'banner 421-gmx.net (mxgmx015) Nemesis ESMTP Service not available\n421 Too many connections from 192.0.2.1',
    ],
  ],
  'T-Online': [
    ['policy', '550 5.7.0 Message considered as spam or virus, rejected'],
    [
      'source_blocked',
      'banner 554 IP=192.0.2.1 - None/bad reputation. Ask your postmaster for help or to contact tosa@rx.t-online.de for reset. (NOWL)',
    ],
    ['mailbox_not_found', '550 5.1.1 unknown address user@example.org'],
  ],
  'Orange, Free': [
    [
      'rate_limited',
      'banner 421 mwinf5c04 ME Trop de connexions, veuillez verifier votre configuration. Too many connections, slow down. OFR004_104 [104]',
    ],
    ['policy', '550 5.2.0 Mail rejete. Mail rejected. ofr_506 [506]'],
    ['rate_limited', '550 5.7.1 Trop de destinataires inconnus depuis votre serveur 192.0.2.1'],
    [
      'rate_limited|source_blocked',
      '451 too many errors from your ip (192.0.2.1), please visit http://postmaster.free.fr/',
    ],
  ],
  'Yandex, mail.ru': [
    ['temporary_failure|greylisted', '451 4.7.1 Sorry, the service is currently unavailable. Please come back later.'],
    ['policy', '554 5.7.1 [2] Message rejected under suspicion of SPAM; https://ya.cc/1IrBc 1612345678-AbC-xyz'],
    [
      'policy',
      '550 spam message rejected. Please visit http://help.mail.ru/notspam-support/id?c=abc or report details to abuse@corp.mail.ru.',
    ],
    [
      'mailbox_disabled',
      '550 Message was not accepted -- invalid mailbox.  Local mailbox user@example.org is unavailable: user is terminated',
    ],
    ['recipient_throttled', '451 Ratelimit exceeded for mailbox user@example.org. Try again later'],
    ['tls_required', 'mail 550 SMTP is available only with SSL or TLS connection enabled.'],
  ],
  'QQ, NetEase, Naver': [
    ['policy', '550 Mail content denied. http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000726'],
    [
      'rate_limited',
      '550 Ip frequency limited. http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000725',
    ],
    ['rate_limited', '550 Domain frequency limited. http://service.mail.qq.com/cgi-bin/help?subtype=1'],
    ['policy', '554 DT:SPM 163 smtp10,DsCowAB3,1612345678,192.0.2.1,http://mail.163.com/help/help_spam_16.htm'],
    ['source_blocked', 'banner 421 4.3.2 Your ip blocked from this server 192.0.2.1. - nsmtp'],
    ['mailbox_full', '552 5.2.2 Mailbox is full (user@example.org) - nsmtp'],
    ['mailbox_not_found', '550 该用户不存在 user@example.org'],
  ],
  'Yahoo, AOL, Comcast': [
    [
      'mailbox_disabled',
      '554 30 Sorry, your message to user@example.org cannot be delivered. This mailbox is disabled (554.30).',
    ],
    ['mailbox_not_found', '552 1 Requested mail action aborted, mailbox not found'],
    [
      'rate_limited|source_blocked',
      '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints',
    ],
    ['mailbox_not_found', '550 5.1.1 <user@example.org> Not our Customer'],
  ],
  'about us, in the words of a mailbox': [
    ['sender_refused', '550 5.1.1 <verify-1@probe.example> does not exist at probe.example'],
    ['sender_refused|helo_refused', '550 probe.example: no such domain'],
    ['sender_refused', '550 no valid MX for probe.example'],
    ['sender_refused', '550 5.2.2 verify-1@probe.example is over quota'],
    ['sender_refused', "550 L'expéditeur verify-1@probe.example n'existe pas"],
    ['sender_refused', '550 5.1.1 verify-1@probe.example: Benutzer unbekannt'],
    ['sender_refused', '550 5.1.1 Пользователь verify-1@probe.example не найден'],
    ['reverse_dns_required|source_blocked', '550 192.0.2.1 unknown'],
    ['source_blocked', '550 5.7.1 Ihre IP-Adresse 192.0.2.1 wurde gesperrt'],
  ],
  'about the mailbox, naming us': [
    ['mailbox_not_found', '550 5.1.1 User unknown (verify-1@probe.example)'],
    ['mailbox_not_found', '550 5.1.1 user@example.org: unknown user; connection from probe.example [192.0.2.1]'],
    ['mailbox_not_found', '550 5.1.1 Nieznany użytkownik user@example.org'],
    ['mailbox_full', '552 5.2.2 Mailbox of user@example.org full; message from verify-1@probe.example refused'],
    [
      'mailbox_disabled',
      '550 5.2.1 Konto deaktiviert. Falls Sie glauben, dass Ihre IP-Adresse gesperrt ist, fragen Sie den Postmaster',
    ],
    [
      'mailbox_not_found',
      '550 5.1.1 No such user. Repeated attempts lead to a listing of your IP 192.0.2.1 on our blacklist.',
    ],
    ['mailbox_not_found', '550 5.1.1 User unknown. This server uses SPF, DMARC and greylisting.'],
  ],
  'restricted and throttled recipients': [
    ['recipient_restricted', '550 5.7.1 This distribution list does not take messages from external senders'],
    ['recipient_restricted', '550 5.7.1 Dieses Postfach nimmt nur interne Nachrichten an'],
    ['recipient_restricted', "550 5.7.1 Cette adresse n'accepte que les messages internes"],
    ['recipient_restricted', '550 5.7.1 Esta dirección solo acepta correo interno'],
    ['recipient_restricted', '550 5.7.1 <user@example.org>: this address is used for sending only'],
    ['recipient_throttled', '452 4.2.1 The mailbox of the recipient has received too many messages in the last hour'],
    ['recipient_throttled', '450 4.2.1 inbound rate for this mailbox exceeded, slow down'],
  ],
  'permanent codes with temporary texts': [
    ['unclear_refusal', '554 5.4.0 Error: too many hops'],
    ['unclear_refusal', '550 5.3.0 Recipient lookup temporarily failed, no such user?'],
    ['unclear_refusal', '550 5.3.0 Internal error, try later'],
    ['unclear_refusal', '554 5.4.4 Name server timeout, message will be retried'],
    ['unclear_refusal', '550 Greylisting in action, please come back in 5 minutes'],
  ],
}

const US = { sender: 'verify-1@probe.example', helo: 'probe.example', source: '192.0.2.1' }
const rows = Object.entries(SERVERS).flatMap(([server, replies]) =>
  replies.map(([reasons, text]) => [server, reasons, text] as const),
)
it.each(rows)('%s: %s, %s', (_, reasons, text) => {
  expect(reasons.split('|')).toContain(reasonOf(text))
})

function reasonOf(text: string): Reason {
  const [, stage = 'rcpt', said = ''] = /^(?:(banner|mail) )?(.*)$/s.exec(text)!
  const reply = { code: Number(said.slice(0, 3)), lines: said.split('\n').map((line) => line.slice(4)) }
  return classify({ stage: stage as Stage, reply, parties: { asked: 'user@example.org', ...US } }).reason
}

/** The kinds of the rules in further words and languages. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  'greylisted|temporary_failure': [
    '451 4.7.1 <user@example.org>: Recipient address rejected: Intentional policy rejection, please try again later',
  ],
  'rate_limited|source_blocked': [
    '550 Too many invalid recipients from your host, blocked for one hour',
    '450 too frequent connects from 192.0.2.1, please try again later.',
    '554 5.7.1 拒绝IP 192.0.2.1',
  ],
  sender_refused: [
    '550 5.1.1 verify-2@probe.example unknown',
    '550 5.2.2 <verify-1@probe.example>: mailbox over quota',
    '550 no such user verify-1@probe.example',
    '550 5.1.1 User verify-1@probe.example not found',
    '550 5.4.1 probe.example: no MX',
    '550 5.1.1 <verify-1@probe.example>... User unknown',
    '550 5.1.1 Recipient verify-1@probe.example does not exist',
    '550 5.1.1 verify-1@probe.example: mailbox unavailable',
    '553 5.1.3 verify-1@probe.example: invalid address',
    '550 The mailbox verify-1@probe.example is disabled',
    '550 5.1.1 The address <verify-1@probe.example> is not known to its own server',
    '550 Unknown user verify-1@probe.example',
    '450 4.1.1 <verify-1@probe.example>: User unknown',
    '550 Domain probe.example does not exist',
    '550 Domain probe.example is not hosted anywhere',
    '550 Sender callback failed: no such user',
    '550-Callout to your sender failed:\n550 452 over quota',
  ],
  'sender_refused|helo_refused': ['550 5.1.2 probe.example: no such domain'],
  'sender_refused|helo_refused|reverse_dns_required': ['550 Host probe.example not found'],
  'source_blocked|reverse_dns_required': ['550 5.1.1 192.0.2.1: address not found'],
  source_blocked: [
    '550 5.1.1 192.0.2.1 rejected',
    '554 5.7.1 192.0.2.1 blocked, https://example.net/user-unknown',
    '550-Callout verification failed:\n550 554 5.7.1 client host blocked using a blacklist',
  ],
  mailbox_not_found: [
    '550 5.1.1 User unknown [probe.example]',
    '550 5.1.1 No such user (mail from verify-1@probe.example)',
    '550 5.1.1 No such user here, connection from 192.0.2.1',
    '550 5.1.1 <user@example.org> unknown, message from <verify-1@probe.example> by probe.example',
    '550 5.1.1 example.org: user does not exist; client probe.example [192.0.2.1]',
    '550 5.1.1 No such recipient here; ask the postmaster if your IP is blocked',
    '550 5.1.1 Address unknown. Repeated attempts will get your host blacklisted',
    '550 5.1.1 User does not exist. To be removed from our blocklist see our page',
    '550 5.1.1 Recipient unknown. Please check the address; spam is not tolerated',
    '550 5.1.1 Benutzer unbekannt. Wenn Sie Spam senden, wird Ihre IP gesperrt',
    '550 5.1.1 Utilisateur inconnu. Si votre serveur est sur liste noire, contactez-nous',
    '550 5.1.1 Usuario desconocido. Si su IP esta bloqueada, contacte con nosotros',
    '550 5.1.1 User unknown; see https://help.example/spf-dmarc-policy',
    '550 5.1.1 unknown user (spamfilter-policy.mx3.example.net)',
    '550 5.1.1 <user@example.org>: Recipient address rejected: User unknown in virtual alias table (rbl-check-gw3.example.net)',
    '550-Recipient callout:\n550 550 5.1.1 no mailbox here by that name',
    '550 5.1.1 Mailbox nicht vorhanden',
    '550 5.1.1 Aucune boîte à ce nom',
    '550 5.1.1 Käyttäjää ei löydy',
    '550 5.1.1 Brugeren findes ikke',
    '550 5.1.1 Such a mailbox does not live here',
    '550 5.1.1 we know no user of that name',
    '550 5.1.1 Nobody here by that name',
    '550 5.1.1 address is not valid',
    '550 5.1.1 recipient is not in our directory',
    '550 5.1.1 such user does not exist',
  ],
  mailbox_full: [
    '552 5.2.2 Mailbox full, client=probe.example[192.0.2.1]',
    '552 5.2.2 Mailbox full. If you send too many messages you will be rate limited',
    '552 5.2.2 Mailbox full http://example.net/no-such-user',
    '550-Callout verification failed:\n550 552 5.2.2 mailbox full',
    '552 5.2.2 The user has no space left',
    '552 5.2.2 Recipient storage exceeded',
    '550 5.2.2 The inbox of the recipient has no room',
    '452 4.2.2 Account is full',
    '552 5.2.2 Mailbox has reached its maximum size',
    '550 5.1.1 La boîte aux lettres du destinataire est pleine',
    '552 5.2.2 Postbus vol',
    '552 5.2.2 A caixa de correio está cheia',
    '552 5.2.2 Inboksi alıcının dolu: posta kutusu dolu',
    '552 5.2.2 메일함이 가득 찼습니다',
    '552 5.2.2 Schránka je plná',
    '552 5.2.2 メールボックスの容量が上限に達しました',
    '452 4.2.2 disk quota of the user exceeded',
    '552 5.2.2 Storage allocation of this mailbox exceeded',
    '552 5.2.2 user is out of disk space',
    '552 5.2.2 message would exceed mailbox quota',
  ],
  'sender_refused|policy|unclear_refusal': [
    '550 The originator does not exist',
    '550 unknown originator address',
    '550 MAIL FROM address is not known',
    '550 Your domain does not exist',
    '550 Your mailbox is unknown at your domain',
    '550 invalid return address: user unknown',
    '550 envelope sender has no valid mailbox',
    '550 user unknown in the sending domain',
    '550 The domain you send from was not found',
    '550 no such user at your domain',
    '550 cannot verify your address: user unknown',
    '550 Expéditeur inconnu',
    '550 Absender unbekannt',
    '550 Remitente desconocido',
    '550 Mittente sconosciuto',
    '550 Remetente desconhecido',
    '550 Nieznany nadawca',
    '550 Neznámý odesílatel',
    '550 Okänd avsändare',
    '550 Ukendt afsender',
    '550 Ukjent avsender',
    '550 Tuntematon lähettäjä',
    '550 Ismeretlen feladó',
    '550 Expeditor necunoscut',
    '550 Άγνωστος αποστολέας',
    '550 送信者が存在しません',
    '550 发件人不存在',
    '550 寄件者不存在',
    '550 보낸 사람을 찾을 수 없습니다',
    '550 Відправник не існує',
    '550 השולח לא קיים',
    '550 المرسل غير موجود',
    '550 Người gửi không tồn tại',
    '550 Pengirim tidak dikenal',
    '550 ไม่พบผู้ส่ง',
    '550 Gönderici bulunamadı',
    "550 L'adresse de l'expéditeur n'existe pas",
    '550 Die Absenderadresse existiert nicht',
    '550 La dirección del remitente no existe',
    "550 L'indirizzo del mittente non esiste",
    '550 O endereço do remetente não existe',
    '550 Adres nadawcy nie istnieje',
    '550 Адрес отправителя не существует',
    '550 Het adres van de afzender bestaat niet',
  ],
  'reverse_dns_required|source_blocked|policy|unclear_refusal|helo_refused': [
    '550 Unknown client host',
    '550 Your host name cannot be found',
  ],
  'reverse_dns_required|source_blocked|policy|unclear_refusal|helo_refused|sender_refused': [
    '550 no such host: your HELO',
  ],
  'sender_refused|reverse_dns_required|source_blocked|policy|tls_required': [
    '550 Mailbox unavailable: TLS is required',
    '550 Requested action not taken: mailbox unavailable (blocked by our reputation service)',
    '550-Requested action not taken: mailbox unavailable\n550 Reverse DNS of 192.0.2.1 does not match',
    '550 mailbox unavailable; message looks like spam',
    '550 Requested action not taken: mailbox unavailable. DMARC policy of the sender domain',
  ],
  mailbox_disabled: [
    '550 5.2.1 Account disabled. Contact your administrator if this mail was rejected by policy',
    '550 Recipient callout failed: 550 5.2.1 account disabled',
    '550 5.2.1 mailbox closed by its owner',
    '550 5.2.1 The account was cancelled',
    '550 5.2.1 Mailbox locked for inactivity',
    '550 5.2.1 user blocked by administrator',
  ],
  greylisted: [
    '451 4.7.1 Greylisted. If this persists your IP may be on a blacklist',
    '451 4.7.1 Greylisted https://docs.example/blacklist',
  ],
  temporary_failure: [
    '450 4.1.7 Sender address verification deferred: connect timed out',
    '451 4.1.7 sender verification in progress',
    '451 4.7.1 relaying temporarily denied',
  ],
  unclear_refusal: [
    '550-Callout verification failed:\n550 450 4.7.1 greylisted',
    '550 recipient verification failed: 451 temporary failure',
    '554 5.3.2 Service temporarily unavailable',
    '550 5.4.1 DNS lookup timed out',
    '554 5.4.7 Delivery time expired',
    '550 5.3.1 Mail system full',
    '552 5.3.1 Insufficient system storage',
    '554 Temporarily deferred, retry',
    '550 5.4.3 Directory server failure',
    '550 5.4.4 Unable to route: server busy',
    '554 5.3.0 Database error',
    '550 5.3.5 System incorrectly configured',
    '550 server overloaded',
    '554 5.4.6 mail forwarding loop',
  ],
  recipient_restricted: [
    '550 5.7.1 Recipient only accepts mail from authenticated users',
    '550 5.7.1 Mail from the Internet to this address is not permitted',
    '550 5.7.1 This mailbox is for sending only',
    '550 5.7.1 noreply: this mailbox cannot receive mail, it is used to send only',
    '550 5.7.1 Only subscribers may write to this list',
    '550 5.7.1 The group is closed to external senders',
    '550 5.7.1 You do not have permission to send to this recipient',
    '550 5.7.1 You are not on the list of allowed senders for this mailbox',
    '550 5.7.1 Das Postfach nimmt keine Nachrichten von außerhalb an',
    '550 5.7.1 Cette liste est réservée à ses membres',
    '550 5.7.1 Solo los miembros pueden escribir a esta lista',
    '550 5.7.1 Lista riservata agli iscritti',
    '550 5.7.1 此邮箱只接收内部邮件',
    '550 5.7.1 Ящик принимает только внутреннюю почту',
    '550 5.7.1 Deze lijst is alleen voor leden',
  ],
  recipient_throttled: [
    '450 4.2.1 The recipient has reached the number of messages that it may receive',
    '452 4.2.1 inbound limit of the recipient reached',
    '450 4.2.1 Mailbox receives too many messages right now',
    '452 4.2.1 user@example.org has received too much mail today',
    '450 4.7.1 Too many messages for this recipient, try later',
    '451 4.2.1 Delivery rate for this mailbox exceeded',
    '450 4.2.1 Der Empfänger erhält zu viele Nachrichten',
    '450 4.2.1 Le destinataire reçoit trop de messages',
    '450 4.2.1 El destinatario recibe demasiados mensajes',
  ],
  relay_denied: [
    '550 5.7.1 This server is not the mail exchanger for that domain',
    '554 5.7.1 Relay denied, we are no open relay',
    '550-You must log in\n550-before you may relay\n550 through this server',
    '550-host is not\n550-permitted to\n550 relay through us',
    '551 5.7.1 we do not relay for strangers',
    '550 Le relais est interdit',
    '550 Relaying verboten',
    '553 5.7.1 Weiterleitung nicht erlaubt',
  ],
  rate_limited: ['450 4.7.1 You have sent 100 messages in the last hour, slow down'],
}
const kinds = Object.entries(KINDS).flatMap(([reasons, replies]) => replies.map((text) => [reasons, text] as const))
it.each(kinds)('%s: %s', (reasons, text) => expect(reasons.split('|')).toContain(reasonOf(text)))
