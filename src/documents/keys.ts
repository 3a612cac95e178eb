import { counted } from '../base/text.ts'
import { code, type Document, type Line } from './block.ts'
import { footerOf } from './footer.ts'

/** The stored data of an API key, without the key itself. */
export type KeptKey = {
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
