import { expect, it } from 'vitest'
import type { LabZone } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import { ip, reverseName } from '../names/ip.ts'
import { selfChecks } from './self-check.ts'

const US = ip('45.53.1.2')
const GOOD: LabZone = {
  [reverseName(US)]: { PTR: ['mail.a.example'] },
  'mail.a.example': { A: ['45.53.1.2'], TXT: ['v=spf1 ip4:45.53.1.2 -all'] },
}
const check = async (zone: LabZone, helo = 'mail.a.example') =>
  (await selfChecks(labCtx(zone), { heloName: async () => helo }, [US]))[0]!

it.each<[string, LabZone, string, string[], string[]]>([
  ['all in order', GOOD, 'mail.a.example', [], []],
  ['no PTR', { 'mail.a.example': GOOD['mail.a.example']! }, 'mail.a.example', ['it has no PTR record'], ['PTR']],
  ['no PTR and no name', {}, '[45.53.1.2]', ['it has no PTR name to greet with: set one, or name --helo'], []],
  [
    'PTR without confirmation',
    { ...GOOD, 'mail.a.example': { TXT: ['v=spf1 ip4:45.53.1.2 -all'] } },
    'mail.a.example',
    ['its PTR name does not lead back to it', 'the HELO name mail.a.example does not lead to it'],
    ['A'],
  ],
  [
    'another HELO name',
    { ...GOOD, 'mx.a.example': GOOD['mail.a.example']! },
    'mx.a.example',
    ['its PTR name is not the HELO name'],
    ['PTR'],
  ],
  [
    'no SPF',
    { ...GOOD, 'mail.a.example': { A: ['45.53.1.2'] } },
    'mail.a.example',
    ['SPF of mail.a.example says none for it'],
    ['TXT'],
  ],
])('%s', async (_, zone, helo, problems, fixes) => {
  const seen = await check(zone, helo)
  expect([seen.problems, seen.fixes.map(({ rtype }) => rtype)]).toEqual([problems, fixes])
})

it('says null and not no where the DNS is silent', async () => {
  const seen = await check({ ...GOOD, 'mail.a.example': { A: 'SERVFAIL', TXT: 'SERVFAIL' } })
  expect(seen).toMatchObject({ forwardConfirmed: null, heloResolves: null, spf: 'temperror', problems: [] })
})
