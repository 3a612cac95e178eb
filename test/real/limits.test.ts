import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { SOURCES } from './addresses.ts'
import { drivenClock, type Program, startProgram } from './program.ts'
import { CLEAN, LISTED } from './rbl/lists.ts'
import { DOMAINS } from './world.ts'

/**
 * Clocks that step, a small heap, connections that do nothing, callers with many addresses: the service says nothing
 * wrong, and goes on.
 */
let program: Program | undefined
const holders: ChildProcess[] = []
afterEach(async () => {
  for (const holder of holders.splice(0)) holder.kill()
  await program?.stop()
  program = undefined
})

type Told = Readonly<Record<string, unknown>>
const bodyOf = async (path: string): Promise<Told> => {
  const { status, body } = await program!.get(path)
  expect([path, status]).toEqual([path, 200])
  return body as Told
}

describe('the clock of the machine', () => {
  const told = async (): Promise<readonly unknown[]> => {
    const check = await bodyOf('/v1/check?domain=accept.test')
    const verify = await bodyOf('/v1/verify?email=user@accept.test')
    const clean = await bodyOf(`/v1/blacklist?ip=${CLEAN}`)
    const listed = await bodyOf(`/v1/blacklist?ip=${LISTED}`)
    const status = (name: string): unknown => (check[name] as Told).status
    const isClean = clean.verdict === 'clean' || clean.verdict === 'incomplete' // a list that was late
    return [status('spf'), status('dmarc'), check.mx_status, verify.result, isClean, listed.verdict]
  }

  it.each([3_600, -3_600])('steps by %i s while the service works: the same is said', async (by) => {
    const clock = drivenClock(Date.now(), { steps: true })
    program = await startProgram([], clock)
    const before = await told()
    expect(before).toEqual(['pass', 'pass', 'pass', 'accepted', true, 'listed'])
    const asked = bodyOf('/v1/verify?email=user@slow.test') // its banner comes after 4 s
    await new Promise((resolve) => setTimeout(resolve, 500))
    await clock.set(Date.now() + by * 1_000)
    const { observed_at: at } = await bodyOf('/v1/check?domain=healthy.test')
    expect(Math.abs(Date.parse(String(at)) - Date.now() - by * 1_000)).toBeLessThan(60_000) // the clock did step
    const { result, duration_ms: tookMs } = await asked
    expect(result).toBe('accepted') // under way when the clock stepped
    expect(tookMs).toBeGreaterThanOrEqual(3_500) // the banner alone
    expect(tookMs).toBeLessThan(60_000)
    expect(await told()).toEqual(before)
    await clock.set(Date.now())
    expect(await told()).toEqual(before)
  })
})

describe('memory', () => {
  it('a heap of 128 MB: 500 requests at once get an answer, 429 or 503, and the service goes on', {
    timeout: 120_000, // beside other work on the machine
  }, async () => {
    program = await startProgram([], undefined, { NODE_OPTIONS: '--max-old-space-size=128' })
    await asked500(program)
  })

  const group = memoryGroup()
  it.skipIf(group === undefined)('512 MiB of the kernel for all of its memory: the same', async () => {
    // The process enters the group before it loads anything.
    const enter = `import{writeFileSync}from'node:fs';writeFileSync('${group}/cgroup.procs','0')`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(enter)}`
    program = await startProgram([], undefined, { NODE_OPTIONS })
    expect(readFileSync(`${group}/cgroup.procs`, 'utf8')).not.toBe('')
    try {
      await asked500(program)
    } finally {
      await program.stop()
      rmdirSync(group!)
    }
  })

  /** A group of processes with 512 MiB (cgroup v2, or v1); undefined where none can be made. */
  function memoryGroup(): string | undefined {
    for (const [folder, limit] of [
      ['/sys/fs/cgroup', 'memory.max'],
      ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'],
    ] as const) {
      if (!existsSync(`${folder}/cgroup.procs`)) continue
      const made = `${folder}/mailsonde-${process.pid}`
      try {
        mkdirSync(made)
        writeFileSync(`${made}/${limit}`, String(512 * 2 ** 20))
        return made
      } catch {
        if (existsSync(made)) rmdirSync(made)
      }
    }
    return undefined
  }

  async function asked500({ get: ask }: Program): Promise<void> {
    const domain = (n: number): string => DOMAINS[n % DOMAINS.length]!.name
    const paths = Array.from(
      { length: 500 },
      (_, n) =>
        [
          `/v1/report?domain=${domain(n)}&timeout=5s`,
          `/v1/check?domain=${domain(n)}&timeout=5s`,
          `/v1/blacklist?ip=45.53.${n % 250}.7`,
          `/v1/verify?email=user@${domain(n)}&timeout=5s`,
        ].at(n % 4)!,
    )
    const seen = await Promise.all(paths.map((path) => ask(path).then(({ status }) => status)))
    expect(seen.filter((status) => ![200, 429, 503].includes(status))).toEqual([])
    expect(await bodyOf('/v1/verify?email=user@accept.test')).toMatchObject({ result: 'accepted' })
  }
})

describe('connections', () => {
  // below the 10,000 that may be open: one beyond is closed as it comes, which its caller sees as ECONNRESET or "socket
  // hang up"
  const IDLE = 9_900
  const files = (): number => readdirSync(`/proc/${program!.pid}/fd`).length

  it('10,000 that say nothing: others are answered, and nothing is left of them', async () => {
    program = await startProgram()
    execFileSync('prlimit', ['--pid', String(program.pid), '--nofile=16384:16384'])
    const before = files()
    const holder = await idle()
    // The last of them may still wait to be accepted: Node accepts one connection a turn of its loop.
    await expect.poll(() => files() - before, { timeout: 10_000 }).toBeGreaterThan(IDLE * 0.9)
    expect(await fresh('/v1/health')).toEqual({ status: 'ok' })
    expect(await fresh('/v1/verify?email=user@accept.test')).toMatchObject({ result: 'accepted' })
    holder.kill()
    await expect.poll(() => files() - before, { timeout: 10_000 }).toBeLessThan(50)
  })

  /** Asked on a connection of its own. */
  const fresh = (path: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      get(`${program!.url}${path}`, { agent: false }, (response) => {
        let said = ''
        response.on('data', (chunk) => (said += chunk)).once('end', () => resolve(JSON.parse(said)))
      }).once('error', (error) => reject(new Error(`${path}: ${error.message}`)))
    })

  /** A process that holds them, once all are open. */
  async function idle(): Promise<ChildProcess> {
    const script = `
      const open = async () => {
        for (let n = 0; n < ${IDLE}; n += 300)
          await Promise.all(Array.from({ length: 300 }, () => new Promise((resolve, reject) => {
            require('node:net').connect(${new URL(program!.url).port}, '127.0.0.1', resolve).on('error', reject)
          })))
        console.log('open')
      }
      open()`
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    holders.push(child)
    await once(child.stdout, 'data')
    return child
  }
})

describe('callers of IPv6', () => {
  const status = (localAddress: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const url = `http://[${SOURCES.allowed6}]:${new URL(program!.url).port}/v1/dmarc?domain=accept.test`
      get(url, { localAddress, family: 6, headers: { authorization: 'Bearer msk_wrong' } }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      }).once('error', reject)
    })

  it('a /64 is one caller, another /64 is another', async () => {
    program = await startProgram(['--host', '::', '--rate', '5', '--api-key', 'a-key-of-the-lab-0123456789'])
    const seen = []
    for (let n = 1; n <= 7; n++) seen.push(await status(`2a02:53:1:77::${n}`))
    expect(seen).toEqual([401, 401, 401, 401, 401, 429, 429])
    expect(await status('2a02:53:1:78::1')).toBe(401)
  })
})
