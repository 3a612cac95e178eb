import { answerCache } from '../../src/mailbox/answer-cache.ts'
import { askOnce } from '../../src/mailbox/shared-question.ts'
import { sources } from '../../src/mailbox/source/sources.ts'
import type { MailboxAnswer } from '../../src/mailbox/verification.ts'
import { labWorld } from '../lab/world.ts'
import { testBounds, text } from './table.ts'

const forever = new AbortController().signal
/** An answer that is kept, with one line of a transcript. */
const answer = (line: string): MailboxAnswer =>
  ({
    ...{ reason: 'mailbox_exists', result: 'deliverable', catchAll: false, attempts: [], observedAtMs: 0 },
    transcript: [{ atMs: 0, from: 'server', text: line }],
  }) as unknown as MailboxAnswer
/** What other nodes are told of an answer. */
async function shared(
  line: string,
): Promise<{ readonly lines: number; readonly keptMs: number; readonly size: number }> {
  let told = { lines: 0, keptMs: 0, size: 0 }
  const put = async (_topic: string, _name: string, _key: string, value: string, keptMs: number): Promise<void> => {
    told = { lines: JSON.parse(value).transcript.length, keptMs, size: value.length }
  }
  const cluster = { claimQuestion: async () => true, releaseQuestion: () => {}, get: async () => undefined, put }
  await askOnce(cluster as never, 'k', async () => answer(line), { now: () => 0, signal: forever })
  return told
}

testBounds([
  [
    'src/mailbox/answer-cache.ts MAX_BYTES',
    32 * 1024 * 1024,
    (n) => {
      const cache = answerCache(() => 0)
      for (const [key, size] of [
        ['a', 20_000_000],
        ['b', n - 20_000_000],
      ] as const)
        cache.remember(key, answer(text(size - 1_100)), 0)
      return cache.recall('a', 1) !== undefined
    },
  ],
  [
    'src/mailbox/shared-question.ts MAX_OCTETS',
    64 * 1024,
    async (n) => (await shared(text(n - (await shared('')).size))).lines === 1,
  ],
  [
    'src/mailbox/source/sources.ts MAX_ROWS',
    5_000,
    (n) => {
      const known = sources(labWorld())
      for (let i = 0; i < n; i++) known.begin(undefined, { key: `mx${i}.example`, perMinute: 10 }, true)
      return known.rows().length === n
    },
  ],
])
