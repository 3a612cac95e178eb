import { describe, expect, it } from 'vitest'
import { type CheckHostAnswer, checkHost } from '../../../src/checks/spf/check-host.ts'
import { ip } from '../../../src/names/ip.ts'
import { corpus } from '../../lab/corpora.ts'
import { type LabZone, labDns } from '../../lab/dns.ts'
import { SKIPS } from './skips.ts'
import { mailAuthZone, openSpfZone } from './zones.ts'

type Case = {
  readonly id: string
  readonly zone: LabZone
  readonly ip: string
  readonly sender: string
  readonly helo: string
  readonly results: readonly string[]
  readonly explanation?: string
  /** The HELO identity is checked first, and the sender only when it passes (RFC 7208 §2.3). */
  readonly heloFirst?: boolean
}

const run = (zone: LabZone, input: Parameters<typeof checkHost>[1]): Promise<CheckHostAnswer> =>
  checkHost({ resolve: labDns(zone).resolve, signal: AbortSignal.timeout(10_000), now: () => 0 }, input)

async function answer(row: Case): Promise<CheckHostAnswer> {
  const from = { ip: ip(row.ip), helo: row.helo }
  if (!row.heloFirst) return run(row.zone, { ...from, sender: row.sender })
  const helo = await run(row.zone, { ...from, sender: '' })
  return helo.result === 'pass' ? run(row.zone, { ...from, sender: row.sender }) : helo
}

function openSpf(file: string): Case[] {
  const data = corpus(`spf/${file}.json`)
  // biome-ignore lint/suspicious/noExplicitAny: the shape is the file's own
  return (data?.scenarios ?? []).flatMap((scenario: any) =>
    // biome-ignore lint/suspicious/noExplicitAny: the shape is the file's own
    Object.entries(scenario.tests).map(([name, test]: [string, any]) => ({
      id: `${file}/${scenario.scenario}/${name}`,
      zone: openSpfZone(scenario.zonedata),
      ip: test.host,
      sender: test.mailfrom,
      helo: test.helo,
      results: test.result,
      ...(test.explanation ? { explanation: test.explanation } : {}),
    })),
  )
}

function mailAuth(): Case[] {
  const data = corpus('spf/mail-auth.json')
  // biome-ignore lint/suspicious/noExplicitAny: the shape is the file's own
  return (data?.cases ?? []).map((test: any) => ({
    id: `mail-auth/${test.id}`,
    zone: mailAuthZone(test.records),
    ip: test.ip,
    sender: test.sender,
    helo: test.domain,
    results: [test.expect],
    ...(test.exp ? { explanation: test.exp } : {}),
    heloFirst: true,
  }))
}

const SUITES: readonly (readonly [name: string, cases: readonly Case[]])[] = [
  ['rfc7208', openSpf('rfc7208')],
  ['rfc4408', openSpf('rfc4408')],
  ['pyspf-extra', openSpf('pyspf-extra')],
  ['mail-auth', mailAuth()],
]

describe.each(SUITES.filter(([, cases]) => cases.length > 0))('the public suite %s', (_, cases) => {
  it.each(cases.map((row) => [row.id, row] as const))('%s', async (id, row) => {
    if (SKIPS[id] !== undefined) return
    const { result, explanation } = await answer(row)
    expect(row.results).toContain(result)
    // DEFAULT: the receiver's own words, because the domain has none that can be used.
    if (row.explanation !== undefined) expect(explanation ?? 'DEFAULT').toBe(row.explanation)
  })
})

it('skips only cases that there are', () => {
  const ids = SUITES.flatMap(([, cases]) => cases.map(({ id }) => id))
  if (ids.length > 0) expect(Object.keys(SKIPS).filter((id) => !ids.includes(id))).toEqual([])
})
