import { expect, it } from 'vitest'
import { repeatable } from '../../src/checks/repeatable.ts'
import { domain } from '../../src/names/domain.ts'
import { overlay } from '../../src/net/dns/overlay.ts'
import { parseRecord } from '../../src/net/dns/record-text.ts'
import { planOf } from '../../src/plan/plan.ts'
import { presentWithPlan } from '../../src/plan/present.ts'
import { lookUp, subjectOf } from '../../src/plan/snapshot.ts'
import { dkimShown, domainOf } from '../real/dns/shown.ts'
import { dmarcShown } from '../real/dns/shown-dmarc.ts'
import { mxShown, ptrShown } from '../real/dns/shown-mx.ts'
import { spfShown } from '../real/dns/shown-spf.ts'
import { countedWorld } from './worlds.ts'

/**
 * The domains of the test network that show a finding of a scored check, on fake DNS: they show it, and its fix takes
 * it away.
 */
async function findingsOf(at: string, records: readonly Parameters<typeof parseRecord>[0][] = []) {
  const [name = '', query = ''] = at.split('?')
  const world = countedWorld()
  const read = records.map((record) => parseRecord(record, name)).flatMap((one) => (one.ok ? [one.value] : []))
  const ctx = repeatable({ ...world, resolve: overlay(world.resolve, read) }, name)
  const selectors = new URLSearchParams(query).getAll('selector')
  const subject = subjectOf(ctx, domain(name), { selectors })
  const start = await lookUp(subject)
  return presentWithPlan(start, await planOf(subject, start))
}

/**
 * Fake DNS has no delegations, so that a lame one is not seen there, that of a reverse zone (`ptr.not_asked`) among
 * them.
 */
const ROWS = [...dkimShown, ...dmarcShown, ...mxShown, ...ptrShown, ...spfShown].filter(
  ({ id, zone = [] }) => id !== 'ptr.not_asked' && !zone.some((line) => line.includes(' NS ')),
)

it.each(ROWS.map((row) => [row.id, row.at ?? domainOf(row.id), row.fixed === true] as const))(
  '%s at %s',
  async (id, at, isFixed) => {
    const found = (await findingsOf(at)).filter((finding) => finding.id === id)
    expect(found).not.toEqual([])
    const fix = found.find((finding) => finding.fix)?.fix
    expect(fix !== undefined).toBe(isFixed)
    if (!fix) return
    const after = await findingsOf(at, [{ name: `${fix.name}.`, type: fix.rtype, value: fix.value }])
    expect(after.map((finding) => finding.id)).not.toContain(id)
  },
)
