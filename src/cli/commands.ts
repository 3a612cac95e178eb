import type { Command, Option } from 'commander'
import { AppError } from '../base/errors.ts'
import type { Operation, Raw } from '../operations/operation.ts'
import { describeParam, type Flag, GROUPS, type Group, type Param } from '../operations/param.ts'
import { pathNames } from '../operations/path.ts'
import { type ConfigFlag, camel, type FlagValues } from './flags.ts'

/** How an answer is shown, and who is asked for it. */
export type ViewFlags = {
  readonly format?: string
  readonly server?: string
  readonly minScore?: string
  readonly wait?: boolean
}

/** What a command line asks for: an operation and its input as text. */
export type Asked = {
  readonly operation: Operation
  readonly raw: Raw
  /** The file to upload; `-` is standard input. */
  readonly upload?: string
  readonly flags: FlagValues
  readonly view: ViewFlags
}

/** Reads a local file that a flag names, at most so many bytes. Throws AppError. */
export type ReadFile = (path: string, maxBytes: number) => string

type Setup = {
  readonly configFlags: readonly ConfigFlag[]
  readonly newOption: (flags: string, description: string) => Option
  readonly readFile: ReadFile
}

/**
 * Gives a command the parameters of its operation, in groups, as flags of their names; those of the path and those that are positional by place. `parts` are operations that
 * flags of this command lead to: they are asked for by any of the parameters that the command itself has not.
 */
export function addOperation(
  command: Command,
  operation: Operation,
  parts: readonly Operation[],
  setup: Setup,
  run: (asked: Asked) => Promise<void>,
): void {
  const places = placesOf(operation)
  for (const [name, { kind, description }] of places)
    command.argument(`<${name.toUpperCase()}${kind === 'list' ? '...' : ''}>`, description)
  if (operation.uploads) command.argument('<FILE>', UPLOAD_WORDS)
  const placed = new Set(places.map(([name]) => name))
  const inputs = Object.entries(operation.params).filter(([name]) => !placed.has(name) && name !== 'format')
  const shared = setup.configFlags.filter(({ flag }) => operation.params[flag]?.kind === 'flag')
  const extra = parts.flatMap((part) => extraFlags(operation, part))
  addFlags(command, setup, [
    ...inputs.map(([name, param]) => flagOf(name, param, shared)),
    ...extra.map(({ flag, group }) => ({ group, ...shownFlag(flag) })),
  ])
  addView(command, operation, setup)
  command.action((...args: unknown[]) => {
    const upload = operation.uploads ? String(args[places.length]) : undefined
    const flags = optionsOf(args[places.length + (operation.uploads ? 1 : 0)])
    const raw = {
      ...Object.fromEntries(places.map(([name], i) => [name, Array.isArray(args[i]) ? args[i] : String(args[i])])),
      ...rawOf(inputs, flags, shared),
    }
    const view = Object.fromEntries(VIEW.flatMap((key) => (flags[key] === undefined ? [] : [[key, flags[key]]])))
    const chosen = choose(operation, extra, raw, flags, setup.readFile)
    return run({ ...chosen, ...(upload !== undefined && { upload }), flags, view })
  })
}

const UPLOAD_WORDS =
  'the list: .csv, .tsv, .txt, .ndjson, .jsonl or .json, each also with .gz; - for CSV on standard input'

/** The parameters that a command takes by place. */
const placesOf = ({ path, params }: Operation): readonly (readonly [string, Param])[] => {
  const inPath = pathNames(path)
  return Object.entries(params).filter(([name, { positional }]) => positional || inPath.includes(name))
}

type Shown = { readonly group: Group; readonly flags: string; readonly description: string; readonly repeatable?: true }

function addFlags(command: Command, { newOption }: Setup, shown: readonly Shown[]): void {
  const groups = Object.entries(GROUPS)
  const order = groups.map(([group]) => group)
  for (const { group, flags, description, repeatable } of shown.toSorted(
    (a, b) => order.indexOf(a.group) - order.indexOf(b.group),
  )) {
    const option = newOption(flags, description).helpGroup(`${GROUPS[group]}:`)
    command.addOption(repeatable ? option.argParser(gathered) : option)
  }
}

/** A switch that an option of the configuration shares its name with (verify's `pool`) is one flag whose value is optional. */
function flagOf(name: string, param: Param, shared: readonly ConfigFlag[]): Shown {
  const both = shared.find(({ flag }) => flag === name)
  const value = both ? ` [${both.argument}]` : param.kind === 'flag' ? '' : ' <VALUE>'
  const description = describeParam(param)
  return {
    group: param.group,
    flags: `--${name.replaceAll('_', '-')}${value}`,
    description: both ? `${description}; with a value: ${both.meaning}` : description,
  }
}

type Extra = { readonly part: Operation; readonly name: string; readonly flag: Flag; readonly group: Group }

const extraFlags = (operation: Operation, part: Operation): readonly Extra[] =>
  Object.entries(part.params).flatMap(([name, { flag, group }]) =>
    flag && !(name in operation.params) ? [{ part, name, flag, group }] : [],
  )

const shownFlag = ({ name, argument, description, kind }: Flag) => ({
  flags: `--${name} <${argument}>`,
  description,
  ...(kind === 'lines' && { repeatable: true as const }),
})

const VIEW = ['format', 'server', 'minScore', 'wait'] as const

function addView(command: Command, operation: Operation, { newOption }: Setup): void {
  const { hasScore, followedBy } = operation
  const add = (flags: string, description: string): Command =>
    command.addOption(newOption(flags, description).helpGroup('Answer:'))
  const words = formatsOf(operation)
    .join(', ')
    .replace(/, (\w+)$/, ' or $1')
  add('--format <FORMAT>', `${words}; default a table on a terminal, JSON into a pipe`)
  if (hasScore) add('--min-score <N>', 'exit with 1 when the score is lower')
  if (followedBy !== undefined)
    add('--wait', 'stay until the work has ended, and tell its progress; Ctrl-C leaves it running')
  add('--server <URL>', 'ask a running service instead of this process')
}

/** The forms in which the command line shows an answer: its own, the operation's documents, and its streams. */
export const formatsOf = ({ formats, streams = [] }: Pick<Operation, 'formats' | 'streams'>): readonly string[] => [
  ...new Set(['table', 'json', 'markdown', ...formats, ...streams]),
]

const gathered = (value: string, all: unknown): readonly string[] => [...(Array.isArray(all) ? all : []), value]

const optionsOf = (value: unknown): Record<string, FlagValues[string]> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

/** The parameters that were given as flags. A flag shared with the configuration is taken from `flags` where it has no value. */
function rawOf(
  inputs: readonly (readonly [string, Param])[],
  flags: Record<string, FlagValues[string]>,
  shared: readonly ConfigFlag[],
): Raw {
  const raw: Record<string, unknown> = {}
  for (const [name, param] of inputs) {
    const value = flags[camel(name)]
    if (value === undefined) continue
    const isShared = shared.some(({ flag }) => flag === name)
    raw[name] = isShared ? 'true' : written(String(value), param)
    if (isShared && value === true) delete flags[camel(name)]
  }
  return raw
}

/** A flag's text as a body has it: a list by comma, an object as JSON (text that is none is left for the schema to refuse). */
function written(text: string, { kind }: Param): unknown {
  if (kind === 'list') return text.split(',').map((item) => item.trim())
  if (kind !== 'object') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The command's own operation, or the part that one of its flags leads to. Throws AppError for a flag that the part does not take, or whose value cannot be read. */
function choose(
  operation: Operation,
  extra: readonly Extra[],
  raw: Raw,
  flags: FlagValues,
  readFile: ReadFile,
): Pick<Asked, 'operation' | 'raw'> {
  const given = extra.filter(({ flag }) => flags[camel(flag.name)] !== undefined)
  const [first] = given
  if (!first) return { operation, raw }
  const { part } = first
  const stray = Object.keys(raw).find((name) => !(name in part.params))
  if (stray !== undefined)
    throw new AppError('invalid_parameter', `--${stray} is not taken together with --${first.flag.name}`)
  const values = given.map(({ name, flag }) => [name, readValue(flag, flags[camel(flag.name)], readFile)])
  return { operation: part, raw: { ...raw, ...Object.fromEntries(values) } }
}

function readValue(flag: Flag, typed: FlagValues[string], readFile: ReadFile): unknown {
  if (flag.kind === 'file') return readFile(String(typed), flag.maxBytes)
  return (Array.isArray(typed) ? typed : [typed]).map((line) => {
    const read = flag.read(String(line))
    if (!read.ok) throw new AppError('invalid_parameter', `--${flag.name}: ${read.problem}`)
    return read.value
  })
}
