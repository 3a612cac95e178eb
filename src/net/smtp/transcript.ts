import { printable } from '../../base/text.ts'
import { maskEmail } from '../../names/email.ts'

/** One line of a session. `note`: an event that is not a line, such as a TLS handshake. */
export type TranscriptLine = {
  /** Milliseconds since the start of the connection. */
  readonly atMs: number
  readonly from: 'client' | 'server' | 'note'
  /** At most 512 characters, without control characters. */
  readonly text: string
}

export type Transcript = {
  readonly add: (from: TranscriptLine['from'], text: string) => void
  /** The lines from number `from` on; without it all. */
  readonly lines: (from?: number) => readonly TranscriptLine[]
  readonly count: () => number
}

/** Maximum number of lines that are kept of a session. */
const MAX_LINES = 300

/** Keeps the first 300 lines of a session; one more line says that further lines were omitted. */
export const transcript = (now: () => number): Transcript => new Lines(now)

/** A class, as are the bounds of a connection (lifetime.ts). */
class Lines implements Transcript {
  readonly #now: () => number
  readonly #startMs: number
  readonly #lines: TranscriptLine[] = []

  constructor(now: () => number) {
    this.#now = now
    this.#startMs = now()
  }

  add(from: TranscriptLine['from'], text: string): void {
    const lines = this.#lines
    if (lines.length > MAX_LINES) return
    const full = lines.length === MAX_LINES
    lines.push({
      atMs: Math.max(0, Math.round(this.#now() - this.#startMs)),
      from: full ? 'note' : from,
      text: full ? 'further lines are omitted' : printable(text, 512),
    })
  }

  lines(from = 0): readonly TranscriptLine[] {
    return this.#lines.slice(from)
  }

  count(): number {
    return this.#lines.length
  }
}

const ADDRESS = /[^\s<>()[\]:;,"'@]{1,64}@[A-Za-z0-9][A-Za-z0-9.-]{0,252}/g

/**
 * The lines with every mail address masked except those in `shown` (lower case), because a server may name addresses of
 * other people.
 */
export const maskTranscript = (lines: readonly TranscriptLine[], shown: readonly string[]): readonly TranscriptLine[] =>
  lines.map((line) => ({
    ...line,
    text: line.text.replace(ADDRESS, (found) => (shown.includes(found.toLowerCase()) ? found : maskEmail(found))),
  }))
