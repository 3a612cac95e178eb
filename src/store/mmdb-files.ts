import { readFile, stat } from 'node:fs/promises'
import { messageOf } from '../base/errors.ts'
import { once } from '../base/share-work.ts'
import { packageFile } from '../own-files.ts'

/** Maximum size of a data file, bytes. */
const MAX_BYTES = 1024 * 1024 * 1024
/** Minimum interval at which a file is checked again, ms. */
const LOOK_EVERY_MS = 60_000

/** A file that is read when it is first needed and again when it has changed. */
type WatchedFile = {
  readonly path: string
  /**
   * The content: the same buffer as long as the file is unchanged; undefined while there is no readable file. Never
   * rejects.
   */
  readonly read: () => Promise<Buffer | undefined>
}

type Warn = (event: string, fields: Record<string, unknown>) => void

/**
 * Checks a file when it is needed, at most once a minute: no timers, and nothing is read before the first need. If a
 * file cannot be read (any more), its last content is kept, and `warn` is called once.
 */
export function watchedFile(
  path: string,
  options: {
    readonly now: () => number
    readonly warn: Warn
    readonly everyMs?: number
  },
): WatchedFile {
  const { now, warn, everyMs = LOOK_EVERY_MS } = options
  let content: Buffer | undefined
  let stamp = ''
  let lookedAtMs: number | undefined
  let looking: Promise<void> | undefined

  async function look(): Promise<void> {
    lookedAtMs = now()
    const before = stamp
    try {
      const { mtimeMs, size, ino } = await stat(path)
      stamp = `${mtimeMs} ${size} ${ino}`
      if (stamp === before) return
      if (size > MAX_BYTES) throw new Error(`larger than ${MAX_BYTES} bytes`)
      content = await readFile(path)
    } catch (error) {
      stamp = `unreadable: ${messageOf(error)}`
      if (stamp !== before) warn('a data file could not be read', { path, reason: messageOf(error) })
    }
  }

  return {
    path,
    read: async () => {
      const nowMs = now()
      const isFresh = lookedAtMs !== undefined && nowMs >= lookedAtMs && nowMs - lookedAtMs < everyMs
      if (!isFresh && !looking)
        looking = look().finally(() => {
          looking = undefined
        })
      await looking
      return content
    },
  }
}

/** The shipped country data of a family (CC0, one file each, so that only the needed one is loaded). */
export function shippedCountryFile(family: 4 | 6, warn: Warn): WatchedFile {
  const path = `country data for IPv${family}`
  const content = once(() => {
    try {
      return packageFile(`@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country-ipv${family}.mmdb`)
    } catch (error) {
      warn('a data file could not be read', { path, reason: messageOf(error) })
      return undefined
    }
  })
  return { path, read: async () => content() }
}
