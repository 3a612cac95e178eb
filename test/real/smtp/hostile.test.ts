import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { logFile, runTool } from '../processes.ts'
import { cli, type Program, startProgram } from '../program.ts'
import { scriptedListeners } from './scripts.ts'

/** Mail hosts that do their worst, and callers that do: the program at work, seen from outside. */
let program: Program
beforeAll(async () => {
  program = await startProgram(['--helo', 'b.sonde.test', '--max-concurrency', '1000'])
})
afterAll(async () => void (await program?.stop()))

type Seen = { readonly result: string; readonly reason: string; readonly duration_ms: number }
async function verify(email: string, timeout: string): Promise<Seen> {
  const path = `/v1/verify?${new URLSearchParams({ email, timeout, max_age: '0' })}`
  let got = await program.get(path)
  // A machine that is busy with other things refuses work: it is asked again.
  for (let again = 0; got.status === 503 && again < 60; again++) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    got = await program.get(path)
  }
  expect(got.status, JSON.stringify(got.body)).toBe(200)
  return got.body as Seen
}

const hostile = scriptedListeners.filter(({ domain }) => !['heloonly.test', 'recorder.test'].includes(domain))

describe('whatever a mail host does', () => {
  it.each(hostile)('$domain, $shows: a result in time that does not blame the mailbox', async ({ domain }) => {
    const seen = await verify(`user@${domain}`, '2s')
    expect(seen.reason).not.toBe('mailbox_not_found')
    expect(seen.duration_ms).toBeLessThan(2_250)
    expect(await connectionsOf(program.pid)).toEqual([])
  })

  it('hundreds at once: all answered, memory flat, every socket closed', async () => {
    const round = async () => {
      const emails = hostile.flatMap(({ domain }) => Array.from({ length: 20 }, (_, n) => `user${n}@${domain}`))
      const seen = await Promise.all(emails.map((email) => verify(email, '3s')))
      expect(seen.filter(({ reason }) => reason === 'mailbox_not_found')).toEqual([])
    }
    await round() // what is compiled, cached and kept is there afterwards
    await quiet()
    const before = { files: await filesOf(program), mib: residentOf(program.pid) }
    for (let n = 0; n < 3; n++) await round()
    await quiet()
    expect(await connectionsOf(program.pid)).toEqual([])
    expect(await filesOf(program)).toBeLessThanOrEqual(before.files + 3)
    expect(residentOf(program.pid)).toBeLessThan(before.mib + 50)
  }, 180_000)
})

/** Connections to port 25 that a process has open; given up to 3 s to become none. */
async function connectionsOf(pid: number): Promise<readonly string[]> {
  const end = performance.now() + 3_000
  for (;;) {
    const all = (await runTool('ss', ['-Htnp', 'dport = :25'])).split('\n')
    const open = all.filter((line) => line.includes(`pid=${pid},`))
    if (open.length === 0 || performance.now() > end) return open
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Open files, without the test's own connections to the program, which are kept for a while. */
async function filesOf({ pid, url }: Program): Promise<number> {
  const callers = (await runTool('ss', ['-Htn', `sport = :${new URL(url).port}`])).split('\n').length - 1
  return readdirSync(`/proc/${pid}/fd`).length - callers
}
const residentOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
/** Time for what lingers to end. */
const quiet = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 6_000))

describe('what a caller writes never becomes a line of its own', () => {
  const at = '@recorder.test'
  const evil = 'EVIL'
  const attempts: readonly (readonly [what: string, email: string])[] = [
    ['CR LF and a command behind', `user${at}\r\nRCPT TO:<${evil}${at}>`],
    ['CR LF in the local part', `user\r\n${evil}${at}`],
    ['LF alone', `user${at}\n${evil}`],
    ['CR alone', `user\r${evil}${at}`],
    ['CR LF at the end', `${evil}${at}\r\n`],
    ['NUL', `user\0${evil}${at}`],
    ['the end of the path', `user${at}> ${evil}`],
    ['the end of the path in the local part', `user>${evil}${at}`],
    ['a path of its own', `<${evil}${at}>`],
    ['a quoted local part', `"quoted part"${at}`],
    ['the end of the path in quotes', `"user> ${evil}"${at}`],
    ['CR LF in quotes', `"user\r\n${evil}"${at}`],
    ['CR LF behind a backslash in quotes', `"user\\\r\\\n${evil}"${at}`],
    ['NUL in quotes', `"user\0${evil}"${at}`],
    ['a quote that does not end', `"user${at}`],
    ['parameters', `user${at} SIZE=1 ${evil}=1`],
    ['10,000 characters', `${evil.repeat(2_500)}${at}`],
    ['10,000 labels', `user@${`${evil}.`.repeat(10_000)}recorder.test`],
    ['a line separator', `user\u2028${evil}${at}`],
    ['a paragraph separator', `user\u2029${evil}${at}`],
    ['a next line', `user\u0085${evil}${at}`],
    ['characters whose low bytes are CR and LF', `user\u560d\u560a${evil}${at}`],
    ['a wide greater-than sign', `user\uff1e${evil}${at}`],
    ['half of a surrogate pair', `user\ud800${evil}${at}`],
    ['a line separator in the domain', `user@recorder\u2028${evil}.test`],
    ['percent signs', `user%0d%0a${evil}${at}`],
    ['an address literal', `${evil}@[45.53.7.22]`],
  ]
  const COMMAND =
    /^(?:EHLO b\.sonde\.test|MAIL FROM:<verify-[a-z0-9]+@b\.sonde\.test>(?: SMTPUTF8)?|RCPT TO:<[^<>\r\n\0]{1,64}@recorder\.test>|RSET|QUIT|)$/
  const recorded = (): string => readFileSync(logFile('recorder'), 'latin1')

  it.each(attempts)('%s', async (_, email) => {
    await verify(`user${at}`, '5s') // the host is asked, whatever becomes of the attempt
    const before = recorded().length
    expect(before).toBeGreaterThan(0)
    const got = await program.get(`/v1/verify?${new URLSearchParams({ email, timeout: '5s', max_age: '0' })}`)
    expect([200, 400, 413, 414, 431, 503]).toContain(got.status)
    // No command line holds a NUL.
    const args = ['verify', '--timeout', '5s', '--helo', 'b.sonde.test', '--', email]
    if (!email.includes('\0')) await cli(...args)
    const said = recorded().slice(before)
    for (const line of said.split('\r\n')) expect(line).toMatch(COMMAND)
    expect(said).not.toMatch(/[\0\u0085]|[^\r]\n|\r[^\n]/)
  })

  it('has greeted with one name, and never said DATA', () => {
    expect(recorded()).toMatch(/^EHLO b\.sonde\.test\r\n/)
    expect(recorded()).not.toMatch(/^DATA/m)
  })
})
