import { execFile } from 'node:child_process'
import { chownSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { bareDebian } from './chroot.ts'
import { type Installed, serve } from './trial.ts'

const execute = promisify(execFile)
/** `buildah`; rejects with what it wrote if it fails. */
const buildah = async (...args: readonly string[]): Promise<string> =>
  (await execute('buildah', args, { maxBuffer: 1 << 26 })).stdout.trim()

const BASE = 'localhost/mailsonde-base'
const IMAGE = 'localhost/mailsonde'
/** The user of the image. */
const USER = 981
/** What the image may add to its base, octets. */
const MAX_ADDED = 90e6

type Config = {
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly User: string
  readonly Labels: Readonly<Record<string, string>>
}

/**
 * The image, built and run by buildah in a chroot, so without an engine of containers: its file system is not read-only,
 * and capabilities, networks and the health of compose.yaml are not tried. Needs root.
 */
export async function imageForm(own: {
  /** The sources. */
  readonly root: string
  readonly work: string
  /** Where the bare Debian is kept. */
  readonly bases: string
  /** The folder of the program of Node.js. */
  readonly node: string
  readonly resolver: string
}) {
  const { root, work, bases, node, resolver } = own
  await makeBase(await bareDebian(bases), node, work)
  const folder = join(work, 'image-data')
  let container = ''
  return {
    form: async (): Promise<Installed> => {
      await buildah('bud', '--quiet', '--isolation', 'chroot', '--build-arg', `BASE=${BASE}`, '-t', IMAGE, root)
      const { Entrypoint, Cmd, User } = await configOf(IMAGE)
      mkdirSync(join(folder, 'data'), { recursive: true })
      chownSync(join(folder, 'data'), USER, USER)
      const volumes = ['--volume', `${folder}:/mnt`, '--volume', `${folder}/data:/data`]
      const start = async (): Promise<Pick<Installed, 'command'>> => {
        container = await buildah('from', IMAGE)
        // The volume is ours, as with `docker run -v`: buildah would make one for each container.
        await buildah('config', '--volume', '/data-', container)
        const before = ['buildah', 'run', '--isolation', 'chroot', '--user', User, ...volumes]
        return { command: [...before, container, '--', ...Entrypoint] }
      }
      const upgrade = async () => {
        await buildah('rm', container)
        return start()
      }
      return { ...(await start()), folder, seenAs: '/mnt', process: Entrypoint[0]!, serving: Cmd, upgrade }
    },
    afterwards: async (installed: Installed): Promise<void> => {
      const { Labels } = await configOf(IMAGE)
      for (const label of ['title', 'version', 'licenses', 'description'])
        if (!Labels[`org.opencontainers.image.${label}`]) throw new Error(`the image has no label ${label}`)
      const mounted = await buildah('mount', container)
      const { stdout: empty } = await execute('find', [join(mounted, 'app'), '-type', 'd', '-empty'])
      if (empty !== '') throw new Error(`empty folders: ${empty}`)
      const added = (await sizeOf(IMAGE)) - (await sizeOf(BASE))
      if (added > MAX_ADDED) throw new Error(`the image adds ${(added / 1e6).toFixed(1)} MB to its base`)
      console.error(`image: ${(added / 1e6).toFixed(1)} MB above its base`)
      await asInCompose(installed, { root, work, mounted, resolver })
    },
  }
}

/** The base: a bare Debian with the npm packages `node` and `npm`. */
async function makeBase(debian: string, node: string, work: string): Promise<void> {
  const container = await buildah('from', 'scratch')
  const at = await buildah('mount', container)
  await execute('cp', ['-a', `${debian}/.`, at])
  await execute('sh', ['-c', `rm -rf ${at}/var/cache/apt/* ${at}/var/lib/apt/lists/*`])
  await execute('npm', ['install', '--no-audit', '--no-fund', '--prefix', work, 'npm@11'])
  const modules = join(at, 'usr/local/lib/node_modules')
  mkdirSync(modules, { recursive: true })
  cpSync(join(work, 'node_modules/npm'), join(modules, 'npm'), { recursive: true })
  cpSync(join(node, 'node'), join(at, 'usr/local/bin/node'), { dereference: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(at, 'usr/local/bin/npm'))
  // The certificates that this machine trusts, where it names them.
  const certificates = process.env.NODE_EXTRA_CA_CERTS
  if (certificates !== undefined && existsSync(certificates)) {
    cpSync(certificates, join(at, 'etc/ssl/certs/ca-certificates.crt'), { dereference: true })
    mkdirSync(join(at, 'usr/local/etc'), { recursive: true })
    writeFileSync(join(at, 'usr/local/etc/npmrc'), 'cafile=/etc/ssl/certs/ca-certificates.crt\n')
  }
  await buildah('commit', '--rm', '--quiet', container, BASE)
}

const configOf = async (image: string): Promise<Config> =>
  (JSON.parse(await buildah('inspect', '--type', 'image', image)) as { readonly Docker: { readonly config: Config } })
    .Docker.config

/** The octets of the files of an image. */
async function sizeOf(image: string): Promise<number> {
  const container = await buildah('from', image)
  try {
    const { stdout } = await execute('du', ['-sb', await buildah('mount', container)])
    return Number.parseInt(stdout, 10)
  } finally {
    await buildah('rm', container)
  }
}

/** The service as compose.yaml starts it: with a resolver by its name, and a socket for the proxy. */
async function asInCompose(
  installed: Installed,
  { root, work, mounted, resolver }: Readonly<Record<'root' | 'work' | 'mounted' | 'resolver', string>>,
): Promise<void> {
  const compose = parse(readFileSync(join(root, 'compose.yaml'), 'utf8')) as {
    readonly services: { readonly mailsonde: { readonly command: readonly string[] } }
  }
  const { command } = compose.services.mailsonde
  const at = command.indexOf('resolver:5353')
  if (at < 1) throw new Error('compose.yaml names no resolver')
  const service = await serve(
    { ...installed, serving: [...command.toSpliced(at - 1, 2), '--trust-proxy', 'unix'] },
    resolver.replace(/.*:/, 'localhost:'),
  )
  // By a short name: the path of a socket has at most 108 octets.
  symlinkSync(join(mounted, 'run/mailsonde'), join(work, 'sockets'))
  const socket = join(work, 'sockets/http.sock')
  const mode = statSync(socket).mode & 0o777
  const status = await new Promise((resolve, reject) => {
    get({ socketPath: socket, path: '/v1/health' }, (answer) => resolve(answer.resume().statusCode)).on('error', reject)
  })
  await service.stop()
  if (status !== 200 || mode !== 0o660) throw new Error(`the socket answers ${status}, its mode is ${mode.toString(8)}`)
}
