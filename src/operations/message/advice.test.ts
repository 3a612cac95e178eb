import { describe, expect, it } from 'vitest'
import { labDeps, labExecutor } from '../../../test/lab/app.ts'
import type { LabZone } from '../../../test/lab/dns.ts'
import { crlf, LAB_KEY, LAB_PRIVATE, type Signing, signed } from '../../../test/lab/messages.ts'
import { labWorld } from '../../../test/lab/world.ts'
import type { BounceAnswer, MessageAnswer } from '../../answers/message.ts'
import { assumedKey } from '../../plan/assumed.ts'
import { message } from './message.ts'

const MAIL = `From: Joe <joe@a-shop.com>
To: eve@b.example
Subject: Minutes
Date: Mon, 23 Nov 2026 09:00:00 +0000
Message-ID: <1@a-shop.com>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

Hello
`
const APEX = { MX: [[10, 'mx.a-host.net']], NS: ['ns1.a-shop.com'], TXT: ['v=spf1 ip4:45.53.1.1 -all'] } as const
const ZONE = {
  'a-shop.com': APEX,
  '_dmarc.a-shop.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@a-shop.com'] },
  'mail.a-shop.com': { A: ['45.53.1.1'] },
  '1.1.53.45.in-addr.arpa': { PTR: ['mail.a-shop.com'] },
  'out2.a-shop.com': { A: ['45.53.1.2'] },
  '2.1.53.45.in-addr.arpa': { PTR: ['out2.a-shop.com'] },
  'mx.a-host.net': { A: ['45.53.3.3'] },
  'out.a-host.net': { A: ['45.53.3.4'] },
  '4.3.53.45.in-addr.arpa': { PTR: ['out.a-host.net'] },
  'out.esp-house.net': { A: ['45.53.9.9'] },
  '9.9.53.45.in-addr.arpa': { PTR: ['out.esp-house.net'] },
  'esp-house.net': { TXT: ['v=spf1 ip4:45.53.9.9 -all'] },
  'bounce.a-shop.com': { TXT: ['v=spf1 ip4:45.53.1.1 -all'] },
  ...Object.fromEntries(
    ['a-shop.com', 'news.a-shop.com', 'esp-house.net', 'sendgrid.net', 'x-com.20230601.gappssmtp.com'].map((domain) => [
      `a._domainkey.${domain}`,
      { TXT: [LAB_KEY] },
    ]),
  ),
} satisfies LabZone
const withSpf = (...TXT: string[]): LabZone => ({ ...ZONE, 'a-shop.com': { ...APEX, TXT } })
const withDmarc = (...TXT: string[]): LabZone => ({ ...ZONE, '_dmarc.a-shop.com': { TXT } })

const OWN = { ip: '45.53.1.1', helo: 'mail.a-shop.com', mail_from: 'joe@a-shop.com' }
const ESP = { ip: '45.53.9.9', helo: 'out.esp-house.net', mail_from: 'b@esp-house.net' }
const by = (signing: Signing): string => signed(MAIL, signing)

type Case = {
  readonly name: string
  readonly text?: string
  readonly input: Readonly<Record<string, string>>
  readonly zone?: LabZone
  readonly verdict?: MessageAnswer['verdict']
  readonly summary?: RegExp
  /** The finding and its repair. */
  readonly repair?: readonly [id: string, words: RegExp | undefined]
  readonly fix?: string
}
const CASES: readonly Case[] = [
  {
    name: 'a forwarder without a name: what it lacks is not for the sender to repair',
    text: by({ domain: 'a-shop.com' }),
    input: { ip: '45.53.8.8', helo: 'fwd.a-school.net', mail_from: 'joe@a-shop.com' },
    verdict: 'passes',
    summary: /forwarded/,
  },
  {
    name: 'mail without an envelope sender: the name of HELO is no name that sends no mail',
    text: by({ domain: 'a-shop.com' }),
    input: { ip: '45.53.1.1', helo: 'mail.a-shop.com', mail_from: '' },
    verdict: 'passes',
    repair: ['message.spf_failed', /^Publish "v=spf1 a -all" at mail\.a-shop\.com/],
  },
  {
    name: 'SPF of the HELO name alone, where nobody knows the envelope sender: DMARC does not rely on it',
    input: { ip: '45.53.1.1', helo: 'mail.a-shop.com' },
    zone: { ...ZONE, 'mail.a-shop.com': { A: ['45.53.1.1'], TXT: ['v=spf1 a -all'] } },
    summary: /^Whether DMARC passes is not known/,
  },
  {
    name: 'the same with an empty envelope sender: HELO stands for it (RFC 7208 §2.4)',
    input: { ip: '45.53.1.1', helo: 'mail.a-shop.com', mail_from: '' },
    zone: { ...ZONE, 'mail.a-shop.com': { A: ['45.53.1.1'], TXT: ['v=spf1 a -all'] } },
    summary: /^DMARC passes for a-shop\.com by SPF/,
  },
  {
    name: 'no key at the selector: the step of the plan names it',
    text: by({ domain: 'a-shop.com', selector: 'q7' }),
    input: OWN,
    repair: [
      'message.dkim_failed',
      /^Step \d of the plan of a-shop\.com: Publish the DKIM key of the selector q7\. .*q7\._domainkey\.a-shop\.com/,
    ],
  },
  {
    name: 'the key at a name that has the domain twice',
    text: by({ domain: 'a-shop.com', selector: 'q7' }),
    input: OWN,
    zone: {
      ...Object.fromEntries(Object.entries(ZONE).filter(([name]) => name !== 'a._domainkey.a-shop.com')),
      'q7._domainkey.a-shop.com.a-shop.com': { TXT: [LAB_KEY] },
    },
    repair: ['message.dkim_failed', /^Step \d of the plan of a-shop\.com: .*q7\._domainkey\.a-shop\.com\.a-shop\.com/],
  },
  {
    name: 'a key for reports alone',
    text: by({ domain: 'a-shop.com', selector: 'q7' }),
    input: OWN,
    zone: { ...ZONE, 'q7._domainkey.a-shop.com': { TXT: [LAB_KEY.replace('k=rsa', 's=tlsrpt')] } },
    repair: [
      'message.dkim_failed',
      /^(?!.*(?:Revoke|remove)).*Sign mail with a key without s=tlsrpt.* q7\._domainkey\.a-shop\.com/,
    ],
  },
  {
    name: 'no signature, and the envelope sender of somebody else',
    input: ESP,
    repair: [
      'message.not_signed',
      /^If 45\.53\.9\.9 sends for you, let it sign .*a-shop\.com; if not, the message is forged/,
    ],
  },
  {
    name: 'a private key at the selector',
    text: by({ domain: 'a-shop.com', selector: 'q7' }),
    input: OWN,
    zone: {
      ...ZONE,
      'q7._domainkey.a-shop.com': { TXT: [`v=DKIM1; p=${LAB_PRIVATE.replace(/-----.*-----|\n/g, '')}`] },
    },
    repair: ['message.dkim_failed', /Make a new pair of keys/],
  },
  {
    name: 'strict alignment of DKIM, and SPF of somebody else',
    text: by({ domain: 'news.a-shop.com' }),
    input: ESP,
    zone: withDmarc('v=DMARC1; p=reject; adkim=s; rua=mailto:d@a-shop.com'),
    summary: /: DKIM passes for news\.a-shop\.com, but the DMARC record asks .* adkim=s/,
  },
  {
    name: 'a list that wrote itself into From and does not sign: the broken signature of the author is no fault',
    text: `List-Id: <talk.esp-house.net>\r\n${by({ domain: 'a-shop.com' })
      .replace('From: Joe <joe@a-shop.com>', 'From: Joe via talk <talk@esp-house.net>')
      .replace(/$/, '--\r\nTalk list\r\n')}`,
    input: ESP,
    zone: { ...ZONE, '_dmarc.esp-house.net': { TXT: ['v=DMARC1; p=none'] } },
    verdict: 'passes',
    repair: ['message.dkim_failed_beside', undefined],
  },
  {
    name: 'mail that never left the operator of its sender: nobody has to sign it',
    text: `Received: from DB7PR1.eurprd05.prod.outlook.com (2603:10a6:1::1) by AM8PR2.eurprd05.prod.outlook.com with HTTPS; Tue, 24 Nov 2026 09:00:00 +0000\r\nReceived: from AM8PR2.eurprd05.prod.outlook.com ([fe80::1]) by AM8PR2.eurprd05.prod.outlook.com ([fe80::1%5]) with mapi id 15.20.9; Tue, 24 Nov 2026 09:00:00 +0000\r\n${crlf(MAIL)}`,
    input: {},
    verdict: 'unknown',
    repair: ['message.not_signed', /^No line in it is of a connection with the outside/],
  },
  {
    name: 'an author whose domain does not exist',
    text: MAIL.replace('joe@a-shop.com', 'root@web7.gone-shop.com'),
    input: { ip: '45.53.8.8', helo: 'web7.gone-shop.com', mail_from: 'root@web7.gone-shop.com' },
    repair: ['message.no_dmarc_record', /^Write an address of a domain that exists into From\. If you did not send/],
  },
  {
    name: 'a key that was revoked, the only one',
    text: by({ domain: 'a-shop.com', selector: 'q7' }),
    input: OWN,
    zone: { ...ZONE, 'a._domainkey.a-shop.com': {}, 'q7._domainkey.a-shop.com': { TXT: ['v=DKIM1; p='] } },
    repair: [
      'message.dkim_failed',
      /^Step \d of the plan of a-shop\.com: Sign with a new DKIM key\. .*q7\._domainkey\.a-shop\.com/,
    ],
  },
  {
    name: 'a key that was revoked, beside another one: no record is missing',
    text: by({ domain: 'a-shop.com', selector: 'q7' }),
    input: OWN,
    zone: {
      ...ZONE,
      'default._domainkey.a-shop.com': { TXT: [String(assumedKey('a-shop.com', 'default').data)] },
      'q7._domainkey.a-shop.com': { TXT: ['v=DKIM1; p='] },
    },
    repair: ['message.dkim_failed', /^Sign with another selector .*q7\._domainkey\.a-shop\.com/],
  },
  {
    name: 'a key that is marked as a test',
    text: by({ domain: 'a-shop.com', selector: 'b' }),
    input: OWN,
    zone: { ...ZONE, 'b._domainkey.a-shop.com': { TXT: [LAB_KEY.replace('k=rsa', 't=y; k=rsa')] } },
    verdict: 'passes',
    repair: ['message.dkim_testing', /without t=y/],
  },
  {
    name: 'an own host that SPF does not name',
    input: { ...OWN, ip: '45.53.1.2', helo: 'out2.a-shop.com' },
    repair: ['message.spf_failed', /^Add 45\.53\.1\.2 \(out2\.a-shop\.com\) to the SPF record of a-shop\.com/],
  },
  {
    name: 'a host of the mail provider',
    input: { ...OWN, ip: '45.53.3.4', helo: 'out.a-host.net' },
    repair: ['message.spf_failed', /Publish the SPF include that the mail provider/],
  },
  {
    name: 'a service with our envelope',
    text: by({ domain: 'esp-house.net' }),
    input: { ...ESP, mail_from: 'b@a-shop.com' },
    repair: ['message.spf_failed', /^Let the service behind esp-house\.net sign with DKIM for a-shop\.com/],
  },
  {
    name: 'a foreign host with our envelope, unsigned',
    input: { ...ESP, mail_from: 'joe@a-shop.com' },
    repair: ['message.spf_failed', /Do not widen SPF/],
  },
  {
    name: 'the same, signed: it was forwarded',
    text: by({ domain: 'a-shop.com' }),
    input: { ...ESP, mail_from: 'joe@a-shop.com' },
    verdict: 'passes',
    summary: /forwarded/,
    repair: ['message.spf_forwarded', undefined],
  },
  {
    name: 'a foreign host and envelope that does not pass: forged',
    input: { ...ESP, mail_from: 'x@nothing-here.net' },
    verdict: 'unknown',
    summary: /It looks forged: .*nothing has to be done: the policy of a-shop\.com asks receivers to reject/,
  },
  {
    name: 'a domain that sends no mail: forged',
    input: ESP,
    zone: { ...withSpf('v=spf1 -all'), 'a-shop.com': { ...APEX, MX: [[0, '']], TXT: ['v=spf1 -all'] } },
    verdict: 'unknown',
    summary: /say that it sends no mail/,
  },
  {
    name: 'a service that signs for itself alone may be a forger',
    text: by({ domain: 'esp-house.net' }),
    input: ESP,
    repair: [
      'message.dkim_not_aligned',
      /signs with d=a-shop\.com\. If it does not send for you, the message is forged/,
    ],
  },
  {
    name: 'a service that signs for itself, with our envelope that SPF lets pass: it is not forged',
    text: by({ domain: 'esp-house.net' }),
    input: { ...ESP, mail_from: 'b@bounce.a-shop.com' },
    zone: { ...ZONE, 'bounce.a-shop.com': { TXT: ['v=spf1 include:esp-house.net -all'] } },
    repair: ['message.dkim_not_aligned', /signs with d=a-shop\.com\.$/],
  },
  {
    name: 'the default signature of SendGrid',
    text: by({ domain: 'sendgrid.net' }),
    input: ESP,
    repair: ['message.dkim_not_aligned', /In SendGrid open Settings > Sender Authentication, authenticate a-shop\.com/],
  },
  {
    name: 'the default signature of a service whose steps are not known',
    text: by({ domain: 'sparkpostmail.com' }),
    input: ESP,
    zone: { ...ZONE, 'a._domainkey.sparkpostmail.com': { TXT: [LAB_KEY] } },
    repair: ['message.dkim_not_aligned', /^SparkPost \(Bird\) signs .* Add a-shop\.com to the sending domains/],
  },
  {
    name: 'the default signature of Google',
    text: by({ domain: 'x-com.20230601.gappssmtp.com' }),
    input: ESP,
    repair: ['message.dkim_not_aligned', /In the Google Admin console/],
  },
  {
    name: 'strict alignment of DKIM',
    text: by({ domain: 'news.a-shop.com' }),
    input: ESP,
    zone: withDmarc('v=DMARC1; p=reject; adkim=s'),
    summary: /the very domain of the author \(strict alignment, adkim=s\)/,
    repair: ['message.dkim_not_aligned', /take adkim=s out/],
  },
  {
    name: 'strict alignment of SPF',
    input: { ...OWN, mail_from: 'b@bounce.a-shop.com' },
    zone: withDmarc('v=DMARC1; p=reject; aspf=s'),
    repair: ['message.spf_not_aligned', /take aspf=s out/],
  },
  {
    name: 'an include of nothing: the step of the plan',
    input: OWN,
    zone: withSpf('v=spf1 include:nothing.a-shop.com ip4:45.53.1.1 -all'),
    summary: /permerror: .*nothing\.a-shop\.com.* Step 1 of the plan of a-shop\.com: Correct the SPF record/,
    repair: ['message.spf_failed', /^Step 1 of the plan/],
    fix: 'a-shop.com',
  },
  {
    name: 'two DMARC records: the step of the plan',
    text: by({ domain: 'a-shop.com' }),
    input: OWN,
    zone: withDmarc('v=DMARC1; p=none', 'v=DMARC1; p=reject'),
    repair: ['message.no_dmarc_record', /Keep one record/],
    fix: '_dmarc.a-shop.com',
  },
  {
    name: 'a footer of a list that has no List-Id',
    text: `${by({ domain: 'a-shop.com' })}____\r\nTalk\r\n`,
    input: { ...ESP, mail_from: 'talk-bounces+1@esp-house.net' },
    repair: ['message.dkim_failed', /^Nothing in your DNS helps: the list/],
  },
  {
    name: 'a footer of a gateway',
    text: `${by({ domain: 'a-shop.com' })}____\r\nConfidential\r\n`,
    input: ESP,
    repair: ['message.dkim_failed', /^Sign behind the host that changes the message/],
  },
  {
    name: 'a tag of the receiver',
    text: by({ domain: 'a-shop.com' }).replace('Subject: ', 'Subject: [EXTERNAL] '),
    input: ESP,
    repair: ['message.dkim_failed', /nothing for the sender to do/],
  },
]

async function answerOf<A>(text: string, input: Readonly<Record<string, string>>, zone: LabZone): Promise<A> {
  const world = { ...labWorld(zone), now: () => Date.parse('2026-11-23T10:00:00Z') }
  const upload = {
    octets: (async function* () {
      yield Buffer.from(text, 'latin1')
    })(),
    contentType: 'message/rfc822',
  }
  return (await labExecutor(world, labDeps(world))(message, input, { upload })).answer as A
}

describe('what to do about a message', () => {
  it.each(CASES.map((row) => [row.name, row] as const))('%s', async (_, row) => {
    const { text = crlf(MAIL), input, zone = ZONE, verdict = 'needs_repair', summary, repair, fix } = row
    const answer = await answerOf<MessageAnswer>(text, input, zone)
    expect(answer.verdict).toBe(verdict)
    if (summary) expect(answer.summary).toMatch(summary)
    if (!repair) return
    const finding = answer.findings.find(({ id }) => id === repair[0])
    if (repair[1]) expect(finding?.repair).toMatch(repair[1])
    else expect(finding).not.toHaveProperty('repair')
    expect(finding?.fix?.name).toBe(fix)
  })
  const refused = crlf(`Return-Path: <>
From: MAILER-DAEMON@mail.a-shop.com
Subject: Undelivered Mail Returned to Sender

<eve@gmail.example>: host mx.gmail.example[45.53.8.8] said: 550-5.7.26 This mail has been
    blocked because the sender is unauthenticated. (in reply to end of DATA command)

--- Below this line is a copy of the message.

${MAIL}`)
  it('a bounce about our domain has the step of its plan', async () => {
    const { bounce } = await answerOf<BounceAnswer>(refused, {}, withDmarc())
    expect(bounce.recipients).toMatchObject([{ about: 'sender_domain' }])
    expect(bounce.recipients[0]!.to_do).toMatch(/No DMARC record.* Step \d of the plan of a-shop\.com: /)
  })
  it('a bounce about our domain does not say that it passes while the DNS does not answer', async () => {
    const { bounce } = await answerOf<BounceAnswer>(refused, {}, { ...ZONE, '_dmarc.a-shop.com': 'SERVFAIL' })
    expect(bounce.recipients[0]!.to_do).toMatch(/The check of a-shop\.com could not be made today: /)
  })
  it.each([
    [
      '550 5.7.23 SPF: 45.53.9.77 is not allowed to send mail from a-shop.com',
      /record of a-shop\.com does not name 45\.53\.9\.77: /,
    ],
    [
      '550 5.7.26 SPF [a-shop.com] with ip: [45.53.1.1] = did not pass',
      /record of a-shop\.com names 45\.53\.1\.1 today/,
    ],
    [
      '550 5.7.509 sending domain a-shop.com does not pass DMARC verification',
      /nothing to repair|finds today|could not be made/,
    ],
    ['550 5.7.26 This mail has been blocked because the sender is unauthenticated.', /sends for it\.$/],
  ])('%j alone leads to the domain that it names', async (reply, toDo) => {
    const zone = { ...ZONE, '_dmarc.a-shop.com': { TXT: ['v=DMARC1; p=reject'] } }
    const { bounce } = await answerOf<BounceAnswer>(reply, {}, zone)
    expect(bounce.recipients).toMatchObject([{ about: 'sender_domain' }])
    expect(bounce.recipients[0]!.to_do).toMatch(toDo)
    expect(bounce.recipients[0]!.to_do).not.toMatch(/aggregate reports/)
  })
})
