import type { Command, Option } from 'commander'
import { unescaped } from '../base/text.ts'
import type { DepName } from '../operations/deps.ts'
import type { Operation, Raw } from '../operations/operation.ts'
import { describeParam, GROUPS, type Group, type Param } from '../operations/params.ts'
import { pathNames } from '../operations/path.ts'
import { someFields } from './fields.ts'
import { type ConfigFlag, camel, choose, concerns, extraFlags, type FlagValues, type ReadFile } from './flags.ts'
import { addListOptions, refuseListOptions, takesList } from './list-command.ts'
import { SEVERITIES } from './status.ts'
import { formatsOf, type ViewFlags } from './view-flags.ts'

/** The request of a command line: an operation and its input as text. */
export type Asked = {
  readonly operation: Operation
  readonly raw: Raw
  /**
   * The targets, each with an answer of its own; their parameter is not in `raw`. `-` stands for the lines of standard
   * input.
   */
  readonly targets?: {
    readonly name: string
    readonly texts: readonly string[]
    /** The texts are names of files, each uploaded for an answer of its own; `-` stands for standard input. */
    readonly areFiles?: true
    /** The texts are not names of files, but what is uploaded. */
    readonly areContents?: true
  }
  /** The file to upload; `-` is standard input. */
  readonly upload?: string
  /** Files and folders with reports; `-` is a message on standard input. */
  readonly uploads?: readonly string[]
  /** The file of `--expect`, if the findings refer to it. */
  readonly file?: string
  readonly flags: FlagValues
  readonly view: ViewFlags
}

type Setup = {
  readonly configFlags: readonly ConfigFlag[]
  readonly newOption: (flags: string, description: string) => Option
  readonly readFile: ReadFile
}

/** The heading of the flags for requests to a service. */
export const SERVICE_GROUP = 'Service'

/**
 * Adds the parameters of an operation to its command: as flags in groups, or as arguments if they are in the path or
 * positional. A single positional parameter may be given several times, or as lines of standard input. `parts` are
 * operations that flags of this command select.
 */
export function addOperation(
  command: Command,
  operation: Operation,
  parts: readonly Operation[],
  setup: Setup,
  run: (asked: Asked) => Promise<void>,
): void {
  const places = placesOf(operation)
  const target = targetOf(operation)
  const names = argumentsOf(operation)
  for (const [i, [name, { description }]] of places.entries())
    command.argument(names[i]!, name === target ? `${description}; one or more, or - for standard input` : description)
  if (operation.uploads) command.argument(names.at(-1)!, UPLOAD_WORDS[operation.uploads])
  const placed = new Set(places.map(([name]) => name))
  const inputs = Object.entries(operation.params).filter(([name]) => !placed.has(name) && name !== 'format')
  const shared = setup.configFlags.filter(({ flag }) => operation.params[flag]?.kind === 'flag')
  const extra = parts.flatMap((part) => extraFlags(operation, part))
  const shown = [
    ...inputs.map(([name, param]) => flagOf(name, param, shared)),
    ...extra.map(({ flag, group }) => ({
      group,
      flags: `--${flag.name} <${flag.argument}>`,
      description: flag.description,
      ...(flag.kind === 'lines' && { repeatable: true as const }),
    })),
  ]
  // In the order of their headings: question, output, network, service.
  const isNetwork = ({ group }: Shown): boolean => GROUPS[group] === GROUPS.limits
  addFlags(
    command,
    setup,
    shown.filter((one) => !isNetwork(one)),
  )
  if (operation.uploads === 'message')
    command.addOption(
      setup
        .newOption('--reply <TEXT>', "explain a server's reply, such as '550 5.1.1 User unknown', in place of a file")
        .helpGroup(`${GROUPS.question}:`),
    )
  addView(command, operation, setup)
  addFlags(command, setup, shown.filter(isNetwork))
  addService(command, operation, setup)
  if (takesList(operation.name)) addListOptions(command)
  command.action((...args: unknown[]) => {
    const files = operation.uploads === undefined ? [] : [args[places.length] ?? []].flat().map(String)
    const upload = operation.uploads === 'list' ? files[0] : undefined
    const fileName = operation.uploads === 'list' && 'name' in operation.params ? nameOfFile(upload) : undefined
    const flags = optionsOf(args[places.length + (operation.uploads ? 1 : 0)])
    const byPlace = places.map(([name], i): readonly [string, unknown] => [name, args[i]])
    const raw = {
      ...(fileName !== undefined && { name: fileName }),
      ...Object.fromEntries(
        byPlace
          .filter(([name]) => name !== target)
          .map(([name, value]) => [name, Array.isArray(value) ? value : String(value)]),
      ),
      ...withFiles(rawOf(inputs, flags, shared), setup.readFile),
    }
    const texts = byPlace.filter(([name]) => name === target).flatMap(([, value]) => [value].flat().map(String))
    refuseListOptions(flags)
    const view = Object.fromEntries(VIEW.flatMap((key) => (flags[key] === undefined ? [] : [[key, flags[key]]])))
    const chosen = choose(operation, extra, raw, flags, setup.readFile)
    const targets = targetsOf(operation, files, target, texts, flags.reply)
    const uploads = operation.uploads === 'report' ? { uploads: files } : {}
    return run({ ...chosen, ...targets, ...uploads, ...(upload !== undefined && { upload }), flags, view })
  })
}

/** Maximum size of the file of a parameter, octets. */
const MAX_FILE = { profile: 65_536, accept: 262_144 } as const

/** `--profile FILE.json` and `--accept FILE` stand for what is in the file. */
function withFiles(raw: Raw, readFile: ReadFile): Raw {
  const { profile, accept } = raw
  return {
    ...raw,
    ...(typeof profile === 'string' && profile.endsWith('.json') && { profile: readFile(profile, MAX_FILE.profile) }),
    ...(typeof accept === 'string' && !accept.startsWith('[') && { accept: readFile(accept, MAX_FILE.accept) }),
  }
}

const UPLOAD_WORDS = {
  list: 'list file: .csv, .tsv, .txt, .ndjson, .jsonl or .json, optionally with .gz; or - for CSV on standard input',
  message: 'message files; - or none for standard input',
  report: 'reports: messages, XML, JSON, gzip, zip, mbox, folders, Maildir; or - for a message on standard input',
} as const

/** The targets of a command: the values of a parameter, or files that are uploaded one by one. */
function targetsOf(
  operation: Operation,
  files: readonly string[],
  target: string | undefined,
  texts: readonly string[],
  reply: FlagValues[string],
): Pick<Asked, 'targets'> {
  if (operation.uploads === 'message' && typeof reply === 'string')
    return { targets: { name: 'reply', texts: [reply], areFiles: true, areContents: true } }
  if (operation.uploads === 'message')
    return { targets: { name: 'file', texts: files.length === 0 ? ['-'] : files, areFiles: true } }
  return target === undefined ? {} : { targets: { name: target, texts } }
}

/** The name of what is made from a file, unless another is given: that of the file. */
const nameOfFile = (path: string | undefined): string | undefined =>
  path === undefined || path === '-' ? undefined : path.split(/[\\/]/).at(-1)?.slice(0, 200)

/** The commands of an operation: its name, or several that stand for some of its parameters. */
export const commandsOf = ({ name, summary, commands }: Pick<Operation, 'name' | 'summary' | 'commands'>) =>
  Object.entries(commands ?? { [name]: { summary, input: {} } }).map(([one, facts]) => ({ name: one, ...facts }))

/** The arguments of a command in its usage line, such as `<DOMAIN...>`. */
function argumentsOf(operation: Operation): readonly string[] {
  const target = targetOf(operation)
  const places = placesOf(operation).map(
    ([name, { kind }]) => `<${name.toUpperCase()}${kind === 'list' || name === target ? '...' : ''}>`,
  )
  if (operation.uploads === 'message') return [...places, '[FILE...]']
  return operation.uploads ? [...places, operation.uploads === 'report' ? '<FILE...>' : '<FILE>'] : places
}

const placesOf = ({ path, params }: Operation): readonly (readonly [string, Param])[] => {
  const inPath = pathNames(path)
  return Object.entries(params).filter(([name, { positional }]) => positional || inPath.includes(name))
}

/**
 * The parameter that names the target; undefined if there is more than one, or if it names an object of the service
 * (`jobs show ID`).
 */
function targetOf(operation: Operation): string | undefined {
  const [first, ...others] = placesOf(operation)
  if (!first || others.length > 0 || operation.uploads || operation.line) return undefined
  return first[1].kind === 'text' && !pathNames(operation.path).includes(first[0]) ? first[0] : undefined
}

/** The configuration options that concern an operation, without those that have the name of a parameter. */
export function optionsFor(
  operation: Operation,
  parts: readonly Operation[],
  all: readonly ConfigFlag[],
): readonly ConfigFlag[] {
  const peers: readonly DepName[] = 'vantage' in operation.params || operation.forPeers ? ['peers'] : []
  const uses = [...operation.uses, ...parts.flatMap((part) => part.uses), ...peers]
  return all.filter(({ flag, key }) => !(flag in operation.params) && concerns(key, uses))
}

type Shown = { readonly group: Group; readonly flags: string; readonly description: string; readonly repeatable?: true }

function addFlags(command: Command, { newOption }: Setup, shown: readonly Shown[]): void {
  const order = Object.keys(GROUPS)
  for (const { group, flags, description, repeatable } of shown.toSorted(
    (a, b) => order.indexOf(a.group) - order.indexOf(b.group),
  )) {
    const option = newOption(flags, description).helpGroup(`${GROUPS[group]}:`)
    command.addOption(repeatable ? option.argParser(gathered) : option)
  }
}

/** A switch and a configuration option of the same name (verify's `pool`) become one flag with an optional value. */
function flagOf(name: string, param: Param, shared: readonly ConfigFlag[]): Shown {
  const both = shared.find(({ flag }) => flag === name)
  const value = both ? ` [${both.argument}]` : param.kind === 'flag' ? '' : ` <${argumentOf(name, param)}>`
  const description = describeParam(param)
  const isOn = param.kind === 'flag' && param.fallback === 'true'
  return {
    group: param.group,
    flags: `--${isOn ? 'no-' : ''}${name.replaceAll('_', '-')}${value}`,
    description: isOn
      ? `leave out ${description.replace(/, default true$/, '')}`
      : both
        ? `${description}; with a value: these sources`
        : description,
  }
}

const ARGUMENTS: Readonly<Partial<Record<Param['kind'], string>>> = {
  duration: 'TIME',
  whole: 'N',
  list: 'LIST',
  object: 'JSON',
}
const argumentOf = (name: string, { kind }: Param): string =>
  ARGUMENTS[kind] ?? name.split('_').at(-1)?.toUpperCase() ?? 'VALUE'

const VIEW = [
  'format',
  'json',
  'quiet',
  'all',
  'watch',
  'failOn',
  'minScore',
  'exitZero',
  'wait',
  'server',
  'key',
  'inProcess',
] as const

function addView(command: Command, operation: Operation, { newOption }: Setup): void {
  const { hasScore, hasFindings, hasBrief, judges, followedBy, uploads, streams } = operation
  const add = (flags: string, description: string): Command =>
    command.addOption(newOption(flags, description).helpGroup(`${GROUPS.answer}:`))
  add('--format <FORMAT>', `${formatsOf(operation).join(' | ')}; default table, or json in a pipe`)
  add('--json <FIELDS>', `print only these fields, as JSON: ${someFields(operation.answer)}`)
  add('-q, --quiet', 'print only the verdict, on one line')
  if (hasBrief) add('--all', 'show everything, not only the first screen')
  if (hasFindings) add('--fail-on <SEVERITY>', `exit 1 from severity ${SEVERITIES.join(' | ')}`)
  if (hasScore) add('--min-score <N>', 'exit 1 if the score is lower')
  if (judges) add('--exit-zero', 'exit 0 whatever was found; errors stay 2')
  if (operation.method === 'GET' && !uploads && !streams) add('--watch <TIME>', 'repeat at this interval until Ctrl-C')
  if (followedBy !== undefined) add('--wait', 'show progress until the job ends; Ctrl-C does not stop the job')
}

/** Services whose state is in the database, which one process holds. */
const STORED: readonly string[] = ['jobs', 'stored', 'monitors', 'webhooks', 'reports', 'accepted']
/** Whether a command needs what is stored: the service of the data folder is then asked, where one runs. */
export const needsStore = ({ uses }: Pick<Operation, 'uses'>): boolean => uses.some((name) => STORED.includes(name))

function addService(command: Command, operation: Operation, { newOption }: Setup): void {
  const add = (flags: string, description: string): Command =>
    command.addOption(newOption(flags, description).helpGroup(`${SERVICE_GROUP}:`))
  add('--server <URL>', 'send the request to a running service')
  add('--key <KEY>', 'API key of the service; prefer MAILSONDE_KEY')
  // Hardly ever needed, so it does not make the help longer than a screen; docs/operations.md has it.
  if (needsStore(operation))
    command.addOption(newOption('--in-process', 'do not ask the service that holds the data folder').hideHelp())
}

/** The values of a flag that may be repeated. */
export const gathered = (value: string, all: unknown): readonly string[] => [...(Array.isArray(all) ? all : []), value]

const optionsOf = (value: unknown): Record<string, FlagValues[string]> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

/**
 * The parameters that were given as flags. A flag that is also a configuration option is taken from `flags` if it has
 * no value.
 */
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
    // A switch that is on by default is given only to turn it off.
    if (param.fallback === 'true' && value === true) continue
    raw[name] = isShared ? 'true' : written(name, String(value), param)
    if (isShared && value === true) delete flags[camel(name)]
  }
  return raw
}

/**
 * A flag's text as a value of the body: a list separated by commas or as JSON, an object as JSON (the schema refuses
 * any other text).
 */
function written(name: string, text: string, { kind }: Param): unknown {
  if (kind === 'list' && !/^\s*[[{]/.test(text)) {
    const items = text.split(',').map((item) => item.trim())
    return name === 'notify' ? items.map(receiverOf) : items
  }
  if (kind === 'list') return listed(text)
  if (kind !== 'object') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/**
 * A receiver of messages by its URL: `mailto:joe@example.org` gets mail, `https://…` is a webhook. The schema refuses
 * any other text.
 */
function receiverOf(text: string): unknown {
  const mailbox = /^mailto:([^?]+)/i.exec(text)?.[1]
  if (mailbox !== undefined) return { type: 'mail', to: unescaped(mailbox) }
  return /^https?:\/\//i.test(text) ? { type: 'webhook', url: text } : text
}

/** A list in JSON: one object, or several in brackets. The schema refuses text that is not JSON. */
function listed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : [value]
  } catch {
    return text
  }
}
