import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Debian packages of the test network. */
export const PACKAGES = [
  'knot',
  'unbound',
  'rbldnsd',
  'dnsdist',
  'dovecot-imapd',
  'opendkim',
  'postfix',
  'postgrey',
  'sasl2-bin',
  'swaks',
  'dnsperf',
  'ldnsutils',
  'bind9-dnsutils',
  'iptables',
  'iproute2',
  'openssl',
  'gcc',
  'libc6-dev',
  'libnetfilter-queue-dev',
  'libmail-spf-perl',
  'python3-spf',
  'chromium',
  'microsocks',
  'dante-server',
  'systemd',
  'dns-root-data',
  'libxml2-utils',
  'curl',
  'postgresql',
  'pgbouncer',
] as const

/** Packages that conflict with Postfix's, and libraries of theirs: unpacked into a folder, not installed. */
const UNPACKED = [
  'exim4-daemon-light',
  'opensmtpd',
  'libidn12',
  'libgnutls-dane0',
  'libevent-2.1-7',
  'prometheus', // for promtool
  'caddy',
  'nginx',
] as const
const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/mailsonde-lab')

/** A program of an unpacked package, and what env(1) must set for it to find its libraries. */
export type Unpacked = { readonly program: string; readonly env: readonly string[] }

/** The program at a path of the unpacked packages. */
export function unpacked(path: string): Unpacked {
  const libraries = globSync(`${FOLDER}/root/usr/lib/*-linux-gnu`).join(':')
  return { program: join(FOLDER, 'root', path), env: [`LD_LIBRARY_PATH=${libraries}`] }
}

/**
 * Whether the lab can run here: `ready`, or the words that say what is wanting. Installs missing packages when root
 * (apt).
 */
export function ensureMachine(): 'ready' | { readonly wanting: string } {
  if (process.platform !== 'linux') return { wanting: 'the test network needs Linux (network namespaces)' }
  const missing = missingPackages()
  const list = missing === undefined ? PACKAGES.join(' ') : missing.join(' ')
  if (process.getuid?.() !== 0) {
    const install = list === '' ? '' : ` and these Debian packages: ${list}`
    return { wanting: `the test network needs root (namespaces, port 25)${install}` }
  }
  if (missing === undefined) return { wanting: `the test network needs Debian or a relative of it, with: ${list}` }
  if (missing.length > 0) install(missing)
  const still = missingPackages() ?? []
  if (still.length > 0) return { wanting: `apt-get could not install: ${still.join(' ')}` }
  if (!unpack()) return { wanting: `apt-get could not download: ${UNPACKED.join(' ')}` }
  const namespaces = spawnSync('unshare', ['-n', '-m', '-p', '-f', 'true'])
  return namespaces.status === 0
    ? 'ready'
    : { wanting: 'this machine does not let root make network namespaces (unshare)' }
}

/** Installs those of these Debian packages that are missing. Call it as root on Debian, outside of the test network. */
export function ensurePackages(names: readonly string[]): void {
  const missing = missingPackages(names) ?? []
  if (missing.length > 0) install(missing)
}

/** Undefined where there is no dpkg. */
function missingPackages(names: readonly string[] = PACKAGES): string[] | undefined {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query fills them in
  const query = spawnSync('dpkg-query', ['-W', '-f', '${Package} ${db:Status-Status}\n', ...names], {
    encoding: 'utf8',
  })
  if (query.error) return undefined
  const installed = new Set(
    query.stdout.split('\n').flatMap((line) => (line.endsWith(' installed') ? [line.split(' ')[0]!] : [])),
  )
  return names.filter((name) => !installed.has(name))
}

const POLICY = '/usr/sbin/policy-rc.d'

/** Installs without starting a daemon: policy-rc.d forbids it, unless the machine has a policy of its own. */
function install(missing: readonly string[]): void {
  console.log(`installing ${missing.join(' ')}`)
  const ours = !existsSync(POLICY)
  if (ours) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  const apt = (...args: string[]) =>
    execFileSync('apt-get', ['-q', '-o', 'Dpkg::Use-Pty=0', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  try {
    apt('update')
    apt('install', '-y', '--no-install-recommends', ...missing)
  } catch {
    console.error('apt-get failed; see above')
  } finally {
    if (ours) rmSync(POLICY, { force: true })
  }
}

/** Downloads and unpacks, once; whether it is there. */
function unpack(): boolean {
  const done = join(FOLDER, `done-${UNPACKED.length}`)
  if (existsSync(done)) return true
  console.log(`unpacking ${UNPACKED.join(' ')}`)
  mkdirSync(FOLDER, { recursive: true })
  const run = (program: string, ...args: string[]): void =>
    void execFileSync(program, args, { cwd: FOLDER, stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    // Not by the user of apt, who may not write here.
    run('apt-get', '-q', '-o', 'APT::Sandbox::User=root', 'download', ...UNPACKED)
    for (const file of globSync(`${FOLDER}/*.deb`)) run('dpkg', '-x', file, `${FOLDER}/root`)
  } catch {
    return false
  }
  writeFileSync(done, '')
  return true
}
