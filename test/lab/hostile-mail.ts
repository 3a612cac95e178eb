import { gzipSync } from 'node:zlib'

/** A mail as text of one octet a character, from somebody who reports from `domain`. */
const mail = (domain: string, id: string, rest: string): string =>
  `From: reports@${domain}\r\nSubject: Report Domain: a.example\r\nMessage-ID: <${id}@${domain}>\r\nMIME-Version: 1.0\r\n${rest}`

const attached = (content: Buffer, type = 'application/gzip'): string =>
  `Content-Type: ${type}; name=report\r\nContent-Transfer-Encoding: base64\r\n\r\n${content.toString('base64')}\r\n`

/** A mail that brings a file. */
export const mailWith = (domain: string, id: string, content: Buffer): string => mail(domain, id, attached(content))

const repeated = (text: string, times: number): string => Array.from({ length: times }, () => text).join('')
const details = gzipSync(
  `{"organization-name":"x","date-range":{"start-datetime":"2026-11-20T00:00:00Z","end-datetime":"2026-11-21T00:00:00Z"},"contact-info":"a@a.example","report-id":"1","policies":[${Array.from(
    { length: 50 },
    () =>
      `{"policy":{"policy-type":"sts","policy-domain":"a.example"},"summary":{},"failure-details":[${repeated('{},', 99_998)}{}]}`,
  ).join()}]}`,
)
const members = gzipSync(`{"policies":[],${Array.from({ length: 1_000_000 }, (_, n) => `"${n}":0`).join()}}`)
const mbox = gzipSync('From a\n\n\n'.repeat(1_000_000))
const packed = Array.from({ length: 3 }).reduce<Buffer>((one) => gzipSync(one), Buffer.alloc(60_000_000, '\n'))
const elements = gzipSync(`<feedback>${'<x a="b">'.repeat(1_000_000)}`)
const signatures = repeated(
  'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=evil.example; s=s; h=subject:from:x-long; bh=AAAA; b=AAAA\r\n',
  10,
)

/** What one mail of a stranger can be, each small and well-formed: it held or ended the service. */
export const HOSTILE: readonly (readonly [name: string, make: (domain: string, id: string) => string])[] = [
  ['5,000,000 failure details that say nothing', (...by) => mailWith(...by, details)],
  ['JSON of a million keys', (...by) => mailWith(...by, members)],
  ['an mbox of a million messages', (...by) => mailWith(...by, mbox)],
  ['levels of gzip around nothing', (...by) => mailWith(...by, packed)],
  ['a million elements', (...by) => mailWith(...by, elements)],
  [
    'HTML of links',
    (...by) => mail(...by, `Content-Type: text/html\r\n\r\n${repeated('<a href="https://x.example/">x</a>', 6_000)}`),
  ],
  [
    'messages in messages',
    (...by) => mail(...by, `${repeated('Content-Type: message/rfc822\r\n\r\n', 13_000)}<feedback>`),
  ],
  [
    '300,000 parts',
    (...by) => mail(...by, `Content-Type: multipart/mixed; boundary=b\r\n\r\n${repeated('--b\r\n\r\n', 300_000)}`),
  ],
  [
    'a long Authentication-Results',
    (...by) =>
      `Authentication-Results: mx.example; ${'\\"'.repeat(60_000)}\r\n${mail(...by, `Content-Type: text/xml\r\n\r\n<feedback/>`)}`,
  ],
  [
    'ten signatures over a long field',
    (...by) =>
      `${signatures}X-Long: ${' a'.repeat(500_000)}\r\n${mail(...by, `Content-Type: text/xml\r\n\r\n<feedback/>`)}`,
  ],
]
