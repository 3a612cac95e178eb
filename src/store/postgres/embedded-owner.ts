import type pg from 'pg'
import { sleep } from '../../base/deadline.ts'

type Say = (event: string, fields?: Record<string, unknown>) => void
export type OwnerLog = { readonly info: Say; readonly warn: Say }

/** First delay between attempts to restart a server, ms; it doubles. */
const FIRST_WAIT_MS = 100
/** Maximum delay between attempts to restart a server, ms. */
const LONGEST_WAIT_MS = 5_000

/**
 * Keeps the private server running: when the owner's connection ends, because the server crashed or was killed, `again` starts it and takes it over, until
 * that succeeds. `release` ends this and returns the connection, if there is one.
 */
export function keepOwned(
  first: pg.Client,
  again: () => Promise<pg.Client>,
  log: OwnerLog,
): { readonly release: () => Promise<pg.Client | undefined> } {
  const stopping = new AbortController()
  let owner: Promise<pg.Client | undefined> = Promise.resolve(first)
  function watch(client: pg.Client): void {
    client.once('end', () => {
      if (!stopping.signal.aborted) owner = recover()
    })
  }
  async function recover(): Promise<pg.Client | undefined> {
    log.warn('the private database server stopped and is being restarted')
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)) {
      try {
        const client = await again()
        log.info('the private database server is running again')
        watch(client)
        return client
      } catch (error) {
        if (waitMs > 1_000) log.warn('the private database server did not start', { reason: (error as Error).message })
      }
      try {
        await sleep(waitMs, stopping.signal)
      } catch {
        return undefined
      }
    }
  }
  watch(first)
  return {
    release: () => {
      stopping.abort()
      return owner
    },
  }
}
