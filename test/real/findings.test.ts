import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dkim } from '../../src/checks/dkim/index.ts'
import { dmarc } from '../../src/checks/dmarc/index.ts'
import { mx } from '../../src/checks/mx/index.ts'
import { ptr } from '../../src/checks/ptr/index.ts'
import { spf } from '../../src/checks/spf/index.ts'
import { NOT_SHOWN, SHOWN } from './dns/findings.ts'
import { domainOf } from './dns/shown.ts'
import { type Program, startProgram } from './program.ts'

/** Each finding of the scored checks: a domain that shows it, one that does not, and that its fix takes it away. */
let program: Program
beforeAll(async () => {
  program = await startProgram()
})
afterAll(async () => void (await program?.stop()))

type Found = {
  readonly id: string
  readonly fix?: { readonly name: string; readonly rtype: string; readonly value: string }
}
const findings = (body: unknown): readonly Found[] => (body as { findings: readonly Found[] }).findings
const ids = (body: unknown): string[] => findings(body).map(({ id }) => id)

async function check(at: string): Promise<unknown> {
  const [domain = '', query] = at.split('?')
  const got = await program.get(`/v1/check?domain=${domain}${query ? `&${query}` : ''}`)
  expect(got.status, JSON.stringify(got.body)).toBe(200)
  return got.body
}

it('holds every finding of the scored checks', () => {
  const known = [spf, dkim, dmarc, mx, ptr].flatMap(({ table }) => Object.keys(table))
  expect([...SHOWN.map(({ id }) => id), ...Object.keys(NOT_SHOWN)].sort()).toEqual(known.sort())
})

it('a domain that is cared for shows none of them', async () => {
  const shown = new Set(SHOWN.map(({ id }) => id))
  expect(ids(await check('healthy.test')).filter((id) => shown.has(id))).toEqual([])
})

describe('each is shown', () => {
  it.each(SHOWN.map((row) => [row.id, row.at ?? domainOf(row.id), row.fixed === true] as const))(
    '%s at %s',
    async (id, at, isFixed) => {
      const body = await check(at)
      expect(ids(body)).toContain(id)
      const fix = findings(body).find((finding) => finding.id === id && finding.fix)?.fix
      expect(fix !== undefined, 'has a fix').toBe(isFixed)
      if (!fix) return
      const records = [{ name: `${fix.name}.`, type: fix.rtype, value: fix.value }]
      const after = await program.post('/v1/check', { domain: at, records })
      expect(after.status, JSON.stringify(after.body)).toBe(200)
      expect(ids(after.body)).not.toContain(id)
    },
  )
})
