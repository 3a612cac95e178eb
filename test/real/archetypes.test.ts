import { expect, it } from 'vitest'
import type { CheckAnswer } from '../../src/answers/check.ts'
import type { PlanAnswer, PlanRecord } from '../../src/answers/plan.ts'
import { atMost } from '../../src/base/at-most.ts'
import { partsOf } from '../../src/plan/formats/sets.ts'
import { type DomainCase, domains, questionOf, type ShownFinding, type WrittenZone } from '../archetypes/cases.ts'
import { KNOWN_FAILURES } from '../archetypes/known-failures.ts'
import { answerOf, type Get, zoneOf } from '../archetypes/lab.ts'
import { SILENT } from '../archetypes/plan-rules.ts'
import { isSteep, policyRanks, type Ranks } from '../archetypes/policies.ts'
import { published, withoutReplaced } from '../archetypes/published.ts'
import { broken, RANK, type ShownAnswer } from '../archetypes/rules.ts'
import { refusedBy, spfResults } from '../archetypes/senders.ts'
import { ARCHETYPE_RESOLVER } from './addresses.ts'
import { serveRecords } from './dns/archetypes.ts'
import { type Program, startProgram } from './program.ts'

/**
 * The archetypes on real name servers, all of them in the DNS at once: each is judged as on fakes, and each fix that it
 * is offered is published and asked again. What one of them is told to publish is loaded with what all others are; of
 * two fixes for one record the second has a load of its own.
 */
const { cases, ...shared } = domains()

/** Cases that cannot stand beside the others. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'mx-timeout': 'one type of a name is not answered, and the others are',
  'spf-timeout-no-stage': 'one type of a name is not answered, and the others are',
  'bogus-first': 'a signed zone that does not validate',
  'dns-txt-refused': 'one type of a name is refused, and the others are not',
  'two-same-records': 'a name server has each record once (RFC 2181 §5)',
  'x3-a108-flat-too-far': 'records of its own at providers that others use',
  'dane-no-starttls': 'records of its own at mail hosts that others share',
  'dane-domain-not-signed': 'records of its own at mail hosts that others share',
  'x4-dnssec-bogus': 'a signed zone that does not validate',
  'x4-reverse': 'a zone of its own among the PTR records of all',
  'x4-dkim-ns': 'a zone of its own below a domain',
  'x5-exists-not-answered': 'names below a wildcard are not answered, and those beside it are',
}
const rows = cases.filter(
  ({ id, domain }) => domain !== undefined && ![LEFT_OUT, KNOWN_FAILURES].some((list) => Object.hasOwn(list, id)),
)

type Fix = NonNullable<ShownFinding['fix']>
/** A case as it stands: the answer, and what the fixes must keep. */
type Seen = {
  readonly answer: ShownAnswer
  readonly passing: ReadonlyMap<string, string>
  readonly ranks: Ranks
}
/** A case with the fixes that are published together, at most one for each record. */
type Turn = { readonly row: DomainCase; readonly fixes: readonly Fix[] }

const before = new Map<string, Seen>()

it('each is judged as on fakes', { timeout: 180_000 }, async () => {
  const faults = await inWorld({}, async (get) =>
    atMost(AT_A_TIME, rows, async (row) => {
      const answer = await check(get, row)
      before.set(row.id, { answer, ...(await keptBy(get, row, answer)) })
      // A signed zone, a policy file and a mail host that is talked to are not here.
      if (row.secure || row.policies || row.mail_hosts) return []
      return broken(row.expect, answer).map((line) => `${row.id}: ${line}`)
    }),
  )
  expect(faults.flat()).toEqual([])
})

it('each fix takes its finding away, and does no harm', { timeout: 240_000 }, async () => {
  const turns = turnsOf(rows)
  expect(turns.flat().length).toBeGreaterThan(100)
  for (const turn of turns) {
    const world = Object.assign({}, ...turn.map(({ row, fixes }) => zoneAfter(row, fixes)))
    const faults = await inWorld(world, (get) => atMost(AT_A_TIME, turn, (one) => faultsOf(get, one)))
    expect(faults.flat()).toEqual([])
  }
})

it('the zone file of each plan, as it is, gives the score that was promised', { timeout: 240_000 }, async () => {
  const planned = await inWorld({}, async (get, program) =>
    atMost(AT_A_TIME, rows.filter(isPlanned), (row) => planOf(get, program, row)),
  )
  expect(planned.filter(({ lines }) => lines.length > 0).length).toBeGreaterThan(50)
  const world = Object.assign({}, ...planned.map(({ row, now }) => withoutReplaced(row.zone ?? {}, now)))
  const lines = planned.flatMap((one) => one.lines)
  const faults = await inWorld(
    world,
    (get) =>
      atMost(AT_A_TIME, planned, async ({ row, promised }) => {
        const { score = 0 } = await check(get, row)
        return score === promised ? [] : [`${row.id}: ${promised} is promised, ${score} is measured`]
      }),
    lines,
  )
  expect(faults.flat()).toEqual([])
})

const isPlanned = ({ ask, expect: { refused } }: DomainCase): boolean => !ask && !refused

/**
 * The lines of the plan's zone file that are no comments, what of the plan they are, and the score with them by
 * what-if.
 */
type Planned = {
  readonly row: DomainCase
  readonly lines: readonly string[]
  readonly now: readonly PlanRecord[]
  readonly promised: number
}

async function planOf(get: Get, program: Program, row: DomainCase): Promise<Planned> {
  const query = { ...questionOf(row), timeout: '30s' }
  const plan = (await answerOf(get, '/v1/plan', query)) as PlanAnswer
  const { body: file } = await program.get(`/v1/plan?${new URLSearchParams({ ...query, format: 'zone' })}`)
  const lines = String(file)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(';'))
  const now = partsOf(plan).flatMap((part) => part.now)
  const records = now.flatMap(({ name, type, value, action, beside = [] }) => [
    ...(type === 'TXT' ? [] : beside.map((one) => ({ name, type, value: one }))),
    { name, type, value, ...(action === 'remove' && { remove: true }) },
  ])
  if (records.length === 0) return { row, lines, now, promised: plan.score }
  const { status, body } = await program.post('/v1/check', { ...query, domain: row.domain, records })
  if (status !== 200) throw new Error(`${row.id}: ${JSON.stringify(body)}`)
  return { row, lines, now, promised: (body as CheckAnswer).score }
}

const AT_A_TIME = 8

/** Runs the program on the records of all cases, with `changed` laid over them. */
async function inWorld<T>(
  changed: WrittenZone,
  run: (get: Get, program: Program) => Promise<T>,
  added: readonly string[] = [],
): Promise<T> {
  const zones = rows.map(({ zone }) => zone ?? {})
  const merged = { ...shared.hosts, ...Object.assign({}, ...zones), ...changed }
  const stop = await serveRecords(
    zoneOf({ id: '', class: '', zone: merged, expect: {} }, { ...shared, hosts: {} }),
    added,
  )
  const program = await startProgram(['--resolver', ARCHETYPE_RESOLVER])
  try {
    return await run((path, query) => program.get(`${path}?${new URLSearchParams(query)}`), program)
  } finally {
    await program.stop()
    await stop()
  }
}

async function check(get: Get, row: DomainCase): Promise<ShownAnswer> {
  return (await answerOf(get, '/v1/check', { ...questionOf(row), timeout: '30s' })) as ShownAnswer
}

/** The findings whose record can be published now and is all of its step. */
const fixesOf = ({ findings = [], plan }: ShownAnswer): readonly (ShownFinding & { readonly fix: Fix })[] =>
  findings.flatMap((finding) => {
    const step = finding.steps && plan?.steps[finding.steps[0]! - 1]
    const isWhole = step?.by === 'dns' && step.records.filter(({ action }) => action !== 'keep').length === 1
    const isPublished = finding.fix?.action !== 'keep' && finding.fix?.action !== 'remove'
    // A step that comes after one that is assumed rests on it.
    const isAssumed = plan?.steps.slice(0, finding.steps?.[0]).some(({ assumed }) => assumed)
    return finding.fix && isPublished && isWhole && !step.wait && !isAssumed ? [{ ...finding, fix: finding.fix }] : []
  })
const isSpf = ({ rtype, value }: Fix): boolean => rtype === 'TXT' && value.startsWith('v=spf1')
const isDmarc = ({ name }: Fix): boolean => name.startsWith('_dmarc.')

/** What must be kept, asked where a fix could take it away. */
async function keptBy(get: Get, row: DomainCase, answer: ShownAnswer): Promise<Omit<Seen, 'answer'>> {
  const fixes = fixesOf(answer).map(({ fix }) => fix)
  const passing = fixes.some(isSpf) ? await spfResults(get, row, shared) : new Map()
  return { passing, ranks: fixes.some(isDmarc) ? await policyRanks(get, row.domain!) : [0, 0] }
}

/** All fixes of all cases, in as few loads as there are fixes for one record. */
function turnsOf(all: readonly DomainCase[]): readonly (readonly Turn[])[] {
  const turns: Turn[][] = []
  for (const row of all) {
    const byRecord = Object.groupBy(
      fixesOf(before.get(row.id)!.answer).map(({ fix }) => fix),
      ({ name, rtype }) => `${name} ${rtype}`,
    )
    const values = Object.values(byRecord).map((fixes = []) => [
      ...new Map(fixes.map((fix) => [fix.value, fix])).values(),
    ])
    for (let i = 0; values.some((fixes) => i < fixes.length); i++)
      (turns[i] ??= []).push({ row, fixes: values.flatMap((fixes) => fixes[i] ?? []) })
  }
  return turns
}

const zoneAfter = ({ zone = {} }: DomainCase, fixes: readonly Fix[]): WrittenZone => fixes.reduce(published, zone)

/** An alarm that came with the fixes; one for a heavier or equal one of the same check is a step on the way. */
function isNew({ id, severity }: ShownFinding, was: ShownAnswer, promised: readonly ShownFinding[]): boolean {
  // A domain that turns out to have no mail misses its DMARC record by another name.
  const isThere = [id, ...(id === 'dmarc.no_record_parked' ? ['dmarc.no_record'] : [])].some((one) => countOf(was, one))
  if (RANK[severity] < RANK.medium || isThere) return false
  const check = id.slice(0, id.indexOf('.') + 1)
  return !promised.some((one) => one.id.startsWith(check) && RANK[one.severity] >= RANK[severity])
}

const countOf = ({ findings = [] }: ShownAnswer, id: string): number => findings.filter((one) => one.id === id).length

/** What is not as the published fixes promise, one line each. */
async function faultsOf(get: Get, { row, fixes }: Turn): Promise<readonly string[]> {
  const { answer: was, passing, ranks } = before.get(row.id)!
  const now = await check(get, row)
  const promised = fixesOf(was).filter(({ fix }) => fixes.some((one) => one.value === fix.value))
  // A finding with several steps stays until the last one.
  const stays = promised.filter(({ id, steps = [] }) => steps.length < 2 && countOf(now, id) >= countOf(was, id))
  // Whose reverse DNS is judged follows from the SPF record.
  const came = (now.findings ?? []).filter(
    (one) => isNew(one, was, promised) && !(one.id.startsWith('ptr.') && fixes.some(isSpf)),
  )
  const refused = passing.size > 0 ? refusedBy(passing, await spfResults(get, row, shared)) : []
  const isSilent = SILENT.has(was.domain_role?.name ?? '') || fixes.some(({ value }) => value === 'v=spf1 -all')
  const isSpared = isSilent || !fixes.some(isDmarc)
  const ranksNow = isSpared ? ranks : await policyRanks(get, row.domain!)
  return [
    ...stays.map(({ id }) => `${id} stays`),
    ...came.map(({ id, severity }) => `${id} (${severity}) is new`),
    ...((now.score ?? 0) < (was.score ?? 0) ? [`the score falls from ${was.score} to ${now.score}`] : []),
    ...refused.map((line) => `now ${line}`),
    ...(isSteep(ranks, ranksNow) ? [`the policy rises from ${ranks} to ${ranksNow}`] : []),
  ].map((line) => `${row.id}: ${line} (${fixes.map(({ value }) => value).join(' | ')})`)
}
