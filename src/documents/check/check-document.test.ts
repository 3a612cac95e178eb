import { expect, it } from 'vitest'
import { exampleOf } from '../../../test/lab/answer.ts'
import type { PoolAddress } from '../../answers/report.ts'
import { report } from '../../operations/report.ts'
import { formatTerminal } from '../terminal/terminal.ts'
import { poolBlocks, unknownBlocks } from './check-document.ts'

const HOST = {
  ...{
    host: 'mx.example.org',
    address: '192.0.2.1',
    banner_name: null,
    ehlo_name: null,
    offered: null,
    protocol: null,
  },
  ...{ names: [], issuer: null, expires_at: null, trusted: null, name_matches: null, key_type: null, key_bits: null },
}
const WHY = 'the connection was refused'
const LINE = `STARTTLS at mx.example.org (192.0.2.1): ${WHY}`

it.each([
  ['a host whose TLS is not known beside one that has none', 'fail', [{ ...HOST, reason: WHY }, HOST], LINE],
  [
    'a host without an address',
    'pass',
    [{ ...HOST, address: null, reason: WHY }],
    `STARTTLS at mx.example.org: ${WHY}`,
  ],
  ['no host, since the whole check is named', 'unknown', [{ ...HOST, reason: WHY }], undefined],
  ['no host with an answer', 'pass', [HOST], undefined],
] as const)('what could not be determined names %s', (_name, status, hosts, line) => {
  const answer = { ...exampleOf(report), starttls: { status, hosts } }
  const shown = formatTerminal(
    { title: '', blocks: unknownBlocks(answer), footer: [] },
    { width: 100, colour: false, unicode: true },
  )
  expect(
    shown
      .split('\n')
      .find((one) => one.includes('STARTTLS at'))
      ?.trim(),
  ).toBe(line && `• ${line}`)
})

it.each<[answered: number, verdict: PoolAddress['verdict'], state: string]>([
  [29, 'clean', '✓ on no list'],
  [28, 'incomplete', '? on none of the 28 that answered'],
  [0, 'incomplete', '? not known: no list answered'],
])('a source address of which %i lists answered: %s', (answered, verdict, state) => {
  const source: PoolAddress = { address: '45.53.1.2', listed: false, listings: [], total: 29, answered, verdict }
  const blocks = poolBlocks({ ...exampleOf(report), pool: [source] })
  const shown = formatTerminal({ title: '', blocks, footer: [] }, { width: 80, colour: false, unicode: true })
  expect(shown).toContain(state)
})
