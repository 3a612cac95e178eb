import type { Execute } from '../operations/execute.ts'
import type { Given } from '../operations/given.ts'
import type { Operation, Raw, Upload } from '../operations/operation.ts'
import type { AskedService } from './ask-service.ts'

/** Where questions are put: this process, or a running service. */
export type Session = {
  /** Rejects with the reason of `stopped` when that fires first. */
  readonly ask: (operation: Operation, raw: Raw, upload?: Upload) => Promise<Given>
  readonly close: () => Promise<void>
}

/** What opens a session. */
export type Sessions = {
  /** Opens this process's own service; `close` writes down what it remembers. */
  readonly open: () => Promise<{ readonly execute: Execute; readonly close: () => Promise<void> }>
  /** The running service to ask instead, where there is one. */
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
    close, // it writes down what it remembers: the answer is printed by then
  }
}

/** Ctrl-C, or SIGTERM. The first one ends the work in order; the second ends the process at once, as it does without us. */
export type Interruption = {
  readonly stopped: AbortSignal
  /** The exit status that a shell would show; undefined while nothing has happened. */
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
