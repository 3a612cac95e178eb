import type { Look } from '../documents/terminal/terminal.ts'
import type { Execute } from '../operations/execute.ts'
import type { Given, Operation, Raw, Upload } from '../operations/operation.ts'
import type { AskedService } from './ask-service.ts'
import type { Asked } from './commands.ts'
import type { Tell } from './progress.ts'
import type { View } from './view-flags.ts'

/** Runs operations in this process or on a running service. */
type Session = {
  /** Rejects with the reason of `stopped` if that fires first. */
  readonly ask: (operation: Operation, raw: Raw, upload?: Upload) => Promise<Given>
  readonly close: () => Promise<void>
}

type Sessions = {
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

const STATUSES = { SIGINT: 130, SIGTERM: 143 } as const

type Interruption = {
  readonly stopped: AbortSignal
  /** The exit status that a shell expects after the signal; undefined without a signal. */
  readonly status: () => number | undefined
  readonly release: () => void
}

/**
 * Ctrl-C or SIGTERM. The first signal stops the work gracefully; the second ends the process at once, as by default.
 */
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

/** The environment of a command. */
export type Setting = Sessions & {
  readonly version: string
  /** Writes text and waits until it is accepted. Rejects with EPIPE if the reader has closed the pipe. */
  readonly write: (text: string) => Promise<void>
  /** Writes a file. Throws AppError if it cannot be written. */
  readonly writeFile: (path: string, text: string) => void
  readonly onTerminal: boolean
  /** Standard output is a file: nobody takes its lines for commands, and rows are written as they are. */
  readonly intoFile?: boolean
  /** What standard output supports. */
  readonly look: Look
  /** Shows progress on standard error. */
  readonly tell: Tell
  /** Standard output and standard error are terminals: a spinner is shown there while the command waits. */
  readonly showsSpinner?: boolean
  readonly complain: (line: string) => void
  /** The lines of standard input, without empty lines and comments. */
  readonly readLines: (stopped: AbortSignal) => AsyncIterable<string>
  /** Opens a file to upload, or standard input, which is closed when `stopped` fires. Throws AppError. */
  readonly openUpload: (path: string, stopped: AbortSignal, what?: Operation['uploads']) => Upload
  readonly find: (operation: string) => Promise<Operation | undefined>
}

export type Work = {
  readonly asked: Omit<Asked, 'flags'>
  readonly view: View
  readonly setting: Setting
  readonly session: Session
  readonly stopped: AbortSignal
}

/**
 * The input with the format that the operation itself must write: a requested stream, or JSON if it would write a
 * stream by default.
 */
export function inputOf({ streams, params }: Operation, asked: Asked['raw'], { form }: View): Asked['raw'] {
  if (form.kind === 'answer' && streams?.includes(form.format)) return { ...asked, format: form.format }
  const fallback = params.format?.fallback
  return fallback !== undefined && streams?.includes(fallback) ? { ...asked, format: 'json' } : asked
}
