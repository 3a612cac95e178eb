import type { Told } from '../../src/operations/execute.ts'
import { streamTokens } from '../../src/pages/parts.ts'
import { runsOf } from '../../src/pages/runs.ts'
import { isTaken, testBounds } from './table.ts'

const NEVER = new AbortController().signal
const answer = { kind: 'answer', given: {} } as unknown as Told
async function* answered() {
  yield answer
}
async function* unanswered(signal: AbortSignal): AsyncGenerator<Told> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}
async function isKept(questions: number, afterMs: number): Promise<boolean> {
  let nowMs = 0
  const runs = runsOf({ now: () => nowMs })
  for (const i of Array(questions).keys()) for await (const _ of runs.follow(`q${i}`, answered, NEVER));
  nowMs = afterMs
  return runs.known('q0') !== undefined
}

/** Whether a token can be used after further ones were issued and some time has passed. */
function isUsable(further: number, afterMs: number): boolean {
  let nowMs = 0
  const tokens = streamTokens({ now: () => nowMs })
  const token = tokens.issue('q')
  for (let i = 0; i < further; i++) tokens.issue(`q${i}`)
  nowMs = afterMs
  return tokens.use(token, 'q') === 'starts'
}

testBounds([
  ['src/pages/runs.ts MAX_KEPT', 32, (n) => isKept(n, 0)],
  [
    'src/pages/runs.ts MAX_RUNS',
    256,
    (n) =>
      isTaken(() => {
        const runs = runsOf({ now: () => 0 })
        for (const i of Array(n).keys()) runs.follow(`q${i}`, unanswered, NEVER)
      }),
  ],
  ['src/pages/parts.ts MAX_TOKENS', 10_000 - 1, (n) => isUsable(n, 0)],
])
