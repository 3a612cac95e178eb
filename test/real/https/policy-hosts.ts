import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { drip, endless, host, POLICY, type PolicyHost, serves } from './hosts.ts'

type Serve = PolicyHost['serve']
/** Any host that speaks HTTPS. */
export type WebHost = Pick<PolicyHost, 'address' | 'certificate' | 'serve'> & { readonly host: string }

const policy = (...lines: readonly string[]): Serve => serves(`${['version: STSv1', ...lines].join('\r\n')}\r\n`)
const ENFORCE = ['mode: enforce', 'mx: mx.accept.test', 'max_age: 604800']

/** What goes over the wire as it stands, in the place of an answer. */
const raw =
  (text: string): Serve =>
  (_, response) =>
    void response.socket?.end(text)

/** More policy hosts: a finding each, and what a hostile one sends. */
export const morePolicyHosts: readonly PolicyHost[] = [
  host('healthy', 20, 'a policy that names every mail host', {
    serve: policy('mode: enforce', 'mx: mx.danegood.test', 'mx: mx.danesecond.test', 'max_age: 1209600'),
  }),
  host('stshtml', 21, 'a policy served as text/html', {
    serve: (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(POLICY),
  }),
  host('stsnone', 22, 'mode none', { serve: policy('mode: none', 'max_age: 86400') }),
  host('stsshort', 23, 'max_age of an hour', { serve: policy(...ENFORCE.slice(0, 2), 'max_age: 3600') }),
  host('stslong', 24, 'max_age over the limit', { serve: policy(...ENFORCE.slice(0, 2), 'max_age: 99999999') }),
  host('stsunused', 25, 'a policy that names a host too many', { serve: policy(...ENFORCE, 'mx: old.test') }),
  host('stsothertesting', 26, 'a tested policy that does not cover the MX', {
    serve: policy('mode: testing', 'mx: *.other.test', 'max_age: 604800'),
  }),
  host('stsmx', 27, 'a good policy, and no answer about the MX', { service: 'servfail_mx' }),
  host('stsnul', 28, 'NULs in the policy', { serve: policy('mode: enforce\0', ...ENFORCE) }),
  host('stscr', 29, 'a line that ends in the middle for those who take a bare CR for an end', {
    serve: policy('mode: testing\rmode: enforce', ...ENFORCE),
  }),
  host('stslengths', 30, 'two lengths', {
    serve: raw(
      `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nContent-Length: ${POLICY.length}\r\n\r\n${POLICY}`,
    ),
  }),
  host('stsnohttp', 31, 'no HTTP', { serve: raw('220 mx.accept.test ESMTP\r\n') }),
  host('stsheaders', 32, 'a head of 1 MB', {
    serve: raw(`HTTP/1.1 200 OK\r\n${`X-Fill: ${'x'.repeat(1_000)}\r\n`.repeat(1_000)}\r\n`),
  }),
  host('stsrebind', 33, 'the address of the policy host is public once, and private ever after', { named: false }),
]

const svg = (more = '', box = '0 0 64 64') =>
  `<svg xmlns="http://www.w3.org/2000/svg" version="1.2" baseProfile="tiny-ps" viewBox="${box}"><title>Lab</title>${more}<path d="M0 0h64v64z"/></svg>`
const ENTITIES = `<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa">${[...'bcdefghi']
  .map((name, i) => `<!ENTITY ${name} "${`&${'abcdefgh'[i]};`.repeat(10)}">`)
  .join('')}]>`

/** The logos of BIMI by their path. */
const LOGOS: Readonly<Record<string, () => string | Uint8Array>> = {
  '/logo.svg': () => svg(),
  '/logo.svgz': () => gzipSync(svg()),
  '/script.svg': () => svg('<script>alert(1)</script>'),
  '/entities.svg': () => ENTITIES + svg('<desc>&i;</desc>'),
  '/outside.svg': () => `<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>${svg('<desc>&a;</desc>')}`,
  '/wide.svg': () => svg('', '0 0 128 64'),
  '/large.svg': () => svg(`<desc>${'x'.repeat(40_000)}</desc>`),
  '/huge.svg': () => svg(`<desc>${'x'.repeat(10_000_000)}</desc>`),
  '/bomb.svgz': () => gzipSync(Buffer.alloc(100_000_000, ' ')),
}

/** The logos that are no file. */
const STREAMS: Readonly<Record<string, Serve>> = {
  '/endless.svg': endless,
  '/drip.svg': drip,
  '/inside.svg': (_, response) =>
    void response.writeHead(302, { location: 'https://private.bimigood.test/logo.svg' }).end(),
}

function logo(request: IncomingMessage, response: ServerResponse): void {
  const stream = STREAMS[request.url ?? '']
  const file = LOGOS[request.url ?? '']
  if (stream) stream(request, response)
  else response.writeHead(file ? 200 : 404, { 'content-type': 'image/svg+xml' }).end(file?.() ?? 'not here\n')
}

/** Where the logos are. */
export const LOGO_HOST = 'logos.bimigood.test'
export const logoHosts: readonly WebHost[] = [
  { host: LOGO_HOST, address: '45.53.6.50', certificate: 'good', serve: logo },
  { host: 'expired.bimigood.test', address: '45.53.6.51', certificate: 'expired', serve: logo },
]
