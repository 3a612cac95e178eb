import { globSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

/** Seconds that the longest files take on two processors; a file without a row takes some ten. */
const SECONDS: Readonly<Record<string, number>> = {
  e2e: 174,
  'chaos/jobs-chaos': 80,
  pages: 75,
  'page-states': 60,
  monitors: 53,
  'smtp/hostile': 50,
  reports: 45,
  'shared-nodes': 43,
  matrix: 42,
  'page-looks': 34,
  limits: 33,
  faults: 32,
  jobs: 29,
  archetypes: 29,
  report: 29,
  nodes: 28,
  'chaos/private-chaos': 26,
  'smtp/smtp': 21,
  serve: 21,
  package: 21,
}
const secondsOf = (file: string): number => SECONDS[file.replace(/^test\/real\/|\.test\.ts$/g, '')] ?? 10

/** All files in two parts that take about as long: the longest first, each to the part that has less. */
function halves(): Readonly<Record<string, readonly string[]>> {
  const files = globSync('test/real/**/*.test.ts', { cwd: import.meta.dirname })
  const parts = [1, 2].map((half) => ({ half, seconds: 0, files: [] as string[] }))
  for (const file of files.sort((a, b) => secondsOf(b) - secondsOf(a) || (a < b ? -1 : 1))) {
    const part = parts[0]!.seconds <= parts[1]!.seconds ? parts[0]! : parts[1]!
    part.files.push(file)
    part.seconds += secondsOf(file)
  }
  return Object.fromEntries(parts.map(({ half, files }) => [half, files]))
}

const half = process.env.REAL_HALF

/**
 * The tests on real servers; `npm run test:real` runs them inside the test network. One file at a time: the servers are
 * shared. `--half 1` and `--half 2` are all of them in two test networks side by side.
 */
export default defineConfig({
  test: {
    include: [...(half === undefined ? ['test/real/**/*.test.ts'] : (halves()[half] ?? []))],
    fileParallelism: false,
    maxConcurrency: 10, // of tests that wait, in a file
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
