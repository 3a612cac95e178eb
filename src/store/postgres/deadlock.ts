const DEADLOCK = '40P01'
/** Maximum number of attempts at a transaction. */
const MAX_TRIES = 5

/**
 * Repeats a transaction that the server ended because of a deadlock, which undid it: a worker may hold the rows of a job while it waits for the job, and the
 * removal of the job the other way round.
 */
export async function afterDeadlock<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction()
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== DEADLOCK || tries === MAX_TRIES) throw error
    }
  }
}
