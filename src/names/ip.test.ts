import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bytesOf, ip, ipFromBytes, parseIp, reversed } from './ip.ts'

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['0.0.0.0', '0.0.0.0'],
  ['255.255.255.255', '255.255.255.255'],
  ['2001:DB8::1', '2001:db8::1'], // RFC 5952 §4.3
  ['2001:db8:0:0:0:0:0:1', '2001:db8::1'],
  ['2001:0db8:0000:0000:0001:0000:0000:0001', '2001:db8::1:0:0:1'],
  ['::', '::'],
  ['::ffff:192.0.2.1', '192.0.2.1'], // mapped is IPv4
  ['::FFFF:c000:201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
  ['64:ff9b::c000:201', '64:ff9b::c000:201'], // NAT64 stays IPv6
])('%s is %s', (text, address) => {
  expect(parseIp(text)).toEqual({ ok: true, value: address })
})

it.each([
  ['', /not an IP address/],
  ['0300.0.2.1', /not an IP address/], // octal
  ['192.000.002.001', /not an IP address/],
  ['0xc0.0.2.1', /not an IP address/],
  ['0xc0000201', /not an IP address/],
  ['3221225985', /not an IP address/], // 2^32 as a number
  ['192.0.513', /not an IP address/],
  ['192.0.2', /not an IP address/],
  ['192.0.2.1.', /not an IP address/],
  ['192.0.2.256', /not an IP address/],
  ['192.0.2.-1', /not an IP address/],
  ['192.0.2.1:25', /not an IP address/],
  ['[2001:db8::1]', /not an IP address/],
  ['2001:db8::1]:25', /not an IP address/],
  ['2001:db8:::1', /not an IP address/],
  ['1::2::3', /not an IP address/],
  ['::ffff:192.0.2.256', /not an IP address/],
  ['fe80::1%eth0', /zone id/],
  ['fe80::1%25eth0', /zone id/],
  ['192.0.2.1%0', /zone id/],
  ['192.0.2.0/24', /network/],
  ['2001:db8::/32', /network/],
  ['192.0.2.1-192.0.2.9', /range/],
  ['192.0.2.1-9', /range/],
  ['192.0.2.*', /network/],
  [' 192.0.2.1', /not an IP address/],
  ['192.0.2.1\n', /not an IP address/],
  ['192.0.2.1\u0000', /not an IP address/],
  ['１９２.0.2.1', /not an IP address/], // full-width digits
  ['192。0。2。1', /not an IP address/],
  ['localhost', /not an IP address/],
  ['9'.repeat(10_000), /not an IP address/],
])('%.40j is refused', (text, problem) => {
  const result = parseIp(text)
  expect(result.ok ? 'taken' : result.problem.text).toMatch(problem)
  expect(result.ok ? 0 : result.problem.text.length).toBeLessThan(700)
})

it.each([
  ['192.0.2.1', '1.2.0.192'],
  ['2001:db8:1:2:3:4:567:89ab', 'b.a.9.8.7.6.5.0.4.0.0.0.3.0.0.0.2.0.0.0.1.0.0.0.8.b.d.0.1.0.0.2'], // RFC 5782 §2.4
])('%s reversed', (text, labels) => {
  expect(reversed(ip(text))).toBe(labels)
})

it('never throws; its own text and bytes read back as the same address', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV4Extended(), fc.ipV6()), (text) => {
      const result = parseIp(text)
      if (!result.ok) return
      expect(parseIp(result.value)).toEqual(result)
      expect(ipFromBytes(bytesOf(result.value))).toBe(result.value)
    }),
  )
})
