import { describe, expect, it } from 'vitest'
import type { LabNode, LabZone } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import type { DnsRecord } from '../checks/check.ts'
import { type CheckKey, judgeFacts, lookupFacts } from '../checks/run.ts'
import { domain } from '../names/domain.ts'
import { harmOf } from './harm.ts'

const A = domain('a.example')
const HOSTS: LabZone = {
  'm.a.example': { A: ['45.53.5.1'] },
  'b.example': { TXT: ['v=spf1 ip4:45.53.8.0/24 ~all'] },
  'c.example': { TXT: ['v=spf1 include:b.example ip4:45.53.9.9 -all'] },
  'loop.example': { TXT: ['v=spf1 include:loop.example -all'] },
  '1.5.53.45.in-addr.arpa': { PTR: ['m.a.example'] },
}
const published = (zone: LabZone, { name, rtype, value }: DnsRecord): LabZone => {
  const [preference, exchange] = value.split(' ')
  const data = rtype === 'MX' ? [Number(preference), exchange!] : value
  return { ...zone, [name]: { ...((zone[name] ?? {}) as LabNode), [rtype]: [data] } as LabNode }
}

async function situation(zone: LabZone) {
  const facts = await lookupFacts(labCtx(zone), A, {})
  return { facts, context: judgeFacts(facts).context }
}

const MX = { MX: [[10, 'm.a.example']] } as const
const NULL_MX = { MX: [[0, '.']] } as const
const txt = (text: string) => ({ TXT: [text] })

describe('a fix that does harm', () => {
  it.each<[string, LabZone, DnsRecord, RegExp | undefined, CheckKey]>([
    [
      'a sender is lost',
      { 'a.example': { ...MX, ...txt('v=spf1 ip4:45.53.7.7 mx -all') } },
      { name: 'a.example', rtype: 'TXT', value: 'v=spf1 mx -all' },
      /refuse mail/,
      'spf',
    ],
    [
      'all senders are kept',
      { 'a.example': { ...MX, ...txt('v=spf1 ip4:45.53.7.7 mx ?all') } },
      { name: 'a.example', rtype: 'TXT', value: 'v=spf1 ip4:45.53.7.7 mx ~all' },
      undefined,
      'spf',
    ],
    [
      'two steps at once',
      { 'a.example': { ...MX, ...txt('v=spf1 mx -all') }, '_dmarc.a.example': txt('v=DMARC1; p=none') },
      { name: '_dmarc.a.example', rtype: 'TXT', value: 'v=DMARC1; p=reject' },
      /refuse mail/,
      'dmarc',
    ],
    [
      'one step',
      { 'a.example': { ...MX, ...txt('v=spf1 mx -all') }, '_dmarc.a.example': txt('v=DMARC1; p=none') },
      { name: '_dmarc.a.example', rtype: 'TXT', value: 'v=DMARC1; p=quarantine' },
      undefined,
      'dmarc',
    ],
    [
      'a share of the mail becomes all of it',
      { 'a.example': MX, '_dmarc.a.example': txt('v=DMARC1; p=quarantine; pct=10') },
      { name: '_dmarc.a.example', rtype: 'TXT', value: 'v=DMARC1; p=quarantine' },
      /refuse mail/,
      'dmarc',
    ],
    [
      'a parked domain may refuse all at once',
      { 'a.example': { ...NULL_MX, ...txt('v=spf1 -all') } },
      { name: '_dmarc.a.example', rtype: 'TXT', value: 'v=DMARC1; p=reject' },
      undefined,
      'dmarc',
    ],
    [
      'mail no longer arrives',
      { 'a.example': { ...MX, ...txt('v=spf1 mx -all') } },
      { name: 'a.example', rtype: 'MX', value: '0 .' },
      /arrive/,
      'mx',
    ],
    [
      'nothing arrives today either',
      { 'a.example': txt('v=spf1 ip4:45.53.7.7 -all') },
      { name: 'a.example', rtype: 'MX', value: '0 .' },
      undefined,
      'mx',
    ],
    [
      'reports to a domain that takes no mail',
      {
        'a.example': { ...NULL_MX, ...txt('v=spf1 ip4:45.53.7.7 -all') },
        '_dmarc.a.example': txt('v=DMARC1; p=reject'),
      },
      { name: '_dmarc.a.example', rtype: 'TXT', value: 'v=DMARC1; p=reject; rua=mailto:d@a.example' },
      /reports/,
      'dmarc',
    ],
    [
      'the PTR record of an MX host of one’s own',
      { 'a.example': { ...MX, ...txt('v=spf1 mx -all') } },
      { name: '1.5.53.45.in-addr.arpa', rtype: 'PTR', value: 'm.a.example.' },
      undefined,
      'ptr',
    ],
    [
      'the PTR record of an address that no MX host has',
      { 'a.example': { ...MX, ...txt('v=spf1 mx -all') } },
      { name: '9.9.53.45.in-addr.arpa', rtype: 'PTR', value: 'm.a.example.' },
      /PTR/,
      'ptr',
    ],
    [
      'the PTR record of a provider',
      { 'a.example': { MX: [[10, 'smtp.google.com']] }, 'smtp.google.com': { A: ['45.53.5.1'] } },
      { name: '1.5.53.45.in-addr.arpa', rtype: 'PTR', value: 'smtp.google.com.' },
      /PTR/,
      'ptr',
    ],
  ])('%s', async (_why, zone, fix, harm, key) => {
    const before = await situation({ ...HOSTS, ...zone })
    const after = await situation(published({ ...HOSTS, ...zone }, fix))
    const found = harmOf({ key, fix, before, after })
    if (harm) expect(found).toMatch(harm)
    else expect(found).toBe(undefined)
  })
})
