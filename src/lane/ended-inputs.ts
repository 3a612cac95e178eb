import { mkdir, readdir, readFile, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../base/errors.ts'

/** Inputs whose work ended the process that did it, by their names: they are not read again for a day. */
export type EndedInputs = ReturnType<typeof endedInputs>

const KEPT_MS = 86_400_000
/** Names that are kept; beyond it the oldest tenth goes. */
const MAX_NAMES = 10_000
/** No work takes longer, ms: a process that runs under the number of one that has ended is not taken for it. */
const LONGEST_MS = 150_000

type EndedSettings = {
  /** Ms since the epoch. */
  readonly now: () => number
  readonly warn: (event: string, fields: Record<string, unknown>) => void
  readonly max?: number
}

/**
 * One file an input in `folder` (made with the first): its name is that of the input, its content the reason, or the
 * number of the process that is at it, and its time is when. Files and not a table: commands have no database, several
 * processes share the folder without a lock, and a start reads nothing. Where the folder cannot be written the work
 * begins without it.
 */
export function endedInputs(folder: string, { now, warn, max = MAX_NAMES }: EndedSettings) {
  const pathOf = (name: string): string => join(folder, name)
  let isTold = false
  const lost = (error: unknown): void => {
    if (!isTold) warn('what ended heavy work cannot be remembered', { folder, reason: codeOf(error) })
    isTold = true
  }

  /** Whether the name says nothing any more, or what runs in another process. */
  async function mayBegin(name: string): Promise<boolean> {
    try {
      const [text, { mtimeMs }] = await Promise.all([readFile(pathOf(name), 'latin1'), stat(pathOf(name))])
      const ageMs = now() - mtimeMs
      if (ageMs > KEPT_MS) {
        await unlink(pathOf(name))
        return true
      }
      return ageMs < LONGEST_MS && Number(text) !== process.pid && isRunning(Number(text))
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') lost(error)
      return true
    }
  }
  async function write(name: string, text: string): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(pathOf(name), text, { mode: 0o600 })
  }
  async function forgetOldest(): Promise<void> {
    const names = await readdir(folder)
    if (names.length <= max) return
    const files: { readonly name: string; readonly atMs: number }[] = []
    for (const name of names)
      files.push({ name, atMs: (await stat(pathOf(name)).catch(() => undefined))?.mtimeMs ?? 0 })
    files.sort((a, b) => a.atMs - b.atMs)
    for (const { name } of files.slice(0, names.length - 0.9 * max)) await unlink(pathOf(name)).catch(() => {})
  }
  return {
    mayBegin,
    /** If this process ends before `end` is called, the work may not begin again. */
    mark: (name: string) => write(name, `${process.pid}`).catch(lost),
    /** `reason`: why it must not begin again. */
    end: async (name: string, reason?: string): Promise<void> => {
      try {
        if (reason === undefined) await unlink(pathOf(name))
        else {
          await write(name, reason)
          await forgetOldest()
        }
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') lost(error)
      }
    },
  }
}

/** Whether a process of this number runs. Those of other users cannot be asked, but run. */
function isRunning(pid: number): boolean {
  if (!(pid > 0)) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
