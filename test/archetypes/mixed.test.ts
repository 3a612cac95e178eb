import { expect, it } from 'vitest'
import type { CheckAnswer } from '../../src/answers/check.ts'
import { sequence } from '../../src/checks/repeatable.ts'
import { registrableDomain } from '../../src/names/suffix.ts'
import { type DomainCase, domains, type WrittenNode, type WrittenZone } from './cases.ts'
import { answerOf, serviceFor } from './lab.ts'
import { steepFixes } from './policies.ts'
import { published, withoutReplaced } from './published.ts'
import { harmfulFixes } from './senders.ts'

/**
 * Domains whose SPF, mail hosts, DMARC and DKIM come from four different cases: every fix is published, and the domain
 * is asked again. Whoever passed still passes, no policy rises by more than a step, and the score is the promised one.
 * `MIXED=500` tries more of them.
 */
const COUNT = Number(process.env.MIXED ?? 25)
const NAME = 'mixed-parts.com'

const { cases, ...shared } = domains()
const PARTS = cases.filter(
  ({ domain, path, expect: { refused } }) => domain && registrableDomain(domain) === domain && !path && !refused,
)

const isBelow = (name: string, end: string): boolean => name === end || name.endsWith(`.${end}`)

/** Which records each part has: at the domain by type, below it by name. */
const OF_PART: readonly ((name: string, type: string, text: string) => boolean)[] = [
  (name, type, text) => name === NAME && type.endsWith('TXT') && /v=spf/i.test(text),
  (name, type) => name === NAME && /MX$|^!?A{1,4}$/.test(type),
  (name) => isBelow(name, `_dmarc.${NAME}`),
  (name) => isBelow(name, `_domainkey.${NAME}`),
]

/** A domain with one part of each of the cases; names outside of those parts are everybody's. */
function mixedOf(rows: readonly DomainCase[], id: string): DomainCase {
  const zone: Record<string, WrittenNode> = {}
  const add = (name: string, type: string, value: WrittenNode[string]): void => {
    zone[name] = { ...zone[name], [type]: value }
  }
  rows.forEach((row, part) => {
    for (const [name, node] of Object.entries(renamed(row)))
      for (const [type, value] of Object.entries(node)) {
        const isPart = OF_PART.some((has) => has(name, type, JSON.stringify(value)))
        const isOthers = name !== NAME && !isPart && zone[name]?.[type] === undefined
        if (isOthers || OF_PART[part]?.(name, type, JSON.stringify(value))) add(name, type, value)
      }
  })
  return { id, class: 'mixed', domain: NAME, zone, expect: {} }
}

/** The zone of a case with its domain named {@link NAME}. */
const renamed = ({ zone, domain = '' }: DomainCase): WrittenZone =>
  JSON.parse(JSON.stringify(zone ?? {}).replaceAll(domain, NAME)) as WrittenZone

const checked = async (row: DomainCase): Promise<CheckAnswer> =>
  (await answerOf(serviceFor(row, shared), '/v1/check', { domain: NAME })) as CheckAnswer

/** What is published of the first step of the plan gives the score that it promises, and none of the records harms. */
async function faultsOf(row: DomainCase): Promise<readonly string[]> {
  const before = await checked(row)
  const steps = before.plan?.steps ?? []
  const faults: string[] = []
  const [first] = steps
  if (first?.by === 'dns' && !first.assumed && !first.wait) {
    const zone = first.records
      .filter(({ action }) => action !== 'remove')
      .reduce(
        (all, { name, type: rtype, value }) => published(all, { name, rtype, value }),
        withoutReplaced(row.zone ?? {}, first.records),
      )
    const { score } = await checked({ ...row, zone })
    if (score !== first.score) faults.push(`"${first.title}" promises ${first.score} and gives ${score}`)
  }
  const now = before.findings.filter(({ steps: [at] = [] }) => at === undefined || steps[at - 1]?.wait === undefined)
  return [
    ...faults,
    ...(await harmfulFixes(row, shared, now)),
    ...(await steepFixes(row, shared, before.domain_role.name, now)),
  ]
}

/**
 * Seeds that found something: a record in place of one that lets everybody pass, with an include that does not exist.
 */
const KEPT = [234, 285]

it.each([...Array.from({ length: COUNT }, (_, seed) => seed), ...KEPT])('seed %i', async (seed) => {
  const random = sequence(seed + 1)
  const rows = OF_PART.map(() => PARTS[Math.floor(random() * PARTS.length)]!)
  expect(await faultsOf(mixedOf(rows, `seed ${seed}`)), rows.map(({ id }) => id).join(', ')).toEqual([])
})
