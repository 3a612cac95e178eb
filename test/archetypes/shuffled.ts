import { sequence } from '../../src/checks/repeatable.ts'
import type { World } from '../../src/world.ts'

type Ask = (...args: never[]) => Promise<unknown>

/** A world whose answers come in an order of chance: each waits for a turn of the event loop, some kinds for many. */
export function shuffled(world: World, seed: number): World & { readonly count: () => number } {
  const random = sequence(seed)
  const slow = new Map<string, number>()
  const waiting: { readonly rank: number; readonly go: () => void }[] = []
  let count = 0
  const turn = (): void => {
    waiting.sort((a, b) => a.rank - b.rank)
    for (const { go } of waiting.splice(0, 1 + Math.floor(random() * waiting.length))) go()
    if (waiting.length > 0) setImmediate(turn)
  }
  const late =
    (kindOf: (...args: never[]) => string, ask: Ask) =>
    async (...args: never[]): Promise<unknown> => {
      count++
      const kind = kindOf(...args)
      if (!slow.has(kind)) slow.set(kind, random() * 3)
      await new Promise<void>((go) => {
        waiting.push({ rank: slow.get(kind)! + random(), go })
        if (waiting.length === 1) setImmediate(turn)
      })
      return ask(...args)
    }
  const place = (name: string, type: string): string => `${type} ${name.split('.').slice(-3).join('.')}`
  return {
    ...world,
    resolve: late((name: string, type: string) => place(name, type), world.resolve as Ask) as World['resolve'],
    askServer: late(
      (server: string, name: string, type: string) => `${server} ${place(name, type)}`,
      world.askServer as Ask,
    ) as World['askServer'],
    fetch: late(() => 'page', world.fetch as Ask) as World['fetch'],
    count: () => count,
  }
}
