import { dane } from '../../src/checks/dane/index.ts'
import { dnssec } from '../../src/checks/dnssec/index.ts'
import { lookupMx } from '../../src/checks/mx/lookup.ts'
import { lookupNs } from '../../src/checks/ns/lookup.ts'
import { lookupPtr } from '../../src/checks/ptr/lookup.ts'
import { runCheck, runInContext } from '../../src/checks/run.ts'
import { lookupSoa } from '../../src/checks/soa/index.ts'
import { starttls } from '../../src/checks/starttls/index.ts'
import { domain } from '../../src/names/domain.ts'
import { type AskServer, DnsError, type RecordData } from '../../src/net/dns/resolver.ts'
import { DialError } from '../../src/net/smtp/dial.ts'
import type { LabNode, LabZone } from '../lab/dns.ts'
import { labProblem } from '../lab/problem.ts'
import { labCtx } from '../lab/world.ts'
import { testBounds, times } from './table.ts'

const A = domain('a.example')
/** `depth` names of which each is below the next; the last is `a.example`. */
const deep = (depth: number) => domain([...times(depth - 1, (i) => `l${i}`), 'a.example'].join('.'))
const SOA: RecordData['SOA'] = {
  mname: 'ns1.a.example',
  rname: 'h.a.example',
  serial: 1,
  refresh: 14_400,
  retry: 3_600,
  expire: 1_209_600,
  minimum: 3_600,
}
/** A domain with mail hosts, each with its node. */
const mail = (hosts: readonly (readonly [name: string, node: LabNode])[]): LabZone => ({
  'a.example': { MX: hosts.map(([name], i) => [i, name] as const) },
  ...Object.fromEntries(hosts),
})
const hosts = (n: number): LabZone => mail(times(n, (i) => [`m${i}.example`, { A: [`45.53.5.${i}`] }]))
const asksOf = async (type: string, look: (ctx: ReturnType<typeof labCtx>) => Promise<unknown>): Promise<number> => {
  const ctx = labCtx({ 'a.example': { A: ['45.53.5.1'] } })
  await look(ctx)
  return ctx.asked.filter((asked) => asked.endsWith(` ${type}`) && asked.includes('a.example')).length
}
const caa = async (n: number, value: string) => {
  const CAA = times(n, () => ({ critical: false, tag: 'issue', value }))
  return runInContext('caa', labCtx({ 'a.example': { CAA } }), A)
}
/** The TLSA records that are shown of a host with `n` records of `digits` hex digits. */
async function tlsa(n: number, digits: number) {
  const record = { usage: 3, selector: 1, matchingType: 0, data: 'a'.repeat(digits) }
  const zone = { ...hosts(1), '_25._tcp.m0.example': { TLSA: times(n, () => record) } }
  return dane.present(await runCheck(dane, labCtx(zone), A)).hosts[0]!.records
}
async function signed(n: number) {
  const node: LabNode = {
    SOA: [SOA],
    DS: times(n, () => ({ keyTag: 1, algorithm: 13, digestType: 2, digest: 'aa' })),
    DNSKEY: times(n, () => ({ flags: 257, protocol: 3, algorithm: 13, publicKey: 'AAAA' })),
  }
  return (await runCheck(dnssec, labCtx({ 'a.example': node, example: { SOA: [SOA] } }), A)).facts!
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
  [
    'src/checks/caa/index.ts MAX_TOLD',
    10,
    async (n) => (await caa(n, '%%%')).findings.filter(({ id }) => id === 'caa.syntax').length === n,
  ],
  ['src/checks/caa/index.ts MAX_RECORDS', 100, async (n) => (await caa(n, 'ca.example')).facts?.records.length === n],
  ['src/checks/dane/index.ts MAX_DATA', 8_192, async (n) => (await tlsa(1, n))[0]?.data.length === n],
  ['src/checks/dane/lookup.ts MAX_RECORDS', 20, async (n) => (await tlsa(n, 64)).length === n],
  [
    'src/checks/dnssec/lookup.ts MAX_CANDIDATES',
    4,
    async (n) => (await asksOf('SOA', (ctx) => dnssec.lookup(ctx, deep(n), {}))) === n,
  ],
  [
    'src/checks/dnssec/lookup.ts MAX_RECORDS',
    50,
    async (n) => {
      const { ds, keys } = await signed(n)
      return !(ds instanceof DnsError) && !(keys instanceof DnsError) && ds.length === n && keys.length === n
    },
  ],
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
    'src/checks/ns/lookup.ts MAX_CANDIDATES',
    4,
    async (n) => (await asksOf('NS', (ctx) => lookupNs({ ...ctx, askServer }, deep(n)))) === n,
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
    'src/checks/ptr/lookup.ts MAX_BEST',
    10,
    async (n) =>
      (await lookupPtr(labCtx(mail([['m.example', { A: times(n, (i) => `45.53.5.${i}`) }]])), A)).best.length === n,
  ],
  [
    'src/checks/ptr/lookup.ts MAX_NAMES',
    10,
    async (n) => {
      const zone = { ...hosts(1), '0.5.53.45.in-addr.arpa': { PTR: times(n, (i) => `p${i}.example`) } }
      return (await lookupPtr(labCtx(zone), A)).addresses[0]?.forward.length === n
    },
  ],
  [
    'src/checks/soa/index.ts MAX_NEGATIVE_SECONDS',
    86_400,
    async (minimum) =>
      (await runInContext('soa', labCtx({ 'a.example': { SOA: [{ ...SOA, minimum }] } }), A)).status === 'pass',
  ],
  [
    'src/checks/soa/index.ts MAX_CANDIDATES',
    4,
    async (n) => (await asksOf('SOA', (ctx) => lookupSoa(ctx, deep(n)))) === n,
  ],
  [
    'src/checks/starttls/lookup.ts MAX_HOSTS',
    10,
    async (n) =>
      (await runCheck(starttls, labCtx(hosts(n), { dial }), A, { starttls: true })).facts?.hosts.length === n,
  ],
  ['src/checks/starttls/lookup.ts AT_A_TIME', 5, async (n) => (await connectionsAtATime(n)) === n],
])
