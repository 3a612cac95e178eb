import type { Command } from 'commander'
import type { Operation } from '../operations/operation.ts'
import { pathNames } from '../operations/path.ts'

/** A command line, and what it does in a few words. */
export type Example = readonly [line: string, words: string]

const EXAMPLES: Readonly<Record<string, readonly [Example, Example]>> = {
  serve: [
    ['mailsonde serve', 'answer on http://127.0.0.1:8080'],
    ['mailsonde serve --host :: --resolver 127.0.0.1', 'for others, with keys, by a resolver on this machine'],
  ],
  config: [
    ['mailsonde config', 'what is in force here'],
    ['mailsonde config --config lab.json', 'what this file would put in force'],
  ],
  check: [
    ['mailsonde check example.org --fail-on high', 'exit with 1 for a finding of high severity or worse'],
    ['mailsonde check example.org --with \'_dmarc TXT "v=DMARC1; p=reject"\'', 'as if this record were published'],
  ],
  verify: [
    ['mailsonde verify joe@example.org --quiet', 'the verdict in one line'],
    ['mailsonde verify --file list.csv --out results.csv', 'a list; when it is interrupted, the same command goes on'],
  ],
  blacklist: [
    ['mailsonde blacklist 192.0.2.1 2001:db8::1', 'two addresses, one answer a line'],
    ['mailsonde blacklist 192.0.2.1 --format nagios', 'as a plugin of Nagios'],
  ],
  report: [
    ['mailsonde report example.org --format html > report.html', 'a page that stands by itself'],
    ['mailsonde report example.org --json score,blacklist_summary', 'these two fields'],
  ],
  spf: [
    ['mailsonde spf --ip 192.0.2.1 --sender joe@example.org', 'may this address send for joe?'],
    ['mailsonde spf --ip 192.0.2.1 --sender "" --helo mx.example.org', 'a bounce: the name in HELO counts'],
  ],
  'jobs submit': [
    ['mailsonde jobs submit list.csv --wait', 'verify a list here, and stay until it is done'],
    ['mailsonde jobs submit domains.txt --kind check --server https://mailsonde.example', 'by a service'],
  ],
}

/** Two examples of a command; an operation without a row has them by its parameters. */
export function examplesOf(name: string, operation?: Operation): readonly Example[] {
  const known = Object.hasOwn(EXAMPLES, name) ? EXAMPLES[name] : undefined
  if (known || !operation) return known ?? []
  const line = ['mailsonde', name, ...words(operation)].join(' ')
  return [
    [line, 'here, in this process'],
    [`${line} --server https://mailsonde.example`, 'by a service, with the key in MAILSONDE_KEY'],
  ]
}

/** The parameters without which the operation cannot be asked, as they are written on the command line. */
function words({ params, path, uploads, example }: Operation): readonly string[] {
  const inPath = pathNames(path)
  const needed = Object.entries(params).filter(([name, { required }]) => required || inPath.includes(name))
  const written = needed.map(([name, { positional, example: sample }]) => {
    const value = String(sample ?? example.input[name] ?? name.toUpperCase())
    return positional || inPath.includes(name) ? value : `--${name.replaceAll('_', '-')} ${value}`
  })
  return uploads ? [...written, 'list.csv'] : written
}

/** Adds examples to the help of a command. */
export function withExamples(command: Command, examples: readonly Example[]): Command {
  if (examples.length === 0) return command
  const lines = examples.map(([line, text]) => `  ${line}\n      ${text}`)
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
}
