import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ip } from '../../names/ip.ts'
import { findServer, formatServer, isLoopback, isPublicResolver, parseResolvConf, parseServer } from './system.ts'

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

it.each([
  ['resolver', '192.0.2.7:53'],
  ['resolver:5353', '192.0.2.7:5353'],
  ['six.example', '[2001:db8::7]:53'],
  ['192.0.2.53:5353', '192.0.2.53:5353'], // nothing is looked up
  ['2001:db8::53', '[2001:db8::53]:53'],
  ['resolver:0', 'the port of "[192.0.2.7]:0" is not between 1 and 65535'],
  ['gone.example:53', 'this machine knows no address of the resolver "gone.example"'],
  ['a b', '"a b" is not a DNS server: write 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:5353'],
])('finds the server %j as %j', async (text, shown) => {
  const known: Readonly<Record<string, string>> = { resolver: '192.0.2.7', 'six.example': '2001:db8::7' }
  const lookUp = async (name: string) => {
    if (known[name] === undefined) throw new Error('ENOTFOUND')
    return { address: known[name], family: 4 }
  }
  const server = await findServer(text, lookUp as never)
  expect(server.ok ? formatServer(server.value) : server.problem.text).toBe(shown)
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
