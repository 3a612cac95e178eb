import { describe, expect, it } from 'vitest'
import { judgeProfile, parseOwnProfile } from './profile.ts'

const ANSWER = {
  dmarc: { policy: 'reject', result: 'pass' },
  spf: { result: 'unknown' },
  dkim: [{ key_bits: 1024 }],
  findings: [{ id: 'message.no_tls' }],
}
const OPEN = { ...ANSWER, findings: [{ id: 'message.dkim_unknown' }] }
const rule = (over: object) => ({ id: 'r', text: 'a rule', ...over })

describe('an own rule', () => {
  it.each([
    ['a value that is wanted', rule({ field: 'dmarc.policy', in: ['quarantine', 'reject'] }), ANSWER, 'met'],
    ['another value', rule({ field: 'dkim.0.key_bits', in: [2048] }), ANSWER, 'not_met'],
    ['a value that is unknown', rule({ field: 'spf.result', in: ['pass'] }), ANSWER, 'unknown'],
    ['a value that is unknown, and may be', rule({ field: 'spf.result', in: ['pass', 'unknown'] }), ANSWER, 'met'],
    ['a field that is not there', rule({ field: 'dkim.7.key_bits', in: [2048] }), ANSWER, 'unknown'],
    ['a field of the prototype', rule({ field: 'constructor', in: ['x'] }), ANSWER, 'unknown'],
    ['a finding that is there', rule({ findings: ['message.no_tls'] }), ANSWER, 'not_met'],
    ['a finding that is not there', rule({ findings: ['message.not_signed'] }), ANSWER, 'met'],
    ['no finding, while something is open', rule({ findings: ['message.dkim_failed'] }), OPEN, 'unknown'],
  ])('%s', (_, one, answer, status) => {
    const profile = parseOwnProfile(JSON.stringify({ name: 'own', rules: [one] }))
    expect(profile.ok && judgeProfile(profile.value, answer).rules[0]?.status).toBe(status)
  })
  it.each([
    ['no JSON', '{'],
    ['no rules', '{"name":"x","rules":[]}'],
    ['neither findings nor a field', JSON.stringify({ name: 'x', rules: [rule({})] })],
    ['both', JSON.stringify({ name: 'x', rules: [rule({ field: 'a', in: [1], findings: ['b'] })] })],
    ['an unknown field', JSON.stringify({ name: 'x', rules: [rule({ findings: ['b'], x: 1 })] })],
    ['too many rules', JSON.stringify({ name: 'x', rules: Array(201).fill(rule({ findings: ['b'] })) })],
    ['too long', ' '.repeat(65_537)],
  ])('is refused: %s', (_, text) => expect(parseOwnProfile(text).ok).toBe(false))
  it.each<[what: string, text: string, words: string]>([
    ['a missing comma', '{\n"name": "x"\n"rules": []}', 'line 3 of the profile: this is not JSON'],
    [
      'a rule without text',
      '{"name": "x", "rules": [\n{"id": "a", "findings": ["x"]}]}',
      'line 2 of the profile: rules.text: the field is missing',
    ],
    [
      'a rule with both',
      '{"name": "x", "rules": [\n\n{"id": "a", "text": "b", "field": "c", "in": [1], "findings": ["x"]}]}',
      'line 3 of the profile: rules: a rule has either findings, or field and in',
    ],
    [
      'a wrong date',
      '{"name": "x",\n"seen": "June",\n"rules": [{"id": "a", "text": "b", "findings": ["x"]}]}',
      'line 2 of the profile: seen: ',
    ],
    [
      'an unknown field',
      '{"name": "x",\n"date": "2026-01-01",\n"rules": [{"id": "a", "text": "b", "findings": ["x"]}]}',
      'line 2 of the profile: "date" is not a known field',
    ],
  ])('with %s is refused with its line and what was expected', (_, text, words) => {
    const read = parseOwnProfile(text)
    expect(read.ok ? '' : read.problem.text).toContain(words)
    expect(read.ok ? '' : read.problem.text).toContain('a rule has id, text and either findings')
  })
  it('has its source and date in the answer', () => {
    const head = {
      name: 'own',
      source: 'https://rules.a.example/',
      seen: '2026-06-30',
      rules: [rule({ findings: ['spf.loop'] })],
    }
    const profile = parseOwnProfile(JSON.stringify(head))
    expect(profile.ok && judgeProfile(profile.value, ANSWER)).toMatchObject({
      source: head.source,
      seen: head.seen,
      met: 1,
    })
  })
})
