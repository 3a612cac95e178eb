import type { PlanAnswer } from '../../src/answers/plan.ts'
import { COMPONENTS } from '../../src/answers/weights.ts'
import * as checks from '../../src/checks/registry.ts'
import type { Advice, Expect, Says, Severity, ShownFinding } from './cases.ts'

/** The parts of a `/v1/check` answer that the rules look at; `fields` may name any other. */
export type ShownAnswer = {
  readonly score?: number
  readonly domain_role?: { readonly name: string }
  readonly findings?: readonly ShownFinding[]
  readonly plan?: Pick<PlanAnswer, 'steps'> | undefined
}

export const RANK: Readonly<Record<Severity, number>> = { info: 0, low: 1, medium: 2, high: 3, critical: 4 }

/**
 * What of an answer is not as the case expects, one line each; empty when all rules of README.md hold.
 * `refused` and `not_below` need more than the answer and are not judged here.
 */
export function broken(expect: Expect, answer: ShownAnswer): readonly string[] {
  const findings = answer.findings ?? []
  return [
    ...fields(expect, answer),
    ...wanted(expect, findings),
    ...forbidden(expect, findings),
    ...alarms(expect, findings),
    ...severities(expect, findings),
    ...(expect.says ?? []).filter((says) => !findings.some(saying(says))).map((says) => `says no ${shown(says)}`),
    ...(expect.never_says ?? []).flatMap((says) => findings.filter(saying(says)).map(({ id }) => `says ${id}`)),
    ...score(expect, answer),
    ...(expect.advice ?? []).flatMap((advice) => advised(advice, findings, answer.plan?.steps ?? [])),
  ]
}

function fields(expect: Expect, answer: ShownAnswer): string[] {
  return Object.entries(expect.fields ?? {}).flatMap(([path, want]) => {
    const value = path
      .split('.')
      .reduce((at: unknown, key) => (at as Record<string, unknown> | undefined)?.[key], answer)
    return isAs(value, want) ? [] : [`${path} is ${JSON.stringify(value)}, not ${JSON.stringify(want)}`]
  })
}

function isAs(value: unknown, want: unknown): boolean {
  if (typeof want !== 'object' || want === null) return value === want
  const { in: among, not } = want as { readonly in?: readonly unknown[]; readonly not?: readonly unknown[] }
  if (among === undefined && not === undefined) throw new Error(`no rule for ${JSON.stringify(want)}`)
  return (among === undefined || among.includes(value)) && !not?.includes(value)
}

const wanted = (expect: Expect, findings: readonly ShownFinding[]): string[] =>
  Object.entries(expect.findings ?? {}).flatMap(([id, severity]) => {
    const found = findings.filter((finding) => finding.id === id)
    if (found.length === 0) return [`${id} is missing`]
    const right = severity === null || found.some((one) => [severity].flat().includes(one.severity))
    return right ? [] : [`${id} is ${found.map((one) => one.severity)}, not ${severity}`]
  })

const forbidden = (expect: Expect, findings: readonly ShownFinding[]): string[] =>
  findings
    .filter(({ severity }) => RANK[severity] > RANK.info)
    .filter(({ id }) => expect.forbidden?.some((name) => (name.endsWith('.') ? id.startsWith(name) : id === name)))
    .map(({ id, severity }) => `${id} (${severity}) is forbidden`)

const WITHOUT_POINTS = Object.keys(checks).filter((key) => !Object.hasOwn(COMPONENTS, key))

/** Findings of medium severity or more, but for those of checks without points. */
const heavy = (findings: readonly ShownFinding[]): readonly ShownFinding[] =>
  findings.filter(
    ({ id, severity }) => RANK[severity] >= RANK.medium && !WITHOUT_POINTS.some((key) => id.startsWith(`${key}.`)),
  )

/** A finding that `says` asks for, in one of its severities, is no alarm. */
function alarms({ alarms, findings: named = {}, says = [] }: Expect, findings: readonly ShownFinding[]): string[] {
  if (alarms === undefined) return []
  const isNamed = (finding: ShownFinding): boolean =>
    alarms.includes(finding.id) || Object.hasOwn(named, finding.id) || says.some((one) => saying(one)(finding))
  const unexpected = heavy(findings).filter((finding) => !isNamed(finding))
  return unexpected.map(({ id, severity }) => `${id} (${severity}) is a false alarm`)
}

function severities({ only, worst }: Expect, findings: readonly ShownFinding[]): string[] {
  const seen = [...new Set(heavy(findings).map(({ severity }) => severity))]
  const same = only === undefined || (seen.length === only.length && seen.every((severity) => only.includes(severity)))
  const above = worst === undefined ? [] : seen.filter((severity) => RANK[severity] > RANK[worst])
  return [
    ...(same ? [] : [`the severities are ${seen.join(', ') || 'none'}, not just ${only?.join(', ')}`]),
    ...(above.length === 0 ? [] : [`there are findings of ${above.join(', ')}, above ${worst}`]),
  ]
}

const saying =
  ({ of, text, severity }: Says) =>
  (finding: ShownFinding): boolean =>
    (of === undefined || new RegExp(of).test(finding.id)) &&
    (text === undefined || new RegExp(text, 'i').test(words(finding))) &&
    (severity === undefined || severity.includes(finding.severity))

const words = ({ title, detail, evidence = '', repair = '' }: ShownFinding): string =>
  [title, detail, evidence, repair].join('\n')

const shown = ({ of = 'any finding', text, severity }: Says): string =>
  [of, text && `with /${text}/`, severity && `of ${severity.join(' or ')}`].filter(Boolean).join(' ')

const score = ({ score }: Expect, answer: ShownAnswer): string[] => {
  if (score === undefined) return []
  const [least, most] = score
  const given = answer.score ?? Number.NaN
  return given >= least && given <= most ? [] : [`the score is ${given}, not ${least} to ${most}`]
}

function advised(
  { of, is, has = [], hasnt = [], at_most, must }: Advice,
  findings: readonly ShownFinding[],
  steps: NonNullable<ShownAnswer['plan']>['steps'],
): string[] {
  const offered = findings.filter(({ id, fix }) => fix && new RegExp(of).test(id))
  const fixes = offered.flatMap(({ fix }) => fix?.value ?? [])
  const waits = new Set(offered.flatMap(({ fix, steps: [at] = [] }) => (at && steps[at - 1]?.wait ? [fix?.value] : [])))
  const wrong = fixes.flatMap((value) => [
    ...(is === undefined || value === is ? [] : [`${value} is not ${is}`]),
    ...has.filter((part) => !value.includes(part)).map((part) => `${value} lacks ${part}`),
    ...hasnt.filter((pattern) => new RegExp(pattern).test(value)).map((pattern) => `${value} has /${pattern}/`),
    ...(at_most === undefined || waits.has(value) || actedOn(value) <= at_most
      ? []
      : [`${value} acts on ${actedOn(value)} % of the mail, not at most ${at_most}`]),
  ])
  return [...(must && fixes.length === 0 ? [`no fix of ${of}`] : []), ...wrong.map((line) => `the fix ${line}`)]
}

/** Percent of the failing mail that receivers of RFC 7489 act on (§6.3 `p`, `pct`) under a DMARC record. */
function actedOn(record: string): number {
  const tags = new Map(record.split(';').map((tag) => tag.split('=').map((part) => part.trim()) as [string, string]))
  if ((tags.get('p') ?? 'none') === 'none') return 0
  return Number(tags.get('pct') ?? 100)
}
