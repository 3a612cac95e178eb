import { expect, it } from 'vitest'
import { exampleOf } from '../../test/lab/answer.ts'
import type { CheckAnswer } from '../answers/check.ts'
import type { DmarcAnswer, SpfAnswer } from '../answers/questions.ts'
import { verdictOf } from '../cli/status.ts'
import type { OwnProfiles } from '../profiles/domain.ts'
import { parseOwnProfile } from '../profiles/profile.ts'
import { check } from './check.ts'
import { dmarc } from './dmarc.ts'
import type { Verdict } from './operation.ts'
import { domainProfileParam, profileOf, withProfile } from './profile.ts'
import { report } from './report.ts'
import { spf } from './spf.ts'

it.each<[SpfAnswer['result'], Verdict]>([
  ['pass', 'good'],
  ['none', 'good'], // nothing is said, nothing is refused
  ['neutral', 'good'],
  ['softfail', 'bad'],
  ['fail', 'bad'],
  ['permerror', 'bad'],
  ['temperror', 'unclear'],
])('spf: %s is %s', (result, verdict) => expect(spf.verdict?.({ ...exampleOf(spf), result })).toBe(verdict))

it.each<[Pick<DmarcAnswer, 'valid' | 'status'>, Verdict]>([
  [{ valid: true, status: 'warn' }, 'good'],
  [{ valid: false, status: 'fail' }, 'bad'],
  [{ valid: false, status: 'unknown' }, 'unclear'], // a SERVFAIL is no missing record
])('dmarc: %j is %s', (seen, verdict) => expect(dmarc.verdict?.({ ...exampleOf(dmarc), ...seen })).toBe(verdict))

type Scored = Pick<CheckAnswer, 'score' | 'score_min' | 'score_max'>
const OPEN: Scored = { score: 85, score_min: 70, score_max: 100 }

it.each<[Scored, number, Verdict]>([
  [{ score: 80 }, 80, 'good'],
  [{ score: 79 }, 80, 'bad'],
  [OPEN, 70, 'good'],
  [OPEN, 71, 'unclear'],
  [OPEN, 100, 'unclear'],
  [{ score: 80, score_min: 70, score_max: 90 }, 91, 'bad'],
])('check: %j under --min-score %i is %s', (scored, minScore, verdict) => {
  const { score_min: _least, score_max: _most, ...answer } = exampleOf(check)
  const given = check.receive({ ...answer, ...scored })
  expect(given.ok && given.value.verdict(minScore)).toBe(verdict)
})

it.each<[Scored & { readonly report_score: number }, number, Verdict]>([
  [{ score: 100, report_score: 85 }, 90, 'bad'], // a listing takes 15
  [{ score: 100, report_score: 85 }, 85, 'good'],
  [{ ...OPEN, report_score: 70 }, 55, 'good'], // 70 less 15
  [{ ...OPEN, report_score: 70 }, 56, 'unclear'],
  [{ ...OPEN, report_score: 70 }, 86, 'bad'], // 100 less 15 is the most
  [{ score: 20, report_score: 0, score_min: 10, score_max: 30 }, 11, 'bad'], // not below 0
])('report: %j under --min-score %i is %s', (scored, minScore, verdict) => {
  const { score_min: _least, score_max: _most, ...answer } = exampleOf(report)
  const given = report.receive({ ...answer, ...scored })
  expect(given.ok && given.value.verdict(minScore)).toBe(verdict)
})

const asked = (text: string, ownProfiles: OwnProfiles = []) =>
  profileOf(domainProfileParam.schema.parse(text), { ownProfiles })
const OWN = (rule: object) => JSON.stringify({ name: 'ours', rules: [{ id: 'one', text: 'ours', ...rule }] })
it.each<[profile: string, over: Partial<CheckAnswer>, Verdict]>([
  ['parked', {}, 'bad'], // a domain with mail is not parked
  [OWN({ findings: ['spf.no_record'] }), {}, 'good'],
  [OWN({ findings: ['spf.no_record'] }), { spf: { ...exampleOf(check).spf, status: 'unknown' } }, 'unclear'],
  [OWN({ findings: ['mx.none'] }), { mx_status: 'unknown' }, 'unclear'],
  [OWN({ field: 'dmarc.policy', in: ['reject'] }), { dmarc: { ...exampleOf(check).dmarc, policy: 'none' } }, 'bad'],
])('check: with the profile %s, %j is decided by it', (text, over, verdict) => {
  const profile = asked(text)
  expect(check.verdict?.(withProfile({ ...exampleOf(check), ...over }, profile))).toBe(verdict)
})

it('a profile of the operator is known by its name, any other name is refused with those that are known', () => {
  const own = parseOwnProfile(OWN({ findings: ['spf.no_record'] }))
  const known = own.ok ? [own.value] : []
  expect(withProfile(exampleOf(check), asked('ours', known)).profile).toMatchObject({ name: 'ours', met: 1 })
  expect(() => asked('theirs', known)).toThrow(/theirs.*parked.*ours/)
})

const HELD = { by: 'joe', reason: 'pilot', until: '2026-06-30T23:59:59.999Z' }
it.each<[accepted: readonly string[], more: readonly string[], own: Verdict, failOnHigh: Verdict]>([
  [[], [], 'bad', 'bad'],
  [['spf.many_records'], [], 'good', 'good'],
  [['dkim.short_key'], [], 'bad', 'bad'], // it is not why the check fails
  [['spf.many_records'], ['mx.null_beside_others'], 'bad', 'bad'], // another one is open
])('check: with %j accepted and %j beside it is %s, and %s with --fail-on high', (accepted, more, own, failOnHigh) => {
  const answer = exampleOf(check)
  const open = more.map((id) => ({ ...answer.findings[0]!, id, severity: 'high' as const }))
  const findings = [...answer.findings, ...open].map((one) =>
    accepted.includes(one.id) ? { ...one, accepted: HELD } : one,
  )
  const given = check.receive({ ...answer, findings })
  if (!given.ok) throw new Error(given.problem.text)
  expect(given.value.verdict()).toBe(own)
  expect(given.value.verdict(answer.score + 1)).toBe('bad') // --min-score sees the score as it is
  expect(
    verdictOf(given.value, JSON.parse(JSON.stringify({ ...answer, findings, complete: true })), {
      minScore: undefined,
      failOn: 'high',
    }),
  ).toBe(failOnHigh)
})

it.each<[accepted: boolean, Verdict]>([
  [false, 'bad'],
  [true, 'good'],
])('a profile whose only unmet rule has an accepted finding (%s) is %s', (isAccepted, verdict) => {
  const answer = exampleOf(check)
  const findings = answer.findings.map((one) => (isAccepted ? { ...one, accepted: HELD } : one))
  const own = asked(OWN({ findings: ['spf.many_records'] }))
  expect(check.verdict?.(withProfile({ ...answer, findings }, own))).toBe(verdict)
})
