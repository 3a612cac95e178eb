import { expect, it } from 'vitest'
import type { PlanRecord } from '../answers/plan.ts'
import { beforeRecords, keyTitle } from './words.ts'

it.each([
  ['dkim.proven_absent', 'Sign with DKIM'],
  ['dkim.none_found', 'Sign with DKIM, or give its selector'],
  ['dkim.short_key', 'Sign with a longer DKIM key'],
  ['dkim.only_revoked', 'Sign with a new DKIM key'],
  ['dkim.ed25519_only', 'Sign with an RSA key too'],
])('a domain that signs already is not told to begin: %s', (id, title) => expect(keyTitle(id)).toBe(title))

it.each<[was: string, value: string, dropped: string]>([
  ['v=spf1 include:spf1.mailer.example mx -all', 'v=spf1 mx -all', 'include:spf1.mailer.example'],
  ['v=spf1 include:mailer.example mx -all', 'v=spf1 include:mailer.example -all', 'mx'],
])('%s as %s: what is no longer in the record is named', (was, value, dropped) => {
  const record = { name: 'a.example', type: 'TXT', action: 'replace', value, was: [was] } as unknown as PlanRecord
  expect(beforeRecords('a.example', [record], () => true, [])).toEqual([
    `No longer in the record: ${dropped}. Make sure that none of it sends mail.`,
  ])
})

it('what leads back into a loop is in the records above it still', () => {
  const was = ['v=spf1 include:spf-a.a.example -all']
  const record = { name: 'spf-b.a.example', type: 'TXT', action: 'replace', value: 'v=spf1 ~all', was } as const
  expect(beforeRecords('a.example', [record as unknown as PlanRecord], () => true, ['spf.loop'])).toEqual([])
})
