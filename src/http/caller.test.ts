import { expect, it } from 'vitest'
import { cidr } from '../names/cidr.ts'
import { clientOf, parseHostField } from './caller.ts'

it.each<[field: string, host: string | undefined]>([
  ['A.example', 'a.example'],
  ['a.example:', 'a.example'],
  ['a.example:65535', 'a.example'],
  ['a.example:65536', undefined],
  ['a.example:-1', undefined],
  ['[::1]', '::1'],
  ['[::1]:65535', '::1'],
  ['[::1]:65536', undefined],
  ['[127.0.0.1]', undefined], // a literal in brackets is IPv6 (RFC 3986 §3.2.2)
  ['127.0.0.1', '127.0.0.1'],
  ['a@b.example', undefined],
  ['', undefined],
])('%s', (field, host) => expect(parseHostField(field)).toBe(host))

const PROXIES = { networks: [cidr('127.0.0.1'), cidr('10.0.0.0/8'), cidr('::1')], unix: true }
const NONE = { networks: [], unix: false }
const FAR = '203.0.113.9'

it.each<[string, string | undefined, string | undefined, typeof PROXIES, address: string, isHere: boolean]>([
  ['loopback', '127.0.0.1', undefined, NONE, '127.0.0.1', true],
  ['loopback, mapped', '::ffff:127.0.0.1', undefined, NONE, '::ffff:127.0.0.1', true],
  ['the field of an untrusted caller', FAR, '127.0.0.1', PROXIES, FAR, false],
  ['the field without any proxy', '127.0.0.1', FAR, NONE, '127.0.0.1', false],
  ['one proxy', '127.0.0.1', FAR, PROXIES, FAR, false],
  ['what the caller has written before', '127.0.0.1', `127.0.0.1, ${FAR}`, PROXIES, FAR, false],
  ['two proxies', '127.0.0.1', `192.0.2.1, ${FAR}, 10.1.2.3`, PROXIES, FAR, false],
  ['a proxy alone', '127.0.0.1', undefined, PROXIES, '127.0.0.1', true],
  ['loopback by a proxy on loopback', '127.0.0.1', '127.0.0.1', PROXIES, '127.0.0.1', true],
  ['with a port', '127.0.0.1', `${FAR}:4711`, PROXIES, FAR, false],
  ['IPv6 with a port', '::1', '[2001:db8::1]:4711', PROXIES, '2001:db8::1', false],
  ['garbage', '127.0.0.1', `${FAR}, <script>`, PROXIES, '127.0.0.1', false],
  ['garbage before a proxy', '127.0.0.1', 'unknown, 10.1.2.3', PROXIES, '10.1.2.3', false],
  ['empty', '127.0.0.1', '', PROXIES, '127.0.0.1', false],
  ['8 kB of proxies', '127.0.0.1', Array(900).fill('10.0.0.1').join(', '), PROXIES, '10.0.0.1', false],
  ['8 kB without a comma', '127.0.0.1', '1'.repeat(8_192), PROXIES, '127.0.0.1', false],
  ['a Unix socket', undefined, undefined, NONE, 'unix', false],
  ['a Unix socket, not trusted', undefined, '127.0.0.1', NONE, 'unix', false],
  ['a Unix socket, trusted', undefined, FAR, PROXIES, FAR, false],
  ['a Unix socket, trusted, for loopback', undefined, '127.0.0.1', PROXIES, '127.0.0.1', true],
])('the caller: %s', (_, peer, forwarded, trusted, address, isHere) => {
  const headers = {
    'x-forwarded-proto': 'http, https',
    ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }),
  }
  const client = clientOf(peer, headers, trusted)
  expect([client.address, client.isHere]).toEqual([address, isHere])
  const isHeard = trusted !== NONE && peer !== FAR
  expect(client.isHttps).toBe(isHeard)
})

it('nothing is read of Forwarded, and its caller is no caller of this machine', () => {
  for (const trusted of [NONE, PROXIES])
    expect(clientOf('127.0.0.1', { forwarded: 'for=192.0.2.1;proto=https' }, trusted)).toEqual({
      address: '127.0.0.1',
      isHere: false,
      isHttps: false,
    })
})
