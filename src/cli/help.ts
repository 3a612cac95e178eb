import { Command, Help, type HelpConfiguration, type Option } from 'commander'
import type { Operation } from '../operations/operation.ts'
import { GROUPS } from '../operations/params.ts'
import { commandOf, pathNames } from '../operations/path.ts'
import { SERVICE_GROUP } from './commands.ts'
import { OPTION_GROUPS } from './flags.ts'
import { LIST_GROUP } from './list-command.ts'

/** Minimum width of help: below it, lines would have single words. */
const LEAST_WIDTH = 20
/** Minimum width of a description beside its option; with less space it is below the option. */
const LEAST_BESIDE = 30

/** How help is shown: `--help` itself is not listed, and the usage line has the essential parts. */
export const HELP: HelpConfiguration = {
  minWidthToWrap: LEAST_WIDTH,
  showGlobalOptions: false,
  formatItem(term, termWidth, description, helper) {
    const columns = this.helpWidth ?? 80
    if (description === '' || columns - termWidth - 4 >= LEAST_BESIDE)
      return Help.prototype.formatItem.call(this, term, termWidth, description, helper)
    return `  ${term}\n${fold(description.split(' '), columns, '      ', ' ')}`
  },
  // Groups of options have no blank line between them, so that the options of a command fit on one screen.
  formatItemList(heading, items, helper) {
    return items.length === 0 ? [] : [helper.styleTitle(heading), ...items, ...(isOfOptions(heading) ? [] : [''])]
  },
  visibleCommands(command) {
    const all = Help.prototype.visibleCommands.call(this, command)
    return command.parent ? all : all.toSorted((a, b) => byGroup(a.name(), b.name()))
  },
  groupItems(_all, visible, groupOf) {
    return Map.groupBy(visible, (item) => {
      const group = item instanceof Command && !item.parent?.parent ? commandGroupOf(item.name()) : undefined
      return group === undefined ? groupOf(item) : `${group}:`
    })
  },
  visibleOptions: (command) => command.options.filter((option) => !option.hidden && !isNamedBelow(command, option)),
  commandUsage: (command) => {
    const names: string[] = []
    for (let at: typeof command | null = command; at; at = at.parent) names.unshift(at.name())
    return `${names.join(' ')} ${command.usage()}`
  },
  subcommandTerm: (command) =>
    [command.name(), ...command.registeredArguments.map((one) => `<${one.name()}${one.variadic ? '...' : ''}>`)].join(
      ' ',
    ),
}

const OWN_HEADINGS: readonly string[] = [...Object.values(GROUPS), SERVICE_GROUP, LIST_GROUP].map((one) => `${one}:`)
const HEADINGS: readonly string[] = Object.values(OPTION_GROUPS).map((heading) => `${heading}:`)
/** Whether a heading is above options of one command: those of the program and of `serve` keep a blank line. */
const isOfOptions = (heading: string): boolean => OWN_HEADINGS.includes(heading)

/**
 * Commands whose help describes each configuration option; the help of the others only names the options that concern
 * them.
 */
const DESCRIBING: readonly string[] = ['serve', 'config']

const isNamedBelow = (command: Command, { helpGroupHeading }: Option): boolean =>
  helpGroupHeading !== undefined && HEADINGS.includes(helpGroupHeading) && !DESCRIBING.includes(command.name())

/**
 * Ends the help of a command with the names of the configuration options that concern it; they are the same for all
 * commands.
 */
export function withConfigNames(command: Command, columns: number): Command {
  if (DESCRIBING.includes(command.name())) return command
  const names = command.options
    .filter((option) => isNamedBelow(command, option))
    .map(({ flags }) => flags.split(' ')[0]!)
  const intro = 'Configuration (described by `mailsonde help config`; also environment or file):'
  return command.addHelpText(
    'after',
    `\n${fold(intro.split(' '), columns, '', ' ')}\n${fold(names, columns, '  ', ', ')}`,
  )
}

/** Joins pieces into lines of a maximum width, if possible. */
function fold(pieces: readonly string[], columns: number, indent: string, between: string): string {
  const lines: string[] = []
  for (const piece of pieces) {
    const last = lines.at(-1)
    if (
      last !== undefined &&
      last.length + between.length + piece.length <= Math.max(columns - between.trimEnd().length, LEAST_WIDTH)
    )
      lines[lines.length - 1] = `${last}${between}${piece}`
    else {
      if (last !== undefined) lines[lines.length - 1] = `${last}${between.trimEnd()}`
      lines.push(`${indent}${piece}`)
    }
  }
  return lines.join('\n')
}

/** The groups of commands in `mailsonde --help`, the most used first and those for other programs last. */
export const COMMAND_GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Check and verify': [
    'check',
    'plan',
    'report',
    'verify',
    'message',
    'message-address',
    'message-received',
    'blacklist',
  ],
  'Single lookups': ['spf', 'dkim', 'dmarc', 'geo', 'blacklists', 'domain-blacklist'],
  'Reports, jobs, monitors, stored answers': [
    'reports',
    'jobs',
    'monitors',
    'accepted',
    'webhooks',
    'saved',
    'history',
    'changes',
    'forget',
  ],
  'The service and this machine': ['serve', 'config', 'keys', 'db', 'doctor', 'pool', 'pool-reload', 'peers'],
  'For programs': ['mcp', 'api'],
  Help: ['completion', 'help'],
}

const ORDER = Object.values(COMMAND_GROUPS).flat()

const commandGroupOf = (name: string): string | undefined =>
  Object.entries(COMMAND_GROUPS).find(([, names]) => names.includes(name))?.[0]

/** Sorts commands in the order of the groups; commands without a group come last. */
const byGroup = (a: string, b: string): number => placeIn(a) - placeIn(b)
const placeIn = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length)

/** A command line with a short description. */
export type Example = readonly [line: string, words: string]

const EXAMPLES: Readonly<Record<string, readonly [Example, Example]>> = {
  serve: [
    ['mailsonde serve', 'listen on http://127.0.0.1:8080'],
    ['mailsonde serve --host :: --resolver 127.0.0.1', 'all addresses, with API keys and a local resolver'],
  ],
  completion: [
    ['source <(mailsonde completion bash)', 'bash and zsh (there: completion zsh); put it into ~/.bashrc or ~/.zshrc'],
    ['mailsonde completion fish > ~/.config/fish/completions/mailsonde.fish', 'fish'],
  ],
  config: [
    ['mailsonde config', 'show the effective values'],
    ['mailsonde config --config lab.json', 'read this file'],
  ],
  check: [
    ['mailsonde check example.org --fail-on high', 'exit 1 on high or critical findings'],
    ['mailsonde check example.org --with \'_dmarc TXT "v=DMARC1; p=reject"\'', 'as if this record were published'],
  ],
  verify: [
    ['mailsonde verify joe@example.org --quiet', 'print the verdict on one line'],
    ['mailsonde verify --file list.csv --out results.csv', 'repeat to resume after an interruption'],
  ],
  blacklist: [
    ['mailsonde blacklist 192.0.2.1 2001:db8::1', 'one answer per line'],
    ['mailsonde blacklist 192.0.2.1 --format nagios', 'as a Nagios plugin'],
  ],
  report: [
    ['mailsonde report example.org --format html > report.html', 'write a web page'],
    ['mailsonde report example.org --json score,blacklist_summary', 'print two fields'],
  ],
  spf: [
    ['mailsonde spf --ip 192.0.2.1 --sender joe@example.org', 'may this address send for joe?'],
    ['mailsonde spf --ip 192.0.2.1 --sender "" --helo mx.example.org', 'a bounce'],
  ],
  'monitors create': [
    ['mailsonde monitors create example.org --kind report', 'every day'],
    [
      'mailsonde monitors create example.org --kind report --notify https://hooks.example.org/mail,mailto:joe@example.org',
      'and tell a webhook and a mailbox',
    ],
  ],
  'jobs submit': [
    ['mailsonde jobs submit list.csv --wait', 'verify a list and wait'],
    ['mailsonde jobs submit domains.txt --kind check --server https://mailsonde.example', 'on a service'],
  ],
}

/** Two examples of a command; without a row here they are made from the parameters of the operation. */
export function examplesOf(name: string, operation?: Operation): readonly Example[] {
  const known = Object.hasOwn(EXAMPLES, name) ? EXAMPLES[name] : undefined
  if (known || !operation) return known ?? []
  const fixed = Object.keys(operation.commands?.[name]?.input ?? {})
  const line = ['mailsonde', commandOf(name), ...words(operation, fixed)].join(' ')
  return [
    [line, 'in this process'],
    [`${line} --server https://mailsonde.example`, 'on a service, with MAILSONDE_KEY'],
  ]
}

/** Parameters of which an operation needs one; its example has it. */
const ONE_OF: readonly string[] = ['domain', 'email', 'label', 'policy']

/**
 * The required parameters of an operation, as written on the command line, but for those that the command fixes: the
 * command can be run.
 */
function words({ params, path, uploads, example }: Operation, fixed: readonly string[]): readonly string[] {
  const inPath = pathNames(path)
  const needed = Object.entries(params).filter(
    ([name, { required }]) =>
      !fixed.includes(name) &&
      (required || inPath.includes(name) || (ONE_OF.includes(name) && example.input[name] !== undefined)),
  )
  const written = needed.map(([name, { positional, example: sample }]) => {
    const given: unknown = sample ?? example.input[name] ?? name.toUpperCase()
    const text = String(given)
    const value = typeof given === 'object' ? `'${JSON.stringify(given)}'` : text.includes(' ') ? `"${text}"` : text
    return positional || inPath.includes(name) ? value : `--${name.replaceAll('_', '-')} ${value}`
  })
  if (uploads === 'message') return [...written, 'mail.eml']
  return uploads ? [...written, 'list.csv'] : written
}

/** Maximum width of an example that has its description on the same line. */
const LINE = 80

/** Adds examples to the help of a command. */
export function withExamples(command: Command, examples: readonly Example[]): Command {
  if (examples.length === 0) return command
  const lines = examples.map(([line, text]) =>
    line.length + text.length + 6 <= LINE ? `  ${line}  # ${text}` : `${folded(line)}\n      # ${text}`,
  )
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
}

/** A command line in lines of at most 80 columns, broken before options and continued with a backslash. */
function folded(line: string): string {
  const lines = ['']
  for (const part of line.split(/ (?=--)/)) {
    const last = lines.at(-1)!
    if (last === '') lines[lines.length - 1] = `  ${part}`
    else if (last.length + part.length + 3 <= LINE) lines[lines.length - 1] = `${last} ${part}`
    else {
      lines[lines.length - 1] = `${last} \\`
      lines.push(`    ${part}`)
    }
  }
  return lines.join('\n')
}
