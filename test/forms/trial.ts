import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { aggregateReport } from '../lab/report-xml.ts'

/** A form of the program that is installed: how it is called. */
export type Installed = {
  /** What comes before the arguments of the program. */
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The folder in which the program has its data and finds files, as this process sees it. */
  readonly folder: string
  /** The same folder as the program sees it, in another root. */
  readonly seenAs?: string
  /** The name of the process of the program, where what comes before it passes no signals on. */
  readonly process?: string
  /** What the service is started with, in place of a data folder in `folder`; its first start makes a key. */
  readonly serving?: readonly string[]
  /** Installs a newer one over it, as a reader does, while it is stopped. */
  readonly upgrade: () => Promise<Partial<Installed>>
}

/** Milliseconds from the first command of the reader to each result, and how long the program takes to show its help. */
export type Times = {
  readonly installed: number
  readonly domain: number
  readonly page: number
  readonly report: number
  readonly job: number
  readonly help: number
}

const RUN_MS = 120_000

/**
 * Installs a form, then does what a reader does first: checks a domain of the lab, opens a page of a service, imports a
 * report, runs a bulk job, makes a monitor, and upgrades in the middle of a further job: jobs, monitors, keys and
 * reports are kept. Returns the upgraded form and its key too. Throws at the first result that differs from what it has to be.
 */
export async function tryForm(
  install: () => Promise<Installed>,
  resolver: string,
): Promise<{ readonly times: Times; readonly key: string; readonly upgraded: Installed }> {
  const start = performance.now()
  const passed = (): number => Math.round(performance.now() - start)
  const form = await install()
  const installed = passed()
  const checked = await run(form, ['check', 'example.org', '--resolver', resolver, '--json', 'domain,spf.record'])
  same(JSON.parse(checked), { domain: 'example.org', spf: { record: 'v=spf1 -all' } })
  const domain = passed()
  mkdirSync(form.folder, { recursive: true })
  writeFileSync(join(form.folder, 'report.xml'), aggregateReport({ rows: [{ address: '192.0.2.1', count: 3 }] }))
  const made = form.serving ? undefined : await newKey(form)
  const first = await serve(form, resolver, [], made)
  if (first.key === undefined) throw new Error('the first start made no key')
  const page1 = await fetch(`${first.url}/domain/example.org`, { headers: headersOf(first) })
  const html = await page1.text()
  if (!page1.ok || !html.includes('example.org')) throw new Error(`no page of a domain: ${html.slice(0, 200)}`)
  const page = passed()
  await importReport(form, first)
  same(await reportsAt(first), ['example.org'])
  const report = passed()
  const job = await startJob(first, 1)
  await jobDone(first, job)
  const jobMs = passed()
  const monitor = JSON.stringify({ kind: 'check', target: 'example.org', notify: [] })
  await call(first, '/v1/monitors', ['application/json', monitor])
  const cut = await startJob(first, 200)
  await first.stop()
  const newer = { ...form, ...(await form.upgrade()) }
  const second = await serve(newer, resolver, [], first.key)
  same((await fetch(`${second.url}/v1/jobs`)).status, 401)
  await jobDone(second, cut)
  same(await reportsAt(second), ['example.org'])
  same((await call(second, `/v1/jobs/${job}`)).state, 'done')
  same((await call(second, '/v1/monitors')).data.length, 1)
  await second.stop()
  const before = performance.now()
  const help = await run(newer, ['--help'])
  if (!help.includes('check <DOMAIN...>')) throw new Error('the help lacks a command')
  const times = { installed, domain, page, report, job: jobMs, help: Math.round(performance.now() - before) }
  return { times, key: first.key, upgraded: newer }
}

/** What a command writes to standard output; rejects if it fails or writes to standard error. */
export async function run(form: Installed, args: readonly string[]): Promise<string> {
  const { file, rest, options } = started(form, args)
  const { stdout, stderr } = await promisify(execFile)(file, rest, { ...options, timeout: RUN_MS })
  if (stderr !== '') throw new Error(`${args[0]} wrote to standard error: ${stderr}`)
  return stdout
}

export type Serving = {
  readonly url: string
  /** The key that the first start has made. */
  readonly key: string | undefined
  readonly output: () => string
  /** Ends the service in order; rejects unless its status is 0. */
  readonly stop: () => Promise<void>
  readonly child: ChildProcess
}

/** A service with its data in the folder of the form; `key`: that of its first start. */
export async function serve(
  form: Installed,
  resolver: string,
  more: readonly string[] = [],
  key?: string,
): Promise<Serving> {
  const own = form.serving ?? ['serve', '--data-dir', join(form.seenAs ?? form.folder, 'data')]
  const args = [...own, '--port', '0', '--resolver', resolver, '--rate', '100000', '--log-format', 'json']
  const { file, rest, options } = started(form, [...args, ...more])
  const child = spawn(file, rest, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let written = ''
  const end = (): void => void process.kill(pid(), 'SIGTERM')
  process.once('exit', end)
  const pid = (): number => (form.process === undefined ? child.pid! : below(child.pid!, form.process))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  void ended.then(() => process.off('exit', end))
  const url = await new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`the service does not start: ${written}`)), RUN_MS)
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        written += chunk
        const at = /"url":"([^"]+)"/.exec(written)?.[1]
        if (at === undefined) return
        clearTimeout(late)
        resolve(at)
      })
    void ended.then((status) => reject(new Error(`the service ended with ${status}: ${written}`)))
  })
  return {
    url,
    key: /\bmsk_\S+/.exec(written)?.[0] ?? key,
    child,
    output: () => written,
    stop: async () => {
      end()
      const status = await ended
      if (status !== 0) throw new Error(`the service ended with ${status}: ${written}`)
    },
  }
}

function started({ command, env, folder }: Installed, args: readonly string[]) {
  const [file = '', ...before] = command
  mkdirSync(folder, { recursive: true })
  return { file, rest: [...before, ...args], options: { cwd: folder, env: { PATH: process.env.PATH, ...env } } }
}

/** The fields of answers that a trial looks at. */
type Answer = {
  readonly id: string
  readonly state: string
  readonly data: readonly { readonly domain: string }[]
}

/** What a request of a caller with the key of a service has. */
const headersOf = ({ key }: Serving): Record<string, string> =>
  key === undefined ? {} : { authorization: `Bearer ${key}` }

async function call(at: Serving, path: string, body?: readonly [type: string, text: string]): Promise<Answer> {
  const [type, text] = body ?? []
  const headers = headersOf(at)
  const post = { method: 'POST', headers: { ...headers, 'content-type': type ?? '' }, body: text ?? '' }
  const response = await fetch(at.url + path, type === undefined ? { headers } : post)
  const answer = (await response.json()) as Answer
  if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`)
  return answer
}

/** The domains with reports. */
const reportsAt = async (at: Serving): Promise<readonly string[]> =>
  (await call(at, '/v1/reports/domains')).data.map(({ domain }) => domain)

/** A key for everything, made by the command line. */
async function newKey(form: Installed): Promise<string> {
  const data = join(form.seenAs ?? form.folder, 'data')
  const said = await run(form, ['keys', 'create', '--name', 'trial', '--scopes', 'admin', '--data-dir', data])
  return /\bmsk_\S+/.exec(said)?.[0] ?? ''
}

/** Imports the report of the trial by the command line. */
export async function importReport(form: Installed, { url, key }: Serving): Promise<void> {
  const path = join(form.seenAs ?? form.folder, 'report.xml')
  await run(form, ['reports', 'import', path, '--server', url, ...(key === undefined ? [] : ['--key', key])])
}

/** The process below `pid` that runs a program of this name. Throws if there is none. */
function below(pid: number, name: string): number {
  const seen = [pid]
  for (const one of seen) {
    if (readFileSync(`/proc/${one}/comm`, 'utf8').trim() === name) return one
    // A process of several threads has the children of each.
    for (const thread of readdirSync(`/proc/${one}/task`))
      seen.push(...(readFileSync(`/proc/${one}/task/${thread}/children`, 'utf8').match(/\d+/g) ?? []).map(Number))
  }
  throw new Error(`no process of ${name}`)
}

/** The id of a new bulk job of so many rows. */
export async function startJob(at: Serving, rows: number): Promise<string> {
  const list = Array.from({ length: rows }, (_, i) => `joe${i}@example.org\n`).join('')
  return (await call(at, '/v1/jobs?name=trial', ['text/csv', `email\n${list}`])).id
}

/** Waits until a job has ended. */
export async function jobDone(at: Serving, id: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if ((await call(at, `/v1/jobs/${id}`)).state === 'done') return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the job does not end')
}

function same(found: unknown, wanted: unknown): void {
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    throw new Error(`${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`)
}
