import { defineConfig } from 'vitest/config'

/** The files of the first half; together they take about as long as all others. */
const FIRST_HALF = [
  'e2e',
  'matrix',
  'report',
  'serve',
  'smtp/smtp',
  'documents',
  'spf-compare',
  'what-if',
  'findings',
  'smtp/hostile',
  'shared-nodes',
  'archetypes',
].map((file) => `test/real/${file}.test.ts`)
const ALL = ['test/real/**/*.test.ts']
const half = process.env.REAL_HALF

/**
 * The tests on real servers; `npm run test:real` runs them inside the test network. One file at a time: the servers are
 * shared. `--half 1` and `--half 2` are all of them in two test networks side by side.
 */
export default defineConfig({
  test: {
    include: half === '1' ? FIRST_HALF : ALL,
    exclude: half === '2' ? FIRST_HALF : [],
    fileParallelism: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
