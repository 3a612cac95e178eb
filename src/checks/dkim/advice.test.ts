import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { runCheck } from '../../../test/lab/checks.ts'
import type { LabZone } from '../../../test/lab/dns.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { domain } from '../../names/domain.ts'
import { presentFinding } from '../present.ts'
import { dkim } from './index.ts'

const GOOD = `v=DKIM1; k=rsa; p=${generateKeyPairSync('rsa', { modulusLength: 2_048 })
  .publicKey.export({ type: 'spki', format: 'der' })
  .toString('base64')}`
const at = (selector: string, ...records: string[]): LabZone => ({
  'a.example': { A: ['45.53.5.1'] },
  [`${selector}._domainkey.a.example`]: { TXT: records },
})
const run = (zone: LabZone, selectors: string[] = []) =>
  runCheck(dkim, labCtx(zone), domain('a.example'), { selectors }).then((outcome) => ({ outcome }))

describe('the steps of the provider', () => {
  const M365 = {
    MX: [[10, 'a-example.mail.protection.outlook.com']],
    TXT: ['v=spf1 include:spf.protection.outlook.com -all'],
  } as const
  const alias = (n: number): LabZone => ({
    [`selector${n}._domainkey.a.example`]: { CNAME: [`selector${n}-a-example._domainkey.a.onmicrosoft.com`] },
  })
  const repairs = async (zone: LabZone, selectors: string[] = []) =>
    (await run(zone, selectors)).outcome.findings.map((found) => {
      const { id, repair } = presentFinding(dkim.table, found)
      return `${id}: ${repair}`
    })
  it.each<[string, LabZone, string[], string, RegExp]>([
    [
      'Microsoft 365, nothing published',
      { 'a.example': M365 },
      [],
      'dkim.proven_absent',
      /two CNAME records, selector1\._domainkey\.a\.example to selector1-a-example\._domainkey\.<tenant>\.onmicrosoft\.com/,
    ],
    [
      'Microsoft 365, aliases of nothing',
      { 'a.example': M365, ...alias(1), ...alias(2) },
      [],
      'dkim.dangling',
      /aliases are published\. Turn on signing for a\.example in the Defender portal/,
    ],
    ['an alias tells the provider by itself', { 'a.example': {}, ...alias(1) }, [], 'dkim.dangling', /Turn on signing/],
    [
      'Google, by an include alone',
      {
        'a.example': { MX: [[10, 'mx.b.example']], TXT: ['v=spf1 include:_spf.google.com ~all'] },
        'x._domainkey.a.example': { TXT: ['x'] },
      },
      [],
      'dkim.none_found',
      /Google Admin console .* google\._domainkey\.a\.example/,
    ],
    [
      'two providers, the one with the mailboxes first',
      { 'a.example': { MX: [[1, 'smtp.google.com']], TXT: ['v=spf1 include:spf.mailjet.com ~all'] } },
      [],
      'dkim.proven_absent',
      /Google Workspace: .* Mailjet: /,
    ],
    [
      'a broken key at a selector of the provider',
      { 'a.example': { MX: [[1, 'smtp.google.com']] }, 'google._domainkey.a.example': { TXT: ['v=DKIM1; p=AAAA'] } },
      [],
      'dkim.broken_key',
      /Google Admin console/,
    ],
    [
      'a selector that the caller named',
      { ...at('mail', GOOD), 'a.example': { MX: [[1, 'smtp.google.com']] } },
      ['google'],
      'dkim.no_key',
      /Google Admin console/,
    ],
    [
      'nobody we know',
      { 'a.example': { MX: [[1, 'mx.b.example']] } },
      [],
      'dkim.proven_absent',
      /^dkim\.proven_absent: Enable DKIM in the mail system/,
    ],
  ])('%s', async (_, zone, selectors, id, words) => {
    const told = (await repairs(zone, selectors)).find((one) => one.startsWith(id))
    expect(told).toMatch(words)
    expect(told).not.toMatch(/[{}]|undefined/)
  })
  it('a provider with one key at a time: the other alias waits for the next', async () => {
    const key = { 'selector1-a-example._domainkey.a.onmicrosoft.com': { TXT: [GOOD] } }
    const { outcome } = await run({ 'a.example': M365, ...alias(1), ...alias(2), ...key })
    expect([outcome.status, outcome.findings.map(({ id }) => id)]).toEqual(['pass', ['dkim.next_key']])
  })
  it('of another provider it is missing', async () => {
    const { outcome } = await run({
      ...at('s1', GOOD),
      's2._domainkey.a.example': { CNAME: ['s2.domainkey.u1.wl.sendgrid.net'] },
    })
    expect([outcome.status, outcome.findings.map(({ id }) => id)]).toEqual(['warn', ['dkim.dangling']])
  })
})
