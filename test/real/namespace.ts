import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'

/**
 * Starts the test network in namespaces of its own, runs `command` there, and passes its exit status on; without a
 * command it stays. All of it ends with this process, however this process ends: setpriv asks the kernel for it, and
 * `--kill-child` passes it on.
 */
export function enterLab(command: readonly string[]): ChildProcess {
  const inside = join(import.meta.dirname, 'inside.ts')
  const unshare = ['unshare', '-n', '-m', '-p', '-f', '--kill-child=KILL', '--mount-proc', '--propagation', 'private']
  // The first process takes orphans in, and must wait for them: the lock file of a PostgreSQL whose process is a zombie
  // keeps the next one from starting.
  const init = ['sh', '-c', '"$0" "$@"; exit $?', process.execPath, inside, ...command]
  return spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...unshare, ...init], {
    stdio: 'inherit',
  })
}

/**
 * The exit status of the lab, once it has ended. Ctrl-C and SIGTERM end it at once (unshare takes no other signal than
 * SIGKILL).
 */
export function untilEnded(lab: ChildProcess): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => lab.kill('SIGKILL'))
  return new Promise((resolve) => {
    lab.on('error', (error) => {
      console.error(`the lab does not start: ${error.message}`)
      resolve(1)
    })
    lab.on('exit', (code) => resolve(code ?? 130))
  })
}
