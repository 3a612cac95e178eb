import { expect, it } from 'vitest'
import { sequence } from '../../src/checks/repeatable.ts'
import { registrableDomain } from '../../src/names/suffix.ts'
import { type DomainCase, domains, type WrittenNode, type WrittenZone } from './cases.ts'
import { madeZone } from './made.ts'
import { isBelow, stepFaults } from './step-faults.ts'

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

const { cases } = domains()
const PARTS = cases.filter(
  ({ domain, path, expect: { refused } }) => domain && registrableDomain(domain) === domain && !path && !refused,
)

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

/**
 * Seeds that found something: a record in place of one that lets everybody pass, with an include that does not exist; a
 * record with a tag twice below an organization with a policy.
 */
const KEPT = [148, 234, 285]

it.each([...Array.from({ length: COUNT }, (_, seed) => seed), ...KEPT])('seed %i', async (seed) => {
  const random = sequence(seed + 1)
  const rows = Array.from({ length: 5 }, () => PARTS[Math.floor(random() * PARTS.length)]!)
  const row = mixedOf(rows, `seed ${seed}`, KINDS[seed % KINDS.length]!)
  expect(await stepFaults(row), rows.map(({ id }) => id).join(', ')).toEqual([])
})

/** Of {@link madeZone}: `MADE=2000` tries more of them. */
const MADE = Number(process.env.MADE ?? 60)
/** Seeds that found something. */
const FOUND = [
  8, // p=reject at once, by way of np
  35, // psd=y above a name without a policy
  10, // a live alias at _mta-sts
  24, // an MX host that only a step names
  101, // sp and np below those of a public suffix
  103, // a name that is an alias by a wildcard
  20_605, // a record that lets everybody pass, mended to one that is a permerror
  40_452,
  1_650, // what a try could not ask any more counted as good
  41_099,
  60_213,
  382, // the consent of a host that only a step makes
  51_420, // and one to reports by HTTPS
]

it.each([...Array.from({ length: MADE }, (_, seed) => seed + 10_000), ...FOUND])('made zone %i', async (seed) => {
  expect(await stepFaults(madeZone(seed))).toEqual([])
})
