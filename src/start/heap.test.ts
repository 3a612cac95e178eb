import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/**
 * Prints the size of the young generation, in MiB: once it is set up, after the collection of an idle program, and when
 * the program allocates again.
 */
const SCRIPT = `
const { keepHeapSmall } = await import(process.argv[1])
const { getHeapSpaceStatistics } = await import('node:v8')
const sizes = []
const note = () => sizes.push(getHeapSpaceStatistics().find((one) => one.space_name === 'new_space').space_size / 2 ** 20)
const turn = () => new Promise((resolve) => setTimeout(resolve, 1))
keepHeapSmall()
note()
gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
note()
await turn()
for (let i = 0, alive = []; i < 200; i++) {
  alive = [...alive.slice(-50), Array.from({ length: 1_000 }, () => ({ at: [0] }))]
  if (i % 10 === 9) await turn()
}
note()
console.log(JSON.stringify(sizes))`

it('the young generation has its size at the start, and again after V8 has shrunk it', () => {
  const heap = join(import.meta.dirname, 'heap.ts')
  const text = execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', SCRIPT, heap], {
    encoding: 'utf8',
    timeout: 30_000,
  })
  const [first, shrunk, later] = JSON.parse(text) as readonly number[]
  expect([first, later]).toEqual([16, 16])
  expect(shrunk).toBeLessThan(4)
})
