import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Installed, run, type Serving, serve } from './trial.ts'

const execute = promisify(execFile)
const NOBODY = 65_534

const mount = async (options: string, folder: string): Promise<void> =>
  void (await execute('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]))

/** The status of an answer, and what it says. Throws if it has a stack. */
async function told(response: Response): Promise<string> {
  const text = await response.text()
  if (/\n\s+at |\\n\s+at /.test(text)) throw new Error(`a stack: ${text}`)
  return `${response.status} ${text}`
}
const check = async ({ url }: Serving): Promise<string> => told(await fetch(`${url}/v1/check?domain=example.org`))
const job = async ({ url }: Serving): Promise<string> =>
  told(
    await fetch(`${url}/v1/jobs?name=trial`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv' },
      body: 'email\njoe@example.org\n',
    }),
  )

function matches(what: string, text: string, wanted: RegExp): void {
  if (!wanted.test(text)) throw new Error(`${what}: ${text.slice(0, 600)}`)
}

/**
 * What a machine may lack, tried with a program as an ordinary user: each is said in words, ends nothing else, and shows
 * no stack. Needs root, for mounts.
 */
export async function tryFaults(program: readonly string[], work: string, resolver: string): Promise<void> {
  chmodSync(work, 0o711)
  const user = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
  const form: Installed = { command: [...user, ...program], folder: join(work, 'faults'), upgrade: async () => ({}) }
  /** A service with a data folder of its own, while `use` runs; what it logs has no stack. */
  async function during(
    name: string,
    prepare: (data: string) => unknown,
    use: (service: Serving, own: Installed) => Promise<void>,
    asked = resolver,
  ): Promise<void> {
    const folder = join(form.folder, name.replaceAll(' ', '-'))
    mkdirSync(folder, { recursive: true })
    chownSync(folder, NOBODY, NOBODY)
    await prepare(folder)
    const own = { ...form, serving: ['serve', '--data-dir', join(folder, 'data')] }
    try {
      const service = await serve(own, asked)
      await use(service, own).finally(service.stop)
      if (/\\n +at |"stack"/.test(service.output())) throw new Error(`a stack in the log: ${service.output()}`)
    } finally {
      await execute('umount', ['-l', folder]).catch(() => {}) // of the rows that mount
    }
    console.error(`  ${name}: said`)
  }

  await during(
    'read-only folder',
    async (folder) => {
      await mount(`size=1m,uid=${NOBODY}`, folder)
      await execute('mount', ['-o', 'remount,ro', folder])
    },
    async (service) => {
      matches('a check', await check(service), /^200 .*"v=spf1 -all"/)
      matches('a job', await job(service), /^5\d\d .*EROFS/)
      matches('the log', service.output(), /EROFS/)
      for (let i = 0; i < 200 && !service.output().includes('first look'); i++) await setTimeout(100)
      matches('the first look', service.output(), /"database":"EROFS/)
    },
  )
  await during(
    'disk of 10 MB',
    (folder) => mount(`size=10m,mode=700,uid=${NOBODY}`, folder),
    async (service) => {
      matches('a check', await check(service), /^200 .*"v=spf1 -all"/)
      matches('a job', await job(service), /^5\d\d .*(?:No space left on device|ENOSPC)/)
      matches('a check after it', await check(service), /^200 .*"v=spf1 -all"/)
    },
  )
  await during(
    'no resolver',
    () => {},
    async (service) => {
      matches('a check', await check(service), /^200 .*"status":"unknown"/)
      const warnings = service.output().match(/dnsbl\.list_state/g) ?? []
      if (warnings.length > 0) throw new Error(`${warnings.length} warnings about lists`)
    },
    '127.0.0.1:1',
  )
  await during(
    'half-written files',
    (folder) => {
      const data = join(folder, 'data')
      const paths = [data, join(data, 'keys.json'), join(data, 'node.json')]
      mkdirSync(data, { mode: 0o700 })
      for (const path of paths.slice(1)) writeFileSync(path, '{"keys":[{"id', { mode: 0o600 })
      for (const path of paths) chownSync(path, NOBODY, NOBODY)
    },
    async (service) => {
      matches('a check', await check(service), /^401 /)
      matches('the log', service.output(), /the keys of \S+ could not be read/)
      matches('the log', service.output(), /a data file is damaged and was renamed/)
    },
  )
  await during(
    'two on one folder',
    () => {},
    async (service, own) => {
      matches('a job', await job(service), /^20[12] /)
      const second = await serve(own, resolver)
      matches('a check of the second', await check(second), /^200 /)
      matches('a job of the second', await job(second), /^5\d\d .*another mailsonde process/)
      await second.stop()
      matches('a job after it', await job(service), /^20[12] /)
    },
  )
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { readonly port: number }
  const said = await serve(form, resolver, ['--port', String(port)]).catch(({ message }: Error) => message)
  taken.close()
  matches(
    'port taken',
    String(said),
    /ended with 2: mailsonde: could not listen on \S+: another program uses it[^\n]*\n$/,
  )
  console.error('  port taken: said')
  const cut = join(form.folder, 'cut.json')
  writeFileSync(cut, '{"port": 80')
  const refused = await run(form, ['check', 'example.org', '--config', cut]).catch(({ stderr }) => stderr)
  matches('half a configuration', refused, /^mailsonde: the configuration file \S+ could not be read: [^\n]*\n$/)
  console.error('  half a configuration: said')
}
