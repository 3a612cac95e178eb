import { expect, it } from 'vitest'
import { type About, explainReply } from './explain.ts'

const US = { asked: 'joe@receiver.example', sender: 'ann@foundry.example', host: 'mail.foundry.example' }

it.each<[text: string, about: About, permanent: boolean, code: number | undefined, status: string | undefined]>([
  ['550 5.1.1 The email account that you tried to reach does not exist.', 'mailbox', true, 550, '5.1.1'],
  ['552 5.2.2 mailbox is over its storage quota', 'mailbox', true, 552, '5.2.2'],
  ["452-4.2.2 The recipient's inbox is out of storage space.", 'mailbox', false, 452, '4.2.2'],
  [
    "550 5.7.515 Access denied, sending domain foundry.example doesn't meet the required authentication level.",
    'sender_domain',
    true,
    550,
    '5.7.515',
  ],
  [
    "550-5.7.1 Unauthenticated email from foundry.example is not accepted due to domain's\n550-5.7.1 DMARC policy.",
    'sender_domain',
    true,
    550,
    '5.7.1',
  ],
  ['550 5.7.23 The message was rejected because SPF validation failed', 'sender_domain', true, 550, '5.7.23'],
  ['550 5.1.1 <ann@foundry.example>: User unknown', 'sender_address', true, 550, '5.1.1'],
  ['550 5.1.8 <ann@foundry.example>: Sender address rejected: Domain not found', 'sender_address', true, 550, '5.1.8'],
  ['554 5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org', 'sending_host', true, 554, '5.7.1'],
  ['550 5.7.25 Client host has no PTR record', 'sending_host', true, 550, '5.7.25'],
  ['530 5.7.57 Client not authenticated to send mail', 'sending_host', true, 530, '5.7.57'],
  ['552 5.3.4 Message size exceeds fixed limit', 'message', true, 552, '5.3.4'],
  ['523 5.2.3 too big for them', 'message', true, 523, '5.2.3'],
  ['554 5.7.1 Spam message rejected', 'message', true, 554, '5.7.1'],
  ['451 4.7.1 Greylisting in action, please come back later', 'policy', false, 451, '4.7.1'],
  ['550 5.7.1 rejected by organization policy', 'policy', true, 550, '5.7.1'],
  ['550 5.0.0 Requested action not taken', 'unknown', true, 550, '5.0.0'],
  ['550 5.1.2 Host or domain name not found', 'recipient_domain', true, 550, '5.1.2'],
  ['554 5.7.1 <joe@receiver.example>: Relay access denied', 'recipient_domain', true, 554, '5.7.1'],
  ['smtp; 550 5.1.1 unknown user', 'mailbox', true, 550, '5.1.1'],
  ['Sorry, no mailbox here by that name. (#5.1.1)', 'mailbox', true, undefined, '5.1.1'],
  [
    'connect to mx.receiver.example[192.0.2.9]:25: Connection timed out',
    'recipient_domain',
    false,
    undefined,
    undefined,
  ],
  ['4.4.1 connection timed out', 'recipient_domain', false, undefined, '4.4.1'],
  ['retry timeout exceeded', 'recipient_domain', false, undefined, undefined],
  ['5.0.0 retry timeout exceeded', 'recipient_domain', false, undefined, '5.0.0'],
  ['mailbox is full: retry timeout exceeded', 'mailbox', false, undefined, undefined],
  ['a TLS session is required, but the server did not offer TLS', 'recipient_domain', false, undefined, undefined],
  ['5.4.7 delivery time expired', 'recipient_domain', true, undefined, '5.4.7'],
])('%j is about the %s', (text, about, permanent, code, status) => {
  const { meaning, toDo, reason, ...read } = explainReply(text, US)
  expect(read).toEqual({ about, permanent, ...(code && { code }), ...(status && { status }) })
  expect(meaning).toMatch(/^[A-Z].*\.$/)
})

/** Replies and words of senders that name what is wrong, and what their explanation has to say. */
it.each<[text: string, about: About, meaning: RegExp, toDo?: RegExp]>([
  [
    '450 4.7.321 starttls-not-supported: Destination mail server must support TLS',
    'recipient_domain',
    /no TLS/,
    /postm/,
  ],
  ['450 4.7.323 tlsa-invalid: The domain failed DANE validation', 'recipient_domain', /DANE/, /TLSA/],
  ['450 4.7.322 certificate-expired: The certificate is expired', 'recipient_domain', /certificate/, /postmaster/],
  [
    '450 4.7.324 dnssec-invalid: Destination domain returned invalid DNSSEC',
    'recipient_domain',
    /DNSSEC/,
    /postmaster/,
  ],
  ['450 4.7.325 remote-certificate-mismatch', 'recipient_domain', /certificate/, /postmaster/],
  ['TLS is required, but was not offered by host mx.receiver.example[192.0.2.9]', 'recipient_domain', /no TLS/],
  ['4.7.4 TLS is required, but was not offered by host mx.receiver.example[192.0.2.9]', 'recipient_domain', /no TLS/],
  ['a TLS session is required, but the server did not offer TLS support', 'recipient_domain', /no TLS/],
  ['4.7.5 Server certificate not trusted', 'recipient_domain', /certificate/],
  ['Server certificate not verified', 'recipient_domain', /certificate/],
  ['5.7.5 Cannot start TLS: handshake failure', 'recipient_domain', /TLS/],
  ['454 4.7.0 TLS not available', 'recipient_domain', /TLS/],
  ['454 TLS not available due to temporary reason', 'recipient_domain', /TLS/],
  ['5.4.8 MX hosts of receiver.example failed MTA-STS validation', 'recipient_domain', /MTA-STS/],
  ['450 4.7.5 Certificate chain is not trusted', 'recipient_domain', /certificate/],
  ['450 4.4.317 Cannot establish session with remote server [Message=SubjectMismatch]', 'recipient_domain', /certif/],
  ['TLS session: (gnutls_handshake): The TLS connection was non-properly terminated.', 'recipient_domain', /TLS/],
  ['550 5.7.1 STARTTLS required; your server does not support TLS', 'sending_host', /sending host/, /STARTTLS/],
  ['554 5.7.0 Your TLS certificate is not trusted', 'sending_host', /certificate/, /certificate/],
  ['551 not our user; please try joe@new.example', 'mailbox', /5321/, /new address/],
  ['550 user moved, forward to joe@new.example', 'mailbox', /5321/, /new address/],
  ['554 5.7.1 Message contains virus or spam', 'message', /spam/, /filters/],
  ['554 5.7.1 Your IP is infected with malware', 'sending_host', /malware/, /delisting/],
  ['530 5.7.0 Must issue a STARTTLS command first', 'sending_host', /only over TLS/],
  ['554 5.7.1 TLS required for incoming mail', 'sending_host', /only over TLS/],
  ['TLS is required, but our TLS engine is unavailable', 'sending_host', /TLS/],
  [
    '550 5.7.1 the group (team) may not exist, or you may not have permission to post',
    'mailbox',
    /group/,
    /name.*owner/,
  ],
  [
    'Hello ann@foundry.example, the group you tried to contact (team) may not exist, or you may not have permission.',
    'mailbox',
    /group/,
    /name.*owner/,
  ],
  ['551 5.1.6 User has moved; please try <new@other.example>', 'mailbox', /5321/, /new address in the reply/],
  ['551 User not local; please try <new@other.example>', 'mailbox', /5321/, /new address in the reply/],
  ['550 5.1.6 mailbox has moved to new@other.example', 'mailbox', /5321/, /new address in the reply/],
  ['551 User not local; please contact <postmaster@receiver.example>', 'mailbox', /no such/, /spelling/],
  ['551 5.1.6 Recipient has moved', 'mailbox', /moved/, /Ask the recipient/],
  ['550 5.1.1 <joe@receiver.example>: User unknown', 'mailbox', /no such/, /spelling/],
  ['550 5.1.1 User unknown, please contact postmaster@receiver.example', 'mailbox', /no such/, /spelling/],
  [
    '550 5.7.350 Remote server returned message detected as spam -> 554 5.7.1 Message rejected as spam',
    'message',
    /spam/,
    /filters/,
  ],
  ['550 5.7.501 Access denied, spam abuse detected from ann@foundry.example', 'sender_address', /account/, /password/],
  ['550 5.7.502 Access denied, banned sender', 'sender_address', /account/, /password/],
  ['550 5.7.503 Access denied, banned sender', 'sender_address', /account/, /password/],
  ['550 5.1.8 Access denied, bad outbound sender', 'sender_address', /account/, /password/],
  ['550 5.7.606 Access denied, banned sending IP [192.0.2.1]', 'sending_host', /blocklist/],
  ['550 5.7.1 virus found', 'message', /virus/, /computer/],
  ['554 5.7.1 Message infected with malware', 'message', /malware/, /attachment/],
  ['554 5.7.1 Rejected: Win.Test.EICAR_HDB-1 (ClamAV)', 'message', /virus/, /computer/],
  ['554 5.7.1 Message rejected as spam by our anti-virus and anti-spam gateway', 'message', /spam/, /filters/],
  ['5.6.11 bare linefeeds', 'message', /bare LF/, /CRLF/],
  ['552 5.5.2 Bare LF not allowed', 'message', /bare LF/, /CRLF/],
  ['521 5.5.2 Error: bare <LF> received', 'message', /bare LF/, /CRLF/],
  ['554 5.1.20 Multiple From addresses', 'message', /From/, /one address/],
  ['550 5.1.0 OFR204_417 Boîte du destinataire archivée / Archived recipient', 'mailbox', /disabled/],
  ['571 5.7.1 Message contains unsafe links', 'message', /link/, /links/],
])('%j is about the %s in words', (text, about, meaning, toDo = /./) => {
  const explained = explainReply(text, US)
  expect(explained).toMatchObject({
    about,
    meaning: expect.stringMatching(meaning),
    toDo: expect.stringMatching(toDo),
  })
})

it.each([
  '',
  '550',
  'x'.repeat(100_000),
  '550-'.repeat(20_000),
  '\n'.repeat(10_000),
  'has moved to '.repeat(5_000),
  'tls required certificate '.repeat(3_000),
])('reads %#', (text) => expect(explainReply(text).meaning).toBeTruthy())
