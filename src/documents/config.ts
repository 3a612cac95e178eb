import { code, type Document, type Line } from './block.ts'
import { footerOf } from './footer.ts'

/** An option in force, with secrets masked. */
export type OptionInForce = {
  readonly option: string
  readonly value: string
  readonly source: string
  readonly meaning: string
}

/** The options in force, those that were set first, each with the source of its value. */
export function configDocument(options: readonly OptionInForce[], version: string): Document {
  const set = options.filter(({ source }) => source !== 'default')
  const rest = options.filter(({ source }) => source === 'default')
  const rows = (all: readonly OptionInForce[]): Line[][] =>
    all.map(({ option, value, source, meaning }) => [
      [code(option)],
      [value === '' ? '–' : code(value)],
      [source],
      [meaning],
    ])
  const head = ['Option', 'Value', 'From', 'Meaning']
  return {
    title: 'Configuration',
    blocks: [
      {
        kind: 'conclusion',
        conclusion: {
          subject: 'Configuration',
          mark: 'none',
          badge: `${set.length} of ${options.length} options set`,
          words: 'Flags override the environment, which overrides the file.',
          notes: [],
        },
      },
      ...(set.length === 0 ? [] : [{ kind: 'table', table: { caption: 'Set', head, rows: rows(set) } } as const]),
      ...(rest.length === 0
        ? []
        : [{ kind: 'table', table: { caption: 'Defaults', head, rows: rows(rest) } } as const]),
    ],
    footer: footerOf(version),
  }
}
