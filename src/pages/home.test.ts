import fc from 'fast-check'
import { expect, it } from 'vitest'
import { classify } from './home.ts'

it.each<[string, string]>([
  ['example.org', 'domain example.org'],
  ['  EXAMPLE.org.  ', 'domain example.org'],
  ['bücher.example', 'domain xn--bcher-kva.example'],
  ['_dmarc.example.org', 'domain example.org'],
  ['mail._domainkey.example.org', 'domain example.org'],
  ['\u200b“example.org”,', 'domain example.org'],
  ['https://www.example.org/path?q=1#x', 'domain www.example.org'],
  ['HTTP://Example.org:8443', 'domain example.org'],
  ['https://user:secret@example.org/', 'domain example.org'],
  ['//example.org/x', 'domain example.org'],
  ['example.org/path', 'domain example.org'],
  ['example.org:25', 'domain example.org'],
  ['https://joe@example.org', 'domain example.org'], // a login of a URL is no address
  ['joe@example.org', 'address joe@example.org'],
  ['joe+tag@EXAMPLE.org', 'address joe+tag@example.org'],
  ['"Joe" <joe@example.org>', 'address joe@example.org'],
  ['Joe Doe <joe@example.org>,', 'address joe@example.org'],
  ['<joe@example.org>', 'address joe@example.org'],
  ['From: "Joe, the second" <joe@example.org>', 'address joe@example.org'],
  ['From: joe@example.org', 'address joe@example.org'],
  ['From: "Joe"\r\n <joe@example.org>', 'address joe@example.org'], // folded, RFC 5322 §2.2.3
  ['Return-Path: <bounce@example.org>', 'address bounce@example.org'],
  ['joe@example.org (Joe)', 'address joe@example.org'],
  ['mailto:joe@example.org?subject=hi', 'address joe@example.org'],
  ['"joe doe"@example.org', 'address "joe doe"@example.org'],
  ['joe@', 'unknown'],
  ['@example.org', 'domain example.org'],
  ['192.0.2.1', 'ip 192.0.2.1'],
  ['192.0.2.0/24', 'unknown'],
  ['2001:db8::/48', 'unknown'],
  ['192.0.2.1-192.0.2.9', 'unknown'],
  ['192.0.2.1 - 9', 'unknown'],
  ['192.0.2.*', 'unknown'],
  ['192.0.2.1/path', 'ip 192.0.2.1'],
  ['192.0.2.1:25', 'ip 192.0.2.1'],
  ['https://192.0.2.1/', 'ip 192.0.2.1'],
  ['2001:DB8::1', 'ip 2001:db8::1'],
  ['[2001:db8::1]:25', 'ip 2001:db8::1'],
  ['[2001:db8::1]', 'ip 2001:db8::1'],
  ['::ffff:192.0.2.1', 'ip 192.0.2.1'],
  ['a@a.example\nb@b.example', 'list 2'],
  ['email,name\njoe@a.example,Joe\n', 'list 2'],
  ['a@a.example, b@b.example', 'list 2'],
  ['a@a.example b@b.example; c@c.example', 'list 3'],
  ['192.0.2.1 192.0.2.2', 'list 2'],
  ['a.example b.example', 'list 2'],
  ['192.0.2.1\nexample.org', 'list 2'],
  ['example.org.\t3600\tIN\tMX\t10 mx.example.org.', 'domain example.org'],
  ['mx.example.org has address 192.0.2.1', 'ip 192.0.2.1'],
  ['v=spf1 ip4:192.0.2.1 -all', 'unknown'],
  ['joe@@x.example', 'unknown'],
  ['a@a.example and b@b.example', 'list 2'],
  ['Joe <a@a.example>; Ann <b@b.example>', 'list 2'],
  ['joe&#64;example.org', 'address joe@example.org'],
  ['', 'nothing'],
  [' \r\n ', 'nothing'],
  ['localhost', 'unknown'],
  ['not a domain', 'unknown'],
  ['javascript:alert(1)', 'unknown'],
  ['<script>alert(1)</script>', 'unknown'],
  ['../../etc/passwd', 'unknown'],
])('%j is %s', (text, expected) => {
  const one = classify(text)
  const detail = 'value' in one ? ` ${one.value}` : one.kind === 'list' ? ` ${one.rows.length}` : ''
  expect(`${one.kind}${detail}`).toBe(expected)
})

it('never throws, and is quick on long text', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '@', '.', '<', '>', '"', ':', '/', '[', ' ', '\n') }),
      (text) => {
        classify(text)
      },
    ),
  )
  const begun = performance.now()
  for (const unit of ['<', '"', '(', ':', '@a.', ' ', '[']) classify(unit.repeat(100_000))
  expect(performance.now() - begun).toBeLessThan(1_000)
})
