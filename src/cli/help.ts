import { Command, Help, type HelpConfiguration, type Option } from 'commander'
import { GROUPS } from '../operations/param.ts'
import { SERVICE_GROUP } from './commands.ts'
import { LIST_GROUP } from './list-command.ts'
import { OPTION_GROUPS } from './option-places.ts'

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

/** The heading of a command. */
const commandGroupOf = (name: string): string | undefined =>
  Object.entries(COMMAND_GROUPS).find(([, names]) => names.includes(name))?.[0]

/** Sorts commands in the order of the groups; commands without a group come last. */
const byGroup = (a: string, b: string): number => placeIn(a) - placeIn(b)
const placeIn = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length)
