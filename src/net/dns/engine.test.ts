import { expect, it } from 'vitest'
import type { Message } from './decode.ts'
import { engine } from './engine.ts'
import type { Question } from './question.ts'
import type { Upstream } from './upstream.ts'

/** A resolver that loses what `answers` does not name; what waits is answered, or given up when its time is over. */
async function packetsTo(answers: (name: string) => boolean) {
  const { ask, handlers } = engine({
    recursion: true,
    trustAd: false,
    random: () => 0.5,
    now: () => 0,
    tryMs: 1_500,
    tries: 4,
    totalMs: 10_000,
    onEvent: undefined,
  })
  const waiting: Question[] = []
  const packets: string[] = []
  const take = (question: Question): void => {
    waiting.push(question)
    packets.push(question.name)
  }
  const link = { ask: take, sweep: () => {}, open: () => false, close: () => {} }
  const server = { ip: '127.0.0.53', port: 53 } as Upstream<Question>['server']
  const upstream: Upstream<Question> = {
    ...{ server, text: '127.0.0.53:53', link },
    ...{ faults: 0, downUntilMs: 0, isSilent: false },
  }
  const isAnswered = ({ name }: Question): boolean => answers(name)
  return async (...names: readonly string[]): Promise<readonly number[]> => {
    packets.length = 0
    const asked = names.map((name) => ask([upstream], name, 'A', new AbortController().signal, false, false))
    const ended = Promise.allSettled(asked)
    while (waiting.length > 0) {
      const next = Math.min(...waiting.map(({ expiresAtMs }) => expiresAtMs))
      const round = waiting.filter(({ expiresAtMs }) => expiresAtMs === next)
      waiting.splice(0, waiting.length, ...waiting.filter(({ expiresAtMs }) => expiresAtMs !== next))
      for (const question of round.filter(isAnswered)) handlers.answered(question, { rcode: 2 } as Message)
      for (const question of round.filter((one) => !isAnswered(one))) handlers.failed(question, 'timeout')
      await new Promise((resolve) => setImmediate(resolve))
    }
    await ended
    return names.map((name) => packets.filter((one) => one === name).length)
  }
}

const NAMES = Array.from({ length: 8 }, (_, i) => `n${i}.example`)

it.each([
  ['about everything is asked twice, and then once', () => false, 2, 1],
  ['about a domain, but answers for the root, is asked four times', (name: string) => name === '.', 4, 4],
])('a resolver that is silent %s', async (_, answers, first, later) => {
  const ask = await packetsTo(answers)
  expect(new Set(await ask(...NAMES))).toEqual(new Set([first]))
  expect(await ask('later.example')).toEqual([later])
})

it('one that answers again is asked four times again', async () => {
  let isBack = false
  const ask = await packetsTo((name) => isBack && name === 'back.example')
  await ask(...NAMES)
  isBack = true
  await ask('back.example')
  expect(await ask('later.example')).toEqual([4])
})
