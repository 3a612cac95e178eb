import fc from 'fast-check'
import { TARGETS, type Target } from './targets.ts'

/**
 * Processor time for one input, ms: less than the 50 that one step of the event loop may take. Larger inputs have no
 * more.
 */
export const BUDGET_MS = 40
/** Size of what is made of an input that is empty, characters of JSON. */
const LEAST_SIZE = 16_384

/** A case that does not hold, with what was found. */
export type Find = { readonly target: string; readonly input: string; readonly problem: string }
export type Fuzzed = {
  readonly target: string
  readonly cases: number
  readonly slowestMs: number
  readonly find?: Find
}

/** Where a search ends, and what its inputs are made from. */
export type Bounds = { readonly cases: number; readonly ms: number; readonly seed: number }

/** The target of that name. Throws where there is none. */
export function targetNamed(name: string): Target {
  const found = TARGETS.find((target) => target.name === name)
  if (!found) throw new Error(`there is no target ${name}: ${TARGETS.map((target) => target.name).join(', ')}`)
  return found
}

/**
 * What is wrong with one input; undefined: nothing. It throws, it takes longer than the budget, or more is made of it
 * than may be. Processor time is measured only where the clock shows more than the budget, and three times, so that a
 * busy machine is no find.
 */
export async function tried(target: Target, input: string): Promise<string | undefined> {
  const budgetMs = BUDGET_MS + ((target.msPerKiB ?? 0) * input.length) / 1_024
  const begun = performance.now()
  const problem = await ran(target, input)
  let ms = performance.now() - begun
  if (problem !== undefined || ms <= budgetMs) return problem
  for (let round = 0; round < 3 && ms > budgetMs; round++) {
    const before = process.cpuUsage()
    await ran(target, input)
    const { user, system } = process.cpuUsage(before)
    ms = Math.min(ms, (user + system) / 1_000)
  }
  return ms > budgetMs ? `it takes ${ms.toFixed(0)} ms` : undefined
}

/** What is wrong with one run of the target beside its time. */
async function ran(target: Target, input: string): Promise<string | undefined> {
  let made: unknown
  try {
    made = target.run(input)
    if (made instanceof Promise) made = await made
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message.slice(0, 200)}`
  }
  const size = sizeOf(made)
  return size > target.growth * input.length + LEAST_SIZE ? `${size} characters are made of ${input.length}` : undefined
}

/** Characters of JSON; the expensive count is spared where the value is plainly small. */
function sizeOf(made: unknown): number {
  if (made === undefined || typeof made === 'number' || typeof made === 'boolean') return 0
  return JSON.stringify(made, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))?.length ?? 0
}

/** Cases between two looks at the clock: a limit of time handed to fast-check costs a timer for each case. */
const BATCH = 200

/**
 * Tries random inputs of one target until `cases` or `ms` is reached; the first find is made as small as it can be. The
 * same seed gives the same inputs.
 */
export async function fuzz(target: Target, { cases, ms, seed }: Bounds): Promise<Fuzzed> {
  let slowestMs = 0
  let tries = 0
  let problem = ''
  const property = fc.asyncProperty(target.input, async (input) => {
    const begun = performance.now()
    const found = await tried(target, input)
    slowestMs = Math.max(slowestMs, performance.now() - begun)
    tries++
    if (found !== undefined) problem = found
    return found === undefined
  })
  const untilMs = performance.now() + ms
  for (let batch = 0; tries < cases && performance.now() < untilMs; batch++) {
    const numRuns = Math.min(BATCH, cases - tries)
    const result = await fc.check(property, { numRuns, seed: (seed + Math.imul(batch, 0x9e3779b1)) | 0 })
    const [input] = result.counterexample ?? []
    if (result.failed && input !== undefined)
      return { target: target.name, cases: tries, slowestMs, find: { target: target.name, input, problem } }
  }
  return { target: target.name, cases: tries, slowestMs }
}
