import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Program, startProgram } from './program.ts'
import { DOMAINS } from './world.ts'

/** The product beside two others on the same zones: Mail::SPF (Perl) and python3-spf. Same verdicts, or a reason. */
type Question = { readonly ip: string; readonly sender: string; readonly helo: string }
type Other = 'Mail::SPF' | 'python3-spf'

/** An address of a mail host, one that is named by many records, one that nobody names, and one of IPv6. */
const CLIENTS = ['45.53.5.1', '45.53.8.1', '192.0.2.1', '2a02:53:5::1'] as const
const domains = DOMAINS.filter(({ service }) => service === 'unsigned' || service === 'signed')
  .filter(({ zone }) => zone.some((line) => line.includes('"v=spf1')))
  .map(({ name }) => name)
/** The second client greets with the domain and sends a bounce. */
const questionsAt = (name: string): readonly Question[] =>
  CLIENTS.map((ip, i) => ({ ip, sender: i === 1 ? '' : `user@${name}`, helo: i === 1 ? name : 'b.sonde.test' }))
const questions = domains.flatMap(questionsAt)
const textOf = ({ ip, sender, helo }: Question): string => `${ip} <${sender}> ${helo}`

/** Where another program differs on purpose or by its age. `at` is the domain; `open`: it sometimes says the same. */
const REASONS: readonly {
  readonly by: Other
  readonly at: string
  readonly clients?: RegExp
  readonly why: string
  readonly open?: true
}[] = [
  ...(['Mail::SPF', 'python3-spf'] as const).map((by) => ({
    by,
    at: 'spf-too-long.test',
    why: 'it reads a record of any length; RFC 7208 §3.4 wants records that fit a UDP answer, and ours bounds the work',
    open: true as const,
  })),
  ...['spf-too-many-mx.test', 'manymx.test'].map((at) => ({
    by: 'Mail::SPF' as const,
    at,
    clients: /^(?!2a02)/,
    why: 'it keeps to RFC 4408 §10.1 and reads the first 10 MX hosts; over 10 are a permerror since RFC 7208 §4.6.4',
  })),
  ...(['Mail::SPF', 'python3-spf'] as const).map((by) => ({
    by,
    at: 'ptr-too-many.test',
    clients: /^2a02/,
    why: 'it counts each MX host without AAAA as a void lookup; RFC 7208 §4.6.4 counts terms, and the term finds its MX',
  })),
  ...(['Mail::SPF', 'python3-spf'] as const).map((by) => ({
    by,
    at: 'mx-host-unknown.test',
    clients: /^45\.53\.5\.1 /,
    why: 'one host matches and one fails; RFC 7208 §5.4 leaves the order open, and it takes them as they come',
    open: true as const,
  })),
  ...['spf-part-unknown.test', 'mx-host-unknown.test'].map((at) => ({
    by: 'python3-spf' as const,
    at,
    clients: /^(?!45\.53\.5\.1 )/,
    why: 'it takes SERVFAIL for an answer without records; RFC 7208 §5 and §5.2 want temperror',
  })),
]

let program: Program
const theirs = new Map<Other, readonly string[]>()
beforeAll(async () => {
  program = await startProgram()
  const [perl, python] = await Promise.all([answers('perl', 'ask.pl'), answers('/usr/bin/python3', 'ask.py')])
  theirs.set('Mail::SPF', perl).set('python3-spf', python)
}, 120_000)
afterAll(async () => void (await program?.stop()))

describe.each<Other>(['Mail::SPF', 'python3-spf'])('%s says the same', (by) => {
  it.each(domains.map((name, i) => [name, i * CLIENTS.length] as const))('of %s', async (name, first) => {
    const rows = questionsAt(name).map((question, i) => [question, theirs.get(by)![first + i]] as const)
    for (const [question, other] of rows) {
      const got = await program.get(`/v1/spf?${new URLSearchParams(question)}`)
      expect(got.status, JSON.stringify(got.body)).toBe(200)
      const { result } = got.body as { result: string }
      const text = textOf(question)
      const reason = REASONS.find((row) => row.by === by && row.at === name && row.clients?.test(text) !== false)
      if (reason?.open) continue
      if (reason) expect(other, `${text}: no longer an exception: ${reason.why}`).not.toBe(result)
      else expect(other, text).toBe(result)
    }
  })
})

it('asks about more than 100 records', () => expect(domains.length).toBeGreaterThan(100))

/** What a program of the folder says to all questions, in their order. */
function answers(interpreter: string, script: string): Promise<readonly string[]> {
  const child = spawn(interpreter, [join(import.meta.dirname, 'spf', script)], { stdio: ['pipe', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  child.stdin.end(questions.map(({ ip, sender, helo }) => `${ip}\t${sender}\t${helo}\n`).join(''))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve(text.trimEnd().split('\n')))
  })
}
