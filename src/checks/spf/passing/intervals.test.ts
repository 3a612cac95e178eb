import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cidr } from '../../../names/cidr.ts'
import { bytesOf, ip, ipFromBytes } from '../../../names/ip.ts'
import {
  contains,
  everyone,
  firstMatches,
  type Interval,
  intervalOf,
  pointOf,
  setOf,
  split,
  without,
} from './intervals.ts'

const show = (interval: Interval): string => interval.map((point) => point.toString(16)).join('-')

describe('networks as intervals', () => {
  it.each([
    ['192.0.2.1', 'c0000201-c0000202'],
    ['192.0.2.1/31', 'c0000200-c0000202'],
    ['255.255.255.255', 'ffffffff-100000000'],
    ['10.1.2.3/0', '0-100000000'],
    ['2001:db8::1', '20010db8000000000000000000000001-20010db8000000000000000000000002'],
    ['2001:db8::1/32', '20010db8000000000000000000000000-20010db9000000000000000000000000'],
    ['::/0', '0-100000000000000000000000000000000'],
  ])('%s', (text, expected) => expect(show(intervalOf(cidr(text)))).toBe(expected))

  it('an IPv6 address as a number', () =>
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), fc.nat(0xffff), (bytes, zeros) => {
        const address = ipFromBytes(bytes.map((byte, i) => ((zeros >> i) & 1 ? 0 : byte) || (i === 0 ? 1 : 0)))
        expect(pointOf(address)).toBe(BigInt(`0x${Buffer.from(bytesOf(address)).toString('hex')}`))
      }),
    ))

  it('everyone is all of a family', () => {
    expect(everyone(4)).toEqual([intervalOf(cidr('0.0.0.0/0'))])
    expect(everyone(6)).toEqual([intervalOf(cidr('::/0'))])
    expect(contains(everyone(4), pointOf(ip('255.255.255.255')))).toBe(true)
  })
})

/** Small sets, so that each point can be tried. */
const POINTS = Array.from({ length: 64 }, (_, i) => i)
const interval = fc
  .tuple(fc.nat(63), fc.integer({ min: 1, max: 20 }))
  .map(([first, size]): Interval => [first, first + size])
const intervals = fc.array(interval, { maxLength: 8 })
const holds = (list: readonly Interval[], point: number): boolean =>
  list.some(([first, end]) => first <= point && point < end)

describe('set algebra', () => {
  it('a set holds what its intervals hold, in order and apart', () =>
    fc.assert(
      fc.property(intervals, (list) => {
        const set = setOf(list)
        for (const point of POINTS) expect(contains(set, point)).toBe(holds(list, point))
        for (let i = 1; i < set.length; i++) expect(set[i]![0] > set[i - 1]![1]).toBe(true)
      }),
    ))

  it('without', () =>
    fc.assert(
      fc.property(intervals, intervals, (a, b) => {
        const rest = without(setOf(a), setOf(b))
        for (const point of POINTS) expect(contains(rest, point)).toBe(holds(a, point) && !holds(b, point))
      }),
    ))

  it('of networks the one with the lowest index is the first match', () => {
    const network = fc.tuple(fc.nat(63), fc.nat(6)).map(([point, bits]): Interval => {
      const first = (point >> bits) << bits
      return [first, first + (1 << bits)]
    })
    fc.assert(
      fc.property(fc.array(network, { maxLength: 10 }), intervals, (networks, list) => {
        const named = firstMatches(networks.map(([first, end], index) => ({ first, end, index })))
        const { inside, outside } = split(setOf(list), named)
        for (const point of POINTS) {
          const index = networks.findIndex((one) => holds([one], point))
          const found = inside.filter(({ first, end }) => first <= point && point < end)
          expect(found.map((one) => one.index)).toEqual(holds(list, point) && index >= 0 ? [index] : [])
          expect(contains(outside, point)).toBe(holds(list, point) && index < 0)
        }
      }),
    )
  })
})
