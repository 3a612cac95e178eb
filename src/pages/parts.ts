import { isJsonRecord } from '../base/json.ts'
import type { AddressPtr } from '../checks/ptr/index.ts'
import type { Block, Document } from '../documents/block.ts'
import type { Ip } from '../names/ip.ts'
import type { Answered, Execute } from '../operations/execute.ts'
import type { Listed } from '../operations/listed.ts'
import type { Operation } from '../operations/operation.ts'
import type { StoredReports } from '../operations/reports/stored.ts'
import type { Html } from './html.ts'
import type { Assets } from './layout.ts'
import type { Runs } from './runs.ts'
import type { StreamTokens } from './stream-tokens.ts'

/** The dependencies of all pages. */
export type Parts = {
  readonly assets: Assets
  readonly execute: Execute
  /** The operation of a name. Throws if there is none: pages only name operations of the registry. */
  readonly operation: (name: string) => Operation | Listed
  readonly has: (name: string) => boolean
  readonly runs: Runs
  /** Whether this service can send mail. */
  readonly canMail: boolean
  /** Whether this service receives messages. */
  readonly canReceive: () => boolean
  readonly streams: StreamTokens
  readonly storedReports: StoredReports
  readonly version: string
  /** The PTR names of an address, and whether they resolve back. */
  readonly pointers: (ip: Ip, signal: AbortSignal) => Promise<AddressPtr>
  /** Any fault as a message for a visitor; our own faults are logged, and shown without details. */
  readonly faultInWords: (error: unknown) => Html
}

/** The document of an answer; if its operation has none, its plain fields. */
export async function documentOf(
  { version }: Pick<Parts, 'version'>,
  given: Answered,
  title: string,
): Promise<Document> {
  const document = await given.document({ version })
  if (document) return document
  const fields = isJsonRecord(given.answer) ? Object.entries(given.answer) : []
  const rows = fields.flatMap(([name, value]) =>
    typeof value === 'object' || value === undefined
      ? []
      : [[name.replaceAll('_', ' '), [{ code: String(value) }]] as const],
  )
  return {
    title,
    blocks: [
      { kind: 'heading', level: 2, line: [title] },
      { kind: 'facts', rows },
    ],
    footer: [],
  }
}

/** Blocks without the name of their subject, for a page or a part that has a heading of its own. */
export const withoutSubject = (blocks: readonly Block[]): readonly Block[] =>
  blocks.flatMap((block): readonly Block[] => {
    if (block.kind !== 'conclusion') return [block]
    const { mark, badge, words, notes } = block.conclusion
    return [
      { kind: 'text', line: [...(badge === '' ? [] : [{ mark, text: badge }, ' ']), words] },
      ...notes.map((line): Block => ({ kind: 'text', line, quiet: true })),
    ]
  })
