import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { labActions } from '../../test/lab/actions.ts'
import { labSetting } from '../../test/lab/setting.ts'
import reportExample from '../operations/examples/report.json' with { type: 'json' }
import { commandNamed } from '../operations/registry.ts'
import { operate } from './operate.ts'
import { runCommandLine } from './program.ts'

const finding = (severity: string) => ({
  ...{ id: 'spf.weak', severity, title: 'Weak', detail: 'It is weak.', reference: 'RFC 7208' },
})
const example: Readonly<Record<string, unknown>> = { ...reportExample, score_min: undefined, score_max: undefined }
/** The service's answer for each domain. */
const ANSWERS: Readonly<Record<string, object>> = {
  'good.example': { findings: [finding('low')], score: 95, report_score: 95, complete: true },
  'weak.example': { findings: [finding('medium')], score: 80, report_score: 80, complete: true },
  'bad.example': { findings: [finding('high')], score: 40, report_score: 40, complete: true },
  'open.example': { findings: [], score: 90, report_score: 90, score_min: 60, score_max: 100, complete: false },
}
let inFlight = 0
let most = 0
const server = createServer(async (request, response) => {
  most = Math.max(most, ++inFlight)
  const domain = new URL(request.url!, 'http://x').searchParams.get('domain')!
  await new Promise((resolve) => setTimeout(resolve, domain.startsWith('bad') ? 20 : 1))
  inFlight--
  if (domain === 'down.example') response.writeHead(503).end('{"code":"overloaded","detail":"too busy"}')
  else response.end(JSON.stringify({ ...example, domain, ...ANSWERS[domain] }))
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => server.close())

type Ran = { readonly code: number; readonly printed: string; readonly complaint: string }
async function run(words: readonly string[], lines: readonly string[] = [], onTerminal = false): Promise<Ran> {
  const said = { printed: '', complaint: '' }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const complain = (text: string): void => void (said.complaint += `${text}\n`)
  const code = await runCommandLine(words, {
    operations: (await commandNamed(words[0]!))!,
    configFlags: [],
    version: '0',
    complain,
    readFile: (path) => `; the text of ${path}`,
    actions: labActions({
      operate: (asked) =>
        operate(asked, {
          ...labSetting,
          version: '0',
          onTerminal,
          complain,
          write: async (text) => void (said.printed += text),
          readLines: async function* () {
            yield* lines
          },
          open: () => Promise.reject(new Error('nothing is run here')),
          service: { server: url, key: undefined, peerSecret: undefined, nodeId: undefined, now: () => 0 },
        }),
    }),
  })
  return { code, ...said }
}

const domainsOf = (printed: string): readonly string[] =>
  printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).domain)

it('on a terminal several targets are a line each', async () => {
  const { printed } = await run(['report', 'good.example', 'bad.example'], [], true)
  expect(printed).toMatch(/^good\.example: .*95.*\nbad\.example: .*40.*\n$/)
})

it('writes one answer per line in the order of the targets, with at most 8 in progress', async () => {
  const many = Array.from({ length: 20 }, (_, i) => `${i % 3 === 0 ? 'bad' : 'good'}${i}.example`)
  const { code, printed } = await run(['report', ...many])
  expect([code, domainsOf(printed)]).toEqual([0, many])
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(8)
})

it('reads standard input in place of -, between other targets', async () => {
  const { printed } = await run(['report', 'good.example', '-', 'weak.example'], ['bad.example', 'open.example'])
  expect(domainsOf(printed)).toEqual(['good.example', 'bad.example', 'open.example', 'weak.example'])
})

it.each<
  [why: string, words: readonly string[], lines: readonly string[], code: number, printed: RegExp, complaint: RegExp]
>([
  ['one', ['good.example', '--quiet'], [], 0, /^good\.example: score 95, grade \S+, \w+, \d+ listings?\n$/, /^$/],
  ['one line each', ['good.example', 'bad.example', '-q'], [], 0, /^good.*\nbad.*\n$/, /^$/],
  ['a field', ['good.example', '--json', 'score'], [], 0, /^\{\n {2}"score": 95\n\}\n$/, /^$/],
  [
    'a field each',
    ['good.example', 'bad.example', '--json', 'score'],
    [],
    0,
    /^\{"score":95\}\n\{"score":40\}\n$/,
    /^$/,
  ],
  ['no lines', ['-'], [], 2, /^$/, /standard input has no targets/],
  ['no lines, as JUnit', ['-', '--format', 'junit'], [], 2, /^$/, /standard input has no targets/],
  ['a typo costs no question', ['good.example', 'nonsense'], [], 2, /^$/, /nonsense/],
  ['a bad line', ['-'], ['nonsense', 'good.example'], 2, /"error":\{"code":"invalid_domain".*\n.*good\.example/, /^$/],
  ['a bad line, quiet', ['-', '-q'], ['nonsense', 'good.example'], 2, /^good.example: .*\n$/, /nonsense: /],
  ['one that is down', ['good.example', 'down.example'], [], 3, /"overloaded","detail":"too busy"/, /^$/],
  ['bad outweighs unknown', ['bad.example', 'down.example', '--fail-on', 'high'], [], 1, /./, /^$/],
  [
    'a refused one outweighs all',
    ['-', '--fail-on', 'high'],
    ['bad.example', 'nonsense', 'down.example'],
    2,
    /./,
    /^$/,
  ],
  ['--fail-on under it', ['weak.example', '--fail-on', 'high'], [], 0, /./, /^$/],
  ['--fail-on at it', ['weak.example', '--fail-on', 'medium'], [], 1, /./, /^$/],
  ['--fail-on, incomplete', ['open.example', '--fail-on', 'low'], [], 3, /./, /^$/],
  ['--fail-on and --min-score', ['weak.example', '--fail-on', 'critical', '--min-score', '90'], [], 1, /./, /^$/],
  [
    '--fail-on of none',
    ['weak.example', '--fail-on', 'info'],
    [],
    2,
    /^$/,
    /--fail-on: "info" is not one of low, medium, high, critical/,
  ],
  ['a format for one', ['a.example', 'b.example', '--format', 'jsno'], [], 2, /^$/, /did you mean json\?/],
  [
    '--quiet and --json',
    ['a.example', '--quiet', '--json', 'score'],
    [],
    2,
    /^$/,
    /--json cannot be used with --quiet/,
  ],
  ['--watch too often', ['a.example', '--watch', '10ms'], [], 2, /^$/, /--watch: 10ms is not between 1s and 24h/],
])('%s', async (_, words, lines, code, printed, complaint) => {
  const ran = await run(['report', ...words], lines)
  expect(ran.printed).toMatch(printed)
  expect(ran.complaint).toMatch(complaint)
  expect(ran.code).toBe(code)
})

/** The state of a plugin by exit status (Monitoring Plugins Development Guidelines). */
it.each<[targets: readonly string[], code: number, line: RegExp]>([
  [['good.example'], 0, /^MAILSONDE OK - good\.example: score 95.* \| score=95;;;0;100\n$/],
  [['weak.example'], 1, /^MAILSONDE WARNING - /],
  [['bad.example'], 2, /^MAILSONDE CRITICAL - .*\nWeak: It is weak\.\n$/],
  [['down.example'], 3, /^MAILSONDE UNKNOWN - down\.example: too busy\n$/],
  [
    ['good.example', 'weak.example', 'down.example'],
    1,
    /^MAILSONDE WARNING - 3 targets, 1 WARNING, 1 UNKNOWN, 1 OK \| 'good/,
  ],
  [['bad.example', 'down.example'], 2, /^MAILSONDE CRITICAL - /],
  [['good.example', '--min-score', '99'], 2, /^MAILSONDE CRITICAL - /],
  [['open.example', '--min-score', '80'], 3, /^MAILSONDE UNKNOWN - /],
  [['weak.example', '--fail-on', 'medium'], 2, /^MAILSONDE CRITICAL - /],
])('nagios: %j exits with %i', async (targets, code, line) => {
  const ran = await run(['report', ...targets, '--format', 'nagios'])
  expect(ran.printed).toMatch(line)
  expect(ran.code).toBe(code)
})
