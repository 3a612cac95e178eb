import type { HealthAnswer, ReadyAnswer } from '../answers/service.ts'
import { counted } from '../base/text.ts'
import { type Block, code, conclude, type Document, table } from './block.ts'
import { documentOf, duration } from './words.ts'

export const healthDocument = (_answer: HealthAnswer, version: string): Document =>
  documentOf('Health', version, conclude('mailsonde', 'good', 'ok', 'The service is running.'))

/** Whether the service is ready, and the state of its dependencies. */
export function readyDocument({ status, dependencies }: ReadyAnswer, version: string): Document {
  const failed = dependencies.filter((one) => one.status === 'failed').map(({ name }) => name)
  return documentOf(
    'Ready',
    version,
    status === 'ready'
      ? conclude('mailsonde', 'good', 'Ready', 'All dependencies work.')
      : conclude('mailsonde', 'bad', 'Not ready', `Not working: ${failed.join(', ')}.`),
    table(
      'Dependencies',
      dependencies,
      ['Name', ({ name }) => name],
      [
        'State',
        (one) => (one.status === 'ok' ? { mark: 'good', text: 'ok' } : { mark: 'bad', text: one.reason ?? 'failed' }),
      ],
      ['Time', (one) => duration(one.duration_ms), 'number'],
    ),
  )
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
  const badge = `${set.length} of ${options.length} options set`
  const words = 'Flags override the environment, which overrides the file.'
  return documentOf(
    'Configuration',
    version,
    conclude('Configuration', 'none', badge, words),
    optionTable('Set', set),
    optionTable('Defaults', rest),
  )
}

const optionTable = (caption: string, options: readonly OptionInForce[]): Block | undefined =>
  table(
    caption,
    options,
    ['Option', ({ option }) => code(option)],
    ['Value', ({ value }) => (value === '' ? '–' : code(value))],
    ['From', ({ source }) => source],
    ['Meaning', ({ meaning }) => meaning],
  )

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
export const keysDocument = (keys: readonly KeptKey[], version: string): Document =>
  documentOf(
    'API keys',
    version,
    conclude(
      'API keys',
      'none',
      counted(keys.length, 'key'),
      keys.length === 0 ? 'There is no key.' : 'Only hashes are stored; a key is shown once, when it is created.',
    ),
    table(
      'Keys',
      keys,
      ['Id', ({ id }) => code(id)],
      ['Name', ({ name }) => name],
      ['Scopes', ({ scopes, domains }) => `${scopes.join(', ')}${domains ? `, reports of ${domains.join(', ')}` : ''}`],
      ['Created', (key) => ({ time: key.created_at })],
      ['Expires', (key) => (key.expires_at ? { time: key.expires_at } : 'never')],
    ),
  )
