import { uploadLimitError } from '../problems.ts'

/** Maximum number of uploads that are read at the same time: of one owner, and in all. */
export const MAX_OPEN = { owner: 16, all: 64 } as const
/** Maximum size of what all uploads together hold in memory, octets. */
const MAX_HELD = 128 * 1024 * 1024
/** What an upload holds at least: its buffers and a decompressor, octets. */
const BASE = 256 * 1024
/** Time for which an upload waits until others hold less, ms. */
const PATIENCE_MS = 30_000
/** When a caller may try again, s. */
const RETRY_SECONDS = 10

/** The place of an upload among those that are read. */
export type UploadPlace = {
  /** Sets what this upload holds, octets, in place of what it held before. */
  readonly hold: (octets: number) => void
  /** Whether all uploads together hold more than they may. */
  readonly isFull: () => boolean
  /**
   * Resolves when there is room again, at once if there is. Rejects with AppError `overloaded` after
   * {@link PATIENCE_MS}, or with the signal's reason.
   */
  readonly room: (signal: AbortSignal) => Promise<void>
  readonly leave: () => void
}

/** The uploads that this process reads, and the memory that they share. */
export function openUploads({ maxHeld = MAX_HELD, patienceMs = PATIENCE_MS } = {}) {
  const counts = new Map<string, number>()
  let open = 0
  let held = 0
  const waiting = new Set<() => void>()
  const isFull = (): boolean => held > maxHeld
  function change(octets: number): void {
    held += octets
    if (!isFull()) for (const go of waiting) go()
  }

  function room(signal: AbortSignal): Promise<void> {
    if (!isFull()) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => (): void => {
        clearTimeout(timer)
        waiting.delete(go)
        signal.removeEventListener('abort', stop)
        settle()
      }
      const go = end(resolve)
      const stop = end(() => reject(signal.reason))
      const timer = setTimeout(
        end(() => reject(uploadLimitError('memory', { max: maxHeld }, { retryAfterSeconds: RETRY_SECONDS }))),
        patienceMs,
      )
      waiting.add(go)
      signal.addEventListener('abort', stop, { once: true })
    })
  }

  return {
    /**
     * Throws AppError `too_many_uploads` if this owner, or all owners together, have the maximum number of open
     * uploads.
     */
    enter: (owner: string): UploadPlace => {
      const mine = counts.get(owner) ?? 0
      if (mine >= MAX_OPEN.owner)
        throw uploadLimitError('owner', { max: MAX_OPEN.owner }, { retryAfterSeconds: RETRY_SECONDS })
      if (open >= MAX_OPEN.all)
        throw uploadLimitError('all', { max: MAX_OPEN.all }, { retryAfterSeconds: RETRY_SECONDS })
      counts.set(owner, mine + 1)
      open++
      let own = BASE
      change(BASE)
      let hasLeft = false
      return {
        hold: (octets) => {
          if (hasLeft) return
          change(BASE + octets - own)
          own = BASE + octets
        },
        isFull,
        room,
        leave: () => {
          if (hasLeft) return
          hasLeft = true
          open--
          const left = counts.get(owner)! - 1
          if (left === 0) counts.delete(owner)
          else counts.set(owner, left)
          change(-own)
        },
      }
    },
  }
}
