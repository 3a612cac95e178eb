import { Command, Help, type HelpConfiguration, type Option } from 'commander'
import { GROUPS } from '../operations/param.ts'
import { byGroup, commandGroupOf } from './command-groups.ts'
import { SERVICE_GROUP } from './commands.ts'
import { LIST_GROUP } from './list-options.ts'
import { OPTION_GROUPS } from './option-places.ts'

/** Columns below which help is not folded any further: words would stand alone on their lines. */
const LEAST_WIDTH = 20
/** Columns for a description beside its option; where there are fewer it stands below. */
const LEAST_BESIDE = 30

/** How help is shown: `--help` itself is not listed, and the usage line names what matters. */
export const HELP: HelpConfiguration = {
  minWidthToWrap: LEAST_WIDTH,
  showGlobalOptions: false,
  formatItem(term, termWidth, description, helper) {
    const columns = this.helpWidth ?? 80
    if (description === '' || columns - termWidth - 4 >= LEAST_BESIDE)
      return Help.prototype.formatItem.call(this, term, termWidth, description, helper)
    return `  ${term}\n${fold(description.split(' '), columns, '      ', ' ')}`
  },
  // Groups of options stand below each other without a line between them: a command's options then fit on one screen.
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
/** Whether a heading stands above options of one command: those of the program and of `serve` keep their distance. */
const isOfOptions = (heading: string): boolean => OWN_HEADINGS.includes(heading)

/** Commands whose help describes each option of the configuration; that of others names those that concern it. */
const DESCRIBING: readonly string[] = ['serve', 'config']

const isNamedBelow = (command: Command, { helpGroupHeading }: Option): boolean =>
  helpGroupHeading !== undefined && HEADINGS.includes(helpGroupHeading) && !DESCRIBING.includes(command.name())

/** Ends the help of a command with the options of the configuration that concern it, by name: they are the same for all commands. */
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

/** Pieces in lines of at most so many columns where that is possible. */
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
