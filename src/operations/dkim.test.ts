import { expect, it } from 'vitest'
import { answerTo } from '../../test/lab/answer.ts'
import type { LabZone } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import { dkim } from './dkim.ts'

const ED = 'v=DKIM1; k=ed25519; s=email; h=sha256; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='
const NAME = 's1._domainkey.a.example'
const ask = async (zone: LabZone, selector = 's1') =>
  answerTo(dkim, labCtx(zone), {}, { domain: 'a.example', selector })

it.each<[string, LabZone, object, string[]]>([
  [
    'a key',
    { [NAME]: { TXT: [ED] } },
    {
      valid: true,
      status: 'pass',
      key_type: 'ed25519',
      key_bits: 256,
      services: ['email'],
      hashes: ['sha256'],
      record: ED,
    },
    [],
  ],
  [
    'a key over an alias',
    { [NAME]: { CNAME: ['k.b.example'] }, 'k.b.example': { TXT: [ED] } },
    { valid: true, cname: ['k.b.example'] },
    [],
  ],
  [
    'a revoked key',
    { [NAME]: { TXT: ['v=DKIM1; p='] } },
    { valid: false, status: 'fail', revoked: true },
    ['dkim.revoked_key'],
  ],
  [
    'a key for TLS reports alone',
    { [NAME]: { TXT: [ED.replace('s=email', 's=tlsrpt')] } },
    { valid: false, status: 'not_applicable', revoked: false, services: ['tlsrpt'], key_bits: 256 },
    ['dkim.reports_key'],
  ],
  ['no such name', { 'a.example': {} }, { valid: false, status: 'fail', records: [], key_bits: null }, ['dkim.no_key']],
  ['another text', { [NAME]: { TXT: ['hello'] } }, { valid: false, status: 'fail' }, ['dkim.no_key']],
  [
    'an alias of nothing',
    { [NAME]: { CNAME: ['k.b.example'] } },
    { status: 'fail', cname: ['k.b.example'] },
    ['dkim.dangling'],
  ],
  [
    'SERVFAIL is not absence',
    { [NAME]: 'SERVFAIL' },
    { valid: false, status: 'unknown', reason: expect.stringContaining('SERVFAIL'), problem: undefined },
    [],
  ],
])('%s', async (_, zone, fields, ids) => {
  const answer = await ask(zone)
  expect(answer).toMatchObject({ domain: 'a.example', selector: 's1', name: NAME, ...fields })
  expect(answer.findings.map(({ id }) => id)).toEqual(ids)
})

it.each(['', 'a b', 'a..b', `${'x'.repeat(64)}`, 'é'])('refuses the selector %j', async (selector) => {
  await expect(async () => ask({}, selector)).rejects.toThrow(/selector/)
})
