import { printable } from '../../base/text.ts'
import { maskEmail } from '../../names/email.ts'

/** One line of a conversation. `note`: what happened that is no line, such as a TLS handshake. */
export type TranscriptLine = {
  /** Milliseconds since the connection was dialled. */
  readonly atMs: number
  readonly from: 'client' | 'server' | 'note'
  /** At most 512 characters, without control characters. */
  readonly text: string
}

export type Transcript = {
  readonly add: (from: TranscriptLine['from'], text: string) => void
  readonly lines: () => readonly TranscriptLine[]
}

const MAX_LINES = 300

/** Keeps the first 300 lines of a conversation; one more says that there were others. */
export function transcript(now: () => number): Transcript {
  const start = now()
  const lines: TranscriptLine[] = []
  return {
    add: (from, text) => {
      if (lines.length > MAX_LINES) return
      const full = lines.length === MAX_LINES
      lines.push({
        atMs: Math.max(0, Math.round(now() - start)),
        from: full ? 'note' : from,
        text: full ? 'further lines are omitted' : printable(text, 512),
      })
    },
    lines: () => [...lines],
  }
}

const ADDRESS = /[^\s<>()[\]:;,"'@]{1,64}@[A-Za-z0-9][A-Za-z0-9.-]{0,252}/g

/** The lines with every mail address masked but those in `shown` (lower case): a server may name other people's. */
export const maskTranscript = (lines: readonly TranscriptLine[], shown: readonly string[]): readonly TranscriptLine[] =>
  lines.map((line) => ({
    ...line,
    text: line.text.replace(ADDRESS, (found) => (shown.includes(found.toLowerCase()) ? found : maskEmail(found))),
  }))
