import { expect, it } from 'vitest'
import type { LabZone } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import { dkim } from '../checks/dkim/index.ts'
import { mx } from '../checks/mx/index.ts'
import { ptr } from '../checks/ptr/index.ts'
import { runCheck } from '../checks/run.ts'
import { spf } from '../checks/spf/index.ts'
import { domain } from '../names/domain.ts'
import { judgedWithSpf } from './non-mail.ts'

it.each<[string, LabZone, [string, string, string]]>([
  [
    '-all and nothing else',
    { 'a.example': { TXT: ['v=spf1 -all'] } },
    ['not_applicable', 'not_applicable', 'not_applicable'],
  ],
  [
    '-all and null MX',
    { 'a.example': { TXT: ['v=spf1 -all'], MX: [[0, '.']] } },
    ['not_applicable', 'not_applicable', 'not_applicable'],
  ],
  ['no SPF and nothing else', { 'a.example': { TXT: ['x'] } }, ['fail', 'fail', 'fail']],
  ['a sender without a mail host', { 'a.example': { TXT: ['v=spf1 ip4:45.53.5.1 -all'] } }, ['fail', 'fail', 'fail']],
  ['no such domain', {}, ['fail', 'fail', 'fail']],
  ['-all, MX unknown', { 'a.example': { TXT: ['v=spf1 -all'], MX: 'SERVFAIL' } }, ['fail', 'unknown', 'unknown']],
])('%s', async (_why, zone, expected) => {
  const run = labCtx(zone)
  const a = domain('a.example')
  const outcomes = {
    spf: await runCheck(spf, run, a),
    dkim: await runCheck(dkim, run, a),
    mx: await runCheck(mx, run, a),
    ptr: await runCheck(ptr, run, a),
  }
  const again = judgedWithSpf(outcomes)
  expect([again.dkim.status, again.mx.status, again.ptr.status]).toEqual(expected)
})
