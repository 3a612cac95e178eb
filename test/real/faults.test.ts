import { execFileSync, spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { STATE } from './addresses.ts'
import { type Program, startProgram } from './program.ts'

/**
 * Faults of the network, the resolver, the disk and the process itself, on real servers: nothing firm is said that is
 * not so, and all is well soon after.
 */
let program: Program
const undo: (() => void)[] = []
afterEach(async () => {
  for (const step of undo.splice(0)) step()
  await program?.stop()
})

const run = (tool: string, ...args: string[]): string => execFileSync(tool, args, { encoding: 'utf8' })

/** A rule of the lab's own firewall until the test has ended. */
function rule(...args: string[]): void {
  run('iptables', '-w', '-I', 'INPUT', ...args)
  undo.push(() => run('iptables', '-w', '-D', 'INPUT', ...args))
}
const random = (share: number): string[] => ['-m', 'statistic', '--mode', 'random', '--probability', String(share)]

let names = 0
/** A domain that nobody has asked for before. */
const fresh = (): string => `f${process.pid}-${++names}.many.test`

type Section = { readonly status: string }
const statusOf = async (domain: string): Promise<readonly string[]> => {
  const { status, body } = await program.get(`/v1/check?domain=${domain}&timeout=5s`)
  expect(status).toBe(200)
  const answer = body as Readonly<Record<'spf' | 'dkim' | 'dmarc', Section>> & { readonly mx_status: string }
  return [answer.spf.status, answer.dkim.status, answer.dmarc.status, answer.mx_status]
}

describe('lost packets', () => {
  it.each([0.1, 0.3])('%d of the questions: a check is as without, or unknown', async (share) => {
    program = await startProgram()
    const whole = await statusOf('accept.test')
    await program.stop()
    program = await startProgram()
    rule('-p', 'udp', '--dport', '53', ...random(share), '-j', 'DROP')
    const seen = await statusOf('accept.test')
    for (const [i, status] of seen.entries()) expect([whole[i], 'unknown']).toContain(status)
  })

  it('connections that are cut at random: no mailbox is rejected for it', async () => {
    program = await startProgram()
    rule('-p', 'tcp', '--dport', '25', ...random(0.15), '-j', 'REJECT', '--reject-with', 'tcp-reset')
    const asked = Array.from({ length: 20 }, () =>
      program.get('/v1/verify?email=user@accept.test&max_age=1ms&timeout=5s'),
    )
    for (const { body } of await Promise.all(asked))
      expect(['accepted', 'unreachable', 'deferred']).toContain((body as { readonly result: string }).result)
  })
})

describe('the resolver', () => {
  const dmarc = async (): Promise<string> =>
    ((await program.get(`/v1/dmarc?domain=${fresh()}&timeout=3s`)).body as Section).status

  it('is stopped and goes on: unknown meanwhile, and well again within 2 s', async () => {
    program = await startProgram()
    const before = await dmarc()
    const pids = run('pgrep', '-x', 'unbound').trim().split('\n')
    for (const pid of pids) process.kill(Number(pid), 'SIGSTOP')
    undo.push(() => pids.forEach((pid) => void process.kill(Number(pid), 'SIGCONT')))
    expect(await dmarc()).toBe('unknown')
    for (const pid of pids) process.kill(Number(pid), 'SIGCONT')
    await expect.poll(dmarc, { timeout: 2_000, interval: 100 }).toBe(before)
  })

  it('is killed and started again: unknown meanwhile, at most three packets a question, and well again within 2 s', async () => {
    program = await startProgram()
    await program.looked()
    const before = await dmarc()
    const [pid] = run('pgrep', '-x', 'unbound').trim().split('\n')
    const [tool, ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
    const again = (): void => void spawn(tool!, args, { cwd: STATE, stdio: 'ignore', detached: true }).unref()
    process.kill(Number(pid), 'SIGKILL')
    undo.push(() => {
      if (execFileSync('sh', ['-c', 'pgrep -x unbound || true'], { encoding: 'utf8' }) === '') again()
    })
    const counted = ['-p', 'udp', '-d', '127.0.0.1', '--dport', '53']
    rule(...counted)
    const { body } = await program.get(`/v1/spf?ip=192.0.2.1&sender=a@${fresh()}&timeout=3s`)
    expect(body).toMatchObject({ result: 'temperror' })
    const [line = ''] = run('iptables', '-w', '-L', 'INPUT', '-v', '-n', '-x').split('\n').slice(2)
    // SPF, and the proof that the resolver does not deny everything: two questions.
    expect(Number(line.trim().split(/\s+/)[0])).toBeLessThanOrEqual(6)
    again()
    await expect.poll(dmarc, { timeout: 2_000, interval: 100 }).toBe(before)
  })
})

describe('the machine', () => {
  const accepted = async (): Promise<string> =>
    (
      (await program.get('/v1/verify?email=user@accept.test&max_age=1ms&timeout=5s')).body as {
        readonly result: string
      }
    ).result

  it.each([28, 48])('has %d descriptors: nothing firm is said, and all is well afterwards', async (limit) => {
    program = await startProgram()
    const message = async (): Promise<number> => {
      const init = {
        method: 'POST',
        headers: { 'content-type': 'message/rfc822' },
        body: 'From: a@accept.test\r\n\r\na',
      }
      return (await fetch(`${program.url}/v1/message`, init)).status
    }
    const job = async (): Promise<number> => {
      const init = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'user@accept.test' }
      return (await fetch(`${program.url}/v1/jobs`, init)).status
    }
    const others = (): readonly Promise<unknown>[] => [
      ...[statusOf(fresh()), message(), job(), program.get('/domain/accept.test'), program.get('/v1/ip?ip=192.0.2.1')],
    ]
    expect(await accepted()).toBe('accepted')
    run('prlimit', '--pid', String(program.pid), `--nofile=${limit}:4096`)
    // A connection that the service cannot take waits, or is closed.
    const late = (): Promise<undefined> => new Promise((resolve) => setTimeout(() => resolve(undefined), 2_000))
    const orNone = <T>(asked: Promise<T>): Promise<T | undefined> =>
      Promise.race([asked.catch(() => undefined), late()])
    // Long enough for every timer of the service to fire once without a descriptor.
    for (const end = performance.now() + 2_000; performance.now() < end; ) {
      for (const asked of Array.from({ length: 12 }, others).flat()) void orNone(asked)
      for (const result of await Promise.all(Array.from({ length: 12 }, () => orNone(accepted()))))
        expect(['accepted', 'unreachable', 'deferred', undefined]).toContain(result)
    }
    run('prlimit', '--pid', String(program.pid), '--nofile=4096:4096')
    const answers = [[accepted, 'accepted'] as const, [message, 200] as const, [job, 202] as const]
    for (const [ask, well] of answers) await expect.poll(() => orNone<unknown>(ask()), { timeout: 10_000 }).toBe(well)
  })

  it('stops the process for a while: the answers after it are right', async () => {
    program = await startProgram()
    const before = await statusOf('accept.test')
    const asked = statusOf(fresh())
    process.kill(program.pid, 'SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    process.kill(program.pid, 'SIGCONT')
    for (const status of await asked) expect(['pass', 'warn', 'fail', 'unknown', 'not_applicable']).toContain(status)
    expect(await statusOf('accept.test')).toEqual(before)
  })

  it('has a full disk: verification and blacklists answer, and what is kept is whole', async () => {
    const folder = `${STATE}/full-${process.pid}`
    run('mkdir', '-p', '-m', '700', folder)
    run('mount', '-t', 'tmpfs', '-o', 'size=4m,mode=700', 'tmpfs', folder)
    undo.push(() => {
      run('umount', '-l', folder)
      rmSync(folder, { recursive: true, force: true })
    })
    program = await startProgram(['--data-dir', folder])
    execFileSync('sh', ['-c', `dd if=/dev/zero of=${folder}/filler bs=64k count=80 2>/dev/null || true`])
    expect(await accepted()).toBe('accepted')
    const { body } = await program.get('/v1/blacklist?ip=45.53.5.1')
    expect(body).toMatchObject({ total: 29 })
    rmSync(`${folder}/filler`)
    expect(await accepted()).toBe('accepted')
    expect(await program.stop()).toBe(0)
  })
})
