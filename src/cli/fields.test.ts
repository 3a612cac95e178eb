import { expect, it } from 'vitest'
import checkExample from '../operations/examples/report.json' with { type: 'json' }
import { report } from '../operations/report.ts'
import { readFields } from './fields.ts'

const given = report.receive(checkExample)
const answer = JSON.parse(JSON.stringify(given.ok ? given.value.answer : {}))
const { score, spf, mx } = checkExample

it.each<[fields: string, answer: unknown]>([
  ['score', { score }],
  ['score,domain', { score, domain: checkExample.domain }],
  ['spf.record', { spf: { record: spf.record } }],
  [' spf.valid , spf.record ', { spf: { valid: spf.valid, record: spf.record } }],
  ['spf,spf.record', { spf }], // the whole field includes its parts
  ['spf.record,spf', { spf }],
  ['mx.host', { mx: mx.map(({ host }) => ({ host })) }], // of each item of a list
  // an absent field stays absent
  ['observed_at', 'observed_at' in checkExample ? { observed_at: checkExample.observed_at } : {}],
])('%s', (fields, taken) => expect(readFields(fields, report.answer)(answer)).toEqual(taken))

it.each<[fields: string, problem: RegExp]>([
  ['scroe', /"scroe" is not a field of the answer \(did you mean score\?\); its fields are domain, score/],
  ['spf.recrod', /"recrod" is not a field of spf \(did you mean record\?\)/],
  ['score.x', /"x" is not a field of score; it has no fields/],
  ['', /"" is not a field of the answer/],
  ['score,', /"" is not a field of the answer/],
  ['__proto__', /"__proto__" is not a field/],
  [Array(101).fill('score').join(), /more than 100 fields/],
])('%s is refused', (fields, problem) => expect(() => readFields(fields, report.answer)).toThrow(problem))
