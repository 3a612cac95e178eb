import { describe, expect, it } from 'vitest'
import { isPlain, readForm } from './form.ts'

const HEAD = `Return-Path: <a@a.example>
Received: from a.example (a.example [192.0.2.1])
 by b.example; Mon, 23 Nov 2026 09:00:02 +0000
From: a@a.example
Subject: Hello
`
const MAIL = `${HEAD}\nHello,\nhow are you?\n`
const each = (mark: string, text: string): string => text.replaceAll(/^(?=.)/gm, mark)
const SUMMARY = 'Original message\nFrom:\tA <a@a.example>\nSPF:\tPASS\nCopy to clipboard\n\n'

const FIELDS = [
  ['Received', 'from a.example (a.example [192.0.2.1]) by b.example; Mon, 23 Nov 2026 09:00:02 +0000'],
  ['From', 'A <a@a.example>'],
  ['To', 'b@b.example'],
  ['Subject', 'Hello'],
  ['Date', 'Mon, 23 Nov 2026 09:00:00 +0000'],
] as const

const BODY = '\nHello,\nhow are you?\n'
const LOST = HEAD.replace('\n by', '\nby')
const WRAPPED = `Received: from mail.a.example (mail.a.example
[45.53.1.1]) by b.example (Postfix)
 with ESMTPS id 1 ; Mon, 23 Nov 2026 09:00:02
+0000
From: a@a.example
Subject: Hello
`
const GERMAN =
  'Originalnachricht\nErstellt am:\t23. November 2026\nVon:\tA <a@a.example>\nSPF:\tPASS mit der IP-Adresse 192.0.2.1\n\n'
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const numbered = (mark: string): string =>
  MAIL.trim()
    .split('\n')
    .map((line, i) => `${i + 1}${mark}${line}`)
    .join('\n')

describe('the form of a message', () => {
  it.each([
    ['a message', MAIL, 'message', MAIL, []],
    ['CRLF', MAIL.replaceAll('\n', '\r\n'), 'message', MAIL.replaceAll('\n', '\r\n'), []],
    ['the header alone', HEAD, 'header_only', HEAD, [/header alone/]],
    ['and blank lines', `${HEAD}\n\n \n`, 'header_only', `${HEAD}\n\n \n`, [/header alone/]],
    ...[
      '\xc2\xa9 2026 Webmail GmbH | Impressum | Datenschutz',
      'Help \xc2\xb7 Privacy policy \xc2\xb7 Terms of service',
      'Aide\nMentions l\xc3\xa9gales\nPowered by Roundcube',
      'Copy to clipboard\nCopyright 2026 A Webmail',
    ].map(
      (foot) =>
        [
          'the foot of a page',
          `${HEAD}\n\n${foot}\n`,
          'header_only',
          `${HEAD}\n\n${foot}\n`,
          [/header alone/],
        ] as const,
    ),
    ...['Help', 'Privacy: see you.', 'OK'].map(
      (text) => ['a short body', `${HEAD}\n${text}\n`, 'message', `${HEAD}\n${text}\n`, []] as const,
    ),
    [
      'words behind a header that says base64',
      `${HEAD}Content-Transfer-Encoding: base64\n\nShow all. Hide\n`,
      'header_only',
      `${HEAD}Content-Transfer-Encoding: base64\n\nShow all. Hide\n`,
      [/header alone/],
    ],
    ['blank lines in front', `\n\n${MAIL}`, 'pasted', MAIL, [/blank lines/]],
    ['four blanks', each('    ', MAIL), 'pasted', MAIL, [/^4 blanks/]],
    ['quoted', each('> ', MAIL), 'pasted', MAIL, [/the mark ">"/]],
    ['quoted, with blanks in front', each('    > ', MAIL), 'pasted', MAIL, [/the mark ">"/]],
    ['quoted twice', each('>> ', MAIL), 'pasted', MAIL, [/the mark ">>"/]],
    ['a bar', each('| ', MAIL), 'pasted', MAIL, [/the mark "\|"/]],
    ['a difference', each('+', MAIL), 'pasted', MAIL, [/the mark "\+"/]],
    ['a block of a ticket', `See:\n{noformat}\n${MAIL}{noformat}\nThanks\n`, 'pasted', MAIL, [/fence/]],
    ['preformatted text of a page', `<pre class="x">${MAIL}</pre>`, 'pasted', MAIL, [/fence/]],
    ['a cell of a table', `"${MAIL.replaceAll('"', '""')}"`, 'pasted', MAIL, [/quotes of a table/]],
    [
      'the answer of an interface',
      JSON.stringify({ id: '1', raw: Buffer.from(MAIL).toString('base64url') }, null, 2),
      'pasted',
      MAIL,
      [/JSON/],
    ],
    [
      'links of addresses',
      MAIL.replaceAll('a@a.example', 'a@a.example<mailto:a@a.example>'),
      'pasted',
      MAIL,
      [/links/],
    ],
    [
      'links of Markdown',
      MAIL.replaceAll('a@a.example', '[a@a.example](mailto:a@a.example)'),
      'pasted',
      MAIL,
      [/links/],
    ],
    ['characters without a width', MAIL.replaceAll('@', '@\xe2\x80\x8b'), 'pasted', MAIL, [/invisible/]],
    ['blanks in the empty lines', MAIL.replaceAll('\n\n', '\n \n'), 'pasted', MAIL, [/blanks in empty lines/]],
    [
      'a dialogue of swaks',
      `=== Connected to mx.b.example.\n<-  220 mx.b.example\n -> DATA\n<-  354 End data\n${each(' -> ', MAIL)} -> .\n<-  250 Ok\n`,
      'pasted',
      MAIL,
      [/in the dialogue/],
    ],
    ['a fence', `\`\`\`text\n${MAIL}\`\`\`\n`, 'pasted', MAIL, [/fence/]],
    ['a page in front', SUMMARY + MAIL, 'pasted', MAIL, [/^5 lines of a page/]],
    ['a byte order mark', `\xef\xbb\xbf${MAIL}`, 'pasted', MAIL, [/byte order mark/]],
    ['CR alone', MAIL.replaceAll('\n', '\r'), 'pasted', MAIL.replaceAll('\n', '\r\n'), [/CR alone/]],
    [
      'Apple Mail, pasted into a form',
      `${MAIL.length}\n${MAIL}<?xml version="1.0"?>`.replaceAll('\n', '\r\n'),
      'emlx',
      MAIL.replaceAll('\n', '\r\n'),
      [],
    ],
    ['Apple Mail', `${MAIL.length}\n${MAIL}<?xml version="1.0"?>`, 'emlx', MAIL, []],
    ['mbox', `From a Mon Nov 23 09:00:02 2026\n${MAIL}`, 'mbox', MAIL, []],
    [
      'two messages',
      `From a Mon Nov 23 09:00:02 2026\n${MAIL}\nFrom b Mon Nov 23 09:00:02 2026\n${MAIL}`,
      'mbox',
      MAIL,
      [/first of 2/],
    ],
    ['folded lines without blanks', LOST + BODY, 'pasted', MAIL, [/lost the blanks/]],
    ['the same below a page', SUMMARY + LOST + BODY, 'pasted', MAIL, [/lost the blanks/, /of a page/]],
    ['blanks of a web page', MAIL.replace('\n by', '\n\xc2\xa0by'), 'pasted', MAIL, [/lost the blanks/]],
    ['the source of a web page', MAIL.replace('<a@a.example>', '&lt;a@a.example&gt;'), 'pasted', MAIL, [/as in HTML/]],
    ['base64, in lines', base64(MAIL).replace(/.{76}/g, '$&\n'), 'pasted', MAIL, [/base64/]],
    ['base64 for URLs', Buffer.from(MAIL).toString('base64url'), 'pasted', MAIL, [/base64/]],
    ['a text of JSON', JSON.stringify(MAIL), 'pasted', MAIL, [/JSON/]],
    [
      'a text of a program',
      MAIL.replaceAll('\n', '\\r\\n'),
      'pasted',
      MAIL.replaceAll('\n', '\r\n'),
      [/written as \\n/],
    ],
    ['every line twice as long', MAIL.replaceAll('\n', '\n\n'), 'pasted', MAIL, [/empty line behind/]],
    ['numbered lines', numbered('  '), 'pasted', MAIL.trim(), [/numbers in front/]],
    ['numbered with a colon', numbered(': '), 'pasted', MAIL.trim(), [/numbers in front/]],
    ['a question above it', `My mail goes to spam, why?\n\n${MAIL}`, 'pasted', MAIL, [/of a page/]],
    ['a page in German', GERMAN + MAIL, 'pasted', MAIL, [/^5 lines of a page/]],
    [
      'words above quoted lines',
      `On Friday he wrote:\n\n${each('> ', MAIL)}`,
      'pasted',
      MAIL,
      [/quoted lines/, /mark ">"/],
    ],
    ['a word that looks like a field', `Header: see below\n\n${MAIL}`, 'pasted', MAIL, [/of a page/]],
    ['marks of a forum', `[code]${MAIL}[/code]`, 'pasted', MAIL, [/fence/]],
    ['CR CR LF', MAIL.replaceAll('\n', '\r\r\n'), 'pasted', MAIL.replaceAll('\n', '\r\n'), [/CR CR LF/]],
    ['no-break blanks', HEAD.replaceAll(': ', ':\xc2\xa0') + BODY, 'pasted', MAIL, [/blanks of a web page/]],
    ['the button of a page', `${SUMMARY}${MAIL}\nSchlie\xc3\x9fen\n`, 'pasted', MAIL, [/of a page/]],
    ['a blank', each(' ', MAIL), 'pasted', MAIL, [/^1 blank in front of each line was/]],
    ['a fence below words', `See:\n\n\`\`\`\n${MAIL}\`\`\`\n\nThanks!\n`, 'pasted', MAIL, [/fence/]],
    [
      'lines that a ticket system wrapped',
      `${WRAPPED}${BODY}`,
      'pasted',
      WRAPPED.replace('\n[45', '\n [45').replace('\n+0', '\n +0') + BODY,
      [/lost the blanks/],
    ],
    [
      'names of signed fields',
      LOST.replace('by b', 'h=From:To\nby b') + BODY,
      'pasted',
      undefined,
      [/lost the blanks/],
    ],
    [
      'quotes of a word processor',
      MAIL.replace('From: a@a.example', 'From: \xe2\x80\x9cA, B\xe2\x80\x9d <a@a.example>'),
      'pasted',
      MAIL.replace('From: a@a.example', 'From: "A, B" <a@a.example>'),
      [/word processor/],
    ],
    [
      'a dialogue in SMTP',
      `EHLO a.example\n250 b.example\nMAIL FROM:<a@a.example>\nDATA\n354 go on\n${MAIL}.\nQUIT\n`,
      'pasted',
      MAIL,
      [/dialogue/],
    ],
    [
      'postcat',
      `*** ENVELOPE RECORDS x ***\nsender: a@a.example\n*** MESSAGE CONTENTS x ***\n${MAIL}*** HEADER EXTRACTED x ***\n`,
      'pasted',
      MAIL,
      [/queue file/],
    ],
    ['a list of one text of JSON', JSON.stringify([MAIL]), 'pasted', MAIL, [/JSON/]],
    ['no-break blanks in front', each('\xc2\xa0\xc2\xa0', MAIL), 'pasted', MAIL, [/^2 blanks/]],
    [
      'buttons below a header',
      `Headers\n\n${HEAD}\nKopieren\nOK\n`,
      'header_only',
      HEAD,
      [/of a page/, /header alone/],
    ],
    ['a mail that ends with such a word', `${SUMMARY}${MAIL}OK\n`, 'pasted', `${MAIL}OK\n`, [/of a page/]],
    ['marks with and without a blank', each('> ', MAIL).replace('> From', '>From'), 'pasted', MAIL, [/mark ">"/]],
    [
      'what somebody made unreadable',
      MAIL.replaceAll('a@a.example', 'REDACTED@a.example'),
      'pasted',
      MAIL.replaceAll('a@a.example', 'REDACTED@a.example'),
      [/unreadable/],
    ],
    ['bytes of Python', `b'${MAIL.replaceAll('\n', '\\r\\n')}'`, 'pasted', MAIL.replaceAll('\n', '\r\n'), [/as \\n/]],
    ['line ends of an editor', MAIL.replaceAll('\n', '^M\n'), 'pasted', MAIL, [/as \^M/]],
    [
      'cat -A',
      MAIL.replaceAll('\n', '^M$\n').replace(' by', '^Iby'),
      'pasted',
      MAIL.replace(' by', '\tby'),
      [/as \^M/],
    ],
    [
      'quoted-printable',
      `DKIM-Signature: v=3D1; d=3Da.exam=\nple\n${MAIL}`,
      'pasted',
      `DKIM-Signature: v=1; d=a.example\n${MAIL}`,
      [/quoted-printable/],
    ],
    [
      'an indented block below a word',
      `raw: |\n${each('  ', MAIL)}`,
      'pasted',
      MAIL,
      [/around the quoted/, /^2 blanks/],
    ],
    [
      'an empty line behind each field',
      `Delivered-To: a@a.example\n\n${HEAD.replace(/\n(?=\S)/g, '\n\n')}\nHello\n`,
      'pasted',
      `Delivered-To: a@a.example\n${HEAD}\nHello\n`,
      [/between the fields/],
    ],
    [
      'a header of several parts, and the foot of a page',
      `${HEAD}Content-Type: multipart/mixed; boundary="x1"\n\nWebmail 1.6\n`,
      'header_only',
      undefined,
      [/header alone/],
    ],
    [
      'two ends of quotes',
      `From: \xe2\x80\x9dA\xe2\x80\x9d <a@a.example>\n${HEAD}`,
      'header_only',
      `From: "A" <a@a.example>\n${HEAD}`,
      [/quotes of a word/, /header alone/],
    ],
    ['UTF-16 without its mark', Buffer.from(MAIL, 'utf16le').toString('latin1'), 'pasted', MAIL, [/UTF-16/]],
    [
      'UTF-16, the other way round',
      Buffer.from(MAIL, 'utf16le').swap16().toString('latin1'),
      'pasted',
      MAIL,
      [/UTF-16/],
    ],
    ...[
      { content: MAIL, mail: { source: 'a@a.example' } },
      { Message: JSON.stringify({ content: MAIL }) },
      { id: '1', payload: { raw: Buffer.from(MAIL).toString('base64') } },
    ].map((call) => ['a call of a webhook', JSON.stringify(call), 'pasted', MAIL, [/JSON/]] as const),
    ...[
      { 'message-headers': FIELDS },
      { headers: FIELDS.map(([name, value]) => ({ name, value })) },
      { Headers: FIELDS.map(([Name, Value]) => ({ Name, Value })), To: 'b@b.example' },
    ].map(
      (call) =>
        [
          'the header in a call of a webhook',
          JSON.stringify(call),
          'header_only',
          FIELDS.map(([name, value]) => `${name}: ${value}\r\n`).join(''),
          [/JSON/, /header alone/],
        ] as const,
    ),
    [
      'a table of the fields',
      FIELDS.map(([name, value]) => `${name}\t${value}\n`).join(''),
      'header_only',
      FIELDS.map(([name, value]) => `${name}: ${value}\n`).join(''),
      [/a column of their own/, /header alone/],
    ],
    ...['\n', '\r\n'].map(
      (end) =>
        [
          `a table of the fields in Markdown, ${JSON.stringify(end)}`,
          ['| Field | Value |', '|:--|---|', ...FIELDS.map(([name, value]) => `| ${name} | ${value} |`), ''].join(end),
          'header_only',
          FIELDS.map(([name, value]) => `${name}: ${value}\n`).join(''),
          [/a column of their own/, /header alone/],
        ] as const,
    ),
    [
      'parts in quoted-printable, and a message attached',
      `X-A: b\n${HEAD}Content-Type: multipart/mixed; boundary="x1"\n\n--x1\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<meta charset=3Dutf-8>a=\nb${'c'.repeat(300)}\n--x1\nContent-Type: message/rfc822\n\n${MAIL}--x1--\n`,
      'message',
      undefined,
      [/another message attached/],
    ],
    [
      'a notice of delivery is no wrapper',
      `From: MAILER-DAEMON@b.example\nReturn-Path: <>\nSubject: Undelivered\nContent-Type: multipart/mixed; boundary="x1"\n\n--x1\n\nYour message could not be delivered to c@c.example.\n--x1\nContent-Type: message/rfc822\n\n${MAIL}--x1--\n`,
      'message',
      undefined,
      [],
    ],
    [
      'a binary attachment that was pasted',
      `X-A: b\n${HEAD}Content-Transfer-Encoding: binary\n\nPK${'\xef\xbf\xbd'.repeat(9)}\n`,
      'pasted',
      undefined,
      [/octets that are no characters/],
    ],
    [
      'a spool file of Exim',
      `1tD-1-H\nexim 104 110\n<a@a.example>\n1795 0\n1\nb@b.example\n\n${FIELDS.map(([name, value]) => `027F ${name}: ${value}\n`).join('')}`,
      'header_only',
      FIELDS.map(([name, value]) => `${name}: ${value}\n`).join(''),
      [/queue file/, /header alone/],
    ],
    ['an answer of a POP3 server', `+OK 300 octets\n${MAIL}.\n`, 'pasted', MAIL, [/the dialogue/]],
    [
      'the colours of a terminal',
      HEAD.replace(/^[\w-]+:/gm, '\x1b[36m$&\x1b[0m'),
      'header_only',
      HEAD,
      [/colours of a terminal/, /header alone/],
    ],
    ['a comment in a script', each('# ', MAIL), 'pasted', MAIL, [/the mark "#"/]],
    ...['**$1:**', '**$1**:', '__$1__:', '* $1:', '- **$1:**', '\xe2\x80\xa2 $1:'].map(
      (name) =>
        [
          'names that stand out',
          HEAD.replace(/^([\w-]+):/gm, name),
          'header_only',
          HEAD,
          [/a list or of bold/, /header alone/],
        ] as const,
    ),
    [
      'a message that is the whole content of another one',
      `X-A: b\n${HEAD}Content-Type: message/rfc822\n\n${MAIL}`,
      'message',
      MAIL.replaceAll('\n', '\r\n'),
      [/forwarded as an attachment/],
    ],
    ['one field', HEAD.split('From')[0]!, 'header_only', HEAD.split('From')[0]!, [/a part of a header/]],
    ['a damaged header stays whole', `From: a@a.example\nstray\n${MAIL.slice(28)}`, 'message', undefined, []],
  ] as const)('%s', (_, text, kind, message, notes) => {
    const found = readForm(Buffer.from(text, 'latin1'))
    if ('is' in found) throw new Error(found.is)
    expect(found.kind).toBe(kind)
    if (message !== undefined) expect(Buffer.from(found.octets).toString('latin1')).toBe(message)
    expect(found.notes).toHaveLength(notes.length)
    for (const [i, note] of notes.entries()) expect(found.notes[i]).toMatch(note)
    expect(isPlain(Buffer.from(text, 'latin1'))).toBe(kind === 'message' && text.startsWith('Return-Path'))
  })
  it.each([
    ['%PDF-1.4', 'pdf'],
    ['\xd0\xcf\x11\xe0\xa1', 'outlook_damaged'],
    ['PK\x03\x04', 'archive'],
    [`PK\x03\x04${' '.repeat(26)}[Content_Types].xml`, 'office'],
    ['\x1f\x8b', 'gzip'],
    ['\x89PNG', 'picture'],
    ['RIFF\x00\x00\x00\x00WEBPVP8', 'picture'],
    ['\x00\x00\x00\x18ftypheic', 'picture'],
    ['!BDN', 'outlook_store'],
    ['From: <Saved by Blink>\nSnapshot-Content-Location: https://mail.example/', 'saved_page'],
    ['{\\rtf1', 'rtf'],
    ['\n<!DOCTYPE html><p>', 'html'],
    ['-----Original Message-----\nFrom: A <a@a.example>\nSent: Monday\nTo: b\nSubject: Hello\n\nHello', 'quoted'],
    ['From: A <a@a.example>\nSubject: Hello\nDate: 23 November 2026 at 09:00:02 CET\nTo: b\n\nHello', 'quoted'],
    ['Hello Joe,\nhow are you?', 'no_header'],
    ['', 'empty'],
    ['\n \n', 'empty'],
    ['BEGIN:VCALENDAR\nMETHOD:REQUEST\nORGANIZER:mailto:a@a.example\nEND:VCALENDAR', 'calendar'],
    ['BEGIN:VCARD\nFN:A\nEMAIL:a@a.example\nEND:VCARD', 'contact'],
    ['0\x82\x0f\x11\x06\x09*\x86H\x86\xf7\x0d\x01\x07\x02', 'smime'],
    ['-----BEGIN PKCS7-----\nMIAG', 'smime'],
    ['{"organization-name": "A", "report-id": "1", "policies": []}', 'tls_report'],
    ['v=spf1 include:spf.a.example -all', 'record'],
    ['_dmarc.a.example. 3600 IN TXT "v=DMARC1; p=none"', 'record'],
    ['<a@a.example>\n', 'address'],
    ['192.0.2.1', 'address'],
    ['https://mail.example/#inbox/F1', 'link'],
    ['-----BEGIN PGP MESSAGE-----\n\nhQEM', 'pgp'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE', 'key'],
    ['Hello\n1 message\n\nA <a@a.example>\tMon, Nov 23, 2026 at 09:00\nTo: b\n\nHello', 'no_header'],
    ['https://www.a.example/', 'domain'],
    ['a.example', 'domain'],
  ])('%j is no message', (text, is) => expect(readForm(Buffer.from(text, 'latin1'))).toEqual({ is }))
  it('a date that a program got wrong makes no quotation', () => {
    const text = Buffer.from('From: a@a.example\nDate: 24.11.2026 16:40\n\nHello\n')
    expect(readForm(text)).toMatchObject({ kind: 'message' })
  })
  it('is linear', () => {
    const size = 500_000
    for (const piece of [
      '> ',
      '>\n',
      ' \n',
      'From ',
      '\n\nFrom a 1',
      'Received: a\n',
      'x\nTo: a\n',
      '```',
      '\r',
      'a:\n b',
      '9',
      '1: a: b\n',
      'a: &lt;b&gt;\n',
      'a: &lt;',
      'aaaa',
      '\\n',
      'a\n\n',
      'Received: a\nb\n',
      '\xc2\xa0',
      'a: b@b<mailto:b@b>',
      '[a](mailto:',
      'Received: a.a<http://',
      '\n \n',
      '\r\r\n',
      '[code]',
      'a: b\n\n',
      '=3D=\n',
      'x^M\n',
      'DATA\n',
      'A1\tb\n',
      '[',
      '{"a":',
      '"{\\"',
      'F\0',
      '* a: ',
      '**a:** b\n',
      '\xe2\x80\x9d',
    ]) {
      const text = piece.repeat(size / piece.length)
      readForm(Buffer.from(text))
      readForm(Buffer.from(`${SUMMARY}${HEAD}\n${text}x`))
    }
  }, 10_000)

  it('reads a header that begins with a long field of a list', () => {
    const long = `List-Unsubscribe: ${'<https://a.example/x>, '.repeat(10_000)}\r\n${HEAD}${BODY}`
    expect(readForm(Buffer.from(long))).toMatchObject({ kind: 'message' })
  })

  it('reads a body of millions of empty lines', () => {
    expect(readForm(Buffer.from(`${HEAD}\r\n${'\r\n'.repeat(4_500_000)}`))).toMatchObject({ kind: 'header_only' })
  })
})
