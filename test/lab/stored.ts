import { storedAnswer, storedEntry } from '../../src/answers/stored.ts'
import type { Stored } from '../../src/monitors/stored.ts'
import { savedDelete, savedShow } from '../../src/operations/stored.ts'

const answer = storedAnswer.parse(savedShow.example.output)
const entry = storedEntry.parse(savedDelete.example.output)

/**
 * Stored answers without a database: the one of the examples, whatever is asked. A test of stored answers themselves
 * brings the real service, over labDatabase.
 */
export const labStored: Stored = {
  save: async () => ({ id: entry.id, url: entry.url, expires_at: entry.expires_at }),
  read: async () => answer,
  entry: async () => entry,
  history: async () => [{ ...entry, number: 1 }],
  remove: async () => entry,
  forget: async () => 0,
  sweep: async () => false,
}
