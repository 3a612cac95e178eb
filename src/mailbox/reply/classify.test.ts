import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Reply, Stage } from '../../net/smtp/reply.ts'
import { providerById } from '../provider.ts'
import { isAboutRecipient, outcomeOf, type Reason } from '../reasons.ts'
import { classify } from './classify.ts'
import { LONGEST_RETRY_MS, retryAfter } from './delay.ts'
import { REPLIES } from './table.ts'

/** `550 5.1.1 text` as a reply. */
const reply = (text: string): Reply => ({ code: Number(text.slice(0, 3)), lines: text.slice(4).split('\n') })
const at = (stage: Stage, text: string): Reason => classify({ stage, reply: reply(text) }).reason

it.each(REPLIES.map((row) => [row.reply, row.reason, row.seen, row] as const))(
  '%s is %s (%s)',
  (text, reason, _, row) => {
    const verdict = classify({ stage: 'rcpt', reply: reply(text) })
    expect(verdict.reason).toBe(reason)
    expect(verdict.by).toBe('text')
    expect(row.pattern.flags).not.toContain('g')
  },
)

/** Where the words must beat the code, and the families their neighbours. */
it.each<[string, Reason]>([
  // Microsoft 365: no mailbox
  ['550 5.4.1 [user@example.org]: Recipient address rejected: Access denied. AS(201806281)', 'mailbox_not_found'],
  ['554 5.7.1 <user@example.org>: Recipient address rejected: Access denied', 'policy'], // Postfix: an access map
  ['550 5.7.1 No such user!', 'mailbox_not_found'], // Yandex
  ['552 5.1.1 Boite du destinataire pleine. Recipient overquota. OFR_417 [417]', 'mailbox_full'], // Orange
  ['452 4.3.1 Insufficient system resources (TSTE)', 'temporary_failure'], // Outlook: the server, not the mailbox
  ['452 4.3.1 Insufficient system storage', 'temporary_failure'],
  ['550 permanent failure for one or more recipients (user@example.org:blocked)', 'policy'], // Barracuda
  ['550 permanent failure for one or more recipients (user@example.org:550 5.1.1 User unknown)', 'mailbox_not_found'],
  [
    '450 4.1.1 <user@example.org>: Recipient address rejected: unverified address: Address verification in progress',
    'verification_in_progress',
  ],
  ['550 5.1.1 <user@icloud.com>: inactive email address', 'mailbox_disabled'], // iCloud
  ['550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; sender not allowed', 'recipient_restricted'],
  ['550 5.7.134 RESOLVER.RST.SenderNotAuthenticatedForMailbox; authentication required', 'recipient_restricted'],
  [
    '550 5.7.136 RESOLVER.RST.SenderNotAuthenticatedForMailUser; the recipient only accepts mail from its organization',
    'recipient_restricted',
  ],
  [
    '550 5.7.1 <user@example.org>: Recipient address rejected: Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org',
    'source_blocked',
  ],
  ['550 5.1.1 <user@example.org>: Recipient rejected, your IP 192.0.2.1 is listed by dnsbl.example', 'source_blocked'],
  ['550 5.7.1 <verify@probe.example>: Sender address rejected: User unknown in virtual alias table', 'sender_refused'],
  [
    '550-Verification failed for <verify@probe.example>\n550-Called: 192.0.2.1\n550-Response: 550 No such user\n550 Sender verify failed',
    'sender_refused',
  ], // Exim callout
  // GMX: not about the mailbox
  ['550 Requested action not taken: mailbox unavailable\nReject due to policy restrictions.', 'policy'],
  ['550 Requested action not taken: mailbox unavailable', 'mailbox_not_found'],
  ['450 Requested mail action not taken: mailbox unavailable', 'temporary_failure'], // 4xx is never final
  [
    '450 4.1.1 <user@example.org>: Recipient address rejected: User unknown in local recipient table',
    'temporary_failure',
  ], // unknown_local_recipient_reject_code 450
  [
    '451 4.7.1 <user@example.org>: Recipient address rejected: Greylisting in effect, please come back later',
    'greylisted',
  ],
  ['550 5.7.1 Message rejected due to greylisting, user unknown to us yet', 'unclear_refusal'], // a permanent code
  // words in the address are not the server's
  ['550 5.1.1 <no-such-user-greylisted@example.org> is fine but over quota', 'mailbox_full'],
  ['550 5.1.1 <spam@example.org>: User unknown', 'mailbox_not_found'],
  ['550 5.2.0 User unknown: "blocked by ip"@example.org', 'mailbox_not_found'],
  [
    '550 5.1.1 RCP-P1 http://postmaster.example/response_codes?ip=192.0.2.54#rcp Recipient address does not exist',
    'mailbox_not_found',
  ],
  ['550 5.1.0 whatever', 'unclear_refusal'], // does not say whose address
  ['550 5.1.1', 'mailbox_not_found'],
  ['550 5.1.8', 'sender_refused'],
  ['550 5.7.1', 'policy'],
  ['550 5.7.25', 'reverse_dns_required'],
  ['550 5.2.2', 'mailbox_full'],
  ['452 4.2.2', 'mailbox_full'],
  ['525 5.7.13', 'mailbox_disabled'],
  ['550', 'unclear_refusal'], // refused, and unknown why
  ['551', 'unclear_refusal'],
  ['550 Rejected', 'unclear_refusal'],
  ['550 4.1.1 gone', 'unclear_refusal'], // the codes contradict each other
  ['503 5.5.1 Error: need MAIL command', 'protocol_error'],
  ['550 5.5.4 xyzzy', 'unclear_refusal'], // the server talks to us
  ['501 xyzzy', 'unclear_refusal'],
  ['502 xyzzy', 'protocol_error'], // by the code alone
  ['556 5.1.10 Recipient address has null MX', 'null_mx'], // RFC 7505 §4.2
  ['553 5.6.7 Address requires SMTPUTF8', 'smtputf8_required'],
  ['452 4.5.3 Too many recipients', 'too_many_recipients'],
  ['421 4.7.0 Too many connections from your IP', 'rate_limited'],
  ['421 4.7.0 throttled, 192.0.2.1 too many messages', 'rate_limited'], // our address, not the mailbox
  ['421 4.7.0 Your IP has sent too many messages', 'rate_limited'],
  ['250 OK', 'mailbox_exists'],
  ['251 User not local; will forward', 'mailbox_exists'],
  ['354 go on', 'protocol_error'],
])('at RCPT %j is %s', (text, reason) => expect(at('rcpt', text)).toBe(reason))

/** Before RCPT nothing is about the mailbox, whatever the words. */
it.each<[Stage, string, Reason]>([
  ['banner', '554 no SMTP service here', 'source_blocked'],
  ['banner', '550 User unknown', 'source_blocked'],
  ['banner', '421 Too many connections', 'rate_limited'],
  ['banner', '421 busy', 'temporary_failure'],
  ['ehlo', '550 go away', 'helo_refused'],
  ['ehlo', '502 5.5.2 not implemented', 'protocol_error'],
  ['starttls', '554 5.0.0 no', 'tls_failure'],
  ['starttls', '454 4.7.0 TLS not available due to temporary reason', 'temporary_failure'],
  ['mail', '550 5.1.1 User unknown', 'sender_refused'], // our sender's mailbox
  ['mail', '550 no such user here', 'sender_refused'],
  ['mail', '552 5.2.2 Mailbox full', 'sender_refused'],
  ['mail', '530 5.7.0 Must issue a STARTTLS command first', 'tls_required'],
  ['mail', '553 5.7.1 relaying denied', 'policy'],
  ['rset', '550 what', 'unclear_refusal'],
])('at %s %j is %s', (stage, text, reason) => expect(at(stage, text)).toBe(reason))

it.each<[Stage, string, string]>([
  ['banner', '421 xyz', 'temporary_failure code'],
  ['banner', '450 xyz', 'temporary_failure stage'], // 421 alone says that the whole service is away
  ['rcpt', '450 xyz', 'temporary_failure code'],
])('at %s %j is %s', (stage, text, expected) => {
  const { reason, by } = classify({ stage, reply: reply(text) })
  expect(`${reason} ${by}`).toBe(expected)
})

it('an accepted recipient tells nothing where the provider accepts anything', () => {
  const yahoo = providerById('yahoo')
  expect(classify({ stage: 'rcpt', reply: reply('250 recipient ok'), provider: yahoo }).reason).toBe(
    'unverifiable_provider',
  )
})

it.each([
  ['450 4.2.0 Greylisted, please retry in 5 minutes', 300_000],
  ['451 4.7.1 Greylisting in action, please come back in 00:02:30', 150_000],
  ['450 4.2.0 Greylisted', 300_000], // postgrey's default
  ['450 4.1.1 unverified address: Address verification in progress', 15_000],
  ['421 4.3.2 Service unavailable', undefined],
  ['550 5.1.1 User unknown, try again in 5 minutes', undefined], // nothing to retry
])('%j asks to wait %s ms', (text, ms) => {
  const verdict = classify({ stage: 'rcpt', reply: reply(text) })
  expect(verdict.reason === 'mailbox_not_found' ? undefined : verdict.retryAfterMs).toBe(ms)
})

const WORDS = [
  'user',
  'unknown',
  'no such',
  'mailbox',
  'full',
  'blocked',
  '5.1.1',
  '4.7.1',
  '<a@b.example>',
  'sender',
  'address',
  'rejected',
  'unverified',
  'does not exist',
  'ip',
  '\n',
  ':',
  'relay',
  'denied',
  'не',
  '用户不存在',
]
const texts = fc.oneof(
  fc.string(),
  fc.array(fc.constantFrom(...WORDS), { maxLength: 30 }).map((words) => words.join(' ')),
)
const EARLY: readonly Stage[] = ['connect', 'banner', 'ehlo', 'starttls', 'mail']

it('never throws, and never blames the mailbox for a temporary reply or one before RCPT', () =>
  fc.assert(
    fc.property(
      texts,
      fc.integer({ min: 400, max: 599 }),
      fc.constantFrom<Stage>(...EARLY, 'rcpt', 'data'),
      (text, code, stage) => {
        const { reason, by } = classify({ stage, reply: { code, lines: text.split('\n') } })
        if (code < 500 || EARLY.includes(stage)) expect(reason).not.toBe('mailbox_not_found')
        if (EARLY.includes(stage)) expect(outcomeOf(reason, code).result).not.toBe('rejected')
        expect(['text', 'code', 'stage']).toContain(by)
      },
    ),
    { numRuns: 2_000 },
  ))

it.each([
  'user ',
  'a@',
  '<',
  'unknown user@',
  'recipient address rejected: ',
  'no no no ',
  ' ',
  '5.1.1.',
  'é',
  'ip from your ',
  'a',
  '[a b ',
  'the sender ',
  'mailbox of members only ',
  'receiving limit of messages ',
  'адрес ',
  'su correo ',
])('reads 64 KiB of %j', (part) => {
  const verdict = classify({ stage: 'rcpt', reply: { code: 550, lines: [part.repeat(65_536 / part.length)] } })
  expect(verdict.reason).toBeTruthy()
})

it.each([
  ['Greylisted, please retry in 5 minutes', 300_000],
  ['Greylisting in action, please come back in 00:05:00', 300_000], // milter-greylist
  ['greylisted for 60 seconds by ZEROSPAM', 60_000],
  ['please try again in 300s', 300_000],
  ['Try again in 2m', 120_000],
  ['Please wait 1 hour and retry', 3_600_000],
  ['Greylisted, come back 180 seconds later', 180_000],
  ['retry=240', 240_000],
  ['Greylist: retry after: 90 sec', 90_000],
  ['reessayez dans 5 minutes', 300_000],
  ['bitte in 10 Minuten erneut versuchen', 600_000],
  ['intente de nuevo en 3 minutos', 180_000],
  ['riprovare tra 2 ore', 7_200_000],
  ['попробуйте через 5 минут', 300_000],
  ['请在 10 分钟后重试', 600_000],
  ['please come back in one hour', 3_600_000],
  ['try again in half an hour', 1_800_000],
  ['wait an hour', 3_600_000],
  ['retry after five minutes', 300_000],
  ['in einer Stunde erneut versuchen', 3_600_000],
  ['réessayez dans une heure', 3_600_000],
  ['intente en una hora', 3_600_000],
  ['riprovare tra un’ora o tra dieci minuti', 600_000],
  ['попробуйте через пять минут', 300_000],
  ['10 messages an hour', undefined],
  ['try again in 3 days', LONGEST_RETRY_MS], // at most a day
  ['try again later', undefined],
  ['limit of 100 messages per 60 seconds', undefined], // a rate, no delay
  ['10 mails in the last 5 minutes', undefined],
  ['[AM0EUR02FT051.eop 2024-05-09T23:34:45.000Z]', undefined], // a time of day
  ['wait 0 seconds', undefined],
  ['', undefined],
])('%j is %s ms', (text, ms) => expect(retryAfter(text)).toBe(ms))

it('gives nothing or a delay within bounds', () =>
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^(?:in |for )?\d{1,8} ?(?:s|seconds|hours|m)$/)), (text) => {
      const ms = retryAfter(text)
      if (ms !== undefined) expect(ms > 0 && ms <= LONGEST_RETRY_MS).toBe(true)
    }),
  ))

it.each(['1', '1 ', 'in ', 'in 1:', '9:99:99 '])(
  'reads 64 KiB of %j',
  (part) => void retryAfter(part.repeat(65_536 / part.length)),
)

/** Our names, each in the place where a row's reply has the mailbox. */
const US = { sender: 'verify-1@probe.example', helo: 'mta.probe.example', source: '192.0.2.77' }
const PLACES: readonly string[] = [US.sender, 'bounce-7@probe.example', 'probe.example', US.helo, US.source]
const STAGES: readonly Stage[] = [...EARLY, 'rcpt', 'data']
const named = REPLIES.flatMap(({ reply: text }) =>
  PLACES.map((place) =>
    text.replace(/<?[\w.+-]+@[\w.-]+\w>?/g, (path) => (path.startsWith('<') ? `<${place}>` : place)),
  ),
).filter((text) => PLACES.some((place) => text.includes(place)))

it.each([...new Set(named)])('%j, which names only us, is never a firm word about the mailbox', (text) => {
  for (const stage of STAGES) {
    const { reason } = classify({ stage, reply: reply(text), parties: { asked: 'someone@asked.example', ...US } })
    expect(`${stage} ${outcomeOf(reason, reply(text).code).deliverability} ${reason}`).toMatch(/ unknown /)
  }
})

/** Words about a mailbox, in the place of which one of our names stands. */
const ABOUT: readonly string[] = [
  '550 5.1.1 {us} is not a valid mailbox',
  '550 5.1.1 No such user {us}',
  '550 5.2.1 {us} has been suspended',
  '552 5.2.2 mailbox of {us} is full',
  '550 5.4.4 no MX for {us}',
  '550 5.7.1 {us} relaying denied',
  '550 {us} (no such user)',
  '550 5.1.1 {us}: User unknown',
  '550 {us} does not exist',
  '550 {us} has left the company',
  '550 There is nobody called {us} here',
  '550 5.1.1 사용자 {us} 존재하지 않습니다',
  '550 5.1.1 gebruiker {us} onbekend',
  '550 5.1.1 המשתמש {us} לא קיים',
  '550 Konto {us} wurde gelöscht',
  '550 Kein Platz im Postfach von {us}',
  '550 5.1.1 {us}は退職しました',
  '550 5.1.1 xyzzy of {us}',
  '550 5.1.1 <{us}>',
  '552 {us}',
  '556 {us}',
  '550 5.1.1 Benutzer {us} unbekannt',
  "550 5.1.1 L'adresse {us} n'existe pas",
  '550 5.2.1 La cuenta {us} está deshabilitada',
  '550 5.1.1 Użytkownik {us} nie istnieje',
  '552 5.2.2 Ящик {us} переполнен',
  '550 5.1.1 ユーザー {us} は存在しません',
  '550 5.1.1 用户 {us} 不存在',
  '550 5.2.1 Ihre Adresse wurde gesperrt',
  '550 5.2.1 Votre adresse est bloquée',
  '550 5.2.1 Su dirección está bloqueada',
  '550 5.2.1 Ваш IP-адрес заблокирован',
  '550 5.2.1 您的地址被封禁',
]
/** Our names as servers may spell them, with the names that we gave. */
const SPELLINGS: readonly (readonly [us: typeof US, places: readonly string[]])[] = [
  [
    US,
    [
      ...PLACES,
      ...[
        'Verify-1@Probe.Example',
        '<VERIFY-1@PROBE.EXAMPLE>',
        '"verify-1"@probe.example',
        'verify-1 at probe.example',
      ],
      ...['smtp:verify-1@probe.example', 'verify-1@[192.0.2.77]', 'bounce=7@mta.probe.example', 'Probe.Example.'],
      ...['[192.0.2.77]', '::ffff:192.0.2.77', '[::FFFF:C000:24D]', '192.000.002.077', '192.0.2.77:49152'],
      ...['77.2.0.192.in-addr.arpa', 'mta.probe.example[192.0.2.77]', 'mta.probe.example (192.0.2.77)'],
    ],
  ],
  [
    {
      sender: 'verify-1@xn--prfung-4ya.example',
      helo: 'mta.xn--prfung-4ya.example',
      source: '2001:db8:0:1::25',
    },
    [
      ...['verify-1@xn--prfung-4ya.example', 'VERIFY-1@XN--PRFUNG-4YA.EXAMPLE', 'verify-1@prüfung.example'],
      ...['Prüfung.Example', 'MTA.PRÜFUNG.EXAMPLE.', '2001:db8:0:1::25', '2001:DB8:0:1:0:0:0:25'],
      ...['2001:0db8:0000:0001:0000:0000:0000:0025', '[IPv6:2001:db8:0:1::25]', 'IPv6:2001:0DB8:0:1::0025'],
      ...['verify-1@[IPv6:2001:db8:0:1::25]', '[2001:db8:0:1::25]', '2001:db8:0:1::25%eth0'],
      `5.2.0.0.${'0.'.repeat(12)}1.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa`,
    ],
  ],
]
/** What may stand around such words: callouts, quotations, the text of a notice, other languages, openings, advice. */
const FRAMES: readonly string[] = [
  '{said}',
  '{code} {said}',
  'Sender verify failed\n{said}',
  'Sender callout: {code} {said}',
  'Callout verification failed:\n{code} {said}',
  'Verification failed for <{us}>\nCalled: 198.51.100.7\nSent: RCPT TO:<{us}>\nResponse: {code} {said}\nSender verify failed',
  'Recipient address rejected: undeliverable address: host mx.other.example[198.51.100.7] said: {code} {said} (in reply to RCPT TO command)',
  'mx.other.example said: "{code} {said}"',
  'Our gateway answered: {said}',
  '>>> {said}',
  '<<< {code} {said}',
  'Diagnostic-Code: smtp; {code} {said}',
  'Final-Recipient: rfc822; {us}\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp;{code} {said}',
  'Delivery has failed to these recipients: {us}\n{said}',
  'The following address failed: {us}: {said}',
  'Der Server meldet: {said}',
  'Le serveur a répondu : {said}',
  'El servidor respondió: {said}',
  'Сервер ответил: {said}',
  'サーバの応答: {said}',
  '服务器返回：{said}',
  'Sorry, {said}',
  'Requested action not taken: {said}',
  'Access denied, {said}',
  'Transaction failed - {said}',
  '{said} Please contact postmaster@other.example',
  '{said} (#5.1.1)',
  '{said}. See https://other.example/help',
  '"{said}"',
]
it.each(FRAMES)('%j around such words makes no firm word about the mailbox of them', (frame) => {
  const firm: string[] = []
  for (const [us, places] of SPELLINGS)
    for (const place of places)
      for (const template of ABOUT) {
        // In brackets our name decides nothing, unless the sentence begins with it.
        if (place.startsWith('[') && !/^\d{3} (?:5\.\S+ )?\{us\}(?::| is| has| does)/.test(template)) continue
        const words = template.slice(4).replaceAll('{us}', place)
        const said = frame.replaceAll('{us}', place).replace('{code}', template.slice(0, 3)).replace('{said}', words)
        const { code } = reply(template)
        const parties = { asked: 'someone@asked.example', ...us }
        const { reason } = classify({ stage: 'rcpt', reply: { code, lines: said.split('\n') }, parties })
        if (outcomeOf(reason, code).deliverability !== 'unknown') firm.push(`${reason}: ${said}`)
      }
  expect(firm).toEqual([])
})

/** What servers put behind a refusal of the mailbox; it decides nothing. */
const BEHIND = [
  ' [192.0.2.1]',
  ' (connection from 192.0.2.1)',
  '; client probe.example[192.0.2.1]',
  ' (sender verify-1@probe.example)',
  '. If your server 192.0.2.1 is blocked, ask postmaster@example.org',
]
const ofMailbox = REPLIES.filter(({ reason }) => isAboutRecipient(reason)).map((row) => row.reply)
it.each(ofMailbox)('%j means the same with our names behind it', (text) => {
  const parties = { asked: 'user@example.org', ...US, source: '192.0.2.1' }
  const meant = (words: string): string =>
    `${classify({ stage: 'rcpt', reply: reply(`${text}${words}`), parties }).reason}${words}`
  expect(BEHIND.map(meant)).toEqual(BEHIND.map((words) => `${meant('')}${words}`))
})
