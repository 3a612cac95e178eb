import { expect, it } from 'vitest'
import { ip } from '../names/ip.ts'
import { canBind, ownPublicAddresses } from './own-addresses.ts'

it.each([
  ['127.0.0.1', true],
  ['127.9.9.9', true], // no interface shows it
  ['192.0.2.1', false],
  ['2001:db8::1', false],
])('%s can be bound: %s', async (address, expected) => expect(await canBind(ip(address))).toBe(expected))

it('finds public addresses only', () => {
  const row = (address: string, internal = false) => ({
    address,
    internal,
    netmask: '',
    mac: '',
    cidr: null,
    family: 'IPv4' as const,
  })
  const found = ownPublicAddresses({
    lo: [row('127.0.0.1', true)],
    eth0: [row('2a01:4f8::5'), row('fe80::1%eth0'), row('10.0.0.2'), row('45.53.1.1'), row('45.53.1.1')],
  } as unknown as Parameters<typeof ownPublicAddresses>[0])
  expect(found).toEqual(['45.53.1.1', '2a01:4f8::5'])
})
