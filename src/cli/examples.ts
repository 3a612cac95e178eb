import type { Command } from 'commander'
import type { Operation } from '../operations/operation.ts'
import { commandOf, pathNames } from '../operations/path.ts'

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
    ['mailsonde monitors create --kind report --target example.org', 'every day'],
    [
      'mailsonde monitors create --kind report --target example.org --notify https://hooks.example.org/mail,mailto:joe@example.org',
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
  const line = ['mailsonde', commandOf(name), ...words(operation)].join(' ')
  return [
    [line, 'in this process'],
    [`${line} --server https://mailsonde.example`, 'on a service, with MAILSONDE_KEY'],
  ]
}

/** The required parameters of an operation, as written on the command line. */
function words({ params, path, uploads, example }: Operation): readonly string[] {
  const inPath = pathNames(path)
  const needed = Object.entries(params).filter(([name, { required }]) => required || inPath.includes(name))
  const written = needed.map(([name, { positional, example: sample }]) => {
    const value = String(sample ?? example.input[name] ?? name.toUpperCase())
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
