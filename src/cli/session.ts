import type { Execute } from '../operations/execute.ts'
import type { Given } from '../operations/given.ts'
import type { Operation, Raw, Upload } from '../operations/operation.ts'
import type { AskedService } from './ask-service.ts'

/** Runs operations in this process or on a running service. */
export type Session = {
  /** Rejects with the reason of `stopped` if that fires first. */
  readonly ask: (operation: Operation, raw: Raw, upload?: Upload) => Promise<Given>
  readonly close: () => Promise<void>
}

/** What is needed to open a session. */
export type Sessions = {
  /** Opens the services of this process; `close` saves their state. */
  readonly open: () => Promise<{ readonly execute: Execute; readonly close: () => Promise<void> }>
  /** The running service to call instead, if any. */
  readonly service: AskedService | undefined
}

export async function openSession({ open, service }: Sessions, stopped: AbortSignal): Promise<Session> {
  if (service) {
    const { askService } = await import('./ask-service.ts')
    return {
      ask: (operation, raw, upload) => askService(operation, raw, service, stopped, upload),
      close: async () => {},
    }
  }
  const { execute, close } = await open()
  return {
    ask: (operation, raw, upload) => execute(operation, raw, { signal: stopped, ...(upload && { upload }) }),
    close, // saves the state, after the answer was printed
  }
}

/** Ctrl-C or SIGTERM. The first signal stops the work gracefully; the second ends the process at once, as by default. */
type Interruption = {
  readonly stopped: AbortSignal
  /** The exit status that a shell expects after the signal; undefined without a signal. */
  readonly status: () => number | undefined
  readonly release: () => void
}

const STATUSES = { SIGINT: 130, SIGTERM: 143 } as const

export function interruption(): Interruption {
  const stop = new AbortController()
  let status: number | undefined
  const fire = (signal: keyof typeof STATUSES): void => {
    release()
    status = STATUSES[signal]
    stop.abort(new DOMException('stopped', 'AbortError'))
  }
  const release = (): void => {
    for (const signal of Object.keys(STATUSES)) process.off(signal, fire)
  }
  for (const signal of Object.keys(STATUSES)) process.once(signal, fire)
  return { stopped: stop.signal, status: () => status, release }
}
