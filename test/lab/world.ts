import { REPOSITORIES, type Store, StoreError } from '../../src/store/contract.ts'
import { memoryStore } from '../../src/store/files/files-store.ts'
import type { Ctx, Log, World } from '../../src/world.ts'
import { type LabZone, labDns } from './dns.ts'
import { heavyHere } from './heavy.ts'
import { labProblem } from './problem.ts'

const unfaked = (part: string) => (): never => {
  throw new Error(`the lab has no ${part}: fake it in this test`)
}
const quiet: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** A store that remembers in memory. */
export const labStore = memoryStore

/** A store whose disk is broken. */
export function failingStore(): Store {
  const fail = async (): Promise<never> =>
    Promise.reject(new StoreError('unavailable', labProblem('the disk of the lab is broken')))
  const broken = { get: fail, list: fail, put: fail, putAll: fail, add: fail, delete: fail }
  return Object.fromEntries(Object.keys(REPOSITORIES).map((name) => [name, broken])) as unknown as Store
}

/**
 * A world of data: DNS from `zone`; everything else throws unless given in `parts`. The clocks stand at
 * 2026-01-02T03:04:05Z, or go with `now`; `random` gives 0.5.
 */
export function labWorld(zone: LabZone = {}, parts: Partial<World> = {}): World & { readonly asked: string[] } {
  const { resolve, asked } = labDns(zone)
  const now = parts.now ?? (() => Date.UTC(2026, 0, 2, 3, 4, 5))
  return {
    resolve,
    askServer: unfaked('askServer'),
    dial: unfaked('dial'),
    fetch: unfaked('fetch'),
    store: labStore(),
    heavy: heavyHere,
    now,
    monotonic: now,
    random: () => 0.5,
    log: quiet,
    ...parts,
    asked,
  }
}

export const labCtx = (zone: LabZone = {}, parts: Partial<World> = {}): Ctx & { readonly asked: string[] } => ({
  ...labWorld(zone, parts),
  signal: AbortSignal.timeout(10_000),
})
