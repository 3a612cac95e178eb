import { invalidFlag } from '../base/errors.ts'
import { formatDuration, parseDuration } from '../base/time.ts'
import { nearest, valueProblem } from '../base/value-problems.ts'
import type { Operation } from '../operations/operation.ts'
import { readFields, type Select } from './fields.ts'
import { isMachineFormat, MACHINE_FORMATS, type MachineFormat } from './machine/outcome.ts'
import { commandError, flagProblem } from './problems.ts'
import { SEVERITIES, type Severity, type Wanted } from './status.ts'

/** The flags of a command that are not parameters of its operation: output, exit status, and the service to call. */
export type ViewFlags = {
  readonly format?: string
  readonly json?: string
  readonly quiet?: boolean
  readonly watch?: string
  readonly failOn?: string
  readonly minScore?: string
  readonly all?: boolean
  readonly exitZero?: boolean
  readonly wait?: boolean
  readonly server?: string
  readonly key?: string
  readonly inProcess?: boolean
}

export type Form =
  | { readonly kind: 'fields'; readonly select: Select }
  | { readonly kind: 'verdict' }
  | { readonly kind: 'machine'; readonly format: MachineFormat }
  | { readonly kind: 'answer'; readonly format: string }

export type View = {
  readonly form: Form
  /** The same answers in other formats, each into a file. */
  readonly also: readonly { readonly form: Form; readonly path: string }[]
  readonly wanted: Wanted
  readonly wait: boolean
  /** The whole document on a terminal, where it has a short form. */
  readonly all: boolean
  /** Milliseconds between two rounds; undefined: a single round. */
  readonly everyMs: number | undefined
}

/** Minimum and maximum time between two rounds of `--watch`, ms. */
const WATCH = { minMs: 1_000, maxMs: 86_400_000 } as const

type About = Pick<Operation, 'formats' | 'streams' | 'answer' | 'judges'>

/**
 * Parses the flags; `several` answers are lines. Throws AppError for an invalid value, and for flags that exclude each
 * other.
 */
export function readView(
  operation: About,
  flags: ViewFlags,
  { onTerminal, several }: { readonly onTerminal: boolean; readonly several: boolean },
): View {
  const everyMs = readWatch(flags.watch)
  const [format, ...also] = flags.format?.split(/,(?=\w*=.)/) ?? []
  if (everyMs !== undefined && flags.wait === true) throw commandError('exclusive', { flag: 'watch', other: 'wait' })
  return {
    form: readForm(operation, { ...flags, format }, { onTerminal, several }),
    also: also.map((text) => {
      const at = text.indexOf('=')
      const form = readForm(operation, { format: text.slice(0, at) }, { onTerminal, several })
      return { form, path: text.slice(at + 1) }
    }),
    wanted: {
      minScore: readMinScore(flags.minScore),
      failOn: readSeverity(flags.failOn),
      exitZero: flags.exitZero === true,
    },
    all: flags.all === true,
    wait: flags.wait === true,
    everyMs,
  }
}

/**
 * The output formats of the command line: its own, the operation's documents and streams, and, for operations with a
 * verdict, those for other programs.
 */
export const formatsOf = ({ formats, streams = [], judges }: Omit<About, 'answer'>): readonly string[] => [
  ...new Set(['table', 'json', 'markdown', ...formats, ...streams, ...(judges ? MACHINE_FORMATS : [])]),
]

function readForm(
  operation: About,
  { format, json, quiet }: Pick<ViewFlags, 'json' | 'quiet'> & { readonly format?: string | undefined },
  { onTerminal, several }: { readonly onTerminal: boolean; readonly several: boolean },
): Form {
  if (json !== undefined) {
    if (quiet || (format !== undefined && format !== 'json'))
      throw commandError('exclusive', { flag: 'json', other: quiet ? 'quiet' : 'format' })
    return { kind: 'fields', select: readFields(json, operation.answer) }
  }
  if (quiet) {
    if (format === undefined) return { kind: 'verdict' }
    throw commandError('exclusive', { flag: 'quiet', other: 'format' })
  }
  // Several answers on a terminal are a line each; a program gets them as JSON.
  if (format === undefined && onTerminal && several) return { kind: 'verdict' }
  const wanted = format ?? (onTerminal ? 'table' : 'json')
  const known = formatsOf(operation)
  if (!known.includes(wanted))
    throw invalidFlag('format', flagProblem('format', { text: wanted, known, meant: nearest(wanted, known) }))
  return isMachineFormat(wanted) ? { kind: 'machine', format: wanted } : { kind: 'answer', format: wanted }
}

function readMinScore(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100)
    throw invalidFlag('min-score', valueProblem('whole', { text, min: 0, max: 100 }))
  return Number(text)
}

function readSeverity(text: string | undefined): Severity | undefined {
  if (text === undefined) return undefined
  const severity = SEVERITIES.find((one) => one === text)
  if (severity) return severity
  throw invalidFlag('fail-on', flagProblem('choice', { text, known: SEVERITIES, meant: nearest(text, SEVERITIES) }))
}

function readWatch(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (!ms.ok) throw invalidFlag('watch', ms.problem, { code: 'invalid_duration' })
  if (ms.value >= WATCH.minMs && ms.value <= WATCH.maxMs) return ms.value
  const [min, max] = [formatDuration(WATCH.minMs), formatDuration(WATCH.maxMs)]
  throw invalidFlag('watch', valueProblem('outside', { text, min, max }), { code: 'invalid_duration' })
}
