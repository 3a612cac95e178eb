import { sleep } from '../base/deadline.ts'
import { AppError } from '../base/errors.ts'
import { EXIT, statusOf } from './status.ts'
import type { Work } from './work.ts'

/**
 * Runs a round, waits `everyMs`, and repeats this until the work is stopped. If a service could not be reached (exit status 3), reports this and waits for the next
 * round; any other problem rejects.
 */
export async function repeated(everyMs: number, work: Work, round: (work: Work) => Promise<number>): Promise<void> {
  const { stopped, setting } = work
  while (!stopped.aborted) {
    try {
      await round(work)
    } catch (error) {
      if (!(error instanceof AppError) || statusOf(error) !== EXIT.unclear || stopped.aborted) throw error
      setting.complain(`mailsonde: ${error.message}`)
    }
    await sleep(everyMs, stopped).catch(() => {})
  }
}
