import type { Json } from '../base/json.ts'

/** What is remembered over a restart, as small JSON documents by key. Writes are kept in memory at once and reach the disk within a second. */
export type Store = {
  readonly get: (key: string) => Promise<Json | undefined>
  readonly set: (key: string, value: Json) => Promise<void>
}
