import { describe, expect, it } from 'vitest'
import { cidr } from '../names/cidr.ts'
import { ip } from '../names/ip.ts'
import { guard } from './public-only.ts'

describe('the guard of every dial', () => {
  it.each([
    ['45.53.5.1', true], // public
    ['2a01:4f8::1', true],
    ['127.0.0.1', false], // loopback
    ['0.0.0.0', false], // "this host": Linux connects it to loopback
    ['10.1.2.3', false],
    ['100.64.0.1', false], // RFC 6598
    ['169.254.169.254', false], // cloud metadata
    ['172.31.255.255', false],
    ['192.168.1.1', false],
    ['192.0.2.1', false], // RFC 5737
    ['224.0.0.1', false],
    ['255.255.255.255', false],
    ['::1', false],
    ['::', false],
    ['fe80::1', false],
    ['fd00::1', false],
    ['ff02::1', false],
    ['::ffff:127.0.0.1', false], // mapped: judged as IPv4
    ['::ffff:45.53.5.1', true],
    ['64:ff9b::7f00:1', false], // NAT64 of 127.0.0.1
    ['64:ff9b::2d35:501', true], // NAT64 of 45.53.5.1
    ['64:ff9b:1::1', false], // local-use NAT64, RFC 8215
    ['2002:7f00:1::', false], // 6to4
    ['2001:0:1::', false], // Teredo
    ['2001:db8::1', false],
  ])('%s: %s', (address, expected) => expect(guard({ allowed: [] })(ip(address))).toBe(expected))

  it('lets through what the operator allows, and no more', () => {
    const reachable = guard({ allowed: [cidr('10.0.0.0/8'), cidr('fd00::/16')] })
    expect([ip('10.9.9.9'), ip('fd00::1'), ip('45.53.5.1')].map(reachable)).toEqual([true, true, true])
    expect([ip('127.0.0.1'), ip('192.168.0.1'), ip('fd01::1')].map(reachable)).toEqual([false, false, false])
  })
})
