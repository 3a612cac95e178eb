import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A bare Debian 12 for one trial, in which commands run as a reader would type them. Needs root and debootstrap. */
export type Chroot = {
  readonly root: string
  /** What comes before a command of this system. Its process is the command itself, so that it gets signals. */
  readonly enter: readonly string[]
  /** Runs a shell line as root; rejects with what it wrote if it fails. */
  readonly sh: (line: string) => Promise<string>
}

const execute = promisify(execFile)

/** The folder of a bare Debian 12, which is made once in `cache`. */
export async function bareDebian(cache: string): Promise<string> {
  const base = join(cache, 'bookworm')
  if (!existsSync(join(cache, 'bookworm.done'))) {
    rmSync(base, { recursive: true, force: true })
    await execute('debootstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', base])
    writeFileSync(join(cache, 'bookworm.done'), '')
  }
  return base
}

/** A copy of the bare Debian in `cache`. */
export async function chrootIn(root: string, cache: string): Promise<Chroot> {
  const base = await bareDebian(cache)
  mkdirSync(root, { recursive: true })
  await execute('cp', ['-a', '--reflink=auto', `${base}/.`, root])
  // The network of this machine, with the authorities that it trusts: a registry may be reached through a proxy of its own.
  for (const file of ['/etc/resolv.conf', '/etc/hosts', '/etc/ssl/certs/ca-certificates.crt'])
    if (existsSync(file)) copyFileSync(file, join(root, file))
  // No service is started by its installation: this is no booted system.
  writeFileSync(join(root, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  const mounts = `mount -t proc proc ${root}/proc && mount --rbind /dev ${root}/dev && exec chroot ${root} "$@"`
  const enter = ['unshare', '-m', '--propagation', 'private', 'sh', '-c', mounts, 'sh']
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' }
  const sh: Chroot['sh'] = async (line) => {
    const [file = '', ...args] = [...enter, 'sh', '-ec', line]
    const { stdout } = await execute(file, args, { env, maxBuffer: 1 << 24 })
    return stdout
  }
  await sh('apt-get -q update')
  return { root, enter, sh }
}
