import { globSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

/** Seconds that the longest files take on two processors; a file without a row takes some ten. */
const SECONDS: Readonly<Record<string, number>> = {
  'page-states': 90,
  pages: 86,
  e2e: 80,
  'chaos/jobs-chaos': 76,
  limits: 60,
  nodes: 55,
  reports: 54,
  'smtp/hostile': 49,
  'page-looks': 44,
  'shared-nodes': 41,
  archetypes: 40,
  monitors: 37,
  matrix: 36,
  package: 35,
  report: 31,
  faults: 26,
  jobs: 26,
  'chaos/private-chaos': 26,
  'smtp/smtp': 21,
  'hardening-findings': 20,
  serve: 19,
  'chaos/pooled': 15,
  digest: 15,
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
