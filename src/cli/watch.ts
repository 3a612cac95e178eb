import { sleep } from '../base/deadline.ts'
import { AppError } from '../base/errors.ts'
import { EXIT, statusOf } from './status.ts'
import type { Work } from './work.ts'

/**
 * Runs a round every `everyMs`, counted from the end of the one before, until the work is stopped. A round that could not be reached (exit status 3) is told and the next one is
 * waited for; any other problem rejects.
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
