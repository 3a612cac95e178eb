import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** Everything that needs no root. The real servers have `vitest.real.config.ts`. */
export default defineConfig({
  resolve: {
    // The examples name the package as its users do.
    alias: [
      { find: /^mailsonde$/, replacement: `${import.meta.dirname}/src/library.ts` },
      { find: /^mailsonde\/client$/, replacement: `${import.meta.dirname}/src/client/client.ts` },
    ],
  },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    exclude: ['test/real/**', 'node_modules/**'],
    // Many tests wait for sockets and processes: two files at a time even where vitest would take one (two processors).
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 20_000,
    hookTimeout: 30_000, // the first file that needs it starts the database
    setupFiles: ['test/no-internet.ts'],
    globalSetup: ['test/client-types.ts', 'test/skipped-corpora.ts', 'test/database-server.ts'],
  },
})
