import { setTimeout as sleep } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import { errorsOf } from '../../src/base/errors.ts'
import type { HeavyKind } from '../../src/lane/heavy.ts'
import type { AnyKind } from '../../src/lane/serve.ts'

/** Work for tests of the lane, most of it bad. */
const labError = errorsOf('lab', {
  bad_report: { unreadable: ({ line }: { line: number }) => `line ${line} cannot be read` },
})
const work = <Input, Result>(
  name: string,
  run: HeavyKind<Input, Result>['work'],
  cpuMs = 1_000,
): HeavyKind<Input, Result> => ({
  ...{ name, work: run, cpuMs: () => cpuMs },
})
const forever = <T>(step: () => T): never => {
  for (;;) step()
}
const kept: unknown[] = []

export const WORK = {
  sum: work('sum', (octets, input: { add: number }) => octets.reduce((sum, one) => sum + one, input.add)),
  pid: work('pid', (_octets, _input: undefined) => process.pid),
  told: work('told', (_octets, _input: undefined) => ({
    env: { ...process.env },
    heapLimit: getHeapStatistics().heap_size_limit,
  })),
  refuse: work('refuse', (_octets, input: { line: number }): never => {
    throw labError('unreadable', input, { parameter: 'body', at: 'records.0' })
  }),
  bug: work('bug', (octets, _input: undefined) => (octets as unknown as { text: { length: number } }).text.length),
  exit: work('exit', (_octets, _input: undefined): void => process.exit(0)),
  loose: work('loose', async (_octets, _input: undefined) => {
    void Promise.reject(new Error('nobody waits for it'))
    await sleep(60_000)
  }),
  unclonable: work('unclonable', (_octets, _input: undefined): unknown => () => {}),
  large: work('large', (_octets, _input: undefined) => 'x'.repeat(40 * 1_048_576)),
  spin: work('spin', (_octets, input: { ms: number }) => {
    const end = performance.now() + input.ms
    while (performance.now() < end);
  }),
  wait: work('wait', (_octets, _input: undefined) => sleep(60_000), 20),
  rows: work('rows', async (_octets, input: { batches: number; octets: number }, { emit }) => {
    for (let n = 0; n < input.batches; n++) await emit(new Uint8Array(input.octets).fill(n % 256))
    return input.batches
  }),
  held: work(
    'held',
    async (_octets, _input: undefined, { emit }) => {
      await emit(Buffer.from(`${process.pid}`))
      forever(() => 0)
    },
    60_000,
  ),
  loop: work('loop', (_octets, _input: undefined) => forever(() => 0), 100),
  expression: work('expression', (_octets, _input: undefined) => /^(?:a+)+$/.test(`${'a'.repeat(60)}b`), 100),
  native: work(
    'native',
    (_octets, _input: undefined) => forever(() => brotliDecompressSync(brotliCompressSync(new Uint8Array(1e7)))),
    100,
  ),
  array: work('array', (_octets, _input: undefined) => forever(() => kept.push(0.5)), 60_000),
  map: work('map', (_octets, _input: undefined) => forever(map()), 60_000),
  objects: work('objects', (_octets, _input: undefined) => forever(() => kept.push({ at: [kept.length] })), 60_000),
  text: work(
    'text',
    (_octets, _input: undefined) => forever(() => kept.push(Buffer.alloc(2e7, 'x').toString('latin1'))),
    60_000,
  ),
}

function map(): () => void {
  const all = new Map<number, number>()
  return () => void all.set(all.size, 0)
}

export const LAB_KINDS: readonly AnyKind[] = Object.values(WORK)
