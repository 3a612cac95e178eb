import { dane } from '../../src/checks/dane/index.ts'
import { lookupMx } from '../../src/checks/mx/lookup.ts'
import { lookupNs } from '../../src/checks/ns/lookup.ts'
import { lookupPtr } from '../../src/checks/ptr/lookup.ts'
import { starttls } from '../../src/checks/starttls/index.ts'
import { domain } from '../../src/names/domain.ts'
import { type AskServer, DnsError } from '../../src/net/dns/resolver.ts'
import { DialError } from '../../src/net/smtp/dial.ts'
import { runCheck } from '../lab/checks.ts'
import type { LabNode, LabZone } from '../lab/dns.ts'
import { labProblem } from '../lab/problem.ts'
import { labCtx } from '../lab/world.ts'
import { testBounds, times } from './table.ts'

const A = domain('a.example')
/** A domain with mail hosts, each with its node. */
const mail = (hosts: readonly (readonly [name: string, node: LabNode])[]): LabZone => ({
  'a.example': { MX: hosts.map(([name], i) => [i, name] as const) },
  ...Object.fromEntries(hosts),
})
const hosts = (n: number): LabZone => mail(times(n, (i) => [`m${i}.example`, { A: [`45.53.5.${i}`] }]))
/** The TLSA records that are shown of a host with `n` records of `digits` hex digits. */
async function tlsa(n: number, digits: number) {
  const record = { usage: 3, selector: 1, matchingType: 0, data: 'a'.repeat(digits) }
  const zone = { ...hosts(1), '_25._tcp.m0.example': { TLSA: times(n, () => record) } }
  return dane.present(await runCheck(dane, labCtx(zone), A)).hosts[0]!.records
}
/** The most hosts that are connected to at one time. */
async function connectionsAtATime(n: number): Promise<number> {
  const under = new Set<string>()
  let most = 0
  const dial = async ({ address }: { readonly address: string }): Promise<never> => {
    under.add(address)
    most = Math.max(most, under.size)
    await new Promise((resolve) => setTimeout(resolve, 1))
    under.delete(address)
    throw new DialError('connect_refused', labProblem('lab'))
  }
  await runCheck(starttls, labCtx(hosts(n), { dial }), A, { starttls: true })
  return most
}
const dial = async (): Promise<never> => Promise.reject(new DialError('connect_refused', labProblem('lab')))
const askServer: AskServer = async (_server, name, type) => Promise.reject(new DnsError('timeout', { name, type }))

testBounds([
  ['src/checks/dane/lookup.ts MAX_RECORDS', 20, async (n) => (await tlsa(n, 64)).length === n],
  [
    'src/checks/mx/lookup.ts MAX_ASKED',
    5,
    async (n) =>
      (await lookupMx(labCtx({ 'a.example': { MX: times(n, (i) => [1, `mx.gone${i}.com`] as const) } }), A))
        .unregistered.length === n,
  ],
  [
    'src/checks/ns/lookup.ts MAX_ADDRESSES',
    10,
    async (n) => {
      const zone: LabZone = {
        'a.example': { NS: ['ns1.example'] },
        'ns1.example': { A: times(n, (i) => `45.53.5.${i}`) },
      }
      return (await lookupNs(labCtx(zone, { askServer }), A)).servers[0]?.addresses.length === n
    },
  ],
  [
    'src/checks/ptr/lookup.ts MAX_ASKED',
    30,
    async (n) => {
      const of = (from: number, to: number): LabNode => ({ A: times(to - from, (i) => `45.53.5.${from + i}`) })
      const zone = mail([
        ['m.example', of(0, 15)],
        ['n.example', of(15, n)],
      ])
      const { addresses, leftOut } = await lookupPtr(labCtx(zone), A)
      return addresses.length === n && leftOut === 0
    },
  ],
  [
    'src/checks/starttls/lookup.ts MAX_HOSTS',
    10,
    async (n) =>
      (await runCheck(starttls, labCtx(hosts(n), { dial }), A, { starttls: true })).facts?.hosts.length === n,
  ],
  ['src/checks/starttls/lookup.ts AT_A_TIME', 5, async (n) => (await connectionsAtATime(n)) === n],
])
