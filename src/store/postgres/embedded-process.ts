import { execFile, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { headOf } from '../own-file.ts'
import type { Account, Place } from './embedded-place.ts'

/** The running server of a place. */
export type ServerProcess = {
  readonly pid: number
  /** Sends a signal as the server's user, if the process is still the server. */
  readonly signal: (name: 'INT' | 'QUIT') => Promise<void>
}

/**
 * The server of a place, by its `postmaster.pid`. That file belongs to the server's user, who may write any number there, and after a crash it may name another
 * process: undefined unless the process is the server by its program, its `-D` and its user. Start time and command are compared again before each signal, and
 * the signal is sent as the server's user, who could send it anyway.
 */
export async function serverOf(place: Place, account: Account): Promise<ServerProcess | undefined> {
  const pid = Number((await pidFile(place)).split('\n')[0])
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined
  const first = await identityOf(pid)
  if (!first || !isServer(first, place, account)) return undefined
  return {
    pid,
    signal: async (name) => {
      const now = await identityOf(pid)
      if (now?.startedAt === first.startedAt && isServer(now, place, account)) await signalAs(account, pid, name)
    },
  }
}

type Identity = { readonly command: string; readonly startedAt: string; readonly uid: number }

const isServer = ({ command, uid }: Identity, { cluster, binaries }: Place, account: Account): boolean =>
  command.startsWith(`${binaries.postgres} -D ${cluster} `) && uid === (account.uid ?? process.getuid?.() ?? uid)

/** The identity of a process; undefined if there is none. */
async function identityOf(pid: number): Promise<Identity | undefined> {
  try {
    return process.platform === 'linux' ? await byProc(pid) : await byPs(pid)
  } catch {
    return undefined
  }
}

async function byProc(pid: number): Promise<Identity> {
  const [line, text, { uid }] = await Promise.all([
    readFile(`/proc/${pid}/cmdline`, 'utf8'),
    readFile(`/proc/${pid}/stat`, 'utf8'),
    stat(`/proc/${pid}`),
  ])
  // The name of the program, in parentheses, may contain anything; the start time is the 20th field after it (proc_pid_stat(5)).
  const startedAt = text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  return { command: line.replaceAll('\0', ' '), startedAt, uid }
}

async function byPs(pid: number): Promise<Identity> {
  const options = ['-o', 'uid=', '-o', 'lstart=', '-o', 'command=', '-p', String(pid)]
  const { stdout } = await promisify(execFile)('/bin/ps', options, { env: { LC_ALL: 'C' } })
  const [, uid, startedAt = '', command = ''] = /^\s*(\d+) +(\S+ +\S+ +\S+ +\S+ +\S+) +(.*)/.exec(stdout) ?? []
  return { command: `${command} `, startedAt, uid: Number(uid) }
}

/** As root, a child with the server's user sends the signal: the kernel then refuses processes of others. */
async function signalAs(account: Account, pid: number, name: 'INT' | 'QUIT'): Promise<void> {
  if (account.uid === undefined) {
    try {
      process.kill(pid, `SIG${name}`)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
    return
  }
  const child = spawn('/bin/sh', ['-c', 'kill -s "$1" "$2"', 'sh', name, String(pid)], {
    ...account,
    stdio: 'ignore',
    env: {},
    cwd: '/',
  })
  await new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('close', () => resolve())
  })
}

/** The text of `postmaster.pid`; empty if there is none. */
async function pidFile({ cluster }: Place): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  try {
    const file = await open(join(cluster, 'postmaster.pid'), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      return (await file.stat()).isFile() ? await headOf(file, 1_024) : ''
    } finally {
      await file.close()
    }
  } catch {
    return ''
  }
}
