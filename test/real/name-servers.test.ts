import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PRIVATE_HOSTS, STATE, VICTIM } from './addresses.ts'
import { dig } from './ask.ts'
import { type Watch, watchPort } from './listen.ts'
import { runTool } from './processes.ts'
import { type Program, startProgram } from './program.ts'

/** Name servers that disagree, and sets of them that lead to somebody else. */
let program: Program
let watch: Watch | undefined
beforeAll(async () => {
  program = await startProgram()
})
afterAll(async () => void (await program?.stop()))
afterEach(() => watch?.close())

type Server = {
  readonly host: string
  readonly lame: boolean | null
  readonly serial: number | null
  readonly differs: readonly string[]
}
type Found = { readonly id: string; readonly detail: string }
async function look(name: string): Promise<{ servers: readonly Server[]; status: string; found: readonly Found[] }> {
  const { body } = await program.get(`/v1/check?domain=${name}.test&timeout=6s`)
  const { ns, findings } = body as { ns: { servers: Server[]; status: string }; findings: Found[] }
  // That no server here has an IPv6 address is the same for all; servers beyond the usual two are not in the
  // delegation.
  const isUsual = (id: string): boolean => id === 'ns.no_ipv6' || id === 'ns.delegation'
  return { ...ns, found: findings.filter(({ id }) => id.startsWith('ns.') && !isUsual(id)) }
}
const forget = (name: string) =>
  runTool('unbound-control', ['-c', `${STATE}/unbound.conf`, 'flush_zone', `${name}.test`])

describe('servers that disagree', () => {
  it('the odd one of three is named, with what each has', async () => {
    const { servers, found } = await look('nsstale')
    expect(servers).toMatchObject([
      { host: 'late.nsstale.test', lame: false, serial: 2025010101, differs: ['serial', expect.any(String)] },
      { host: 'ns1.lab.test', lame: false, serial: 2026010101, differs: [] },
      { host: 'ns2.lab.test', lame: false, serial: 2026010101, differs: [] },
    ])
    expect(found.map(({ detail }) => detail).every((detail) => detail.includes('late.nsstale.test'))).toBe(true)
  })

  it('of two the one that is behind, whichever of them the resolver asked', async () => {
    for (let time = 0; time < 6; time++) {
      await forget('disagree')
      const { servers, found } = await look('disagree')
      expect(servers[0]).toMatchObject({ host: 'ns1.disagree.test', serial: 2026010101, differs: [] })
      expect(servers[1]!.differs).toContain('serial')
      expect(found.some(({ detail }) => detail.startsWith('ns1.'))).toBe(false)
    }
  })

  it('a lame one is named', async () => {
    const { servers, found } = await look('nslame')
    expect(servers).toMatchObject([
      { host: 'lame.nslame.test', lame: true, serial: null },
      { lame: false },
      { lame: false },
    ])
    expect(found).toMatchObject([{ id: 'ns.lame', detail: expect.stringContaining('lame.nslame.test') }])
  })

  it('a record that was changed lately is blamed on nobody', async () => {
    expect((await dig('nschanged.test', 'MX')).answers).toEqual(['MX 10 mx.accept.test.'])
    const knot = (...args: readonly string[]) => runTool('knotc', ['-c', `${STATE}/knot-leaf/knot.conf`, '-b', ...args])
    await knot('zone-begin', 'nschanged.test')
    await knot('zone-unset', 'nschanged.test', '@', 'MX')
    await knot('zone-set', 'nschanged.test', '@', '300', 'MX', '10 mx.tls.test.')
    await knot('zone-commit', 'nschanged.test')
    const { status, found, servers } = await look('nschanged')
    expect({ status, ids: found.map(({ id }) => id) }).toEqual({ status: 'pass', ids: ['ns.resolver'] })
    expect(servers.flatMap(({ differs }) => differs)).toEqual([])
  })
})

describe('servers that are somebody else', () => {
  it('nsprivate.test: nothing is sent to private addresses', async () => {
    watch = await watchPort(53, PRIVATE_HOSTS)
    const { servers, status } = await look('nsprivate')
    expect(servers.map(({ host, serial }) => [host, serial === null])).toEqual([
      ['a.nsprivate.test', true],
      ['b.nsprivate.test', true],
      ['c.nsprivate.test', true],
      ['ns1.lab.test', false],
      ['ns2.lab.test', false],
    ])
    expect(status).toBe('warn')
    expect(watch.arrivals).toEqual([])
  })

  it('nsvictim.test: eleven names of one address are at most two questions, each sent once', async () => {
    watch = await watchPort(53, [VICTIM])
    const { servers } = await look('nsvictim')
    expect(servers).toHaveLength(13)
    expect(watch.arrivals.toSorted()).toEqual([`${VICTIM} tcp`, `${VICTIM} udp`])
  })
})
