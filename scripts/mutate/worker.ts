import { join } from 'node:path'
import { createVitest, type TestModule, type TestSpecification } from 'vitest/node'

/** What the worker is told to run: the tests in their order, after `file` was changed. */
type Told = { readonly file: string; readonly tests: readonly string[] }
/** The first test file that failed, and which of its tests. */
export type Outcome = { readonly test: string; readonly problem: string }

/**
 * `node worker.ts ROOT`: one vitest that stays, so that only what changed is read anew. For each message {@link Told}
 * it runs the tests in their order in one process, ends at the first that fails, and answers with its {@link Outcome},
 * if any.
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
  testTimeout: 240_000,
  hookTimeout: 240_000,
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
  vitest.invalidateFile(join(root, file)) // which may now be written back
  const failed = ended.find((module) => module.state() === 'failed')
  const [error] = unhandledErrors as readonly { readonly message?: string }[]
  const problem = error
    ? `nobody handled: ${error.message}`
    : [...(failed?.children.allTests('failed') ?? [])][0]?.fullName
  const test = (failed ?? ended.at(-1))?.relativeModuleId ?? tests[0]!
  process.send!(failed || error ? { outcome: { test, problem: problem ?? 'as a whole' } satisfies Outcome } : {})
})
process.on('disconnect', () => process.exit())
process.send!('ready')
