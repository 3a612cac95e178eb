import { expect, it } from 'vitest'
import { labDeps, labPool } from '../../test/lab/app.ts'
import type { LabZone } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import { createBlacklists } from '../dnsbl/blacklists.ts'
import { ip, reverseName } from '../names/ip.ts'
import type { ProxyState } from '../net/socks/proxies.ts'
import { checkSources } from './self-check.ts'

const US = ip('45.53.1.2')
const GOOD: LabZone = {
  [reverseName(US)]: { PTR: ['mail.a.example'] },
  'mail.a.example': { A: ['45.53.1.2'], TXT: ['v=spf1 ip4:45.53.1.2 -all'] },
}
const PROXY = 'socks5://45.53.9.1:1080'
/** What is seen of one source, written as in the pool. */
async function check(zone: LabZone, helo = 'mail.a.example', source: string = US, known: ProxyState = {}) {
  const ctx = labCtx(zone)
  const sourcePool = labPool(ctx, createBlacklists({ now: ctx.now, noCourtesy: true }), [source], { [PROXY]: known })
  const { peers } = labDeps(ctx)
  return (await checkSources(ctx, { heloName: async () => helo, sourcePool, peers }))[0]!
}

it.each<[string, LabZone, string, string[], string[]]>([
  ['all in order', GOOD, 'mail.a.example', [], []],
  [
    'no PTR',
    { 'mail.a.example': GOOD['mail.a.example']! },
    'mail.a.example',
    ['it has no PTR record'],
    [`${reverseName(US)} PTR mail.a.example.`],
  ],
  ['no PTR and no name', {}, '[45.53.1.2]', ['no PTR name for EHLO: set a PTR record, or set --helo'], []],
  [
    'PTR without confirmation',
    { ...GOOD, 'mail.a.example': { TXT: ['v=spf1 ip4:45.53.1.2 -all'] } },
    'mail.a.example',
    ['its PTR name does not resolve back to it', 'the HELO name mail.a.example does not resolve to it'],
    ['mail.a.example A 45.53.1.2'],
  ],
  [
    'PTR without confirmation, of another name than HELO',
    { ...GOOD, [reverseName(US)]: { PTR: ['ptr.b.example'] } },
    'mail.a.example',
    ['its PTR name does not resolve back to it', 'its PTR name is not the HELO name'],
    ['ptr.b.example A 45.53.1.2', `${reverseName(US)} PTR mail.a.example.`],
  ],
  [
    'another HELO name',
    { ...GOOD, 'mx.a.example': GOOD['mail.a.example']! },
    'mx.a.example',
    ['its PTR name is not the HELO name'],
    [`${reverseName(US)} PTR mx.a.example.`],
  ],
  [
    'no SPF',
    { ...GOOD, 'mail.a.example': { A: ['45.53.1.2'] } },
    'mail.a.example',
    ['the SPF record of mail.a.example gives none for it'],
    ['mail.a.example TXT v=spf1 ip4:45.53.1.2 -all'],
  ],
])('%s', async (_, zone, helo, problems, fixes) => {
  const seen = await check(zone, helo)
  const shown = seen.fixes.map((fix) => (fix.type === 'dns' ? `${fix.name} ${fix.rtype} ${fix.value}` : ''))
  expect([seen.problems, shown]).toEqual([problems, fixes])
})

it('says null and not no where the DNS is silent', async () => {
  const seen = await check({ ...GOOD, 'mail.a.example': { A: 'SERVFAIL', TXT: 'SERVFAIL' } })
  expect(seen).toMatchObject({ forward_confirmed: null, helo_resolves: null, spf: 'temperror', problems: [] })
})

const EXIT: ProxyState = { exit: { address: US, by: 'mail_host' } }
it.each<[string, string, ProxyState, string | undefined, string[]]>([
  ['a proxy is judged by the address that it leaves from', 'socks5://45.53.9.1', EXIT, US, []],
  ['a proxy whose exit is not known', 'socks5://45.53.9.1', { problem: 'not found out' }, undefined, ['not found out']],
  ['a proxy that lies', 'socks5://45.53.9.1', { ...EXIT, lie: 'it reached nobody' }, US, ['it reached nobody']],
  ['a node that is not known', 'peer:north', {}, undefined, ['the node is not registered']],
  ['this very node', 'peer:here', {}, undefined, ['it is this node']],
])('%s', async (_, source, known, leavesFrom, problems) => {
  const seen = await check(GOOD, 'mail.a.example', source, known)
  expect([seen.leavesFrom?.address, seen.problems]).toEqual([leavesFrom, problems])
  expect(seen.ptr).toEqual(leavesFrom === undefined ? [] : ['mail.a.example'])
})
