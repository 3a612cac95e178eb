import { afterAll, beforeAll, expect, it } from 'vitest'
import { hostileDomains } from './dns/hostile.ts'
import { type Program, startProgram } from './program.ts'

/**
 * Zones that are made to cost much: an answer comes within the deadline, nothing of it is a time-out, and it says which
 * limit was reached.
 */
let program: Program
beforeAll(async () => {
  program = await startProgram()
})
afterAll(async () => void (await program?.stop()))

type Answer = { readonly findings: readonly { readonly id: string; readonly detail: string }[] }

const LIMITS: Readonly<Record<string, readonly (readonly [id: string, words: string])[]>> = {
  'manymx.test': [
    ['mx.too_many', 'There are 100 MX hosts; only the 20 with the best preference were checked.'],
    ['spf.too_many_mx', '100 MX hosts'],
  ],
  'many500.test': [['dkim.several_records', '501 TXT records']],
  'big64k.test': [], // read whole, over TCP: no limit is reached
  'manyrua.test': [
    ['dmarc.limit', '50 addresses per list'],
    ['dmarc.report_limit', '10 of them were checked'],
  ],
  'hugekey.test': [['dkim.long_key', '16384 bits']],
  'bomb.test': [
    ['spf.not_all_read', '40 records'],
    ['spf.too_many_lookups', 'at least'],
  ],
  'macros.test': [],
}

it.each(hostileDomains.map(({ name, shows }) => [name, shows] as const))('%s: %s', async (name) => {
  const got = await program.get(`/v1/check?domain=${name}&timeout=10s`)
  expect(got.status, JSON.stringify(got.body)).toBe(200)
  const { findings, plan, ...rest } = got.body as Answer & { readonly plan: unknown }
  for (const [id, words] of LIMITS[name]!) {
    const finding = findings.find((one) => one.id === id)
    expect(finding?.detail, `${id} among ${findings.map((one) => one.id).join(', ')}`).toContain(words)
  }
  expect(JSON.stringify(got.body)).not.toContain('no answer in time')
  expect(JSON.stringify({ findings, ...rest }).length).toBeLessThan(128 * 1024)
  // The plan has each record that it replaces: of the domain, _dmarc and a selector, at most an answer of the DNS each.
  expect(JSON.stringify(plan).length).toBeLessThan(3 * 64 * 1024)
})

it.each(['bomb.test', 'macros.test', 'manymx.test'])('check_host of %s ends', async (name) => {
  const got = await program.get(`/v1/spf?ip=192.0.2.1&sender=${'x.'.repeat(30)}y@${name}&timeout=10s`)
  expect(got.status, JSON.stringify(got.body)).toBe(200)
  expect(['permerror', 'fail']).toContain((got.body as { result: string }).result)
})
