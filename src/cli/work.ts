import type { Look } from '../documents/terminal/terminal.ts'
import type { Operation, Upload } from '../operations/operation.ts'
import type { Asked } from './commands.ts'
import type { Tell } from './progress.ts'
import type { Session, Sessions } from './session.ts'
import type { View } from './view-flags.ts'

/** The environment of a command. */
export type Setting = Sessions & {
  readonly version: string
  /** Writes text and waits until it is accepted. Rejects with EPIPE if the reader has closed the pipe. */
  readonly write: (text: string) => Promise<void>
  readonly onTerminal: boolean
  /** Standard output is a file: nobody takes its lines for commands, and rows are written as they are. */
  readonly intoFile?: boolean
  /** What standard output supports. */
  readonly look: Look
  /** Shows progress on standard error. */
  readonly tell: Tell
  /** Standard output and standard error are terminals: a spinner is shown there while the command waits. */
  readonly showsSpinner?: boolean
  /** Writes a line about an error. */
  readonly complain: (line: string) => void
  /** The lines of standard input, without empty lines and comments. */
  readonly readLines: (stopped: AbortSignal) => AsyncIterable<string>
  /** Opens a file to upload, or standard input, which is closed when `stopped` fires. Throws AppError. */
  readonly openUpload: (path: string, stopped: AbortSignal, what?: Operation['uploads']) => Upload
  readonly find: (operation: string) => Promise<Operation | undefined>
}

/** A running command. */
export type Work = {
  readonly asked: Omit<Asked, 'flags'>
  readonly view: View
  readonly setting: Setting
  readonly session: Session
  readonly stopped: AbortSignal
}

/** The input with the format that the operation itself must write: a requested stream, or JSON if it would write a stream by default. */
export function inputOf({ streams, params }: Operation, asked: Asked['raw'], { form }: View): Asked['raw'] {
  // A document of a check shows its plan.
  const isDocument = form.kind === 'answer' && form.format !== 'json' && params.plan?.kind === 'flag'
  const raw = isDocument ? { plan: 'true', ...asked } : asked
  if (form.kind === 'answer' && streams?.includes(form.format)) return { ...raw, format: form.format }
  const fallback = params.format?.fallback
  return fallback !== undefined && streams?.includes(fallback) ? { ...raw, format: 'json' } : raw
}
