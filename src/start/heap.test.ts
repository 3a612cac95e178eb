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

/** Takes all file descriptors until the first look at the memory has passed, 2 s after the start. */
const WITHOUT_DESCRIPTORS = `
const { openSync, closeSync } = await import('node:fs')
const { keepHeapSmall } = await import(process.argv[1])
keepHeapSmall()
const taken = []
const take = () => { try { for (;;) taken.push(openSync('/dev/null')) } catch {} }
take()
await new Promise((resolve) => setTimeout(resolve, 2_500))
for (const one of taken) closeSync(one)
console.log('goes on')`

it('a process without a file descriptor left goes on', () => {
  const heap = join(import.meta.dirname, 'heap.ts')
  const words = [
    '-c',
    'ulimit -n 64; exec "$@"',
    'sh',
    process.execPath,
    '--input-type=module',
    '-e',
    WITHOUT_DESCRIPTORS,
  ]
  const text = execFileSync('sh', [...words, heap], { encoding: 'utf8', timeout: 30_000 })
  expect(text).toBe('goes on\n')
})
