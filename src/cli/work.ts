import type { Look } from '../documents/terminal/terminal.ts'
import type { Operation, Upload } from '../operations/operation.ts'
import type { Asked } from './commands.ts'
import type { Session, Sessions } from './session.ts'
import type { View } from './view-flags.ts'

/** What a command runs on. */
export type Setting = Sessions & {
  readonly version: string
  /** Writes text, and waits until it is taken. Rejects with EPIPE when nobody reads any more. */
  readonly write: (text: string) => Promise<void>
  readonly onTerminal: boolean
  /** What standard output shows. */
  readonly look: Look
  /** A line of progress, beside the answer; the empty text takes it away. */
  readonly tell: (line: string) => void
  /** Somebody looks at standard error too: a spinner is shown there while an answer is waited for. */
  readonly showsSpinner?: boolean
  /** A line about what went wrong. */
  readonly complain: (line: string) => void
  /** The lines of standard input, without empty ones and comments. */
  readonly readLines: (stopped: AbortSignal) => AsyncIterable<string>
  /** Opens a file to upload, or standard input, which is given up when `stopped` fires. Throws AppError. */
  readonly openUpload: (path: string, stopped: AbortSignal) => Upload
  readonly find: (operation: string) => Promise<Operation | undefined>
}

/** One command at work. */
export type Work = {
  readonly asked: Omit<Asked, 'flags'>
  readonly view: View
  readonly setting: Setting
  readonly session: Session
  readonly stopped: AbortSignal
}

/** The input with the format that the operation itself has to write: a stream that was asked for, and JSON where it would write a stream by default. */
export function inputOf({ streams, params }: Operation, raw: Asked['raw'], { form }: View): Asked['raw'] {
  if (form.kind === 'answer' && streams?.includes(form.format)) return { ...raw, format: form.format }
  const fallback = params.format?.fallback
  return fallback !== undefined && streams?.includes(fallback) ? { ...raw, format: 'json' } : raw
}
