import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { labActions } from '../../test/lab/actions.ts'
import { labSetting } from '../../test/lab/setting.ts'
import reportExample from '../operations/examples/report.json' with { type: 'json' }
import { jobSubmit } from '../operations/jobs/submit.ts'
import { commandNamed } from '../operations/registry.ts'
import { follow, operate } from './operate.ts'
import { runCommandLine } from './program.ts'
import type { Setting, Work } from './session.ts'

/** A service that returns a given answer with status 200. */
let answer: unknown
let requests = 0
const files = new Map<string, string>()
/** The body of the last request. */
let sent = ''
const server = createServer((request, response) => {
  requests++
  sent = ''
  request.setEncoding('utf8').on('data', (piece: string) => void (sent += piece))
  request.on('end', () => response.end(JSON.stringify(answer)))
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => server.close())

type Ran = { code: number; printed: string; complaint: string }
const run = (...words: readonly string[]): Promise<Ran> => runInto(async () => {}, words)

async function runInto(write: () => Promise<void>, words: readonly string[]): Promise<Ran> {
  const said = { printed: '', complaint: '' }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const code = await runCommandLine(words, {
    operations: (await commandNamed(words[0]!))!,
    configFlags: [],
    version: '0',
    complain: (text) => void (said.complaint += text),
    readFile: (path) => `; the text of ${path}`,
    actions: labActions({
      operate: (asked) =>
        operate(asked, {
          ...labSetting,
          version: '0',
          onTerminal: false,
          write: async (text) => {
            await write()
            said.printed += text
          },
          writeFile: (path, text) => void files.set(path, text),
          open: () => Promise.reject(new Error('nothing is run here')),
          service: { server: url, key: undefined, peerSecret: undefined, nodeId: undefined, now: () => 0 },
        }),
    }),
  })
  return { code, ...said }
}

const { spf, ...withoutSpf } = reportExample
describe.each(['html', 'markdown', 'table', 'json'])('a service that answers a report for --format %s', (format) => {
  it.each<[why: string, answered: unknown, fault: string]>([
    ['an older one, without a field', withoutSpf, 'spf: '],
    ['nothing of it', {}, 'domain: '],
    ['another type', { ...reportExample, findings: 'none' }, 'findings: '],
    ['a list in place of an object', { ...reportExample, spf: [spf] }, 'spf: '],
    ['null in a table', { ...reportExample, mx: [null] }, 'mx.0: '],
    ['a status that is none', { ...reportExample, status: 'splendid' }, 'status: '],
    ['an escape sequence as a number', { ...reportExample, score: '\u001b[31m' }, 'score: '],
  ])('%s: said in words', async (_, answered, fault) => {
    answer = answered
    const { code, printed, complaint } = await run('report', 'a.example', '--format', format)
    expect([code, printed]).toEqual([3, ''])
    expect(complaint).toContain(`does not match the schema of report; it may run another version: ${fault}`)
    expect(complaint).not.toMatch(/TypeError|\u001b/)
  })

  it('shows the answer of a newer service with more fields', async () => {
    answer = { ...reportExample, dnskey: { status: 'pass', keys: [{ bits: 2_048 }] }, since: '2027' }
    const { code, printed, complaint } = await run('report', 'a.example', '--format', format)
    expect([code, complaint]).toEqual([0, ''])
    expect(printed.toLowerCase()).toContain('dnskey')
  })
})

/** The error of a write after the reader has closed the pipe (`| head`). */
const closedPipe = (): Promise<never> =>
  Promise.reject(Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write' }))

it.each([
  [['report', 'a.example']],
  [['report', 'a.example', 'b.example']],
  [['report', 'a.example', 'b.example', '--format', 'junit']],
  [['report', 'a.example', '--min-score', '100']],
  [['report', 'a.example', '--watch', '1h']],
])('%j into a closed pipe: exits as SIGPIPE does, without a word', async (words) => {
  answer = reportExample
  expect(await runInto(closedPipe, words)).toEqual({ code: 141, printed: '', complaint: '' })
})

it('writes one answer in several formats: one evaluation, files of their own', async () => {
  answer = reportExample
  const before = requests
  const { code, printed } = await run(
    ...['report', 'a.example', '--format', 'github,sarif=a=b,c.sarif,markdown=a.md,json=a.json', '--exit-zero'],
  )
  expect([code, requests - before]).toEqual([0, 1])
  expect(printed).toMatch(/^::/)
  expect([...files.keys()]).toEqual(['a=b,c.sarif', 'a.md', 'a.json'])
  expect(JSON.parse(files.get('a=b,c.sarif')!).runs[0].results.length).toBeGreaterThan(0)
  expect(files.get('a.md')).toMatch(/^# /)
  expect(JSON.parse(files.get('a.json')!)).toEqual(reportExample)
})

it.each([
  ['sarif=a.sarif', '--format: "sarif=a.sarif" is not one of'], // the first is of standard output
  ['github,sarif', '--format: "github,sarif" is not one of'],
  ['github,pdf=a.pdf', '--format: "pdf" is not one of'],
])('--format %s is refused', async (text, why) => {
  const { code, complaint } = await run('report', 'a.example', '--format', text)
  expect(code).toBe(2)
  expect(complaint).toContain(why)
})

describe('flags of an operation', () => {
  it.each<[words: readonly string[], code: number, complaint: RegExp | '']>([
    [['report', 'a.example', '--min-score', '101'], 2, /--min-score: "101" is not a whole number from 0 to 100/],
    [
      ['report', 'a.example', '--format', 'pdf'],
      2,
      /--format: "pdf" is not one of table, json, markdown, html, github, junit, sarif, nagios here/,
    ],
    [['geo', '192.0.2.1', '--format', 'csv'], 2, /--format: "csv" is not one of table, json, markdown, html here/],
    [['geo', '192.0.2.1', '--min-score', '5'], 2, /unknown option '--min-score'/],
    [['check', 'a.example', '--with', 'nonsense'], 2, /--with: /],
    [['check', 'a.example', '--with', 'x A 192.0.2.1', '--starttls'], 2, /--starttls cannot be used with --with/],
    [['blacklist', '192.0.2.1', '--with', 'x A 192.0.2.1'], 2, /unknown option '--with'/],
    [['report', 'a.example', '--min-score', String(reportExample.report_score)], 0, ''],
    [['report', 'a.example', '--min-score', '100'], 1, ''],
  ])('%j: %i', async (words, code, complaint) => {
    answer = reportExample
    const ran = await run(...words)
    expect(ran.code).toBe(code)
    if (complaint === '') expect(ran.complaint).toBe('')
    else expect(ran.complaint).toMatch(complaint)
  })
})

const asked = { operation: jobSubmit, raw: {} } as unknown as Work['asked']
const view = {} as Work['view']
const service = (server: string): Setting['service'] => ({
  server,
  ...{ key: 'secret', peerSecret: undefined, nodeId: undefined, now: () => 0 },
})

it.each([
  [
    service('https://mail.example/sonde'),
    'the job continues; to follow it: mailsonde jobs show job_a --wait --server https://mail.example/sonde',
  ],
  [
    service('https://joe:secret@mail.example'),
    'the job continues; to follow it: mailsonde jobs show job_a --wait --server https://mail.example/',
  ],
  [undefined, 'the job is kept; to continue it: mailsonde jobs show job_a --wait'],
])('Ctrl-C says how to come back, with the service %o', async (of, words) => {
  const said: string[] = []
  const setting: Setting = {
    ...labSetting,
    ...{ version: '0', onTerminal: false, write: async () => {} },
    open: () => Promise.reject(new Error('nothing is opened here')),
    complain: (line) => void said.push(line),
    service: of,
  }
  const session = { ask: () => Promise.reject(new Error('nothing is asked here')), close: async () => {} }
  const first = { progress: () => ({ raw: { id: 'job_a' }, line: 'running', hasEnded: false }) }
  const work: Work = { asked, view, setting, session, stopped: AbortSignal.abort() }
  await follow(work, first as unknown as Parameters<typeof follow>[1])
  expect(said).toEqual([words])
})

it('sends a reply in place of a file', async () => {
  answer = {}
  await run('message', '--reply', '550 5.1.1 User unknown')
  expect(sent).toBe('550 5.1.1 User unknown')
})
