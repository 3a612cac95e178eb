import type { z } from 'zod'
import type { AnswerOf } from '../answers/answer.ts'
import { boundAnswer, readOpen, readStrict } from '../answers/read-answer.ts'
import type { Document } from '../documents/block.ts'
import { isDocumentFormat, type Rendered, rendererOf } from './documents.ts'

/** The verdict of the command line about an answer: good (exit status 0), bad (1) or unknown (3). */
export type Verdict = 'good' | 'bad' | 'unclear'

/** `version` is the program's. */
type About = { readonly version: string }

/**
 * A score for the comparison with `--min-score`: `least` and `most` are the worst and the best case if something is
 * unknown.
 */
export type ScoreRange = { readonly score: number; readonly least: number; readonly most: number }

/** Work in the background: the question about its progress, a line with the progress, and whether it has ended. */
export type Progress = {
  readonly raw: Readonly<Record<string, unknown>>
  readonly line: string
  readonly hasEnded: boolean
}

/** Text that is sent as it is produced. */
export type TextStream = { readonly contentType: string; readonly text: AsyncIterable<TextPiece> }
/** A text, or whole characters of it in UTF-8. */
export type TextPiece = string | Buffer

/** An answer with its derived forms. */
export type Given = {
  readonly status: number
  /** The answer was given before, to the first request with the same Idempotency-Key. */
  readonly isRepeated?: true
  /** Within 1 MiB of JSON (answers/read-answer.ts); the verdict and the lines are those of the complete answer. */
  readonly answer: unknown
  /** Text to send as it is produced, in place of the answer. */
  readonly stream?: TextStream
  /** The answer as lines, if it consists of lines. */
  readonly lines: () => readonly object[] | undefined
  /** A problem if the answer does not match its schema (strictly). */
  readonly check: () => string | undefined
  readonly verdict: (minScore?: number) => Verdict
  readonly progress: () => Progress | undefined
  /** The answer as a document for the renderers of src/documents; undefined for a stream. */
  readonly document: (about: About & { readonly brief?: boolean }) => Promise<Document | undefined>
  /** The document as a page or as Markdown; undefined for a stream, or for another format. */
  readonly rendered: (format: string, about: About) => Promise<Rendered | undefined>
}

/** The properties of an operation's answers. */
export type Answering<S extends z.ZodType> = {
  /** The wire schema of its answer (src/answers). */
  readonly answer: S
  readonly verdict?: (answer: AnswerOf<S>) => Verdict
  /** The progress of work in the background. */
  readonly progress?: (answer: AnswerOf<S>) => Progress
  readonly score?: (answer: AnswerOf<S>) => ScoreRange
  /**
   * The answer as a document: the readable form, in every format except JSON; default: the plain fields. `version` is
   * the program's.
   */
  readonly document?: (answer: AnswerOf<S>, version: string) => Document | Promise<Document>
  /** The first screen of the document, for a terminal. */
  readonly brief?: (answer: AnswerOf<S>, version: string) => Document | Promise<Document>
  readonly lines?: { readonly of: (answer: AnswerOf<S>) => readonly object[] }
}

/** An answer within 1 MiB of JSON; an answer that was cut is validated against the schema. */
export const boundedBy = <S extends z.ZodType>(schema: S, answer: AnswerOf<S>): AnswerOf<S> =>
  boundAnswer(answer, (copy) => readOpen(schema, copy))

/** An answer closed over its type. */
export const given = <S extends z.ZodType>(
  { name, answer: schema, lines, verdict, score, progress, document, brief }: Answering<S> & { readonly name: string },
  status: number,
  answer: AnswerOf<S>,
  bound: AnswerOf<S> = boundedBy(schema, answer),
): Given => {
  const documentOf = async (version: string): Promise<Document> => {
    if (document) return document(bound, version)
    const { plainDocument } = await import('../documents/plain.ts')
    return plainDocument(
      name.replace(/^./, (first) => first.toUpperCase()),
      bound,
      version,
    )
  }
  return {
    status,
    answer: bound,
    lines: () => lines?.of(answer),
    check: () => {
      const read = readStrict(schema, JSON.parse(JSON.stringify(bound)))
      return read.ok ? undefined : read.problem.text
    },
    verdict: (minScore) =>
      minScore !== undefined && score ? scoreVerdict(score(answer), minScore) : (verdict?.(answer) ?? 'good'),
    progress: () => progress?.(answer),
    document: async ({ version, brief: isBrief }) => (isBrief && brief ? brief(bound, version) : documentOf(version)),
    rendered: async (format, { version }) =>
      isDocumentFormat(format) ? (await rendererOf(format))(await documentOf(version)) : undefined,
  }
}

/** A score below the wanted one is bad; if an unknown part decides, it is unknown. */
function scoreVerdict({ least, most }: ScoreRange, wanted: number): Verdict {
  if (least >= wanted) return 'good'
  return most < wanted ? 'bad' : 'unclear'
}

/** An answer that is sent as it is produced: it has no verdict. */
export const streaming = ({ status, stream }: Required<Pick<Given, 'status' | 'stream'>>): Given => ({
  status,
  stream,
  answer: undefined,
  lines: () => undefined,
  check: () => undefined,
  verdict: () => 'good',
  progress: () => undefined,
  document: async () => undefined,
  rendered: async () => undefined,
})
