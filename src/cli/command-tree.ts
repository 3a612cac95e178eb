import type { Command } from 'commander'

/** A command as data, for completion and the manual page. */
export type CommandFacts = {
  /** Its words, such as `['jobs', 'submit']`; empty for the program itself. */
  readonly path: readonly string[]
  readonly summary: string
  readonly args: readonly { readonly name: string; readonly isList: boolean; readonly words: string }[]
  readonly options: readonly OptionFacts[]
  readonly below: readonly CommandFacts[]
}

export type OptionFacts = {
  /** Including the dashes. */
  readonly long: string
  readonly short: string | undefined
  /** The name of its value; undefined for a switch. */
  readonly value: string | undefined
  readonly isOptional: boolean
  readonly words: string
  readonly group: string
  /** The accepted values, if they are a short list. */
  readonly choices: readonly string[]
}

/** Commands and options of a program as data. */
export const treeOf = (command: Command, path: readonly string[] = []): CommandFacts => ({
  path,
  summary: command.description(),
  args: command.registeredArguments.map((one) => ({ name: one.name(), isList: one.variadic, words: one.description })),
  options: command.options
    .filter(({ hidden }) => !hidden)
    .map((option) => ({
      long: option.long ?? '',
      short: option.short ?? undefined,
      value: /[<[]([^>\]]+)[>\]]/.exec(option.flags)?.[1],
      isOptional: option.optional,
      words: option.description,
      group: option.helpGroupHeading?.replace(/:$/, '') ?? 'Options',
      choices: choicesIn(option.description),
    })),
  below: command.commands.map((one) => treeOf(one, [...path, one.name()])),
})

/** All commands of a tree, the program first. */
export const flat = (tree: CommandFacts): readonly CommandFacts[] => [tree, ...tree.below.flatMap(flat)]

/** The choices that a description lists: `a | b | c`, or `a, b or c;` at its beginning. */
function choicesIn(words: string): readonly string[] {
  const barred = /[\w-]+(?: \| [\w-]+)+/.exec(words)?.[0]
  if (barred !== undefined) return barred.split(' | ')
  const listed = /^([\w-]+(?:, [\w-]+)* or [\w-]+)(?:;|$)/.exec(words)?.[1]
  return listed === undefined ? [] : listed.split(/, | or /)
}
