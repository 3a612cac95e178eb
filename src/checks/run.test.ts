import { describe, expect, it } from 'vitest'
import { runCheck, runChecks } from '../../test/lab/checks.ts'
import { labDial } from '../../test/lab/dial.ts'
import type { LabZone } from '../../test/lab/dns.ts'
import { inWaves } from '../../test/lab/waves.ts'
import { labCtx } from '../../test/lab/world.ts'
import { domain } from '../names/domain.ts'
import { DnsError } from '../net/dns/resolver.ts'
import { presentOutcome } from './present.ts'
import * as registry from './registry.ts'
import { remembering } from './repeatable.ts'

const A = domain('a.example')
const ZONE: LabZone = {
  'a.example': {
    NS: ['ns1.example', 'ns2.example'],
    MX: [[10, 'mx.example']],
    TXT: ['v=spf1 mx -all'],
    A: ['45.53.5.2'],
  },
  '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@b.test'] },
  'a.example._report._dmarc.b.test': { TXT: ['v=DMARC1'] },
  'mx.example': { A: ['45.53.5.1'] },
  '1.5.53.45.in-addr.arpa': { PTR: ['mx.example'] },
  '_25._tcp.mx.example': { TLSA: [{ usage: 3, selector: 1, matchingType: 1, data: '00'.repeat(32) }] },
  'ns1.example': { A: ['45.53.1.1'] },
  'ns2.example': { A: ['45.53.2.1'] },
}

describe('optional checks', () => {
  it('have no outcome, no object and no finding where they are not asked for', async () => {
    const outcomes = await runChecks(world().ctx, A)
    expect(Object.keys(outcomes).toSorted()).toEqual(
      Object.keys(registry)
        .filter((key) => key !== 'starttls')
        .toSorted(),
    )
  })

  it('run where they are', async () => {
    const outcomes = await runChecks(world().ctx, A, { starttls: true })
    expect(presentOutcome(registry.starttls, outcomes.starttls!)).toMatchObject({ status: 'fail' })
    expect(outcomes.starttls!.findings.some(({ id }) => id === 'starttls.not_offered')).toBe(true)
  })
})

describe('waits for the resolver, cold', () => {
  it('are at most two more with all checks than with the five that are scored', async () => {
    const scored = world()
    const { spf, dkim, dmarc, mx, ptr } = registry
    await Promise.all([spf, dkim, dmarc, mx, ptr].map((check) => runCheck<never>(check as never, scored.ctx, A)))
    const all = world()
    await runChecks(all.ctx, A)
    expect(all.waits()).toBeLessThanOrEqual(scored.waits() + 2)
  })
})

function world() {
  const { dial } = labDial({ '45.53.5.1': {} })
  const lab = labCtx(ZONE, {
    dial,
    askServer: async (_server, name, type) => {
      throw new DnsError('timeout', { name, type })
    },
  })
  const { resolve, waits } = inWaves(lab.resolve)
  return { ctx: remembering({ ...lab, resolve }), waits }
}
