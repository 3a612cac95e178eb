import { expect, it } from 'vitest'
import { exampleOf } from '../../../test/lab/answer.ts'
import type { PoolAddress } from '../../answers/report.ts'
import { report } from '../../operations/report.ts'
import { formatTerminal } from '../terminal/terminal.ts'
import { poolRow } from './check-document.ts'

it.each<[answered: number, verdict: PoolAddress['verdict'], state: string]>([
  [29, 'clean', '✓ on no list'],
  [28, 'incomplete', '? on none of the 28 that answered'],
  [0, 'incomplete', '? not known: no list answered'],
])('a source address of which %i lists answered: %s', (answered, verdict, state) => {
  const source: PoolAddress = { address: '45.53.1.2', listed: false, listings: [], total: 29, answered, verdict }
  const blocks = [poolRow({ ...exampleOf(report), pool: [source] })!]
  const shown = formatTerminal({ title: '', blocks, footer: [] }, { width: 80, colour: false, unicode: true })
  expect(shown).toContain(state)
})
