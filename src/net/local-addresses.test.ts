import { expect, it } from 'vitest'
import { ip } from '../names/ip.ts'
import { canBind, ownPublicAddresses } from './local-addresses.ts'

it.each([
  ['127.0.0.1', true],
  ['127.0.0.77', true], // all of 127/8 is this machine's
  ['192.0.2.1', false], // documentation: nobody's
  ['0.0.0.0', false], // whichever the system likes, which is no choice
  ['::', false],
  ['224.0.0.1', false], // RFC 1112 §4: never a source
])('%s can be bound: %s', async (address, expected) => expect(await canBind(ip(address))).toBe(expected))

it('names no loopback or private address', () =>
  expect(ownPublicAddresses().filter((own) => /^(127|10|192\.168)\./.test(own))).toEqual([]))
