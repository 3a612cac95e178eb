import { expect, it } from 'vitest'
import type { CheckAnswer } from '../../src/answers/check.ts'
import type { PlanRecord } from '../../src/answers/plan.ts'
import { sequence } from '../../src/checks/repeatable.ts'
import { checkHost } from '../../src/checks/spf/index.ts'
import { domain } from '../../src/names/domain.ts'
import { ip } from '../../src/names/ip.ts'
import { registrableDomain } from '../../src/names/suffix.ts'
import { checkDomain } from '../../src/operations/check.ts'
import type { World } from '../../src/world.ts'
import { type DomainCase, domains, type WrittenNode, type WrittenZone } from './cases.ts'
import { worldOf, zoneOf } from './lab.ts'
import { adviceFaults, type PlannedAnswer } from './plan-rules.ts'
import { published, withoutReplaced } from './published.ts'
import { namedAddresses, refusedBy } from './senders.ts'
import { shuffled } from './shuffled.ts'

/**
 * Domains whose SPF, mail hosts, DMARC and DKIM come from different cases: organizations, names below one, and names
 * that live from a wildcard. The rules of plans hold; published step by step each score is as promised and nobody who
 * passed fails; no record that a wildcard gives is lost; and the answer is the same in whatever order answers come.
 * `MIXED=500` tries more of them.
 */
const COUNT = Number(process.env.MIXED ?? 45)
const ORGANIZATION = 'mixed-parts.com'
const NAME = `name.${ORGANIZATION}`
const KINDS = ['organization', 'below', 'wildcard'] as const
type Kind = (typeof KINDS)[number]

const { cases, ...shared } = domains()
const PARTS = cases.filter(
  ({ domain, path, expect: { refused } }) => domain && registrableDomain(domain) === domain && !path && !refused,
)

const isBelow = (name: string, end: string): boolean => name === end || name.endsWith(`.${end}`)

/** Which records each part has: at the domain by type, below it by name. */
const ofParts = (at: string): readonly ((name: string, type: string, text: string) => boolean)[] => [
  (name, type, text) => name === at && type.endsWith('TXT') && /v=spf/i.test(text),
  (name, type) => name === at && /MX$|^!?A{1,4}$/.test(type),
  (name) => isBelow(name, `_dmarc.${at}`),
  (name) => isBelow(name, `_domainkey.${at}`),
]

/** A domain with one part of each of the cases; names outside of those parts are everybody's. */
function mixedOf(rows: readonly DomainCase[], id: string, kind: Kind): DomainCase {
  const at = kind === 'organization' ? ORGANIZATION : NAME
  const parts = ofParts(at)
  const zone: Record<string, WrittenNode> = {}
  const add = (name: string, type: string, value: WrittenNode[string]): void => {
    const node = zone[name]
    if (node && 'CNAME' in node !== (type === 'CNAME')) return // nothing stands beside an alias (RFC 1034 §3.6.2)
    zone[name] = { ...zone[name], [type]: value }
  }
  rows.forEach((row, part) => {
    for (const [name, node] of Object.entries(renamed(row, part < parts.length ? at : ORGANIZATION)))
      for (const [type, value] of Object.entries(node)) {
        // The last case is the organization's policy.
        if (part === parts.length) {
          if (kind !== 'organization' && name === `_dmarc.${ORGANIZATION}`) add(name, type, value)
          continue
        }
        const isPart = parts.some((has) => has(name, type, JSON.stringify(value)))
        const isOthers = name !== at && !isPart && zone[name]?.[type] === undefined
        if (isOthers || parts[part]?.(name, type, JSON.stringify(value))) add(name, type, value)
      }
  })
  if (kind !== 'wildcard') return { id, class: kind, domain: at, zone, expect: {} }
  const { [at]: own = {}, ...rest } = zone
  const above = Object.entries(rest).filter(([name]) => !isBelow(name, at))
  return { id, class: kind, domain: at, zone: { ...Object.fromEntries(above), [`*.${ORGANIZATION}`]: own }, expect: {} }
}

/** The zone of a case with its domain named `at`. */
const renamed = ({ zone, domain = '' }: DomainCase, at: string): WrittenZone =>
  JSON.parse(JSON.stringify(zone ?? {}).replaceAll(domain, at)) as WrittenZone

const inWorld = (world: World) => ({ ...world, signal: AbortSignal.timeout(20_000) })
const DEPS = { smtpPort: 25, heloName: async () => 'sonde.test' }

async function checked(world: World, name: string): Promise<CheckAnswer> {
  return checkDomain(inWorld(world), DEPS, domain(name), { selectors: [], plan: true })
}

/** What SPF says of each address that the zone names at first. */
async function spfOf(row: DomainCase, addresses: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const ctx = inWorld(worldOf(row, shared))
  const input = { sender: `user@${row.domain}`, helo: 'sender.example' }
  return new Map(
    await Promise.all(
      addresses.map(
        async (address) => [address, (await checkHost(ctx, { ...input, ip: ip(address) })).result] as const,
      ),
    ),
  )
}

async function faultsOf(row: DomainCase): Promise<readonly string[]> {
  const name = row.domain!
  const answer = await checked(worldOf(row, shared), name)
  const zone = zoneOf(row, shared)
  const faults = [...adviceFaults(answer as PlannedAnswer, zone), ...lostFaults(answer, zone)]
  const again = await checked(shuffled(worldOf(row, shared), 7), name)
  if (JSON.stringify(again) !== JSON.stringify(answer)) faults.push('another answer in another order')
  const addresses = namedAddresses(row, shared)
  let now = row
  let results = await spfOf(row, addresses)
  for (const { title, by, assumed, wait, records, score } of answer.plan?.steps ?? []) {
    if (by !== 'dns' || assumed) break // what others do is not published here
    // What is kept is published again, in place of the set.
    const laid = records
      .filter(({ action }) => action !== 'remove')
      .reduce(
        (all, { name, type: rtype, value }) => published(all, { name, rtype, value }),
        goneIn(now.zone ?? {}, records),
      )
    now = { ...now, zone: laid }
    const after = await checked(worldOf(now, shared), name)
    if (after.score !== score) faults.push(`"${title}" promises ${score} and gives ${after.score}`)
    const then = await spfOf(now, addresses)
    if (!wait) faults.push(...refusedBy(results, then).map((line) => `"${title}" makes ${line}`))
    results = then
  }
  return faults
}

/** The zone without what a step replaces or removes; a name gets no record for that alone. */
function goneIn(zone: WrittenZone, records: readonly PlanRecord[]): WrittenZone {
  const without = withoutReplaced(zone, records)
  return Object.fromEntries(
    Object.entries(without).filter(([name, node]) => zone[name] || Object.keys(node).length > 0),
  )
}

/** A step at or below a name that lives from a wildcard repeats everything that the wildcard gives it (RFC 4592 §2.2). */
function lostFaults({ domain: name, plan }: CheckAnswer, zone: WrittenZone): readonly string[] {
  const wildcard = zone[`*.${name.slice(name.indexOf('.') + 1)}`]
  if (!wildcard || Object.keys(zone).some((one) => isBelow(one, name))) return []
  const given = Object.keys(wildcard).filter((type) => !type.startsWith('!'))
  return (plan?.steps ?? [])
    .filter(({ by, records }) => by === 'dns' && records.some((one) => isBelow(one.name, name)))
    .filter(({ records }) => !given.every((type) => records.some((one) => one.name === name && one.type === type)))
    .map(({ title }) => `"${title}" hides what the wildcard gives the name`)
}

/**
 * Seeds that found something: a record in place of one that lets everybody pass, with an include that does not exist; a
 * record with a tag twice below an organization with a policy.
 */
const KEPT = [148, 234, 285]

it.each([...Array.from({ length: COUNT }, (_, seed) => seed), ...KEPT])('seed %i', async (seed) => {
  const random = sequence(seed + 1)
  const rows = Array.from({ length: 5 }, () => PARTS[Math.floor(random() * PARTS.length)]!)
  const row = mixedOf(rows, `seed ${seed}`, KINDS[seed % KINDS.length]!)
  expect(await faultsOf(row), rows.map(({ id }) => id).join(', ')).toEqual([])
})
