import { expect, it } from 'vitest'
import type { FindingTable } from './check.ts'
import { presentFinding } from './present.ts'
import * as registry from './registry.ts'

const tables: readonly FindingTable[] = Object.values(registry).map(({ table }) => table)
const ids = tables.flatMap((table) => Object.keys(table).map((id) => [id, table] as const))

it.each(ids)('%s speaks of no record where none is shown', (id, table) => {
  expect(presentFinding(table, { id, args: {} }).repair ?? '').not.toMatch(
    /\b(?:record|name|policy|rua) shown|shown here|as shown|one shown|is shown/,
  )
})
