import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { CORPORA, corpus } from '../../test/lab/corpora.ts'
import { type Bounce, readBounce, readPasted, replyIn } from './bounce.ts'
import { parseMail } from './parse.ts'

type Wanted = Readonly<{
  address?: string
  action?: string | readonly string[]
  about?: readonly string[]
  permanent?: boolean
  status?: string
  code?: number
  remote?: string
  says?: string | readonly string[]
}>

const read = (octets: Buffer): Bounce | undefined => {
  return readPasted(octets.toString('utf8')) ?? readBounce(parseMail(octets))
}

/** What is wrong with the recipients of a bounce. */
function faultsOf(bounce: Bounce | undefined, wanted: readonly Wanted[]): string[] {
  if (!bounce) return ['no bounce']
  const faults = bounce.recipients.length > wanted.length ? [`${bounce.recipients.length} recipients`] : []
  for (const one of wanted) {
    const found = bounce.recipients.find(({ address }) => one.address === undefined || address === one.address)
    const told = `${found?.meaning} ${found?.toDo}`
    if (!found) faults.push(`${one.address} is missing`)
    else if (one.action && ![one.action].flat().includes(found.action)) faults.push(`action ${found.action}`)
    else if (one.about && !one.about.includes(found.about)) faults.push(`about ${found.about}: ${found.text}`)
    else if (one.permanent !== undefined && one.permanent !== found.permanent)
      faults.push(`permanent ${found.permanent}`)
    else if (one.status && one.status !== found.status) faults.push(`status ${found.status}`)
    else if (one.code && one.code !== found.code) faults.push(`code ${found.code}`)
    else if (one.remote && !new RegExp(one.remote).test(found.remoteMta ?? '')) faults.push(`remote ${found.remoteMta}`)
    else if ([one.says ?? []].flat().some((says) => !new RegExp(says.replace('(?i)', ''), 'i').test(told)))
      faults.push(`says ${told}`)
  }
  return faults
}

const cases = (file: string, name: 'id' | 'file') =>
  (corpus(file)?.cases ?? []).flatMap(
    (row: Record<string, never> & { expect: { bounce?: unknown; no_bounce?: true } }) =>
      row.expect.bounce || row.expect.no_bounce
        ? [[row[name] as unknown as string, row.expect, resolve(CORPORA, file, '..')]]
        : [],
  )

it.each([...cases('field/messages/expected.json', 'id'), ...cases('mail/messages/index.json', 'file')])(
  'reads %s',
  (file, expected, folder) => {
    const bounce = read(readFileSync(resolve(folder, file)))
    if (expected.no_bounce) return expect(bounce).toBeUndefined()
    expect(faultsOf(bounce, expected.bounce.recipients)).toEqual([])
    const { from = '', to = '', subject = '' } = expected.bounce.returned ?? {}
    if (expected.bounce.returned)
      expect([bounce?.returned?.from, bounce?.returned?.to, bounce?.returned?.subject]).toEqual([
        expect.stringContaining(from),
        expect.stringContaining(to),
        expect.stringContaining(subject),
      ])
  },
)

const RETURNED = `From: Ann Weber <ann@foundry.example>
To: joe@receiver.example
Subject: Figures of the week

Hello Joe`
const notice = (from: string, subject: string, text: string): Buffer =>
  Buffer.from(
    `Return-Path: <>\nFrom: ${from}\nTo: ann@foundry.example\nSubject: ${subject}\nDate: Fri, 20 Nov 2026 10:00:30 +0000\n\n${text}\n`.replaceAll(
      '\n',
      '\r\n',
    ),
  )
const DAEMON = 'MAILER-DAEMON@mail.foundry.example'

/** Notices without fields of RFC 3464, in the manner of each program. */
it.each<[server: string, octets: Buffer, recipients: readonly Wanted[], isReturned: boolean]>([
  [
    'Postfix 1, words alone',
    notice(
      DAEMON,
      'Undelivered Mail Returned to Sender',
      `This is the Postfix program at host mail.foundry.example.

I'm sorry to have to inform you that your message could not be
be delivered to one or more recipients.

<joe@receiver.example>: host mx.receiver.example[192.0.2.9] said: 550 5.1.1
    <joe@receiver.example>: Recipient address rejected: User unknown in virtual
    mailbox table (in reply to RCPT TO command)

<eve@other.example>: connect to mx.other.example[192.0.2.10]: Connection timed out`,
    ),
    [
      {
        address: 'joe@receiver.example',
        action: 'failed',
        about: ['mailbox'],
        permanent: true,
        status: '5.1.1',
        code: 550,
        remote: '^mx\\.receiver\\.example$',
      },
      { address: 'eve@other.example', action: 'failed', about: ['recipient_domain'] },
    ],
    false,
  ],
  [
    'MDaemon',
    notice(
      'MDaemon at receiver.example <postmaster@receiver.example>',
      'Permanent Delivery Failure',
      `The attached message had PERMANENT fatal delivery errors!

Failed address: joe@receiver.example

--- Session Transcript ---
 <-- 550 5.1.1 joe@receiver.example: no such user here`,
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true, status: '5.1.1', code: 550 }],
    false,
  ],
  [
    'Domino',
    notice(
      'Postmaster@receiver.example',
      'DELIVERY FAILURE: User joe (joe@receiver.example) not listed in Domino Directory',
      `Your message

  Subject: Figures of the week

was not delivered to:

  joe@receiver.example

because:

  User joe (joe@receiver.example) not listed in Domino Directory`,
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true }],
    false,
  ],
  [
    'GMX',
    notice(
      'GMX Mailer Daemon <mailer-daemon@gmx.de>',
      'Mail delivery failed: returning message to sender',
      `A message that you sent could not be delivered to one or more of
its recipients. This is a permanent error. The following address
failed:

joe@receiver.example:
SMTP error from remote server for RCPT TO command, host: mx.receiver.example (192.0.2.9) reason: 550 5.1.1 User unknown

--- The header of the original message is following. ---

${RETURNED}`,
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true, status: '5.1.1', code: 550 }],
    true,
  ],
  [
    'Exchange in German',
    notice(
      'Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@foundry.example>',
      'Unzustellbar: Figures of the week',
      `Fehler bei der Nachrichtenzustellung an folgende Empfänger oder Gruppen:

Joe Doe (joe@receiver.example)
Die eingegebene E-Mail-Adresse konnte nicht gefunden werden.

Diagnoseinformationen für Administratoren:

joe@receiver.example
Remote Server returned '550 5.1.1 RESOLVER.ADR.RecipNotFound; not found'`,
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true, status: '5.1.1' }],
    false,
  ],
  [
    'a filter that blocks the address',
    notice(
      'mailer-daemon@filter.example',
      'Undeliverable: Figures of the week',
      `Your email message to the following recipients could not be delivered:

<joe@receiver.example>: host mx.receiver.example[192.0.2.9] said: 554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org`,
    ),
    [{ address: 'joe@receiver.example', about: ['sending_host'], permanent: true, code: 554 }],
    false,
  ],
  [
    'refused because of SPF',
    notice(
      DAEMON,
      'Undelivered Mail Returned to Sender',
      `<joe@receiver.example>: host mx.receiver.example[192.0.2.9] said: 550-5.7.1 Message rejected due to SPF
    550 5.7.1 see https://receiver.example/spf (in reply to RCPT TO command)`,
    ),
    [{ address: 'joe@receiver.example', about: ['sender_domain'], permanent: true, code: 550 }],
    false,
  ],
  [
    'qmail, its own words',
    notice(
      DAEMON,
      'failure notice',
      `Hi. This is the qmail-send program at foundry.example.
I'm afraid I wasn't able to deliver your message to the following addresses.

<joe@receiver.example>:
Sorry, no mailbox here by that name. (#5.1.1)

--- Below this line is a copy of the message.

${RETURNED}`,
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true, status: '5.1.1' }],
    true,
  ],
  [
    'Exim, three fates',
    notice(
      'Mail Delivery System <Mailer-Daemon@mail.foundry.example>',
      'Mail delivery failed: returning message to sender',
      `A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  joe@receiver.example
    host mx.receiver.example [192.0.2.9]
    SMTP error from remote mail server after RCPT TO:<joe@receiver.example>:
    550-5.7.1 192.0.2.77 is listed at zen.spamhaus.org,
    550 5.7.1 see https://www.spamhaus.org/query/ip/192.0.2.77
  eve@receiver.example
    mailbox is full: retry timeout exceeded
  tom@nowhere.example
    Unrouteable address

------ This is a copy of your message, including all the headers. ------

${RETURNED}`,
    ),
    [
      { address: 'joe@receiver.example', about: ['sending_host'], permanent: true, code: 550, status: '5.7.1' },
      { address: 'eve@receiver.example', about: ['mailbox'] },
      { address: 'tom@nowhere.example', about: ['mailbox', 'recipient_domain'] },
    ],
    true,
  ],
  [
    'Sendmail, words alone',
    notice(
      'Mail Delivery Subsystem <MAILER-DAEMON>',
      'Returned mail: User unknown',
      `The original message was received at Fri, 20 Nov 2026 10:00:00 GMT
from ann@localhost

   ----- The following addresses had permanent fatal errors -----
<joe@receiver.example>

   ----- Transcript of session follows -----
... while talking to mx.receiver.example.:
>>> RCPT To:<joe@receiver.example>
<<< 550 5.1.1 <joe@receiver.example>... User unknown
550 <joe@receiver.example>... User unknown

   ----- Original message follows -----

${RETURNED}`,
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true, code: 550, remote: '^mx\\.receiver' }],
    true,
  ],
  [
    'Courier',
    notice(
      '"Courier mail server at foundry.example" <postmaster@foundry.example>',
      'NOTICE: mail delivery status.',
      `This is a delivery status notification from mail.foundry.example,
running the Courier mail server.

UNDELIVERABLE MAIL

Your message to the following recipients cannot be delivered:

<joe@receiver.example>:
    mx.receiver.example [192.0.2.9]:
>>> RCPT TO:<joe@receiver.example>
<<< 552 5.2.2 Over quota`,
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], code: 552, status: '5.2.2', remote: '^mx\\.receiver' }],
    false,
  ],
  [
    'Gmail, the old form',
    notice(
      'Mail Delivery Subsystem <mailer-daemon@googlemail.com>',
      'Delivery Status Notification (Failure)',
      `Delivery to the following recipient failed permanently:

     joe@receiver.example

Technical details of permanent failure:
Google tried to deliver your message, but it was rejected by the server for the recipient domain receiver.example by mx.receiver.example. [192.0.2.9].

The error that the other server returned was:
550 5.7.1 Message rejected: SPF check of foundry.example failed

----- Original message -----

${RETURNED}`,
    ),
    [{ address: 'joe@receiver.example', about: ['sender_domain'], permanent: true, code: 550 }],
    true,
  ],
  [
    'Exchange, words alone',
    notice(
      'postmaster@foundry.example',
      'Undeliverable: Figures of the week',
      `Delivery has failed to these recipients or groups:

Joe Doe (joe@receiver.example)
The e-mail address you entered couldn't be found.

Diagnostic information for administrators:

Generating server: ex1.foundry.example

joe@receiver.example
#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##

Original message headers:

${RETURNED}`,
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true, code: 550, status: '5.1.1' }],
    true,
  ],
  [
    'Microsoft 365, HTML alone',
    Buffer.from(
      notice(
        'postmaster@receiver.example',
        'Undeliverable: Figures of the week',
        "<html><body><p>Your message to <b>joe@receiver.example</b> couldn't be delivered.</p><p>Remote server returned '550 5.1.1 User unknown'</p></body></html>",
      )
        .toString()
        .replace('Date:', 'MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\nDate:'),
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true, code: 550, status: '5.1.1' }],
    false,
  ],
  [
    'IMail',
    notice(
      'Postmaster@receiver.example',
      'Undeliverable Mail',
      `Unknown user: joe@receiver.example\n\nOriginal message follows.\n\n${RETURNED}`,
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true }],
    true,
  ],
  [
    'Kerio',
    notice(
      'postmaster@receiver.example',
      'Delivery Failed',
      'Your message could not be delivered to:\n\n  joe@receiver.example\n\n  Final-Recipient: rfc822; joe@receiver.example\n  Action: failed\n  Status: 5.1.1',
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true, status: '5.1.1' }],
    false,
  ],
  [
    'T-Online',
    notice(
      'Mail Delivery System <mailer-daemon@receiver.example>',
      'Mail delivery failed: returning message to sender',
      `|------------------------- Failed addresses follow: ---------------------|\n <joe@receiver.example> ... unknown user\n|------------------------- Message text follows: ------------------------|\n${RETURNED}`,
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true }],
    true,
  ],
  [
    'Tencent, in Chinese',
    Buffer.from(
      notice(
        'PostMaster@receiver.example',
        '系统退信',
        '收件人：joe@receiver.example\n\n退信原因：收件人邮箱 joe@receiver.example 不存在。',
      )
        .toString()
        .replace('Date:', 'MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nDate:'),
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true }],
    false,
  ],
  [
    'Microsoft 365, words alone',
    notice(
      'Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@foundry.example>',
      'Undeliverable: Figures of the week',
      `Your message to sales@receiver.example couldn't be delivered.

sales@receiver.example only accepts messages from people in its organization or on its allowed senders list.

Remote Server returned '550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required'`,
    ),
    [{ address: 'sales@receiver.example', about: ['mailbox'], permanent: true, code: 550, status: '5.7.133' }],
    false,
  ],
  [
    'Yahoo, the old form',
    notice(
      DAEMON,
      'Failure Notice',
      `Sorry, we were unable to deliver your message to the following address.

<joe@receiver.example>:
Remote host said: 554 5.7.9 Message not accepted for policy reasons. [RCPT_TO]`,
    ),
    [{ address: 'joe@receiver.example', about: ['policy'], permanent: true, code: 554 }],
    false,
  ],
  ...(
    [
      ['French', 'Échec de la remise à ces destinataires :', 'La boîte aux lettres est pleine.\n#554 5.2.2 quota'],
      ['Portuguese', 'A sua mensagem não pôde ser entregue:', '552 5.2.2 Caixa de correio cheia'],
      ['Italian', 'Il messaggio non è stato consegnato.', 'Motivo: 5.1.1 - indirizzo non valido'],
      ['Korean', '메일 전송이 실패하였습니다.', '실패 사유: 존재하지 않는 이메일 주소입니다. (550 5.1.1 No such user)'],
      ['a language without words here', 'Xabar yetkazilmadi.', '#550 5.1.1 <joe@receiver.example>: user unknown'],
    ] as const
  ).map(([language, first, said]): [string, Buffer, readonly Wanted[], boolean] => [
    language,
    Buffer.from(
      notice(DAEMON, 'Mail', `${first}\n\njoe@receiver.example\n${said}`)
        .toString()
        .replace('Date:', 'MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nDate:'),
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true }],
    false,
  ]),
  [
    'Exim, of a domain whose MX records lead nowhere',
    notice(
      DAEMON,
      'Mail delivery failed: returning message to sender',
      'The following address(es) failed:\n\n  joe@receiver.example\n    all relevant MX records point to non-existent hosts',
    ),
    [{ address: 'joe@receiver.example', about: ['recipient_domain'], permanent: true }],
    false,
  ],
  [
    'cPanel, over the limit of the sending domain',
    notice(
      DAEMON,
      'Mail delivery failed: returning message to sender',
      'This is a permanent error.\n\n  joe@receiver.example\n    Domain foundry.example has exceeded the max emails per hour (251/250 (100%)) allowed.  Message discarded.',
    ),
    [{ address: 'joe@receiver.example', about: ['sending_host'], permanent: true }],
    false,
  ],
  [
    'Postfix, whose words go on with an address',
    notice(
      DAEMON,
      'Undelivered Mail Returned to Sender',
      '<joe@receiver.example>: host smtp.receiver.example[192.0.2.1] said: 553 5.7.1\n    <sales@foundry.example>: Sender address rejected: not owned by user\n    ann@foundry.example (in reply to RCPT TO command)',
    ),
    [{ address: 'joe@receiver.example', about: ['sender_address'], permanent: true, code: 553 }],
    false,
  ],
  [
    'SurgeMail',
    notice(
      'postmaster@foundry.example',
      'Email delivery error',
      'Your message cannot be delivered to the following recipients:\n\nRecipient address: joe@receiver.example\nReason: Remote SMTP server has rejected address\nDiagnostic code: smtp;550 5.1.1 unknown user',
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true, code: 550 }],
    false,
  ],
  [
    'Gmail, of a delay, in Spanish',
    notice(
      DAEMON,
      'Delivery Status Notification (Delay)',
      'Se ha producido un problema temporal al entregar tu mensaje a joe@receiver.example. Gmail lo volvera a intentar.',
    ),
    [{ address: 'joe@receiver.example', action: 'delayed', permanent: false }],
    false,
  ],
  [
    'a report that is attached as a text',
    Buffer.from(
      notice(
        DAEMON,
        'Mail Delivery Failure',
        '--q\n\nYour mail to joe@receiver.example could not be delivered.\n--q\nContent-Type: text/plain; name="details.txt"\n\nReporting-MTA: dns; foundry.example\n\nFinal-Recipient: rfc822; joe@receiver.example\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 User unknown\n--q--\n',
      )
        .toString()
        .replace('Date:', 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=q\r\nDate:'),
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true, code: 550 }],
    false,
  ],
  [
    'Yahoo, with a colon behind the code',
    notice(
      DAEMON,
      'Failure Notice',
      "<joe@receiver.example>:\n554: delivery error: dd This user doesn't have an account",
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true, code: 554 }],
    false,
  ],
  [
    'Postfix, pasted without its header',
    Buffer.from(
      'your message could not\nbe delivered to one or more recipients.\n\n<joe@receiver.example>: host mx.receiver.example[192.0.2.1] said: 550 5.1.1\n    User unknown (in reply to RCPT TO command)',
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true, code: 550 }],
    false,
  ],
  [
    'a report, pasted without its header',
    Buffer.from(
      'Reporting-MTA: dns; foundry.example\n\nFinal-Recipient: rfc822; joe@receiver.example\nAction: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp; 552 5.2.2 mailbox full',
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true, code: 552 }],
    false,
  ],
  [
    'Outlook, pasted with the header of the message behind it',
    Buffer.from(
      `Your message to joe@receiver.example couldn't be delivered.\n\nRemote Server returned '550 5.1.10 RESOLVER.ADR.RecipientNotFound'\n\nOriginal message headers:\n\n${RETURNED}`,
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true, code: 550 }],
    true,
  ],
  [
    'a notice in German',
    notice(
      'Mail Delivery System <MAILER-DAEMON@foundry.example>',
      'Unzustellbar: Zahlen der Woche',
      `Ihre Nachricht konnte nicht zugestellt werden:

joe@receiver.example:
550 5.2.1 Das Postfach ist deaktiviert`,
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true }],
    false,
  ],
  [
    'iCloud, whose notice names the Message-ID first',
    notice(
      'postmaster@receiver.example',
      'Delivery Notification: Delivery has failed',
      'Your message cannot be delivered.\n\n  Message-id: <m1@foundry.example>\n\n  Recipient address: joe@receiver.example\n  Reason: Remote SMTP server has rejected address\n  Diagnostic code: smtp;550 5.2.1 mailbox disabled',
    ),
    [{ address: 'joe@receiver.example', action: 'failed', about: ['mailbox'], permanent: true }],
    false,
  ],
  [
    'ezmlm, whose warning is about a failure',
    notice(
      DAEMON,
      'ezmlm warning',
      'Messages to you seem to have been bouncing.\n\n<joe@receiver.example>:\n192.0.2.9 failed after I sent the message.\nRemote host said: 550 5.7.1 spam content rejected',
    ),
    [{ address: 'joe@receiver.example', action: 'failed', about: ['message'], permanent: true }],
    false,
  ],
  [
    'Outlook, as it is copied from the program',
    Buffer.from(
      "Your message did not reach some or all of the intended recipients.\n\n      Subject: Figures\n      Sent: 26.11.2026 10:00\n\nThe following recipient(s) cannot be reached:\n\n      'joe@receiver.example' on 26.11.2026 10:00\n            550 5.1.1 User unknown",
    ),
    [{ address: 'joe@receiver.example', action: 'failed', about: ['mailbox'], permanent: true }],
    false,
  ],
  [
    'Google Groups, whose words stand in front of the address',
    notice(
      DAEMON,
      'Delivery Status Notification (Failure)',
      'The group you tried to contact (team) may not exist, or you may not have permission to post messages to the group.\n\nteam@receiver.example',
    ),
    [{ address: 'team@receiver.example', about: ['mailbox'], permanent: true }],
    false,
  ],
  [
    'Yahoo, as it is copied from the page',
    Buffer.from(
      'Sorry, we were unable to deliver your message to the following address.\n\n<joe@receiver.example>:\n554: 30 This mailbox is disabled (554.30).',
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true, code: 554 }],
    false,
  ],
  [
    'T-Online, of a mailbox whose contract was ended',
    notice(
      DAEMON,
      'Nachricht nicht zugestellt',
      'Nicht zugestellt:\n\n  joe@receiver.example\n\nGrund: Der Empfänger hat sein Postfach gekündigt.',
    ),
    [{ address: 'joe@receiver.example', about: ['mailbox'], permanent: true }],
    false,
  ],
  [
    'Gmail, forwarded by a person',
    Buffer.from(
      "---------- Forwarded message ---------\nFrom: Mail Delivery Subsystem <mailer-daemon@gmail.example>\nDate: Fri, Nov 20, 2026 at 10:00 AM\nSubject: Delivery Status Notification (Failure)\nTo: <ann@foundry.example>\n\nYour message wasn't delivered to joe@receiver.example because the address couldn't be found.\n\n550 5.1.1 The account does not exist",
    ),
    [{ address: 'joe@receiver.example', action: 'failed', about: ['mailbox'], permanent: true, status: '5.1.1' }],
    false,
  ],
  [
    'Outlook in German, forwarded by a person',
    Buffer.from(
      "Von: Microsoft Outlook <postmaster@outlook.example>\nGesendet: Freitag, 20. November 2026 10:00\nAn: Ann Weber\nBetreff: Unzustellbar: Zahlen\n\nIhre Nachricht an joe@receiver.example konnte nicht zugestellt werden.\nRemoteserver hat '550 5.1.10 RESOLVER.ADR.RecipientNotFound; not found' zurückgegeben",
    ),
    [{ address: 'joe@receiver.example', action: 'failed', about: ['mailbox'], permanent: true, status: '5.1.10' }],
    false,
  ],
  [
    'Postfix, quoted by a mail program',
    Buffer.from(
      '> Begin forwarded message:\n>\n> From: MAILER-DAEMON@mail.foundry.example (Mail Delivery System)\n> Subject: Undelivered Mail Returned to Sender\n> Date: 20 November 2026 at 10:00:00 CET\n> To: ann@foundry.example\n>\n> <joe@receiver.example>: host mx.receiver.example[192.0.2.9] said: 552 5.2.2\n>     <joe@receiver.example> Mailbox full (in reply to RCPT TO command)',
    ),
    [{ address: 'joe@receiver.example', action: 'failed', about: ['mailbox'], permanent: true, status: '5.2.2' }],
    false,
  ],
  [
    'MDaemon, whose subject names the cause',
    notice(
      'MDaemon@receiver.example',
      'Warning: joe@receiver.example - User unknown!',
      'Failed address: joe@receiver.example\n\n--- Session Transcript ---\n --> RCPT To:<joe@receiver.example>\n <-- 550 5.7.1 Rejected: 192.0.2.1 has no PTR record',
    ),
    [{ address: 'joe@receiver.example', about: ['sending_host'], permanent: true, status: '5.7.1' }],
    false,
  ],
  [
    'qmail, of an address of ours that is listed',
    notice(
      DAEMON,
      'failure notice',
      '<joe@receiver.example>:\nConnected to 192.0.2.9 but greeting failed.\nRemote host said: 554 5.7.1 Your address 192.0.2.1 is on our local blocklist',
    ),
    [{ address: 'joe@receiver.example', about: ['sending_host'], permanent: true }],
    false,
  ],
  [
    'Exchange, whose connection was refused',
    notice(
      DAEMON,
      'Delivery delayed: Hello',
      '<joe@receiver.example>: 451 4.4.316 Connection refused [Message=Socket error code 10061]',
    ),
    [{ address: 'joe@receiver.example', action: 'delayed', about: ['recipient_domain'], permanent: false }],
    false,
  ],
  [
    'Gmail, of a domain that does not exist, with a status for now',
    Buffer.from(
      'Return-Path: <>\r\nFrom: mailer-daemon@gmail.example\r\nContent-Type: multipart/report; report-type=delivery-status; boundary="g"\r\n\r\n--g\r\n\r\nNot delivered.\r\n--g\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; gmail.example\r\n\r\nFinal-Recipient: rfc822; joe@reciever.example\r\nAction: failed\r\nStatus: 4.0.0\r\nDiagnostic-Code: smtp; DNS Error: lookup of reciever.example responded with code NXDOMAIN Domain name not found\r\n\r\n--g--\r\n',
    ),
    [{ address: 'joe@reciever.example', action: 'failed', about: ['recipient_domain'], status: '4.0.0' }],
    false,
  ],
  [
    'Barracuda',
    notice(
      'postmaster@receiver.example',
      '**Message you sent blocked by our bulk email filter**',
      'Your message to: joe@receiver.example\nwas blocked by our Spam Firewall. The email you sent has NOT BEEN DELIVERED.',
    ),
    [{ address: 'joe@receiver.example', about: ['message', 'policy'], permanent: true }],
    false,
  ],
])('reads the notice of %s', (_, octets, recipients, isReturned) => {
  const bounce = read(octets)
  expect(faultsOf(bounce, recipients)).toEqual([])
  expect(bounce?.returned?.subject).toBe(isReturned ? 'Figures of the week' : undefined)
})

const JOE = 'joe@receiver.example'
const REPORTED = (words: string, fields: string): Buffer =>
  Buffer.from(
    `From: ${DAEMON}\nContent-Type: multipart/report; report-type=delivery-status; boundary="r"\n\n--r\n\n${words}\n--r\nContent-Type: message/delivery-status\n\n${fields}\n\n--r\nContent-Type: message/rfc822\n\n${RETURNED}\n--r--\n`.replaceAll(
      '\n',
      '\r\n',
    ),
  )
/** The same by what was pasted of it, and by what the interfaces of providers tell. */
it.each<[what: string, given: Buffer | string, wanted: Wanted, isReturned?: boolean]>([
  [
    'a report of Gmail without fields',
    REPORTED(
      `** Address not found **\n\nYour message wasn't delivered to ${JOE} because the address couldn't be found.`,
      '',
    ),
    { address: JOE, about: ['mailbox'], permanent: true },
    true,
  ],
  [
    'a report of Gmail without a diagnosis',
    REPORTED(
      `Your message wasn't delivered to ${JOE} because the address couldn't be found.`,
      `Reporting-MTA: dns; gmail.example\n\nFinal-Recipient: rfc822; ${JOE}\nAction: failed\nStatus: 5.0.0`,
    ),
    { address: JOE, about: ['mailbox'], permanent: true, status: '5.0.0' },
    true,
  ],
  [
    'a report of McAfee, which has Original-Recipient alone',
    REPORTED(
      'The following addresses had delivery problems',
      `Original-Recipient: <${JOE}>\nAction: failed\nDiagnostic-Code: smtp; 550 Unknown user ${JOE}`,
    ),
    { address: JOE, about: ['mailbox'], permanent: true, code: 550 },
    true,
  ],
  [
    'a report whose boundary was changed',
    Buffer.from(
      REPORTED(
        'Your message could not be delivered.',
        `Reporting-MTA: dns; mail.foundry.example\n\nFinal-Recipient: rfc822; ${JOE}\nAction: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp; 552 5.2.2 over quota`,
      )
        .toString()
        .replace('boundary="r"', 'boundary="s"'),
    ),
    { address: JOE, action: 'failed', about: ['mailbox'], status: '5.2.2', code: 552 },
  ],
  [
    'a report of a host that gave up, without a diagnosis',
    REPORTED(
      '',
      `Reporting-MTA: dns; mail.foundry.example\n\nFinal-Recipient: rfc822; ${JOE}\nAction: failed\nStatus: 4.4.7`,
    ),
    { address: JOE, action: 'failed', about: ['recipient_domain'], status: '4.4.7', says: 'reached' },
    true,
  ],
  [
    'GroupWise, which names no address',
    notice(
      DAEMON,
      'Message status - undeliverable',
      `The message that you sent was undeliverable to the following:\n\tjoe (user not found)\n\nPossibly truncated original message follows:\n\n${RETURNED}`,
    ),
    { address: JOE, about: ['mailbox'], permanent: true },
    true,
  ],
  [
    'MailEnable',
    notice(
      'Delivery Subsystem <postmaster@foundry.example>',
      'Message Delivery Failure',
      `Message could not be delivered to some recipients.\n\n\tRecipient: [SMTP:${JOE}]\n\tReason: Remote SMTP Server Returned: 550 5.7.1 SPF: 192.0.2.8 is not allowed to send mail from foundry.example\n\nMessage contents follow:\n\n${RETURNED}`,
    ),
    { address: JOE, about: ['sender_domain'], permanent: true, code: 550, says: 'SPF' },
    true,
  ],
  [
    'MDaemon, whose dialogue comes first',
    notice(
      'MDaemon <MDaemon@foundry.example>',
      'Permanent Delivery Failure',
      `  --> RCPT To:<${JOE}>\n  <-- 550 5.1.1 User unknown\n\nFailed address: ${JOE}\n\n--- End of transcript ---`,
    ),
    { address: JOE, about: ['mailbox'], permanent: true, code: 550, status: '5.1.1' },
  ],
  [
    'Yahoo, of a domain without an MX record',
    notice(
      DAEMON,
      'Failure Notice',
      `Sorry, we were unable to deliver your message.\n\n<${JOE}>:\nNo mx record found for domain=receiver.example`,
    ),
    { address: JOE, about: ['recipient_domain'], permanent: true },
  ],
  [
    'Exchange 2003, by its administrator',
    notice(
      'System Administrator <admin@receiver.example>',
      'E',
      `Your message\n\ndid not reach the following recipient(s):\n\n${JOE} on Fri\n    The recipient name is not recognized`,
    ),
    { address: JOE, about: ['mailbox'], permanent: true },
  ],
  ...(
    [
      ['retry timeout exceeded', 'reached'],
      ['all hosts have been failing for a long time', 'reached'],
      ['554 5.4.14 Hop count exceeded - possible mail loop', 'circle'],
      ['550 5.4.312 Message expired, DNS query failed', 'DNS'],
      ['Message expired: unable to deliver in 840 minutes. <421 4.4.2 Connection timed out>', 'reached'],
    ] as const
  ).map(([said, says]): [string, Buffer, Wanted] => [
    said,
    notice(DAEMON, 'Mail delivery failed', `The following address(es) failed:\n\n  ${JOE}\n    ${said}`),
    { address: JOE, action: 'failed', about: ['recipient_domain'], says },
  ]),
  // Who gave up says how long it tried: whether the cause is permanent is by its status.
  ...(
    [
      ['4.4.1', 'connect to mx.receiver.example[192.0.2.9]:25: Connection timed out'],
      ['5.0.0', 'retry timeout exceeded'],
      ['5.0.0', 'all hosts have been failing for a long time and were last tried after this message arrived'],
    ] as const
  ).map(([status, said]): [string, Buffer, Wanted, boolean] => [
    `gave up, ${status} ${said}`,
    REPORTED(
      '',
      `Reporting-MTA: dns; mail.foundry.example\n\nFinal-Recipient: rfc822; ${JOE}\nAction: failed\nStatus: ${status}\nDiagnostic-Code: X-Host; ${said}`,
    ),
    { address: JOE, action: 'failed', about: ['recipient_domain'], status, permanent: false },
    true,
  ]),
  [
    'cPanel, of a domain that failed too often',
    notice(
      DAEMON,
      'Mail delivery failed',
      `  ${JOE}\n    Domain foundry.example has exceeded the max defers and failures per hour (5/5 (100%)) allowed. Message discarded.`,
    ),
    { address: JOE, about: ['sending_host'], permanent: true, says: 'own host' },
  ],
  [
    'an address on the suppression list of a provider',
    REPORTED(
      '',
      `Reporting-MTA: dns; ses.example\n\nFinal-Recipient: rfc822; ${JOE}\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: Amazon SES has suppressed sending to this address because it bounced before.`,
    ),
    { address: JOE, about: ['mailbox'], status: '5.1.1', says: 'suppression list' },
    true,
  ],
  [
    'a pasted notice of Gmail that goes on',
    `Delivery incomplete\nThere was a temporary problem delivering your message to ${JOE}. Gmail will retry for 46 more hours.\nThe response was:\nThe recipient server did not accept our requests to connect.`,
    { address: JOE, action: 'delayed', about: ['recipient_domain'], permanent: false },
  ],
  [
    'a pasted notice of Domino, which has a subject in it',
    `Your message\n\n  Subject: Figures of the week\n\nwas not delivered to:\n\n  ${JOE}\n\nbecause:\n\n  User joe (${JOE}) not listed in Domino Directory`,
    { address: JOE, about: ['mailbox'], permanent: true },
  ],
  [
    'a pasted notice of Exchange in German, with the header',
    `Fehler bei der Nachrichtenzustellung an folgende Empfänger oder Gruppen:\n\n${JOE}\n\nRemote Server returned '550 5.7.1 RESOLVER.RST.AuthRequired; authentication required'\n\nUrsprüngliche Nachrichtenköpfe:\n\nReceived: from a.example by b.example; Fri, 20 Nov 2026 10:00:00 +0000\n${RETURNED}`,
    { address: JOE, about: ['mailbox', 'policy'], permanent: true, code: 550, status: '5.7.1' },
    true,
  ],
  [
    'a paragraph of a notice of Exim',
    `${JOE}\n    host mx.receiver.example [192.0.2.9]\n    SMTP error from remote mail server after initial connection:\n    554 Blocked - see https://lists.example/?ip=192.0.2.8`,
    { address: JOE, about: ['sending_host'], permanent: true, code: 554 },
  ],
  [
    'a paragraph of a notice of Postfix',
    `<${JOE}>: host mx.receiver.example[192.0.2.9] refused to talk to me: 554\n    IP=192.0.2.8 - A problem occurred.`,
    { address: JOE, about: ['sending_host'], permanent: true, code: 554, remote: 'mx.receiver.example' },
  ],
  [
    'a paragraph of Postfix, whose MX record leads to itself',
    `<${JOE}>: mail for receiver.example loops back to myself`,
    { address: JOE, about: ['recipient_domain'], permanent: true, says: 'circle' },
  ],
  [
    'the diagnosis of Exchange',
    `Generating server: a.prod.outlook.example\n${JOE}\nRemote server returned '550 5.7.708 Access denied, traffic not accepted from this IP'`,
    { address: JOE, about: ['sending_host'], permanent: true, code: 550, status: '5.7.708' },
  ],
  [
    'the queue of Postfix',
    `-Queue ID-  --Size-- ----Arrival Time---- -Sender/Recipient-------\n4WxAA1       2048 Fri Nov 20 10:00:01  ann@foundry.example\n(host mx.receiver.example[192.0.2.9] said: 450 4.2.0 Greylisted (in reply to RCPT TO command))\n                                         ${JOE}\n\n-- 2 Kbytes in 1 Request.`,
    { address: JOE, action: 'delayed', about: ['policy'], permanent: false, code: 450 },
  ],
  [
    'a provider that did not send again to an address that bounced',
    JSON.stringify({
      event: 'failed',
      reason: 'old',
      recipient: JOE,
      'delivery-status': { code: 605, description: 'Not delivering to previously bounced address' },
    }),
    { address: JOE, action: 'failed', about: ['mailbox'], says: 'suppression list' },
  ],
  [
    'Microsoft 365, whose check of MTA-STS failed',
    `Your message to ${JOE} couldn't be delivered.\n\nRemote server returned '550 5.4.8 MX hosts failed MTA-STS validation.'`,
    { address: JOE, about: ['recipient_domain'], permanent: true, status: '5.4.8', says: 'MTA-STS' },
  ],
  [
    'DragonFly, whose address stands in a sentence',
    notice(
      DAEMON,
      'Mail delivery failed',
      `This is the DragonFly Mail Agent.\n\nThere was an error delivering your mail to <${JOE}>.\n\nCould not deliver for the last 432000 seconds. Giving up.\n\nMessage headers follow.\n\n${RETURNED}`,
    ),
    { address: JOE, about: ['recipient_domain'], says: 'reached' },
    true,
  ],
  [
    'Postfix, whose connection was lost in the greeting',
    `<${JOE}>: lost connection with mx.receiver.example[192.0.2.9] while performing the HELO handshake`,
    { address: JOE, about: ['recipient_domain'], says: 'reached' },
  ],
  [
    'a reply in brackets',
    `The message could not be delivered: server <mx.receiver.example> rejected recipient <${JOE}>. It responded: [550 5.1.1 User unknown]. The attachment contains the headers.`,
    { address: JOE, about: ['mailbox'], permanent: true, code: 550 },
  ],
  [
    'a message to oneself',
    Buffer.from(
      REPORTED(
        '',
        `Reporting-MTA: dns; a.example\n\nFinal-Recipient: rfc822; ${JOE}\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 <${JOE}>... User unknown`,
      )
        .toString()
        .replace('Ann Weber <ann@foundry.example>', `Joe <${JOE}>`),
    ),
    { address: JOE, about: ['mailbox'], permanent: true },
    true,
  ],
  [
    'a paragraph of Exim without its first lines',
    `The following address(es) failed:\n\n  ${JOE}\n    No Such User Here`,
    { address: JOE, about: ['mailbox'], permanent: true },
  ],
  [
    'a warning in German',
    `Ihre Nachricht konnte noch nicht zugestellt werden.\n\n${JOE}\nconnect to mx.receiver.example[192.0.2.9]:25: Connection refused`,
    { address: JOE, action: 'delayed', about: ['recipient_domain'], permanent: false },
  ],
  [
    'a line of the log of Postfix',
    `Nov 20 10:00:05 mx postfix/smtp[4711]: 4WxAA1: to=<${JOE}>, relay=mx.receiver.example[192.0.2.9]:25, dsn=5.1.1, status=bounced (host mx.receiver.example[192.0.2.9] said: 550 5.1.1 User unknown (in reply to RCPT TO command))`,
    { address: JOE, about: ['mailbox'], permanent: true, code: 550 },
  ],
  [
    'a line of the log of Exim',
    `2026-11-20 10:00:05 1tDfoo-000001-AB ** ${JOE} R=dnslookup T=remote_smtp: SMTP error from remote mail server after RCPT TO:<${JOE}>: 550 5.1.1 User unknown`,
    { address: JOE, about: ['mailbox'], permanent: true, code: 550 },
  ],
  ...(
    [
      {
        notificationType: 'Bounce',
        bounce: {
          bouncedRecipients: [{ emailAddress: JOE, status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 user unknown' }],
        },
        mail: { destination: [JOE] },
      },
      [{ event: 'bounce', email: JOE, reason: '550 5.1.1 user unknown', status: '5.1.1' }],
      {
        'event-data': {
          event: 'failed',
          recipient: JOE,
          'delivery-status': { code: 550, message: '5.1.1 user unknown' },
        },
      },
      [
        { email: JOE, event: 'bounce', reason: '550 5.1.1 user unknown' },
        { email: 'eve@other.example', event: 'delivered', response: '250 OK' },
      ],
      { Type: 'HardBounce', Email: JOE, Details: 'smtp;550 5.1.1 user unknown' },
      { msys: { message_event: { type: 'bounce', rcpt_to: JOE, raw_reason: '550 5.1.1 user unknown' } } },
    ] as const
  ).map((call): [string, string, Wanted] => [
    'the call of a webhook',
    JSON.stringify(call),
    { address: JOE, action: 'failed', about: ['mailbox'], permanent: true, status: '5.1.1' },
  ]),
])('reads %s', (_, given, wanted, isReturned = false) => {
  const bounce = read(Buffer.from(given))
  expect(faultsOf(bounce, [wanted])).toEqual([])
  expect(bounce?.returned?.subject).toBe(isReturned ? 'Figures of the week' : undefined)
  // As a form of a page sends what was pasted
  if (typeof given === 'string') expect(read(Buffer.from(given.replaceAll('\n', '\r\n')))).toEqual(bounce)
})

it.each([
  [
    'GMX',
    '"joe@receiver.example":\nSMTP error from remote server after RCPT command:\n5.1.1 User Unknown\n"eve@receiver.example":\nSMTP error from remote server after RCPT command:\n5.2.2 Mailbox Full',
  ],
  [
    'Zoho',
    'joe@receiver.example Invalid Address, ERROR_CODE :550, ERROR_CODE :5.1.1 User Unknown\neve@receiver.example Invalid Address, ERROR_CODE :552, ERROR_CODE :5.2.2 Mailbox Full\n\nReceived:from mail.zoho.example by mx.zoho.example\nSubject:Hello',
  ],
  [
    'Exchange 2003',
    'joe@receiver.example on Thu, 19 Nov 2026 16:51:51 -0500\n    The recipient name is not recognized\neve@receiver.example on Thu, 19 Nov 2026 16:51:51 -0500\n    The mailbox is full',
  ],
])('%s tells of two recipients', (_, words) => {
  const bounce = read(notice(DAEMON, 'Mail delivery failed', `Your message could not be delivered.\n\n${words}`))
  const wanted = ['joe', 'eve'].map((name) => ({
    address: `${name}@receiver.example`,
    about: ['mailbox'],
    permanent: true,
  }))
  expect(faultsOf(bounce, wanted)).toEqual([])
  expect(bounce?.recipients.map(({ meaning }) => /full/.test(meaning))).toEqual([false, true])
})

it.each([
  ['a message of a person', notice('Joe <joe@receiver.example>', 'Lunch', 'joe@receiver.example\n550 is my room')],
  [
    'an automatic reply',
    notice('Joe <joe@receiver.example>', 'Automatic reply', 'I am away. Delivery of parcels failed.'),
  ],
  [
    'an automatic reply that says that nobody reads the message',
    Buffer.from(
      notice(
        'Joe <joe@receiver.example>',
        'Your message',
        'It was not delivered to me. Write to team@receiver.example.',
      )
        .toString()
        .replace('Date:', 'Auto-Submitted: auto-replied\r\nDate:'),
    ),
  ],
  [
    'a challenge',
    Buffer.from(
      notice('Joe <joe@receiver.example>', 'Confirm', 'Your message has been delayed until you click this link.')
        .toString()
        .replace('Date:', 'Auto-Submitted: auto-replied\r\nDate:'),
    ),
  ],
  ['a digest of a quarantine', notice('postmaster@x.example', 'Held', 'joe@x.example  Offer  score 5.1.2')],
  ['a newsletter of a postmaster', notice('postmaster@x.example', 'News', 'Write to\n\nsales@x.example\n\nfor more.')],
])('%s is no bounce', (_, octets) => expect(read(octets)).toBeUndefined())

const SAID = '550 5.1.1 <joe@receiver.example>: User unknown'
it.each([
  ['550 5.1.1 User unknown'],
  ['5.7.515 Access denied'],
  ['#5.1.1'],
  ['554-no\n554 more'],
  ['550'],
  [`host mx.receiver.example[192.0.2.1] said: ${SAID} (in reply to RCPT TO command)`, SAID],
  [`"${SAID}"`, SAID],
  [`> ${SAID}`, SAID],
  [`smtp; ${SAID}`, SAID],
  [`Diagnostic-Code: smtp; ${SAID}`, SAID],
  [`We got this:\n\n${SAID}\n`, SAID],
  ["Remote Server returned '550 5.1.10 not found'", '550 5.1.10 not found'],
  ['SMTP error from remote mail server after RCPT TO:<joe@receiver.example>: 550 No such user', '550 No such user'],
  [
    `mail postfix/smtp[12]: 4Xy: to=<joe@receiver.example>, dsn=5.1.1, status=bounced (host mx said: ${SAID} (in reply to RCPT TO command))`,
    SAID,
  ],
  ["SMTPRecipientsRefused: {'joe@receiver.example': (550, b'5.1.1 User unknown')}", '550 5.1.1 User unknown'],
  [`220 mx ESMTP\nEHLO a\n250 mx\nRCPT TO:<joe@receiver.example>\n${SAID}\nQUIT\n221 Bye`, SAID],
  ['Der Server sagte: 552 5.2.2 Postfach voll', '552 5.2.2 Postfach voll'],
  ['sm-mta[12]: 62: to=<joe@receiver.example>, dsn=5.1.1, stat=User unknown', '5.1.1, stat=User unknown'],
  ['SMTP Error Code: 550\n5.1.1 User unknown', '550 5.1.1 User unknown'],
  [
    'SMTP server error: DATA END command failed Detail: rejected by SPF policy SMTP code: 550 Additional SMTP info: 5.7.1',
    '550 5.7.1 rejected by SPF policy',
  ],
  ['Error code: 552\r\n\r\nMessage: mailbox full', '552 mailbox full'],
  ['Erreur SMTP 550 :\nboîte pleine', '550 boîte pleine'],
  ['550\n5.1.1 no such user', '550 5.1.1 no such user'],
  [
    'The mail server responded:\n5.7.1 <joe@receiver.example>: Relay access denied',
    '5.7.1 <joe@receiver.example>: Relay access denied',
  ],
  ['SMTP Error: recipients failed: joe@receiver.example: 5.7.1 not authenticated', '5.7.1 not authenticated'],
])('%j is one reply', (text, reply = text) => expect(replyIn(text)?.trim()).toBe(reply))
it.each([
  'Subject: 550\n\nx',
  '550 5.1.1 no\nFrom: x@y.example',
  '2026-11-20 10:00 x',
  'hello',
  'I sent 550 letters, and no answer came.',
  'Room 450 is free',
  'Invoice 550\nof May',
])('%j is no reply', (text) => expect(replyIn(text)).toBeUndefined())

it.each([
  ...[' ', "' ", '\n ', '> ', 'said ', '550 ', '(in reply to ', 'smtp; 4', 'delivery to ', 'a@b.example: '],
  ...['[', '{"a":', '"{\\"', '[["a","b"],', 'to=<', '** a@b.c ', '<-- 550 a\n', 'connect ', 'said: ', 'Received: a\n'],
])('looks for a reply in 64 KiB of %j', (part) => {
  const text = part.repeat(65_536 / part.length)
  for (const one of [text, `550 5.1.1 no${text}x`, `could not be delivered${text}`, `host said: 550 5.1.1 no${text}`])
    readPasted(one)
})

it.each(['<a@b.example>:\n', '550 5.1.1 a ', 'a@b.example ', '\r\n\r\nFinal-Recipient: rfc822; a@b.example', '-- -- '])(
  'reads 1 MiB of %j',
  (part) => {
    const text = part.repeat(1_048_576 / part.length)
    const fields = 'From: MAILER-DAEMON@x.example\r\nX-Failed-Recipients: a@b.example\r\n'
    const report = `Content-Type: message/delivery-status\r\n\r\n${text}`
    expect(readBounce(parseMail(Buffer.from(`${fields}\r\n${text}`)))?.recipients.length ?? 0).toBeLessThanOrEqual(100)
    expect(readBounce(parseMail(Buffer.from(fields + report)))?.recipients.length ?? 0).toBeLessThanOrEqual(100)
  },
)
