import type { PlanAnswer, PlanRecord, PlanStep } from '../../src/answers/plan.ts'
import { textKind } from '../../src/net/dns/text-kind.ts'
import type { PlanExpect, PlanPattern, ShownFinding, WrittenZone } from './cases.ts'

/** What the rules of plans look at in an answer. */
export type PlannedAnswer = {
  readonly domain?: string
  readonly score?: number
  readonly grade?: string | null
  readonly grade_because?: { readonly finding: string } | null
  readonly domain_role?: { readonly name: string }
  readonly findings?: readonly ShownFinding[]
  readonly plan?: Omit<PlanAnswer, 'domain' | 'observed_at' | 'score' | 'grade'>
}
type Step = PlanStep & { readonly before?: readonly string[]; readonly why?: string }

/** What of a plan is not as the case expects, one line each; README.md has the rules. */
export function brokenPlan(expect: PlanExpect, { plan }: PlannedAnswer): readonly string[] {
  if (!plan) return ['there is no plan']
  const steps = plan.steps as readonly Step[]
  const { never = [], has = [], before = [], waits = [], says = [], never_says = [], ends, left_never = [] } = expect
  return [
    ...never.filter((one) => steps.some(matching(one))).map((one) => `a step ${shown(one)}`),
    ...has.filter((one) => !steps.some(matching(one))).map((one) => `no step ${shown(one)}`),
    ...before.filter(([first, then]) => !isBefore(steps, first, then)).map((one) => `not before: ${shown(one)}`),
    ...waits
      .filter((one) => steps.some((step) => matching(one)(step) && step.wait === undefined))
      .map((one) => `no wait of ${shown(one)}`),
    ...says
      .filter((one) => !steps.some((step) => matching(one)(step) && hasWords(step, one.text)))
      .map((one) => `no step says ${shown(one)}`),
    ...never_says
      .filter((one) => steps.some((step) => matching(one)(step) && hasWords(step, one.text)))
      .map((one) => `a step says ${shown(one)}`),
    ...(ends?.grade && !ends.grade.includes(String(plan.end.grade)) ? [`the end is ${plan.end.grade}`] : []),
    ...(ends?.score && (plan.end.score < ends.score[0] || plan.end.score > ends.score[1])
      ? [`the end is ${plan.end.score}`]
      : []),
    ...plan.left
      .filter(({ finding }) => left_never.some((pattern) => new RegExp(pattern).test(finding)))
      .map(({ finding }) => `${finding} is left`),
  ]
}

const shown = (rule: unknown): string => JSON.stringify(rule)

/** Whether a step matches a pattern: the step has its title, by and findings, one of its records all of the others. */
function matching({ title, by, of, optional, name, type, action, value }: PlanPattern): (step: Step) => boolean {
  const fits = (pattern: string | undefined, text: string): boolean =>
    pattern === undefined || new RegExp(pattern).test(text)
  const isAboutRecord = [name, type, action, value].some((one) => one !== undefined)
  return (step) =>
    fits(title, step.title) &&
    fits(by, step.by) &&
    (of === undefined || step.findings.some((id) => fits(of, id))) &&
    (optional === undefined || optional === (step.optional ?? false)) &&
    (!isAboutRecord ||
      step.records.some(
        (record) =>
          fits(name, record.name) &&
          fits(type, record.type) &&
          fits(action, record.action) &&
          fits(value, record.action === 'remove' ? (record.was[0] ?? record.value) : record.value),
      ))
}

/** A step that matches the first comes before every other that matches the second. */
function isBefore(steps: readonly Step[], first: PlanPattern, then: PlanPattern): boolean {
  const at = steps.findIndex(matching(first))
  return at >= 0 && steps.every((step, i) => i >= at || !matching(then)(step))
}

const hasWords = ({ title, why = '', before = [], instructions = '', wait = '' }: Step, text: string): boolean =>
  new RegExp(text, 'i').test([title, why, ...before, instructions, wait].join('\n'))

/** What holds for every answer that gives advice, one line each fault; `zone` is what is published today. */
export function adviceFaults(answer: PlannedAnswer, zone: WrittenZone): readonly string[] {
  const { plan, findings = [], domain = '' } = answer
  if (!plan) return []
  const steps = plan.steps as readonly Step[]
  return [
    ...aboveFaults(steps, domain),
    ...aliasFaults(steps, zone),
    ...ladderFaults(steps, zone, domain, answer.domain_role?.name),
    ...fixFaults(steps, findings),
    ...mentionFaults(steps, findings, plan.left),
    ...onceFaults(steps),
    ...wasFaults(steps, zone),
    ...gradeFaults(answer),
  ]
}

/** Whoever publishes the records of this domain publishes nothing above the name that was asked. */
const aboveFaults = (steps: readonly Step[], domain: string): readonly string[] =>
  steps
    .filter(({ by }) => by === 'dns')
    .flatMap(({ records }) => records)
    .filter(({ name }) => name !== domain && !name.endsWith(`.${domain}`))
    .map(({ name }) => `${name} is above ${domain}`)

/** No record stands beside a CNAME that stays (RFC 1034 §3.6.2). */
function aliasFaults(steps: readonly Step[], zone: WrittenZone): readonly string[] {
  const removed = new Set<string>()
  return steps.flatMap(({ records }) => {
    for (const { name, type, action } of records) if (type === 'CNAME' && action === 'remove') removed.add(name)
    return records
      .filter(
        ({ name, type, action }) => type !== 'CNAME' && action !== 'remove' && zone[name]?.CNAME && !removed.has(name),
      )
      .map(({ name }) => `${name} is an alias, and stays one`)
  })
}

/** The fix of a finding is a record of the first step that lists it. */
function fixFaults(steps: readonly Step[], findings: NonNullable<PlannedAnswer['findings']>): readonly string[] {
  return findings.flatMap(({ id, fix, steps: numbers }) => {
    if (!fix) return []
    const first = numbers?.[0] === undefined ? steps.find((step) => step.findings.includes(id)) : steps[numbers[0] - 1]
    const isThere = first?.records.some(
      ({ name, type, value }) => name === fix.name && type === fix.rtype && value === fix.value,
    )
    return isThere ? [] : [`the fix of ${id} is no record of its first step: ${fix.name} ${fix.value}`]
  })
}

/** A step that is named is there, and lists the finding or has its record. */
function mentionFaults(
  steps: readonly Step[],
  findings: NonNullable<PlannedAnswer['findings']>,
  left: readonly { readonly finding: string; readonly why: string }[],
): readonly string[] {
  const texts = [
    ...findings.map(({ id, detail, repair = '' }) => ({ id, text: `${detail}\n${repair}` })),
    ...left.map(({ finding, why }) => ({ id: finding, text: why })),
  ]
  return texts.flatMap(({ id, text }) =>
    [...text.matchAll(/\bstep (\d+)\b/gi)].flatMap(([words, number]) => {
      const step = steps[Number(number) - 1]
      return step?.findings.includes(id)
        ? []
        : [`${id} says "${words}", which ${step ? 'is about others' : 'is not there'}`]
    }),
  )
}

/** One name, type and kind has one record until a wait. */
function onceFaults(steps: readonly Step[]): readonly string[] {
  let stage = new Map<string, string>()
  return steps.flatMap(({ records, wait }) => {
    if (wait !== undefined) stage = new Map()
    return records.flatMap(({ name, type, action, value }) => {
      const kind = type === 'TXT' ? textKind(name, value) : type === 'CNAME' ? value : undefined
      if (kind === undefined || action === 'keep') return []
      const key = `${name} ${type} ${kind}`
      const before = stage.get(key)
      stage.set(key, value)
      return before === undefined || before === value
        ? []
        : [`${name} ${type} has two records at one stage: ${before} and ${value}`]
    })
  })
}

/** `was` is published at the name itself. */
function wasFaults(steps: readonly Step[], zone: WrittenZone): readonly string[] {
  const laid = new Map<string, string[]>()
  return steps.flatMap(({ by, records }) =>
    records.flatMap((record) => {
      const { name, type, was, value } = record
      const key = `${name} ${type}`
      const known = [...publishedAt(zone, record), ...(laid.get(key) ?? [])].map(plain)
      laid.set(key, [...(laid.get(key) ?? []), value])
      if (by !== 'dns') return []
      return was.filter((one) => !known.includes(plain(one))).map((one) => `${name} ${type} was never ${one}`)
    }),
  )
}

function publishedAt(zone: WrittenZone, { name, type }: PlanRecord): readonly string[] {
  const all = zone[name]?.[type] ?? []
  return typeof all === 'string' ? [] : all.map((one) => [one].flat().join(type === 'TXT' ? '' : ' '))
}

const plain = (text: string): string =>
  text
    .replace(/[^ -~]+/g, '')
    .toLowerCase()
    .replace(/\.$/, '')

/** A grade below its points says why. */
function gradeFaults({ score = 0, grade, grade_because: because, plan }: PlannedAnswer): readonly string[] {
  const isBelow = (points: number, given: string | null | undefined): boolean =>
    given !== null && given !== undefined && gradeOf(points) !== given
  const end = plan?.end as { score: number; grade: string | null; grade_because?: unknown } | undefined
  return [
    ...(isBelow(score, grade) && !because ? [`${grade} ${score} does not say why`] : []),
    ...(end && isBelow(end.score, end.grade) && !end.grade_because
      ? [`the end ${end.grade} ${end.score} does not say why`]
      : []),
  ]
}

const gradeOf = (score: number): string =>
  score === 100 ? 'A+' : score >= 90 ? 'A' : score >= 80 ? 'B' : score >= 65 ? 'C' : score >= 50 ? 'D' : 'F'

/** Names that send nothing may refuse at once. */
export const SILENT: ReadonlySet<string> = new Set(['parked', 'no_mail', 'accepts_mail_only'])

type Policy = { readonly p: readonly [number, number]; readonly sp: readonly [number, number] }

/**
 * By the reading of RFC 9989 (t) and by that of RFC 7489 (pct) a DMARC step raises one ladder (p; sp) by one level from
 * what applies today and lowers none, brings no t or pct, and has a wait where a sending domain's policy rises.
 */
function ladderFaults(
  steps: readonly Step[],
  zone: WrittenZone,
  domain: string,
  role: string | undefined,
): readonly string[] {
  const name = `_dmarc.${domain}`
  // An SPF record that names nobody says that nothing is sent.
  const own = publishedAt(zone, { name: domain, type: 'TXT' } as PlanRecord)
  let isSilent = (role !== undefined && SILENT.has(role)) || own.some((text) => /^v=spf1\s+[-~?]all$/.test(text))
  let today = policyToday(zone, domain)
  return steps.flatMap(({ by, records, wait }) => {
    isSilent ||= records.some((one) => one.name === domain && one.value === 'v=spf1 -all')
    const record = records.find((one) => one.name === name && one.type === 'TXT' && one.action !== 'remove')
    if (by !== 'dns' || !record) return []
    const then = policyOf([record.value])
    const before = today
    today = then
    const faults: string[] = []
    if (/;\s*t\s*=\s*y|;\s*pct\s*=/i.test(record.value) && !/;\s*t\s*=\s*y|;\s*pct\s*=/i.test(record.was.join(' ')))
      faults.push(`a step brings t or pct: ${record.value}`)
    for (const reading of [0, 1] as const) {
      const [p, sp] = [then.p[reading] - before.p[reading], then.sp[reading] - before.sp[reading]]
      if (p < 0 || sp < 0) faults.push(`a step lowers the policy: ${record.value}`)
      if (!isSilent && (p > 1 || sp > 1)) faults.push(`a step raises the policy by two levels: ${record.value}`)
      if (!isSilent && (p > 0 || sp > 0) && wait === undefined)
        faults.push(`a policy rises without a wait: ${record.value}`)
    }
    return [...new Set(faults)]
  })
}

/** What applies to a name today: its own record, or where it has none that can be applied, the subdomain policy above it. */
function policyToday(zone: WrittenZone, domain: string): Policy {
  // What a wildcard answers applies, too (RFC 4592 §2.1.3).
  const at = (name: string) => {
    const own = zone[`_dmarc.${name}`] ? `_dmarc.${name}` : `*.${name}`
    const [target = own] = (zone[own]?.CNAME ?? []) as readonly string[]
    return publishedAt(zone, { name: target, type: 'TXT' } as PlanRecord)
  }
  const isUsable = (texts: readonly string[]): boolean => readPolicy(texts) !== undefined
  if (isUsable(at(domain))) return policyOf(at(domain))
  const labels = domain.split('.')
  const above = labels.slice(1, -1).map((_, i) => at(labels.slice(i + 1).join('.')))
  // The walk ends at a boundary of organizations (RFC 9989 §4.10): below a public suffix is the organization.
  const end = above.findIndex((texts) => isUsable(texts) && /;\s*psd\s*=\s*[yn]/i.test(texts.join()))
  const below = above[end - 1]
  const found =
    end < 0
      ? above.findLast(isUsable)
      : below && isUsable(below) && /;\s*psd\s*=\s*y/i.test(above[end]!.join())
        ? below
        : above[end]
  if (!found) return policyOf([])
  const { sp } = policyOf(found)
  return { p: sp, sp }
}

const LEVELS: Readonly<Record<string, number>> = { none: 0, quarantine: 1, reject: 2 }

/** What receivers of RFC 9989 and of RFC 7489 apply, 0 to 2; nothing that can be applied is 0. */
const policyOf = (texts: readonly string[]): Policy => readPolicy(texts) ?? { p: [0, 0], sp: [0, 0] }

/** Undefined: no receiver applies anything of it, and the record above counts. */
function readPolicy(texts: readonly string[]): Policy | undefined {
  const records = texts.filter((text) => /^[vV]\s*=\s*DMARC1\s*(?:;|$)/.test(text))
  if (records.length !== 1) return undefined
  const names = records[0]!.split(';').flatMap((tag) => /^\s*(\w+)\s*=/.exec(tag)?.[1]?.toLowerCase() ?? [])
  // An invalid list (RFC 6376 §3.2) has no policy; the walk discards records of another version alone (RFC 9989 §4.10).
  if (new Set(names).size < names.length) return { p: [0, 0], sp: [0, 0] }
  const tags = new Map(
    records[0]!.split(';').map((tag) => {
      const at = tag.indexOf('=')
      return [
        tag.slice(0, at).replace(/[ \t]/g, '').toLowerCase(),
        tag
          .slice(at + 1)
          .replace(/^[ \t]+|[ \t]+$/g, '')
          .toLowerCase(),
      ] as const
    }),
  )
  const level = (tag: string): number | undefined => LEVELS[tags.get(tag) ?? '']
  const p = tags.has('p') ? level('p') : 0
  if (p === undefined) return { p: [0, 0], sp: [0, 0] }
  // RFC 9989 §4.10.1: a policy that cannot be read makes all of them none.
  if (['sp', 'np'].some((tag) => tags.has(tag) && level(tag) === undefined)) return { p: [0, 0], sp: [0, 0] }
  const sp = level('sp') ?? p
  const isTest = tags.get('t') === 'y'
  const pct = Number(tags.get('pct') ?? 100)
  const read = (value: number): readonly [number, number] => [
    isTest ? Math.max(0, value - 1) : value,
    pct === 0 ? Math.max(0, value - 1) : value,
  ]
  return { p: read(p), sp: read(sp) }
}
