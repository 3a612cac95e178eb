import type { EventEmitter } from 'node:events'
import type { SharedHttp } from './options.ts'

/**
 * Maximum number of event streams that one caller may have open. A stream lasts minutes, and without the bound one
 * caller could occupy the places of all.
 */
export const MAX_STREAMS = 64

/** Counts the open event streams of each caller; as many callers are held as have one open. */
export function streamCounts(): {
  readonly take: (caller: string) => boolean
  readonly release: (caller: string) => void
} {
  const open = new Map<string, number>()
  return {
    take: (caller) => {
      const count = open.get(caller) ?? 0
      if (count >= MAX_STREAMS) return false
      open.set(caller, count + 1)
      return true
    },
    release: (caller) => {
      const left = (open.get(caller) ?? 1) - 1
      if (left > 0) open.set(caller, left)
      else open.delete(caller)
    },
  }
}

/** Whether the caller may open one more stream; it counts until the response is closed. */
export function openStreams(
  shared?: Pick<SharedHttp, 'takeStream' | 'releaseStream'>,
): (caller: string, response: EventEmitter & { readonly closed?: boolean }) => boolean | Promise<boolean> {
  if (!shared) {
    const counts = streamCounts()
    return (caller, response) => {
      const isTaken = counts.take(caller)
      if (isTaken) response.once('close', () => counts.release(caller))
      return isTaken
    }
  }
  return async (caller, response) => {
    const isTaken = await shared.takeStream(caller)
    if (isTaken && response.closed) shared.releaseStream(caller)
    else if (isTaken) response.once('close', () => shared.releaseStream(caller))
    return isTaken
  }
}
