import { afterAll, expect, it } from 'vitest'
import { KNOWN_FAILURES } from './known-failures.ts'

type Case = { readonly id: string; readonly class: string; readonly why?: string }

/**
 * A test for each case, and a summary after the last one. A case passes when `faultsOf` finds none; one on the list of
 * known failures passes while it has some. `SHOW_KNOWN_FAILURES=1` prints what is wrong with these.
 */
export function runCases<C extends Case>(
  name: string,
  cases: readonly C[],
  faultsOf: (row: C) => Promise<readonly string[]>,
  listed: Readonly<Record<string, string>> = KNOWN_FAILURES,
): void {
  const known = new Map<string, readonly string[]>()
  it.each(cases.map((row) => [`${row.class}: ${row.id}`, row] as const))('%s', async (_, row) => {
    const faults = await faultsOf(row)
    if (!Object.hasOwn(listed, row.id)) return expect(faults, row.why).toEqual([])
    expect(faults, `${row.id} is right now: take it off the list of known failures`).not.toEqual([])
    known.set(row.id, faults)
  })
  afterAll(() => {
    if (process.env.SHOW_KNOWN_FAILURES) for (const [id, faults] of known) console.log([id, ...faults].join('\n  '))
    console.log(summary(name, cases.length, [...known.keys()], listed))
  })
}

function summary(
  name: string,
  total: number,
  known: readonly string[],
  listed: Readonly<Record<string, string>>,
): string {
  const areas = Object.entries(Object.groupBy(known, (id) => listed[id]!))
  const counts = areas.map(([area, ids]) => `${area} ${ids?.length}`).join(', ')
  return `${name}: ${total} cases, ${known.length} known failures${counts && ` (${counts})`}`
}
