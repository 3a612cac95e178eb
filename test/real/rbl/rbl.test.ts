import { describe, expect, it } from 'vitest'
import { dig } from '../ask.ts'
import { CLEAN, LISTED, LISTED_ON, LISTS, NAME_LISTS, REFUSING_LIST } from './lists.ts'
import { withLists } from './servers.ts'

const reversed = (address: string): string => address.split('.').reverse().join('.')
const codes = async (zone: string, address: string): Promise<string[]> =>
  (await dig(`${reversed(address)}.${zone}`, 'A')).answers.toSorted()

describe('the 29 lists', () => {
  it.each(LISTS.filter((list) => list.zone !== REFUSING_LIST))(
    '$zone keeps the test points of RFC 5782 §5',
    async (list) => {
      expect(await codes(list.zone, '127.0.0.2')).toHaveLength(1)
      expect(await codes(list.zone, '127.0.0.1')).toHaveLength(list.zone.startsWith('hostkarma') ? 1 : 0)
      expect(await codes(list.zone, CLEAN)).toEqual([])
      expect(await codes(list.zone, LISTED)).toEqual(
        (LISTED_ON[list.zone] ?? []).map((code) => `A 127.0.0.${code}`).toSorted(),
      )
    },
  )

  it('one of them refuses us', async () => {
    expect(await codes(REFUSING_LIST, CLEAN)).toEqual(['A 127.255.255.254'])
  })

  it('a listing says why', async () => {
    expect((await dig(`${reversed(LISTED)}.bl.spamcop.net`, 'TXT')).answers[0]).toContain(`why?ip=${LISTED}`)
  })

  it.each(LISTS.filter((list) => list.ipv6))('$zone has the IPv6 test point', async (list) => {
    const zone = list.zone6 ?? list.zone
    const point = [...'00000000000000000000ffff7f000002'].reverse().join('.')
    expect((await dig(`${point}.${zone}`, 'A')).answers).toHaveLength(1)
    expect((await dig(`${point.replace(/^2/, '1')}.${zone}`, 'A')).status).toBe('NXDOMAIN')
  })

  it('can behave otherwise for a while', async () => {
    const dead = 'bl.spamcop.net'
    await withLists({ 'all.s5h.net': { kind: 'everything' }, [dead]: { kind: 'dead' } }, async () => {
      expect(await codes('all.s5h.net', CLEAN)).toEqual(['A 127.0.0.2'])
      expect((await dig(`${reversed(CLEAN)}.${dead}`, 'A', '+time=1')).status).toBe('TIMEOUT')
    })
    expect(await codes('all.s5h.net', CLEAN)).toEqual([])
    expect((await dig(`${reversed(CLEAN)}.${dead}`, 'A')).status).toBe('NXDOMAIN')
  })
})

describe('the lists of domains', () => {
  it.each(NAME_LISTS)('$zone keeps its test points', async ({ zone, names }) => {
    expect((await dig(`${names!.point}.${zone}`, 'A')).answers).toHaveLength(1)
    expect((await dig(`invalid.${zone}`, 'A')).answers).toEqual([])
  })
})
