import type { CheckAnswer } from '../../src/answers/check.ts'
import type { PlanRecord } from '../../src/answers/plan.ts'
import { checkHost } from '../../src/checks/spf/index.ts'
import { domain } from '../../src/names/domain.ts'
import { ip } from '../../src/names/ip.ts'
import { checkDomain } from '../../src/operations/check.ts'
import type { World } from '../../src/world.ts'
import { type DomainCase, domains, type WrittenZone } from './cases.ts'
import { worldOf, zoneOf } from './lab.ts'
import { adviceFaults, type PlannedAnswer } from './plan-rules.ts'
import { published, withoutReplaced } from './published.ts'
import { namedAddresses, refusedBy } from './senders.ts'
import { shuffled } from './shuffled.ts'

export const { cases: _cases, ...shared } = domains()

export const isBelow = (name: string, end: string): boolean => name === end || name.endsWith(`.${end}`)

const inWorld = (world: World) => ({ ...world, signal: AbortSignal.timeout(20_000) })
const DEPS = { smtpPort: 25, heloName: async () => 'sonde.test' }

export async function checked(world: World, name: string): Promise<CheckAnswer> {
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

export async function stepFaults(row: DomainCase): Promise<readonly string[]> {
  const name = row.domain!
  const answer = await checked(worldOf(row, shared), name)
  const zone = zoneOf(row, shared)
  const faults = [
    ...adviceFaults(answer as PlannedAnswer, zone),
    ...lostFaults(answer, zone),
    ...deafFaults(answer, zone),
  ]
  const another = shuffled(worldOf(row, shared), 7)
  const again = await checked(another, name)
  if (JSON.stringify(again) !== JSON.stringify(answer)) faults.push('another answer in another order')
  const titles = answer.plan?.steps.map(({ title }) => title) ?? []
  for (const title of new Set(titles.filter((one, i) => titles.indexOf(one) !== i))) faults.push(`two steps "${title}"`)
  // What one check may not ask for at once is not measured.
  const isCut = answer.plan?.left.some(({ why }) => /too_many_questions|a part of SPF could not/.test(why)) === true
  // With all questions used up, less is promised than what a check of its own finds afterwards.
  const hosts = new Set(answer.mx.flatMap((host) => host.addresses.map(({ address }) => address)))
  const isFull = another.count() >= Math.min(120, 60 + 12 * hosts.size) - 6
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
    if (!isCut && after.score !== score && !(isFull && after.score! > score!))
      faults.push(`"${title}" promises ${score} and gives ${after.score}`)
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

/** The consent to reports is asked of a host that exists. */
function deafFaults({ plan }: CheckAnswer, zone: WrittenZone): readonly string[] {
  const hosts = (plan?.steps ?? [])
    .filter(({ by }) => by === 'report receiver')
    .flatMap(({ records }) => records.map(({ name }) => name.replace(/^.*\._report\._dmarc\./, '')))
  const exists = (host: string): boolean =>
    Object.keys(zone).some((name) => isBelow(name, host) || (name.startsWith('*.') && isBelow(host, name.slice(2))))
  return hosts.filter((host) => !exists(host)).map((host) => `the consent of ${host}, which does not exist`)
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
