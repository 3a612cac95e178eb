import type { HealthAnswer, ReadyAnswer } from '../answers/service.ts'
import { counted } from '../base/text.ts'
import { code, type Document, type Line } from './block.ts'
import { duration, footerOf } from './words.ts'

/** Whether the service answers. */
export const healthDocument = (_answer: HealthAnswer, version: string): Document => ({
  title: 'Health',
  blocks: [
    {
      kind: 'conclusion',
      conclusion: { subject: 'mailsonde', mark: 'good', badge: 'ok', words: 'The service is running.', notes: [] },
    },
  ],
  footer: footerOf(version),
})

/** Whether the service is ready, and the state of its dependencies. */
export function readyDocument({ status, dependencies }: ReadyAnswer, version: string): Document {
  const failed = dependencies.filter((one) => one.status === 'failed').map(({ name }) => name)
  return {
    title: 'Ready',
    blocks: [
      {
        kind: 'conclusion',
        conclusion: {
          subject: 'mailsonde',
          mark: status === 'ready' ? 'good' : 'bad',
          badge: status === 'ready' ? 'Ready' : 'Not ready',
          words: status === 'ready' ? 'All dependencies work.' : `Not working: ${failed.join(', ')}.`,
          notes: [],
        },
      },
      {
        kind: 'table',
        table: {
          caption: 'Dependencies',
          head: ['Name', 'State', 'Time'],
          rows: dependencies.map((one): Line[] => [
            [one.name],
            [one.status === 'ok' ? { mark: 'good', text: 'ok' } : { mark: 'bad', text: one.reason ?? 'failed' }],
            [duration(one.duration_ms)],
          ]),
          numeric: [2],
        },
      },
    ],
    footer: footerOf(version),
  }
}

/** An option in force, with secrets masked. */
type OptionInForce = {
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

/** The stored data of an API key, without the key itself. */
type KeptKey = {
  readonly id: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly domains?: readonly string[] | undefined
  readonly created_at: string
  readonly expires_at?: string | null | undefined
}

/** The API keys of a service. */
export const keysDocument = (keys: readonly KeptKey[], version: string): Document => ({
  title: 'API keys',
  blocks: [
    {
      kind: 'conclusion',
      conclusion: {
        subject: 'API keys',
        mark: 'none',
        badge: counted(keys.length, 'key'),
        words:
          keys.length === 0 ? 'There is no key.' : 'Only hashes are stored; a key is shown once, when it is created.',
        notes: [],
      },
    },
    ...(keys.length === 0
      ? []
      : [
          {
            kind: 'table',
            table: {
              caption: 'Keys',
              head: ['Id', 'Name', 'Scopes', 'Created', 'Expires'],
              rows: keys.map(({ id, name, scopes, domains, created_at, expires_at }): Line[] => [
                [code(id)],
                [name],
                [scopes.join(', '), ...(domains ? [`, reports of ${domains.join(', ')}`] : [])],
                [{ time: created_at }],
                [expires_at === undefined || expires_at === null ? 'never' : { time: expires_at }],
              ]),
            },
          } as const,
        ]),
  ],
  footer: footerOf(version),
})
