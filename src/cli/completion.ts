import type { Command } from 'commander'
import { AppError } from '../base/errors.ts'
import { nearest } from '../base/value-problems.ts'
import { flagProblem } from './problems.ts'

const SHELLS: Readonly<Record<string, (tree: CommandFacts) => string>> = { bash, zsh, fish }

/**
 * The completion script of a shell, for commands, options, their values and files. Throws AppError for an unknown
 * shell.
 */
export function completionScript(shell: string, program: Command): string {
  const write = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined
  if (write) return write(treeOf(program))
  const known = Object.keys(SHELLS)
  throw new AppError('invalid_parameter', flagProblem('choice', { text: shell, known, meant: nearest(shell, known) }))
}

const FILES = /FILE|DIR/
const takesFile = ({ value = '' }: Pick<OptionFacts, 'value'>): boolean => FILES.test(value)
const hasFiles = ({ args }: CommandFacts): boolean => args.some(({ name }) => FILES.test(name))
/** The options of a command. A group alone does what its `list` does, with the same options. */
const optionsOf = ({ options, below }: CommandFacts): readonly OptionFacts[] => [
  ...options,
  ...(below.find(({ path }) => path.at(-1) === 'list')?.options ?? []),
]
/** What may follow a command: its subcommands and options. */
const wordsOf = (command: CommandFacts): readonly string[] => [
  ...command.below.map(({ path }) => path.at(-1) ?? ''),
  ...optionsOf(command).flatMap(({ long, short }) => (short === undefined ? [long] : [long, short])),
  '--help',
]
const valuesOf = ({ path, args }: CommandFacts): readonly string[] =>
  path.join(' ') === 'completion' && args.length > 0 ? Object.keys(SHELLS) : []

/** Names and choices consist of letters, digits and hyphens, so only descriptions are quoted. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

function bash(tree: CommandFacts): string {
  const all = flat(tree)
  const key = ({ path }: CommandFacts): string => quoted(path.join(' '))
  const values = all.flatMap((command) =>
    optionsOf(command)
      .filter((option) => option.value !== undefined && !option.isOptional)
      .map((option) => {
        const words = takesFile(option) ? 'compopt -o default; COMPREPLY=()' : replies(option.choices)
        return `    ${quoted(`${command.path.join(' ')} ${option.long}`)}) ${words}; return ;;`
      }),
  )
  const words = all.map((command) => {
    const list = [...wordsOf(command), ...valuesOf(command)]
    return `    ${key(command)}) words=${quoted(list.join(' '))}${hasFiles(command) ? '; files=1' : ''} ;;`
  })
  return `# bash completion of mailsonde: source <(mailsonde completion bash)
_mailsonde() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path= word words= files=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
${all
  .filter(({ path }) => path.length > 0)
  .map(
    ({ path }) => `      ${quoted(`${path.slice(0, -1).join(' ')} ${path.at(-1)}`)}) path=${quoted(path.join(' '))} ;;`,
  )
  .join('\n')}
    esac
  done
  case "$path $prev" in
${values.join('\n')}
  esac
  case "$path" in
${words.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ $files && $cur != -* ]]; then compopt -o default; fi
}
complete -F _mailsonde mailsonde
`
}

const replies = (choices: readonly string[]): string =>
  `COMPREPLY=($(compgen -W ${quoted(choices.join(' '))} -- "$cur"))`

function zsh(tree: CommandFacts): string {
  const name = (path: readonly string[]): string => ['_mailsonde', ...path].join('_').replaceAll('-', '_')
  const spec = (option: OptionFacts): string => {
    const action = takesFile(option) ? '_files' : option.choices.length > 0 ? `(${option.choices.join(' ')})` : ''
    const value = option.value === undefined ? '' : `:${zshText(option.value)}:${action}`
    return `    ${quoted(`*${option.long}[${zshText(option.words)}]${value}`)} \\`
  }
  const functions = flat(tree).map((command) => {
    const options = optionsOf(command).map(spec).join('\n')
    if (command.below.length === 0) {
      const rest = hasFiles(command) ? '_files' : valuesOf(command).length > 0 ? `(${valuesOf(command).join(' ')})` : ''
      return `${name(command.path)}() {\n  _arguments \\\n${options === '' ? '' : `${options}\n`}    '*: :${rest}'\n}`
    }
    const list = command.below.map(({ path, summary }) => `    ${quoted(`${path.at(-1)}:${zshText(summary)}`)}`)
    const cases = command.below.map(({ path }) => `      ${path.at(-1)}) ${name(path)} ;;`)
    return `${name(command.path)}() {
  local -a commands; local line state
  _arguments -C \\
${options === '' ? '' : `${options}\n`}    '(-): :->command' '(-)*:: :->rest'
  case $state in
    command) commands=(
${list.join('\n')}
    ); _describe command commands ;;
    rest) case $line[1] in
${cases.join('\n')}
    esac ;;
  esac
}`
  })
  return `#compdef mailsonde
# zsh completion of mailsonde: mailsonde completion zsh > "\${fpath[1]}/_mailsonde"
${functions.join('\n')}
if [ "$funcstack[1]" = "_mailsonde" ]; then _mailsonde "$@"; else compdef _mailsonde mailsonde; fi
`
}

/**
 * Text in a specification of `_arguments` or `_describe`: separators, and the characters that end a description, are
 * escaped.
 */
const zshText = (text: string): string => text.replaceAll(/[[\]:\\]/g, '\\$&')

function fish(tree: CommandFacts): string {
  const lines = flat(tree).flatMap((command) => {
    const { path, below } = command
    const others = below.map((one) => one.path.at(-1) ?? '')
    const inside = path.map((word) => `__fish_seen_subcommand_from ${word}`)
    const notBelow = others.length === 0 ? [] : [`not __fish_seen_subcommand_from ${others.join(' ')}`]
    const when = [...inside, ...notBelow].join('; and ') || 'true'
    return [
      ...below.map(
        ({ path: to, summary }) =>
          `complete -c mailsonde -f -n ${fishQuoted(when)} -a ${to.at(-1)} -d ${fishQuoted(summary)}`,
      ),
      ...valuesOf(command).map((value) => `complete -c mailsonde -f -n ${fishQuoted(when)} -a ${value}`),
      ...(hasFiles(command) ? [`complete -c mailsonde -F -n ${fishQuoted(when)}`] : []),
      ...optionsOf(command).map((option) => {
        const { long, short, value, choices, words } = option
        const takes =
          value === undefined
            ? ''
            : takesFile(option)
              ? ' -rF'
              : ` -x${choices.length === 0 ? '' : ` -a ${fishQuoted(choices.join(' '))}`}`
        const letter = short === undefined ? '' : ` -s ${short.slice(1)}`
        return `complete -c mailsonde -n ${fishQuoted(when)} -l ${long.slice(2)}${letter}${takes} -d ${fishQuoted(words)}`
      }),
    ]
  })
  return `# fish completion of mailsonde: mailsonde completion fish > ~/.config/fish/completions/mailsonde.fish
complete -c mailsonde -f
${lines.join('\n')}
`
}

/** In single quotes, the only escapes of fish are \\\\ and \\'. */
const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

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
