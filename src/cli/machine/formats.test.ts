import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { SaxesParser } from 'saxes'
import { expect, it } from 'vitest'
import { SARIF } from '../../../test/lab/sarif-schema.ts'
import reportExample from '../../operations/examples/report.json' with { type: 'json' }
import { failed, type Outcome, outcomeOf } from './outcome.ts'
import { writerOf } from './writers.ts'

const finding = (id: string, severity: string, detail: string) => ({
  ...{ id, severity, title: `Title of ${id}`, detail, repair: 'Mend it.', reference: 'RFC 7208 §4.6.4' },
})
const HOSTILE = '##vso[x]y ##[error]z a::b,c%d\n::error::owned "<]]>&\u001b[31m\u202e\ufffe|x=1\''
const JSON_ANSWER = JSON.parse(
  JSON.stringify({
    ...reportExample,
    findings: [
      finding('spf.too_many_lookups', 'high', 'Eleven lookups.'),
      finding('dmarc.none', 'medium', HOSTILE),
      finding('mx.odd', 'low', 'Odd.'),
      finding('caa.none', 'info', 'None.'),
    ],
  }),
)
const ACCEPTED = { by: 'joe', reason: HOSTILE, until: '2026-06-30T23:59:59.999Z' }
const accepted = (severity: string) =>
  outcomeOf('check', 'a.example', 'good', {
    ...JSON_ANSWER,
    findings: [{ ...finding('spf.too_many_lookups', severity, 'Eleven lookups.'), accepted: ACCEPTED }],
  })
const OUTCOMES: readonly Outcome[] = [
  outcomeOf('report', 'a.example', 'bad', JSON_ANSWER),
  outcomeOf('report', HOSTILE, 'good', { ...JSON_ANSWER, findings: [] }),
  outcomeOf('verify', 'joe@a.example', 'bad', {
    email: 'joe@a.example',
    deliverability: 'undeliverable',
    result: 'rejected',
    reason: 'mailbox_unknown',
    message: HOSTILE,
  }),
  outcomeOf('blacklist', '192.0.2.1', 'bad', {
    ...{ ip: '192.0.2.1', listed: 1, total: 29, answered: 29, verdict: 'listed' },
    results: [
      {
        blacklist: 'Zen',
        zone: 'zen.example',
        listed: true,
        tier: 'A',
        codes: ['127.0.0.2'],
        meaning: ['spam'],
        delist_url: 'https://zen.example/',
      },
    ],
  }),
  outcomeOf('expect', 'a.example', 'bad', {
    ...{ status: 'fail', total: 1, differs: 1, unknown: 0 },
    sets: [{ name: 'a.example', type: 'TXT', status: 'differs', expected: ['x'], published: [HOSTILE] }],
  }),
  failed('check', 'slow.example', 'unclear', HOSTILE),
  failed('check', 'nonsense', 'refused', 'not a domain'),
]
function write(format: 'github' | 'junit' | 'sarif' | 'nagios', file?: string): string {
  const writer = writerOf(format, { version: '1.2.3', failOn: 'high', ...(file !== undefined && { file }) })
  return OUTCOMES.map(writer.each).join('') + writer.end(OUTCOMES)
}

it.each(['github', 'junit', 'sarif', 'nagios'] as const)('%s has no character that steers a terminal', (format) => {
  expect(write(format).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
})

it.each(['github', 'junit', 'sarif', 'nagios'] as const)('%s has no command of another build server', (format) => {
  const text = write(format)
  expect(text).not.toMatch(/##(?:vso)?\[/i)
  if (format !== 'github') expect(text).not.toMatch(/^\s*::/m)
})

it('github: text from outside is neither a command nor a property', () => {
  const lines = write('github', 'dns/a,b.zone').trimEnd().split('\n')
  const commands = lines.filter((line) => line.startsWith('::'))
  for (const line of commands)
    expect(line).toMatch(/^::(?:error|warning|notice) (?:file=dns\/a%2Cb\.zone,)?title=[^:,]+::/)
  expect(commands.map((line) => /^::(\w+)/.exec(line)?.[1])).toEqual([
    ...['error', 'warning', 'notice'], // high, medium, low; info is none
    ...['error', 'error', 'error', 'warning', 'error'],
  ])
  expect(lines.filter((line) => line.startsWith('::error::'))).toEqual([])
})

it.each([undefined, 'dns/ex ample.zone'])('sarif is valid by the schema, with the file %s', (file) => {
  const log = JSON.parse(write('sarif', file))
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  const validate = ajv.compile(SARIF)
  expect(validate(log) ? [] : validate.errors).toEqual([])
  const [run] = log.runs
  expect(run.results.map(({ ruleId, level }: Record<string, string>) => [ruleId, level])).toEqual([
    ['spf.too_many_lookups', 'error'],
    ['dmarc.none', 'warning'],
    ['mx.odd', 'note'],
    ['caa.none', 'note'],
    ['mailbox.mailbox_unknown', 'error'],
    ['blacklist.zen.example', 'error'],
    ['expect.differs', 'error'],
  ])
  for (const { ruleId, ruleIndex } of run.results) expect(run.tool.driver.rules[ruleIndex].id).toBe(ruleId)
  expect(run.invocations[0].executionSuccessful).toBe(false) // two targets could not be judged
  expect(run.invocations[0].toolExecutionNotifications).toHaveLength(2)
})

/** The elements that consumers of JUnit XML know (Jenkins' junit-10.xsd): attributes, and what may stand inside. */
const JUNIT: Readonly<
  Record<string, readonly [required: readonly string[], optional: readonly string[], inside: readonly string[]]>
> = {
  testsuites: [[], ['name', 'time', 'tests', 'failures', 'errors'], ['testsuite']],
  testsuite: [
    ['name', 'tests', 'failures', 'errors'],
    ['group', 'time', 'skipped', 'timestamp', 'hostname', 'id', 'package', 'file', 'log', 'url', 'version'],
    ['testsuite', 'properties', 'testcase', 'system-out', 'system-err'],
  ],
  testcase: [['name'], ['time', 'classname', 'group'], ['skipped', 'error', 'failure', 'system-out', 'system-err']],
  failure: [[], ['message', 'type'], []],
  error: [[], ['message', 'type'], []],
  skipped: [[], ['message', 'type'], []],
  'system-out': [[], [], []],
}

it('junit is valid, and its counts are those of its cases', () => {
  const open: string[] = []
  const counted: Record<string, number> = {}
  const told: Record<string, number> = {}
  const parser = new SaxesParser()
  parser.on('error', (error) => {
    throw error
  })
  parser.on('opentag', ({ name, attributes }) => {
    const rule = JUNIT[name]
    expect(rule, name).toBeDefined()
    const [required, optional] = rule!
    expect(Object.keys(attributes)).toEqual(expect.arrayContaining([...required]))
    for (const key of Object.keys(attributes)) expect([...required, ...optional], name).toContain(key)
    const parent = open.at(-1)
    if (parent !== undefined) expect(JUNIT[parent]![2]).toContain(name)
    else expect(name).toBe('testsuites')
    open.push(name)
    counted[name] = (counted[name] ?? 0) + 1
    if (name === 'testsuite')
      for (const key of ['tests', 'failures', 'errors', 'skipped'])
        told[key] = (told[key] ?? 0) + Number(attributes[key])
  })
  parser.on('closetag', () => void open.pop())
  const xml = write('junit')
  expect(xml).not.toMatch(/[\ufffe\uffff]/)
  parser.write(xml).close()
  expect(told).toEqual({
    tests: counted.testcase,
    failures: counted.failure,
    errors: counted.error,
    skipped: counted.skipped,
  })
  expect([counted.testsuite, counted.error]).toEqual([OUTCOMES.length, 1])
})

it('nagios: one line of status and performance data; external text begins neither', () => {
  const [first, ...rest] = write('nagios').trimEnd().split('\n')
  expect(first).toMatch(/^MAILSONDE CRITICAL - 7 targets, [^|]* \| '[^'=|]+'=\d+;;;0;100( '[^'=|]+'=\d+;;;0;100)*$/)
  expect(rest.join('\n')).not.toContain('|')
})

it.each(['critical', 'medium'])('an accepted finding of severity %s fails nothing, and says so', (severity) => {
  const outcome = accepted(severity)
  const written = (format: 'github' | 'junit' | 'sarif' | 'nagios') => {
    const { each, end, status } = writerOf(format, { version: '1.2.3' })
    return { text: each(outcome) + end([outcome]), status: status?.([outcome]) }
  }
  expect(written('nagios')).toMatchObject({ status: 0, text: expect.stringContaining('MAILSONDE OK') })
  expect(written('github').text).toMatch(/^::notice title=[^:]*::accepted until 2026-06-30 by joe: /)
  expect(written('junit').text).toMatch(/<skipped message="accepted until 2026-06-30 by joe: /)
  expect(written('junit').text).toContain('failures="0"')
  const [result] = JSON.parse(written('sarif').text).runs[0].results
  expect(result.suppressions).toEqual([
    { kind: 'external', status: 'accepted', justification: expect.stringContaining('by joe') },
  ])
})

it('a rule that is not met is a failure, and a profile that is not known is skipped', () => {
  const rule = (id: string, status: string) => ({
    id,
    text: `Rule ${id}`,
    because: HOSTILE,
    status,
    by: [],
    reference: 'https://a.example/',
  })
  const of = (...rules: readonly object[]) => {
    const count = (status: string) => rules.filter((one) => Reflect.get(one, 'status') === status).length
    const counts = { met: count('met'), not_met: count('not_met'), unknown: count('unknown') }
    const profile = { name: 'bod-18-01', ...counts, rules }
    return outcomeOf('check', 'a.example', count('not_met') > 0 ? 'bad' : 'unclear', {
      ...JSON_ANSWER,
      findings: [],
      profile,
    })
  }
  const junit = (outcome: Outcome) => writerOf('junit', { version: '1' }).end([outcome])
  const unmet = of(rule('spf', 'met'), rule('dmarc', 'not_met'), rule('dkim', 'unknown'))
  expect(junit(unmet)).toMatch(/name="bod-18-01"[^>]*><failure message="Not met: Rule dmarc" type="bod-18-01.dmarc"/)
  expect(unmet.line).toMatch(/^bod-18-01: 1 met, 1 not met, 1 unknown; score/)
  expect(junit(of(rule('dkim', 'unknown')))).toMatch(/name="bod-18-01"[^>]*><skipped message="dkim: /)
  const { results } = JSON.parse(writerOf('sarif', { version: '1' }).end([unmet])).runs[0]
  expect(results.map(({ ruleId }: { ruleId: string }) => ruleId)).toContain('bod-18-01.dmarc')
})
