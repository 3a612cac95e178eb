import { expect, it } from 'vitest'
import { type LabZone, labDns } from '../../../test/lab/dns.ts'
import { ip } from '../../names/ip.ts'
import { identity } from './helo.ts'

const REVERSE = '99.1.53.45.in-addr.arpa'
const MINUTES = 60_000

it.each<[LabZone, string, readonly number[]]>([
  [{ [REVERSE]: { PTR: ['out.us.example'] } }, 'out.us.example', [1, 1, 2]],
  [{}, '[45.53.1.99]', [1, 2, 3]], // RFC 5321 §4.1.3; a name may be published any time
  [{ [REVERSE]: { PTR: ['localhost'] } }, '[45.53.1.99]', [1, 2, 3]],
  [{ [REVERSE]: 'SERVFAIL' }, '[45.53.1.99]', [3, 6, 9]], // nothing was found out
])(
  '%j: greets as %s, and asks for the name %j times: at first, after 2 minutes, after 2 hours',
  async (zone, name, expected) => {
    const dns = labDns(zone)
    let nowMs = 0
    const { heloName } = identity({ now: () => nowMs, monotonic: () => nowMs }, {})
    const asked: number[] = []
    for (const atMs of [0, 2 * MINUTES, 120 * MINUTES]) {
      nowMs = atMs
      for (let i = 0; i < 3; i++)
        expect(await heloName(ip('45.53.1.99'), { resolve: dns.resolve, signal: new AbortController().signal })).toBe(
          name,
        )
      asked.push(dns.asked.length)
    }
    expect(asked).toEqual(expected)
  },
)
