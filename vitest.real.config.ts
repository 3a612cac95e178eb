import { globSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

/** Seconds that the longest files take on two processors; a file without a row takes some six. */
const SECONDS: Readonly<Record<string, number>> = {
  pages: 88,
  'chaos/jobs-chaos': 72,
  'page-states': 69,
  e2e: 60,
  'page-looks': 56,
  archetypes: 55,
  'smtp/hostile': 45,
  reports: 44,
  monitors: 42,
  limits: 41,
  'shared-nodes': 40,
  matrix: 38,
  faults: 36,
  report: 32,
  nodes: 27,
  jobs: 25,
  'chaos/private-chaos': 24,
  'smtp/smtp': 21,
  'chaos/pooled': 20,
  serve: 18,
  package: 16,
  'hostile-pages': 16,
  'hardening-findings': 12,
  portfolio: 12,
  'dns/dns': 12,
  messages: 11,
}
const secondsOf = (file: string): number => SECONDS[file.replace(/^test\/real\/|\.test\.ts$/g, '')] ?? 6

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
