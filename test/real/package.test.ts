import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { labServer, zoneBehaviour } from '../lab/dns-server.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const app = mkdtempSync(join(tmpdir(), 'mailsonde-package-'))
type Packed = { readonly filename: string; readonly files: readonly { readonly path: string }[] }
let packed: Packed

/**
 * The packed file in an empty folder, beside the packages that it asks for and nothing else: those of package-lock.json that are not for development, as links
 * to where they are installed. So no registry is needed.
 */
beforeAll(() => {
  const run = (command: string, ...args: readonly string[]): string =>
    execFileSync(command, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  run(process.execPath, 'scripts/bundle.ts')
  run(`${ROOT}/node_modules/.bin/tsc`, '-p', 'tsconfig.build.json')
  run(process.execPath, 'scripts/prune-types.ts')
  packed = JSON.parse(run('npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', app))[0]
  mkdirSync(`${app}/node_modules/mailsonde`, { recursive: true })
  run('tar', '-xzf', `${app}/${packed.filename}`, '-C', `${app}/node_modules/mailsonde`, '--strip-components=1')
  const lock: {
    readonly packages: Readonly<
      Record<string, { readonly dev?: true; readonly devOptional?: true; readonly optional?: true }>
    >
  } = JSON.parse(readFileSync(`${ROOT}/package-lock.json`, 'utf8'))
  for (const [path, { dev, devOptional, optional }] of Object.entries(lock.packages)) {
    // Packages below another come with its link.
    if (
      !/^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path) ||
      dev ||
      devOptional ||
      optional ||
      !existsSync(`${ROOT}/${path}`)
    )
      continue
    mkdirSync(dirname(`${app}/${path}`), { recursive: true })
    symlinkSync(`${ROOT}/${path}`, `${app}/${path}`)
  }
}, 120_000)

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

it('runs', () => {
  const { status, stdout } = node(main(), '--help')
  expect(status).toBe(0)
  expect(stdout).toContain('check <DOMAIN...>')
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
     export const grade = createClient({ url: 'http://x' }).check({ domain: 'example.org' }).then(({ grade }) => grade satisfies 'A+' | 'A' | 'B' | 'C' | 'D' | 'F')
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
