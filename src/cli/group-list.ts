import type { Command } from 'commander'

const HELP: readonly string[] = ['--help', '-h']

/** Whether a group of commands has a `list` command. */
const lists = (group: Command | undefined): boolean => group?.commands.some((one) => one.name() === 'list') === true

/** The arguments with `list` inserted after a group name that is alone or followed by options: `mailsonde jobs` lists the jobs. */
export function withList(argv: readonly string[], program: Command): readonly string[] {
  const [word, second] = argv
  const isAlone = second === undefined || (second.startsWith('-') && !argv.some((one) => HELP.includes(one)))
  if (!isAlone || !lists(program.commands.find((one) => one.name() === word))) return argv
  return [word!, 'list', ...argv.slice(1)]
}

/** Adds a note about this to the help of each such group. */
export function tellOfLists(program: Command): void {
  for (const group of program.commands.filter(lists))
    group.addHelpText('after', `\nWithout a command: mailsonde ${group.name()} list`)
}
