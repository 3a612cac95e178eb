import type { Resolve } from '../../src/net/dns/resolver.ts'

/**
 * A resolver that answers together all questions that wait together, and counts these waits: how many round trips
 * what is asked costs, whatever the machine's speed.
 */
export function inWaves(resolve: Resolve): { readonly resolve: Resolve; readonly waits: () => number } {
  let waits = 0
  let open: (() => void)[] = []
  const answer = (): void => {
    waits++
    const ready = open
    open = []
    for (const go of ready) go()
  }
  return {
    waits: () => waits,
    resolve: async (name, type, signal, options) => {
      await new Promise<void>((go) => {
        if (open.push(go) === 1) setTimeout(answer, 2)
      })
      return resolve(name, type, signal, options)
    },
  }
}
