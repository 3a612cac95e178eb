import { expect, it } from 'vitest'
import type { LabZone } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import { presentFinding } from '../checks/present.ts'
import { spf } from '../checks/spf/index.ts'
import { domain } from '../names/domain.ts'
import { lenderOf } from './borrowed-name.ts'
import { repeatable } from './context.ts'
import { judgeDomain } from './judge-domain.ts'

const WEB = { A: ['45.53.8.1'] }
const ORG: LabZone = {
  'a.example': { MX: [[10, 'm.example']], TXT: ['v=spf1 mx -all'] },
  'm.example': { A: ['45.53.5.1'] },
  '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@a.example'] },
}

it.each<[string, string, LabZone, string | undefined]>([
  ['a name that only the wildcard has', 'www.a.example', { '*.a.example': WEB }, '*.a.example'],
  ['deeper', 'x.www.a.example', { '*.www.a.example': WEB }, '*.www.a.example'],
  ['a wildcard that is an alias', 'www.a.example', { '*.a.example': { CNAME: ['m.example'] } }, 'm.example'],
  ['an alias', 'www.a.example', { 'www.a.example': { CNAME: ['m.example'] } }, 'm.example'],
  ['an alias at the zone', 'b.example', { 'b.example': { CNAME: ['m.example'] } }, 'm.example'],
  ['records of its own', 'www.a.example', { '*.a.example': WEB, 'www.a.example': { A: ['45.53.8.2'] } }, undefined],
  ['text of its own', 'www.a.example', { '*.a.example': WEB, 'www.a.example': { ...WEB, TXT: ['x'] } }, undefined],
  ['no wildcard', 'www.a.example', { 'www.a.example': WEB }, undefined],
  ['a registrable domain', 'a.example', { '*.a.example': WEB }, undefined],
])('%s', async (_, name, zone, lender) => {
  expect((await lenderOf(labCtx({ ...ORG, ...zone }), domain(name)))?.name).toBe(lender)
})

it.each<[string, LabZone, boolean, string]>([
  ['is offered at a name of its own', { 'www.a.example': WEB }, true, 'Publish the record'],
  ['is put in words where a wildcard would lose the name', { '*.a.example': WEB }, false, 'wildcard *.a.example'],
  [
    'is put in words beside an alias',
    { 'www.a.example': { CNAME: ['m.example'] } },
    false,
    'alias (CNAME) of m.example',
  ],
  ['is not offered while that is not known', { 'www.a.example': WEB, '*.a.example': 'SERVFAIL' }, false, ''],
])('a fix at the domain itself %s', async (_, zone, isOffered, words) => {
  const { outcomes } = await judgeDomain(repeatable(labCtx({ ...ORG, ...zone })), domain('www.a.example'), {})
  const told = outcomes.spf.findings.find(({ id }) => id === 'spf.no_record_web')!
  expect(told.fix !== undefined).toBe(isOffered)
  expect(presentFinding(spf.table, told).repair).toContain(words)
})
