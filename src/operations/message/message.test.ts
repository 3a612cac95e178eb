import { describe, expect, it } from 'vitest'
import { labDeps, labExecutor } from '../../../test/lab/app.ts'
import type { LabZone } from '../../../test/lab/dns.ts'
import { crlf, LAB_KEY, signed } from '../../../test/lab/messages.ts'
import { labWorld } from '../../../test/lab/world.ts'
import type { CheckAnswer } from '../../answers/check.ts'
import type { MessageAnswer, MessageResult } from '../../answers/message.ts'
import { formatMarkdown } from '../../documents/markdown/markdown.ts'
import { messageDocument, resultDocument } from '../../documents/message.ts'
import { LaneError, type LaneReason } from '../../lane/heavy.ts'
import { check } from '../check.ts'
import { message } from './message.ts'

const ZONE: LabZone = {
  'example.org': { MX: [[10, 'mail.example.org']], TXT: ['v=spf1 ip4:45.53.1.1 -all'] },
  'mail.example.org': { A: ['45.53.1.1'] },
  '1.1.53.45.in-addr.arpa': { PTR: ['mail.example.org'] },
  'a._domainkey.example.org': { TXT: [LAB_KEY] },
  '_dmarc.example.org': { TXT: ['v=DMARC1; p=reject; rua=mailto:dmarc@example.org'] },
}
const HELLO = `From: Joe Doe <joe@example.org>
To: eve@example.net
Subject: Minutes of the meeting
Date: Mon, 23 Nov 2026 09:00:00 +0000
Message-ID: <1@example.org>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

Hello Eve,
see https://www.example.com/minutes
`
const TRACE = `Return-Path: <joe@example.org>
Received: from mail.example.org (mail.example.org [45.53.1.1])
 by mx.example.net (Postfix) with ESMTPS id 1 for <eve@example.net>;
 Mon, 23 Nov 2026 09:00:02 +0000 (UTC)
Authentication-Results: mx.example.net; spf=pass smtp.mailfrom=example.org; dkim=pass header.d=example.org
`
const AT = Date.parse('2026-11-23T10:00:00Z')

const uploaded = (text: string, contentType = 'message/rfc822') => ({
  upload: {
    octets: (async function* () {
      yield Buffer.from(text, 'latin1')
    })(),
    contentType,
  },
})

async function analysed(text: string, input: Record<string, string> = {}, zone = ZONE): Promise<MessageAnswer> {
  const world = { ...labWorld(zone), now: () => AT }
  const { answer } = await labExecutor(world, labDeps(world))(message, input, uploaded(text))
  return answer as MessageAnswer
}

const ids = ({ findings }: MessageAnswer) => findings.map(({ id }) => id)

describe('the analysis of a message', () => {
  it('of a file with the trace of its receiver', async () => {
    const answer = await analysed(crlf(TRACE) + signed(HELLO, { domain: 'example.org' }))
    expect(answer).toMatchObject({
      verdict: 'passes',
      from: { address: 'joe@example.org', name: 'Joe Doe', domain: 'example.org' },
      envelope: { ip: '45.53.1.1', helo: 'mail.example.org', mail_from: 'joe@example.org', known_from: 'received' },
      spf: { result: 'pass', domain: 'example.org', aligned: true },
      dkim: [{ result: 'pass', aligned: true, key_bits: 2048 }],
      dmarc: { result: 'pass', policy: 'reject', aligned_by: ['spf', 'dkim'] },
      arc: { result: 'none', sets: [] },
      authentication_results: [{ host: 'mx.example.net', trusted: true, agrees: true }],
      path: [{ by: 'mx.example.net', tls: true, trusted: true, forward_confirmed: true }],
      links: [{ host: 'www.example.com', times: 1 }],
      domain: { domain: 'example.org' },
    })
    expect(ids(answer)).toEqual([])
  })
  it('without a trace SPF is unknown, and DKIM decides', async () => {
    const answer = await analysed(signed(HELLO, { domain: 'example.org' }))
    expect(answer).toMatchObject({
      verdict: 'passes',
      envelope: { ip: null, known_from: 'none' },
      spf: { result: 'unknown' },
      dmarc: { result: 'pass', aligned_by: ['dkim'] },
    })
  })
  it('without a trace and a signature nothing is claimed to fail', async () => {
    const answer = await analysed(crlf(HELLO))
    expect([answer.dmarc.result, answer.spf.result]).toEqual(['unknown', 'unknown'])
  })
  it('a trace below that of another host is the words of the sender', async () => {
    const forged = crlf(`Received: by mbox.example.com; Mon, 23 Nov 2026 09:00:09 +0000\n${TRACE}${HELLO}`)
    const answer = await analysed(forged)
    expect([answer.envelope.known_from, answer.spf.result]).toEqual(['none', 'unknown'])
    expect(answer.authentication_results[0]?.trusted).toBe(false)
    const told = await analysed(forged, { received_by: 'mbox.example.com,mx.example.net' })
    expect([told.envelope.ip, told.spf.result]).toEqual(['45.53.1.1', 'pass'])
  })
  it('what the caller knows of the connection counts', async () => {
    const answer = await analysed(crlf(HELLO), { ip: '45.53.9.9', mail_from: 'joe@example.org' })
    expect(answer).toMatchObject({
      verdict: 'unknown',
      spf: { result: 'fail' },
      dmarc: { result: 'fail', would: 'reject' },
    })
    expect(ids(answer)).toContain('message.looks_forged')
    expect(answer.summary).toMatch(/looks forged.*nothing has to be done/)
  })
  it('a result of a signature that the message does not have is another one than ours', async () => {
    const answer = await analysed(crlf(TRACE) + crlf(HELLO))
    expect(answer.authentication_results).toMatchObject([{ trusted: true, agrees: false }])
    expect(answer.findings.find(({ id }) => id === 'message.claims_differ')?.detail).toMatch(
      /dkim=pass; we come to none/,
    )
  })
  it('a lookup without an answer is unknown, never a failure', async () => {
    const zone: LabZone = { ...ZONE, 'a._domainkey.example.org': { TXT: 'SERVFAIL' } }
    const answer = await analysed(
      signed(HELLO, { domain: 'example.org' }),
      { ip: '45.53.9.9', mail_from: 'x@example.com' },
      zone,
    )
    expect(answer).toMatchObject({ dkim: [{ result: 'temperror' }], dmarc: { result: 'temperror' } })
    expect(ids(answer)).not.toContain('message.dmarc_failed')
  })
  it('takes only messages, of a bounded size, and not empty ones', async () => {
    const world = labWorld(ZONE)
    const execute = labExecutor(world, labDeps(world))
    await expect(execute(message, {}, uploaded('x', 'text/csv'))).rejects.toMatchObject({
      code: 'unsupported_media_type',
    })
    await expect(execute(message, {}, uploaded(''))).rejects.toMatchObject({ code: 'invalid_parameter' })
    await expect(execute(message, {}, uploaded('x'.repeat(10_485_761)))).rejects.toMatchObject({
      code: 'payload_too_large',
    })
  })
})

describe('the lists are asked', () => {
  const BY = `Received: from relay.example.com (relay.example.com [45.53.7.7])
 by mail.example.org (Postfix) with ESMTPS id 2; Mon, 23 Nov 2026 09:00:01 +0000 (UTC)
`
  const LINKS = '\nhttp://45.53.8.8/x http://[2a00:1450::2]/x https://shop.example.com/x\n'
  const text = crlf(TRACE + BY) + signed(HELLO + LINKS, { domain: 'example.org' })
  const subjects = async (input: Record<string, string>): Promise<readonly string[]> => {
    const { blacklists } = await analysed(text, input)
    const names = blacklists.domains.map(({ domain, as }) => `${domain}: ${as.join(', ')}`)
    return [blacklists.address?.ip ?? '-', ...names]
  }
  const LINKED = ['www.example.com: link', 'shop.example.com: link']
  it.each<[string, Record<string, string>, readonly string[]]>([
    [
      'sender, HELO name and links, and not the hosts of the path before',
      {},
      ['45.53.1.1', 'example.org: author, envelope, signature', 'mail.example.org: envelope', ...LINKED],
    ],
    [
      'a HELO name that is an address is not asked',
      { ip: '45.53.2.2', helo: '[45.53.2.2]', mail_from: 'joe@bounce.example.net' },
      ['45.53.2.2', 'example.org: author, signature', 'bounce.example.net: envelope', ...LINKED],
    ],
    [
      'nor one without a dot, nor the address of a mailbox that is a literal',
      { ip: '45.53.2.2', helo: 'localhost', mail_from: 'joe@[45.53.2.3]' },
      ['45.53.2.2', 'example.org: author, signature', ...LINKED],
    ],
  ])('%s', async (_, input, expected) => {
    expect(await subjects(input)).toEqual(expected)
  })
})

describe('a profile decides instead of the findings', () => {
  const own = (rule: object) => JSON.stringify({ name: 'own', rules: [{ id: 'r', text: 'a rule', ...rule }] })
  it.each<[string, string, 'good' | 'bad' | 'unclear']>([
    ['an own rule that is met', own({ field: 'dmarc.policy', in: ['reject'] }), 'good'],
    ['an own rule that is not met', own({ field: 'headers.mime', in: ['text/html'] }), 'bad'],
    ['an own rule that is not known', own({ field: 'spf.result', in: ['pass'] }), 'unclear'],
    ['the rules for bulk senders', 'bulk-sender', 'unclear'],
  ])('%s', async (_, profile, verdict) => {
    const world = { ...labWorld(ZONE), now: () => AT }
    const given = await labExecutor(world, labDeps(world))(
      message,
      { profile },
      uploaded(signed(HELLO, { domain: 'example.org' })),
    )
    expect((given.answer as MessageAnswer).profile?.rules.length).toBeGreaterThan(0)
    expect(given.verdict()).toBe(verdict)
  })
  it.each(['internet', '{', '{"name":"x"}'])('%s is no profile', async (profile) => {
    const world = labWorld(ZONE)
    await expect(labExecutor(world, labDeps(world))(message, { profile }, uploaded(HELLO))).rejects.toMatchObject({
      code: 'invalid_parameter',
    })
  })
})

it('a selector that verified in a message is asked for by the check of its domain', async () => {
  const { 'a._domainkey.example.org': key, ...rest } = ZONE
  const zone = { ...rest, 'minutes2026._domainkey.example.org': key! }
  const world = { ...labWorld(zone), now: () => AT }
  const execute = labExecutor(world, labDeps(world))
  await execute(message, {}, uploaded(signed(HELLO, { domain: 'example.org', selector: 'minutes2026' })))
  const { answer } = await execute(check, { domain: 'example.org' }, {})
  expect((answer as CheckAnswer).dkim).toMatchObject({ valid: true, selector: 'minutes2026', learned: ['minutes2026'] })
})

it('the policy of the domain is shown with its modes of alignment', async () => {
  const strict = { ...ZONE, '_dmarc.example.org': { TXT: ['v=DMARC1; p=reject; adkim=s'] } }
  const text = formatMarkdown(messageDocument(await analysed(crlf(HELLO), {}, strict), '0'))
  expect(text).toContain('policy reject (adkim=s, aspf=r)')
})

it('a domain of which too little is known has no grade, in words', async () => {
  const answer = await analysed(crlf(HELLO), {}, { 'example.org': 'SERVFAIL', '_dmarc.example.org': 'SERVFAIL' })
  expect(answer.domain?.grade).toBeNull()
  const text = formatMarkdown(messageDocument(answer, '0'))
  expect(text).toContain('no grade')
  expect(text).not.toContain('grade null')
  expect(text).not.toContain('adkim')
})

it.each<[LaneReason, string]>([
  ['time', 'bad_message'],
  ['memory', 'bad_message'],
  ['fault', 'bad_message'],
  ['remembered', 'bad_message'],
  ['full', 'overloaded'],
])('reading that the lane ends (%s) is %s', async (reason, code) => {
  const world = { ...labWorld(ZONE), heavy: () => Promise.reject(new LaneError(reason)) }
  await expect(labExecutor(world, labDeps(world))(message, {}, uploaded(HELLO))).rejects.toMatchObject({ code })
})

const BOUNCE = `Return-Path: <>
From: Mail Delivery System <MAILER-DAEMON@mail.example.org>
To: joe@example.org
Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="B"

--B
Content-Type: text/plain

Sorry.
--B
Content-Type: message/delivery-status

Reporting-MTA: dns; mail.example.org

Final-Recipient: rfc822; eve@example.net
Action: failed
Status: 5.7.26
Remote-MTA: dns; mx.example.net
Diagnostic-Code: smtp; 550-5.7.26 This mail has been blocked because the sender is unauthenticated.

--B
Content-Type: message/rfc822

`

describe('a bounce', () => {
  const answered = async (text: string, contentType?: string) => {
    const world = { ...labWorld(ZONE), now: () => AT }
    return labExecutor(world, labDeps(world))(message, {}, uploaded(text, contentType))
  }
  it('is explained, and the message that came back is analysed', async () => {
    const { answer, verdict } = await answered(
      `${crlf(BOUNCE)}${signed(HELLO, { domain: 'example.org' })}\r\n--B--\r\n`,
    )
    expect(answer).toMatchObject({
      verdict: 'unknown',
      input: { kind: 'bounce' },
      spf: null,
      findings: null,
      bounce: {
        recipients: [
          {
            address: 'eve@example.net',
            action: 'failed',
            status: '5.7.26',
            code: 550,
            remote_mta: 'mx.example.net',
            about: 'sender_domain',
            permanent: true,
            to_do: expect.stringContaining('The check of example.org finds'),
          },
        ],
        returned: {
          subject: 'Minutes of the meeting',
          analysis: { from: { domain: 'example.org' }, dkim: [{ result: 'pass' }] },
        },
      },
    })
    expect(verdict?.()).toBe('bad')
  })
  it.each([
    ['550 5.1.1 <eve@example.net>: User unknown', 'mailbox', 'bad'],
    ['451 4.7.1 Greylisted, come back in 5 minutes', 'policy', 'unclear'],
  ])('of one pasted reply: %s', async (text, about, expected) => {
    for (const type of ['text/plain', 'message/rfc822']) {
      const { answer, verdict } = await answered(text, type)
      expect(answer).toMatchObject({ bounce: { recipients: [{ address: null, about, text }] } })
      expect(verdict?.()).toBe(expected)
    }
  })
  it('is no text with a header', async () => {
    const { answer } = await answered('From: joe@example.org\n\n550 5.1.1', 'text/plain')
    expect(answer).toMatchObject({ input: { kind: 'message' } })
  })
  it('reads as a document', async () => {
    const { answer } = await answered('550 5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org', 'text/plain')
    const words = formatMarkdown(resultDocument(answer as MessageResult, '0'))
    expect(words).toContain('the host that sent it')
    expect(words).toContain('zen.spamhaus.org')
  })
})
