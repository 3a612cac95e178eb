import { expect, it } from 'vitest'
import { allOperations } from '../../src/operations/registry.ts'
import { openSite } from '../../src/start/pages.ts'
import { labApp, labDeps, labExecutor } from '../lab/app.ts'
import { labWorld } from '../lab/world.ts'

const world = labWorld({
  'a.example': { TXT: ['v=spf1 ip4:45.53.1.1 -all'], MX: [[10, 'mail.a.example']] },
  'mail.a.example': { A: ['45.53.1.1'] },
  '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject'] },
  '1.1.53.45.in-addr.arpa': { PTR: ['mail.a.example'] },
})
const site = openSite({
  ...{ operations: await allOperations(), world, version: '0.0.0' },
  execute: labExecutor(world, labDeps(world)),
})
const app = await labApp(world, { site })
const HTML = { accept: 'text/html', 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' }
const first = await app.inject({ url: '/monitors', headers: HTML })
const token = /name="_csrf" value="([^"]+)"/.exec(first.body)![1]!
const cookie = String(first.headers['set-cookie']).split(';')[0]!

async function sent(fields: Readonly<Record<string, string>>): Promise<string> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  const body = new Response(form)
  const { body: shown } = await app.inject({
    ...{ method: 'POST', url: `/message?_csrf=${token}` },
    headers: { ...HTML, cookie, 'content-type': body.headers.get('content-type')! },
    payload: Buffer.from(await body.arrayBuffer()),
  })
  return shown
}

it('asks who received a message, and one click judges the same message again', async () => {
  const text = `Return-Path: <joe@a.example>
Received: from mail.a.example (mail.a.example [45.53.1.1]) by mx.b.example (Postfix) with ESMTPS id 1; Fri, 2 Jan 2026 03:00:00 +0000
From: Joe <joe@a.example>
Date: Fri, 2 Jan 2026 03:00:00 +0000
Message-ID: <1@a.example>

Gr\u00fc\u00dfe
`
  const asked = await sent({ text })
  expect(asked).toMatch(/mx\.b\.example wrote that 45\.53\.1\.1 delivered this\. <button name="received_by"/)
  const message = /name="message" value="([^"]+)"/.exec(asked)![1]!
  expect(Buffer.from(message, 'base64').toString()).toBe(text.replaceAll('\n', '\r\n'))
  const judged = await sent({ message, received_by: 'mx.b.example' })
  expect(judged).toMatch(/45\.53\.1\.1 may send for a\.example/)
  expect(judged).not.toMatch(/<button name="received_by"/)
  const again = `Received: from f.c.example (f.c.example [45.53.8.8]) by mx.b.example (Postfix) with ESMTP id 1; Fri, 2 Jan 2026 03:00:00 +0000
Received: from mx.b.example ([45.53.9.1]) by f.c.example with ESMTP id 2; Fri, 2 Jan 2026 03:00:00 +0000
`
  expect(await sent({ text: again + text })).toMatch(
    /mx\.b\.example wrote that 45\.53\.1\.1 delivered this\. <button name="ip" value="45\.53\.1\.1"/,
  )
})

it.each<[what: string, words: string, subject: string]>([
  ['the sender', '550 5.7.26 This mail is unauthenticated: the SPF check of the sender domain failed', 'sender-co.com'],
  ['the recipient', '550 5.1.2 Host or domain name not found: no MX', 'recipient-co.com'],
  ['the host', '550 5.7.1 Rejected: 45.53.75.20 listed at bl.spam-list.org', '45.53.75.20'],
])('leads from a bounce to what it is about: %s', async (_, words, subject) => {
  const text = `From: MAILER-DAEMON@mx.host-co.com (Mail Delivery System)
To: joe@sender-co.com
Subject: Undelivered Mail Returned to Sender
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: text/plain

I'm sorry to have to inform you that your message could not be delivered.
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.host-co.com

Final-Recipient: rfc822; ann@recipient-co.com
Action: failed
Status: ${words.slice(4, words.indexOf(' ', 4))}
Diagnostic-Code: smtp; ${words}
--b
Content-Type: message/rfc822

From: Joe <joe@sender-co.com>
To: ann@recipient-co.com
Subject: Hello

Hello
--b--
`
  expect((await sent({ text })).match(/(?<=>Check )[^<]+(?=<\/a>)/g)).toEqual([subject])
})

it('offers no check of the receiver for a mailbox that does not exist', async () => {
  const text =
    '550 5.4.1 Recipient address rejected: Access denied. [DB5EUR01FT012.eop-EUR01.prod.protection.outlook.com]'
  expect(await sent({ text })).not.toMatch(/>Check [^<]+<\/a>/)
})

it('tells the step in the first lines, and that a message carries a report', async () => {
  const unsigned = `Received: from mail.a.example (mail.a.example [45.53.1.1]) by mx.b.example (Postfix) with ESMTPS id 1; Fri, 2 Jan 2026 03:00:00 +0000
From: Joe <joe@a.example>
Date: Fri, 2 Jan 2026 03:00:00 +0000
Message-ID: <1@a.example>
MIME-Version: 1.0
Content-Type: application/gzip; name="b.example!a.example!1767225600!1767311999.xml.gz"

x
`
  const [lines = ''] = (await sent({ text: unsigned })).split('<h2')
  expect(lines).toMatch(/What to do: <\/strong>Let the sending server sign/)
  expect(lines).toMatch(/carries a DMARC or TLS report/)
})

it.each([
  ['feedback-report', 'It is a complaint (ARF, RFC 5965) about another message'],
  ['disposition-notification', 'It is a receipt (MDN, RFC 8098)'],
])('says what a message with a part of the type %s is', async (type, words) => {
  const text = `From: Joe <joe@a.example>\nDate: Fri, 2 Jan 2026 03:00:00 +0000\nMIME-Version: 1.0\nContent-Type: multipart/report; boundary=b\n\n--b\n\nHello\n--b\nContent-Type: message/${type}\n\nVersion: 1\n--b--\n`
  expect((await sent({ text })).split('<h2')[0]).toContain(words)
})

it('calls a part of a header what it is, and leads to the domain that it names', async () => {
  const text = 'DKIM-Signature: v=1; a=rsa-sha256; d=signer-co.com; s=s1; h=from;\r\n\tbh=AAAA; b=AAAA\r\n'
  const shown = await sent({ text })
  expect(shown).toContain('<h1>A part of a header</h1>')
  expect(shown).toContain('DMARC is not judged: the field From is not here.')
  expect(shown).not.toMatch(/nobody|Rules for bulk senders/)
  expect(shown).toContain('>Check signer-co.com</a>')
})
