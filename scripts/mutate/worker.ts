import { join } from 'node:path'
import { createVitest, type TestModule, type TestSpecification } from 'vitest/node'

/** What the worker is told to run: the tests in their order, after `file` was changed. */
type Told = { readonly file: string; readonly tests: readonly string[] }
/**
 * What became of it: the tests that failed first, none where all hold; and the time of each file that ran to its end.
 */
export type Outcome = {
  readonly failed: readonly string[]
  readonly took: readonly (readonly [file: string, ms: number])[]
}

/**
 * `node worker.ts ROOT`: one vitest that stays, so that only what changed is read anew. For each message {@link Told}
 * it runs the tests in their order in one process, ends at the first that fails, and answers {@link Outcome}.
 */
const root = process.argv[2]!
let order: readonly string[] = []
/** The test files that ran to their end; vitest's own state has those of earlier runs, too. */
let ended: TestModule[] = []

class Nearest {
  async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = (spec: TestSpecification): number => order.indexOf(spec.moduleId)
    return [...specs].sort((a, b) => rank(a) - rank(b))
  }
  async shard(specs: TestSpecification[]): Promise<TestSpecification[]> {
    return specs
  }
}

const vitest = await createVitest('test', {
  root,
  watch: false,
  bail: 1,
  isolate: false,
  fileParallelism: false,
  testTimeout: 60_000,
  reporters: [{ onTestModuleEnd: (module) => void ended.push(module) }],
  sequence: { sequencer: Nearest },
})
await vitest.standalone?.()

process.on('message', async ({ file, tests }: Told) => {
  order = tests.map((test) => join(root, test))
  const specs = (await vitest.globTestSpecifications([...order])).filter((spec) => order.includes(spec.moduleId))
  vitest.invalidateFile(join(root, file))
  ended = []
  const { unhandledErrors } = await vitest.runTestSpecifications(specs, false)
  const failed = ended
    .filter((module) => module.state() === 'failed')
    .map(
      (module) => `${module.relativeModuleId}: ${[...module.children.allTests('failed')][0]?.fullName ?? 'as a whole'}`,
    )
  if (unhandledErrors.length > 0)
    failed.push(
      `an error that nobody handled: ${(unhandledErrors[0] as { readonly message?: string }).message ?? 'without words'}`,
    )
  vitest.invalidateFile(join(root, file)) // which is now written back
  const took = ended.map((module) => {
    const { collectDuration, duration } = module.diagnostic()
    return [module.relativeModuleId, collectDuration + duration] as const
  })
  process.send!({ failed, took } satisfies Outcome)
})
process.on('disconnect', () => process.exit())
process.send!('ready')
