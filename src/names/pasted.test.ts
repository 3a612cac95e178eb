import { expect, it } from 'vitest'
import { formatEmail } from './email.ts'
import { addressesIn, readAddress, readDomain, readIp, readSelector } from './pasted.ts'

/** The value, or the beginning of what is wrong with it. */
const address = (text: string): string => {
  const read = readAddress(text)
  return read.ok ? formatEmail(read.value.value) : `! ${read.problem.text}`
}

it.each<[string, string]>([
  ['joe@example.org', 'joe@example.org'],
  [' joe@example.org\r\n', 'joe@example.org'],
  ['\u200bjoe@example.org\u200d', 'joe@example.org'],
  ['\ufeff\u00a0joe@example.org\u202f', 'joe@example.org'],
  ['\u00adjoe@example.org', 'joe@example.org'],
  ['\u202ajoe@example.org\u202c', 'joe@example.org'],
  ['jo\u00ade@exam\u200bple.org', 'joe@example.org'],
  ['joe%2Bnews%40example.org', 'joe+news@example.org'],
  ['<b>joe@example.org</b>', 'joe@example.org'],
  ['Joe <joe@example.org>', 'joe@example.org'],
  ['"Doe, Joe" <joe@example.org>', 'joe@example.org'],
  ['Doe, Joe <joe@example.org>', 'joe@example.org'],
  ['<<joe@example.org>>', 'joe@example.org'],
  ['<joe@example.org', 'joe@example.org'],
  ['joe@example.org>', 'joe@example.org'],
  ['"joe@home" <joe@example.org>', 'joe@example.org'],
  ['Joe (joe@example.org)', 'joe@example.org'],
  ['joe@example.org (Joe)', 'joe@example.org'],
  ['joe@example.org Joe Doe', 'joe@example.org'],
  ['joe@example.org – Joe', 'joe@example.org'],
  ['joe@example.org # left', 'joe@example.org'],
  ['> joe@example.org', 'joe@example.org'],
  ['joe@example.co m', '! "example.co m" is not a domain name'],
  ['[joe@example.org]', 'joe@example.org'],
  ['mailto:joe@example.org', 'joe@example.org'],
  ['MAILTO:joe@example.org?subject=Hi&cc=ann@example.org', 'joe@example.org'],
  ['mailto:joe%40example.org', 'joe@example.org'],
  ['mailto://joe@example.org', 'joe@example.org'],
  ['<mailto:joe@example.org|joe@example.org>', 'joe@example.org'],
  ['[Write to Joe](mailto:joe@example.org)', 'joe@example.org'],
  ['<a href="mailto:joe@example.org">Joe</a>', 'joe@example.org'],
  ['=HYPERLINK("mailto:joe@example.org","Joe")', 'joe@example.org'],
  ['=LIEN_HYPERTEXTE("mailto:joe@example.org";"Joe")', 'joe@example.org'],
  ['="joe@example.org"', 'joe@example.org'],
  ['joe&#64;example.org', 'joe@example.org'],
  ['joe&#x40;example&period;org', 'joe@example.org'],
  ['&lt;joe@example.org&gt;', 'joe@example.org'],
  ["'joe@example.org'", 'joe@example.org'],
  ['“joe@example.org”', 'joe@example.org'],
  ['«\u00a0joe@example.org\u00a0»', 'joe@example.org'],
  ['`joe@example.org`,', 'joe@example.org'],
  ['joe@example.org.', 'joe@example.org'],
  ['joe@example.org;', 'joe@example.org'],
  ['E-Mail: joe@example.org', 'joe@example.org'],
  ['To: "Joe" <joe@example.org>', 'joe@example.org'],
  ['„joe@example.org“', 'joe@example.org'],
  ['joe@example.org, Joe Doe', 'joe@example.org'],
  ['Joe;joe@example.org', 'joe@example.org'],
  ['1. joe@example.org', 'joe@example.org'],
  ['12) joe@example.org', 'joe@example.org'],
  ['• joe@example.org', 'joe@example.org'],
  ['Joe Doe - joe@example.org', 'joe@example.org'],
  ['Joe, joe@example.org', 'joe@example.org'],
  ['Joe Doe joe@example.org', 'joe@example.org'],
  ['"Joe" joe@example.org', 'joe@example.org'],
  ['Joe Doe ........ joe@example.org', 'joe@example.org'],
  ['Joe   joe@example.org   Ulm', 'joe@example.org'],
  ['Joe news@example.org', '! the local part contains a blank'],
  ['| Joe | joe@example.org |', 'joe@example.org'],
  ['joe@example.org -- left', 'joe@example.org'],
  ['joe@example.org digest', 'joe@example.org'],
  ['joe@example.org 0171/123', 'joe@example.org'],
  ['Joe Doe\njoe@example.org\n+49 1', 'joe@example.org'],
  ['Tel: 1, Mail: joe@example.org, Fax: 2', 'joe@example.org'],
  ['name=Joe;mail=joe@example.org', 'joe@example.org'],
  ['mail = joe@example.org', 'joe@example.org'],
  ['Joe → joe@example.org', 'joe@example.org'],
  ['📧 joe@example.org', 'joe@example.org'],
  ['Joe (joe@example.org', 'joe@example.org'],
  ['Joe / joe@example.org', 'joe@example.org'],
  ['joe@example.org\u0085', 'joe@example.org'],
  ["(7, 'joe@example.org', 'Joe'),", 'joe@example.org'],
  ['[26.11.26, 10:02:11] Joe: mine is joe@example.org', 'joe@example.org'],
  ['26/11/2026, 10:02 - Joe: joe@example.org', 'joe@example.org'],
  ['joe at example dot org', 'joe@example.org'],
  ['joe (at) example (dot) org', 'joe@example.org'],
  ['joe[at]example.org', 'joe@example.org'],
  ['joe＠example.org', 'joe@example.org'],
  ['E-Mail：joe@example.org', 'joe@example.org'],
  ['https://example.org/?mail=joe@example.org', '! "https://example.org/?mail=joe@example.org" is a URL'],
  ['we met at noon', '! the address has no @'],
  ['joe @example.org', '! a blank stands beside the @; "joe@example.org" is the address without it'],
  ['joe@ example.org', '! a blank stands beside the @; "joe@example.org" is the address without it'],
  ['https://example.org/contact', '! "https://example.org/contact" is a URL, not an address'],
  // what belongs to an address stays
  ["o'hara@example.org", "o'hara@example.org"],
  ['"joe doe"@example.org', '"joe doe"@example.org'],
  ['a/b=c@example.org', 'a/b=c@example.org'],
  ['a&b@example.org', 'a&b@example.org'],
  ['joe+news@example.org', 'joe+news@example.org'],
  // what is no address, and never half of one
  [
    'joe news@example.org',
    '! the local part contains a blank: in a URL, + is written %2B (for "joe+news@example.org")',
  ],
  ['joe@example.org, ann@example.org', '! these are several addresses (2)'],
  ['joe@example.org; ann@example.org', '! these are several addresses (2)'],
  ['joe@example.org ann@example.org', '! these are several addresses (2)'],
  ['a,b@example.org', '! the local part contains characters'],
  ['joe.@example.org', '! the local part begins or ends with a dot'],
  ['joe@exam ple.org', '!'],
  ['joe@@example.org', '!'],
  ['joe', '! the address has no @'],
  ['', '! the address is empty'],
  ['\u200b', '! the address is empty'],
])('reads the address %j', (text, wanted) => {
  expect(address(text).slice(0, wanted.length)).toBe(wanted)
})

it.each<[string, string[]]>([
  ['a@a.example; b@a.example', ['a@a.example', 'b@a.example']],
  ['X, Ann <a@a.example>; Bob Y <b@a.example>', ['a@a.example', 'b@a.example']],
  ['"X, Ann" <a@a.example>, "Y; Bob" <b@a.example>', ['a@a.example', 'b@a.example']],
  ['a@a.example ::: b@a.example ::: c@a.example', ['a@a.example', 'b@a.example', 'c@a.example']],
  ['a@a.example\nb@a.example\r\n', ['a@a.example', 'b@a.example']],
  ['a@a.example / b@a.example', ['a@a.example', 'b@a.example']],
  ['a@a.example/b@a.example', ['a@a.example', 'b@a.example']],
  ['a@a.example und b@a.example', ['a@a.example', 'b@a.example']],
  ['a@a.example b@a.example', ['a@a.example', 'b@a.example']],
  ['<a@a.example> <b@a.example>', ['a@a.example', 'b@a.example']],
  ['mailto:a@a.example,b@a.example', ['a@a.example', 'b@a.example']],
  ['a@a.example;;b@a.example;', ['a@a.example', 'b@a.example']],
  ['a@a.example, n/a', ['a@a.example']],
  ['no address', ['no address']],
  ['a@a.example, b@@a.example', ['a@a.example', 'b@@a.example']],
])('finds the addresses in %j', (text, wanted) => {
  expect(addressesIn(text).map(({ value }) => value)).toEqual(wanted)
})

const name = (text: string): string => {
  const read = readDomain(text)
  if (!read.ok) return `! ${read.problem.text}`
  const { domain, selector } = read.value.value
  return selector === undefined ? domain : `${selector} ${domain}`
}

it.each<[string, string]>([
  ['example.org', 'example.org'],
  ['EXAMPLE.ORG.\n', 'example.org'],
  ['\u200bexample.org\u00a0', 'example.org'],
  ['"example.org"', 'example.org'],
  ['“example.org”', 'example.org'],
  ['<example.org>,', 'example.org'],
  ['@example.org', 'example.org'],
  ['_dmarc.example.org', 'example.org'],
  ['_DMARC.example.org.', 'example.org'],
  ['_mta-sts.example.org', 'example.org'],
  ['_smtp._tls.example.org', 'example.org'],
  ['default._bimi.example.org', 'example.org'],
  ['mail._domainkey.example.org', 'mail example.org'],
  ['2026.Mail._DomainKey.example.org', '2026.mail example.org'],
  ['www.example.org', 'www.example.org'],
  ['example[.]org', 'example.org'],
  ['example (dot) org', 'example.org'],
  ['Domain: example.org', 'example.org'],
  ['domain=example.org', 'example.org'],
  ['mail.example.org. 3600 IN A 192.0.2.1', 'mail.example.org'],
  ['example.org.\t\t3600\tIN\tMX\t10 mail.example.org.', 'example.org'],
  ['mail._domainkey.example.org. IN TXT ( "v=DKIM1; p=abc" )', 'mail example.org'],
  [';; QUESTION SECTION:\n;example.org.\t\t\tIN\tMX', 'example.org'],
  ['example.org mail is handled by 10 mail.example.org.', 'example.org'],
  ['example.org\tMX preference = 10, mail exchanger = mail.example.org', 'example.org'],
  ['Non-authoritative answer:\nName:\texample.org\nAddress: 192.0.2.1', 'example.org'],
  ['example.org. IN MX 10 a.example.\nexample.org. IN TXT "x"', 'example.org'],
  ['a.example. IN MX 10 m.example.\nb.example. IN MX 10 m.example.', '! several domains are given (2)'],
  ['example dot org', 'example.org'],
  ['example.org (the old one)', 'example.org'],
  ['example.org – ours', 'example.org'],
  ['v=DMARC1; p=none', '! "v=DMARC1; p=none" is the text of a record'],
  ['"v=spf1 include:_spf.example.org -all"', '! "\\"v=spf1 include'],
  ['hxxps://example[.]org/x', '! "hxxps://example.org/x" is a URL: give its host, "example.org"'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['https://example.org/contact?x=1', '! "https://example.org/contact?x=1" is a URL: give its host, "example.org"'],
  ['http://user:pw@example.org:8080/', '! "http://user:pw@example.org:8080/" is a URL: give its host, "example.org"'],
  ['example.org/', '! "example.org/" is a URL: give its host, "example.org"'],
  ['example.org:25', '! "example.org:25" has a port: give only the domain, "example.org"'],
  ['joe@example.org', '! "joe@example.org" is a mail address: give its domain, "example.org"'],
  ['example .org', '! "example .org" contains a blank'],
  ['a.example, b.example', '! several domains are given (2)'],
  ['192.0.2.0/24', '! "192.0.2.0/24" is a network'],
  ['192.0.2.1', '! "192.0.2.1" is an IP address'],
  ['_spf.example.org', '! "_spf.example.org" is not a domain name'],
  ['localhost', '! "localhost" is a single label'],
])('reads the domain %j', (text, wanted) => {
  expect(name(text).slice(0, wanted.length)).toBe(wanted)
})

const ip = (text: string): string => {
  const read = readIp(text)
  return read.ok ? read.value.value : `! ${read.problem.text}`
}

it.each<[string, string]>([
  ['192.0.2.1', '192.0.2.1'],
  ['\u200b192.0.2.1\u00a0', '192.0.2.1'],
  ['[192.0.2.1]', '192.0.2.1'],
  ['[192.0.2.1]:25', '192.0.2.1'],
  ['192.0.2.1:25', '192.0.2.1'],
  ['[2001:db8::1]:25', '2001:db8::1'],
  ['[IPv6:2001:DB8::1]', '2001:db8::1'],
  ['ip4:192.0.2.1', '192.0.2.1'],
  ['(192.0.2.1),', '192.0.2.1'],
  ['"192.0.2.1".', '192.0.2.1'],
  ['192[.]0[.]2[.]1', '192.0.2.1'],
  ['IP: 192.0.2.1', '192.0.2.1'],
  ['client-ip=192.0.2.1;', '192.0.2.1'],
  ['mx.example.org [192.0.2.1]', '192.0.2.1'],
  ['mx.example.org. 300 IN AAAA 2001:db8::1', '2001:db8::1'],
  ['mx.example.org has address 192.0.2.1', '192.0.2.1'],
  ['192.0.2.1\tmx.example.org', '192.0.2.1'],
  ['from mx.example.org (mx.example.org [192.0.2.1])', '192.0.2.1'],
  ['Address:  192.0.2.1#53', '192.0.2.1'],
  ['2001:db8::1#53', '2001:db8::1'],
  ['1.2.0.192.in-addr.arpa', '192.0.2.1'],
  ['1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.', '2001:db8::1'],
  ['192.0.2.1 and 192.0.2.2', '! several IP addresses are given (2)'],
  ['inet 192.0.2.1/24 brd 192.0.2.255', '! "inet 192.0.2.1/24 brd 192.0.2.255" is a network'],
  ['mx.example.org (2001:db8::1)', '2001:db8::1'],
  ['dead:1:2:3:4:5:6:7:8', '! "dead:1:2:3:4:5:6:7:8" is not an IP address'],
  ['192.0.2.0/24', '! "192.0.2.0/24" is a network'],
  ['ip4:192.0.2.1/32', '192.0.2.1'],
  ['2001:db8::1/128', '2001:db8::1'],
  ['192．0．2．1', '192.0.2.1'],
  ['192.0.2.1, 192.0.2.2', '! several IP addresses are given (2)'],
  ['http://192.0.2.1/', '! "http://192.0.2.1/" is a URL, not an IP address'],
  ['fe80::1%eth0', '! "fe80::1%eth0" has a zone id'],
  ['- 192.0.2.1', '192.0.2.1'],
  ['mx.example.org', '! "mx.example.org" is a host name, not an IP address'],
  ['192.000.002.001', '! "192.000.002.001" has zeros in front of its numbers'],
  ['192.0.2.300', '! "192.0.2.300" is not an IP address'],
])('reads the IP address %j', (text, wanted) => {
  expect(ip(text).slice(0, wanted.length)).toBe(wanted)
})

it.each<[string, string | undefined]>([
  ['mail', 'mail'],
  ['Mail', 'mail'],
  ['2026.mail', '2026.mail'],
  ['mail._domainkey', 'mail'],
  ['mail._domainkey.example.org.', 'mail'],
  ['Mail._DomainKey.EXAMPLE.ORG', 'mail'],
  ['"mail"', 'mail'],
  ['s=mail;', 'mail'],
  ['v=1; a=rsa-sha256; d=example.org; s=mail; bh=x', 'mail'],
  ['mail._domainkey IN TXT ( "v=DKIM1; k=rsa; "', 'mail'],
  ['\u200bmail\u00a0', 'mail'],
  ['_domainkey.example.org', '_domainkey.example.org'],
  ['a selector', undefined],
  ['mail, s2', undefined],
  ['', undefined],
])('reads the selector %j', (text, wanted) => {
  const read = readSelector(text)
  expect(read.ok ? read.value.value : undefined).toBe(wanted)
})

it.each<[string, string[]]>([
  ['joe@example.org', []],
  [' joe@example.org ', []],
  ['\u00a0joe@example.org', ['invisible']],
  ['Joe <joe@example.org>', ['name']],
  ['<joe@example.org>', ['brackets']],
  ['mailto:joe@example.org', ['mailto']],
  ["'joe@example.org';", ['punctuation', 'quotes']],
  ['joe&#64;example.org', ['markup']],
])('names what it took away from %j', (text, wanted) => {
  const read = readAddress(text)
  expect(read.ok && read.value.taken).toEqual(wanted)
})

it.each([
  '<'.repeat(65_536),
  '['.repeat(65_536),
  'a@'.repeat(32_768),
  '"'.repeat(65_535),
  ' '.repeat(65_536),
  `a@b ${'\u00a0'.repeat(60_000)}x`,
  `<${'a@'.repeat(30_000)}`,
  '/@'.repeat(32_768),
  `${'(a@b'.repeat(16_000)})`,
  '&#64;'.repeat(13_000),
  'mailto:'.repeat(9_000),
  `x${' '.repeat(60_000)}(at)`,
  ' ( at ) [ dot '.repeat(4_000),
  "('a@b,".repeat(10_000),
  `${'a.'.repeat(30_000)}@ x`,
  `${' =a'.repeat(20_000)}@ b`,
  `${'to='.repeat(20_000)}a@ `,
  `x${' '.repeat(60_000)}y@`,
  `[26.11.26, 10:02] ${'a:@'.repeat(20_000)}`,
  '<br '.repeat(16_000),
  '@('.repeat(32_000),
  `${'@(a) '.repeat(13_000)}@`,
  `${'a@b/'.repeat(16_000)}c`,
  `${'a.b'.repeat(16_000)}/32`,
  's ='.repeat(1_300),
])('reads a hostile cell (%#) within the time of a test', (text) => {
  expect(addressesIn(text).length).toBeGreaterThan(0)
  expect([readAddress(text), readDomain(text), readIp(text), readSelector(text)].map(({ ok }) => ok)).not.toContain(
    true,
  )
})
