import type { EventEmitter } from 'node:events'

/** Maximum number of event streams that one caller may have open. A stream lasts minutes, and without the bound one caller could occupy the places of all. */
export const MAX_STREAMS = 64

/** Counts the open event streams of each caller; as many callers are held as have one open. */
export function openStreams(): { readonly take: (caller: string, response: EventEmitter) => boolean } {
  const open = new Map<string, number>()
  return {
    /** Whether the caller may open one more; it counts until the response is closed. */
    take: (caller, response) => {
      const count = open.get(caller) ?? 0
      if (count >= MAX_STREAMS) return false
      open.set(caller, count + 1)
      response.once('close', () => {
        const left = (open.get(caller) ?? 1) - 1
        if (left > 0) open.set(caller, left)
        else open.delete(caller)
      })
      return true
    },
  }
}
