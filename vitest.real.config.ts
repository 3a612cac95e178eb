import { defineConfig } from 'vitest/config'

/** The tests on real servers; `npm run test:real` runs them inside the mini internet. One file at a time: the servers are shared. */
export default defineConfig({
  test: {
    include: ['test/real/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
