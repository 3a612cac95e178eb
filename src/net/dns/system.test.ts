import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ip } from '../../names/ip.ts'
import { formatServer, isLoopback, isPublicResolver, parseResolvConf, parseServer } from './system.ts'

it.each([
  ['192.0.2.53', '192.0.2.53:53'],
  ['192.0.2.53:5353', '192.0.2.53:5353'],
  ['2001:DB8::53', '[2001:db8::53]:53'],
  ['[2001:db8::53]:5353', '[2001:db8::53]:5353'],
  ['[2001:db8::53]', '[2001:db8::53]:53'],
  ['192.0.2.53:0', undefined],
  ['192.0.2.53:65536', undefined],
  ['ns.example', undefined], // an address: there is nobody to ask for it yet
  ['192.0.2.53:', undefined],
  ['', undefined],
])('reads the server %j as %j', (text, shown) => {
  const server = parseServer(text)
  expect(server.ok ? formatServer(server.value) : undefined).toBe(shown)
})

it('reads back every server that it prints, and never throws', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), fc.integer({ min: 1, max: 65_535 }), (host, port) => {
      const server = parseServer(host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)
      if (server.ok) expect(parseServer(formatServer(server.value))).toEqual(server)
    }),
  )
})

it.each([
  ['nameserver 192.0.2.1\nnameserver 2001:db8::1\n', ['192.0.2.1', '2001:db8::1'], false],
  ['# nameserver 192.0.2.9\nnameserver\t192.0.2.1 # first\noptions edns0 trust-ad', ['192.0.2.1'], true],
  ['nameserver fe80::1%eth0\nnameserver 192.0.2.1\nnameserver 192.0.2.1', ['192.0.2.1'], false], // zone id, twice
  ['search example', ['127.0.0.1'], false], // resolv.conf(5): none means this machine
  ['nameserver nonsense\r\nnameserver 192.0.2.2\r\n', ['192.0.2.2'], false],
])('reads resolv.conf %j', (text, servers, trustAd) => {
  const read = parseResolvConf(text)
  expect(read.servers.map(({ ip }) => ip)).toEqual(servers)
  expect(read.trustAd).toBe(trustAd)
})

it.each([
  ['8.8.8.8', true],
  ['1.1.1.1', true],
  ['2620:fe::fe', true],
  ['192.0.2.53', false],
  ['127.0.0.53', false],
])('%s is open to everybody: %s', (address, open) => expect(isPublicResolver(ip(address))).toBe(open))

it('knows the servers of this machine', () => {
  expect(['127.0.0.53', '::1', '192.0.2.1'].map((text) => isLoopback({ ip: ip(text), port: 53 }))).toEqual([
    true,
    true,
    false,
  ])
})
