import type { Command } from 'commander'

const HELP: readonly string[] = ['--help', '-h']

/** Whether a group of commands has one that lists what it manages. */
const lists = (group: Command | undefined): boolean => group?.commands.some((one) => one.name() === 'list') === true

/** The arguments with `list` behind the name of a group that stands alone or before options: `mailsonde jobs` lists the jobs. */
export function withList(argv: readonly string[], program: Command): readonly string[] {
  const [word, second] = argv
  const isAlone = second === undefined || (second.startsWith('-') && !argv.some((one) => HELP.includes(one)))
  if (!isAlone || !lists(program.commands.find((one) => one.name() === word))) return argv
  return [word!, 'list', ...argv.slice(1)]
}

/** Says so at the end of the help of each such group. */
export function tellOfLists(program: Command): void {
  for (const group of program.commands.filter(lists))
    group.addHelpText('after', `\nWithout a command: mailsonde ${group.name()} list`)
}
