import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'

/** Debian packages of the mini internet. */
export const PACKAGES = [
  'knot',
  'unbound',
  'rbldnsd',
  'dnsdist',
  'postfix',
  'postgrey',
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
] as const

/** Whether the lab can run here: `ready`, or the words that say what is wanting. Installs missing packages when root (apt). */
export function ensureMachine(): 'ready' | { readonly wanting: string } {
  if (process.platform !== 'linux') return { wanting: 'the mini internet needs Linux (network namespaces)' }
  const missing = missingPackages()
  const list = missing === undefined ? PACKAGES.join(' ') : missing.join(' ')
  if (process.getuid?.() !== 0) {
    const install = list === '' ? '' : ` and these Debian packages: ${list}`
    return { wanting: `the mini internet needs root (namespaces, port 25)${install}` }
  }
  if (missing === undefined) return { wanting: `the mini internet needs Debian or a relative of it, with: ${list}` }
  if (missing.length > 0) install(missing)
  const still = missingPackages() ?? []
  if (still.length > 0) return { wanting: `apt-get could not install: ${still.join(' ')}` }
  const namespaces = spawnSync('unshare', ['-n', '-m', '-p', '-f', 'true'])
  return namespaces.status === 0
    ? 'ready'
    : { wanting: 'this machine does not let root make network namespaces (unshare)' }
}

/** Undefined where there is no dpkg. */
function missingPackages(): string[] | undefined {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query fills them in
  const query = spawnSync('dpkg-query', ['-W', '-f', '${Package} ${db:Status-Status}\n', ...PACKAGES], {
    encoding: 'utf8',
  })
  if (query.error) return undefined
  const installed = new Set(
    query.stdout.split('\n').flatMap((line) => (line.endsWith(' installed') ? [line.split(' ')[0]!] : [])),
  )
  return PACKAGES.filter((name) => !installed.has(name))
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
