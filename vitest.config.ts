import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/**
 * Files of tests that share their processes: they read and judge in memory, and keep nothing that another file could see. A
 * process for each file takes longer than most of them.
 */
const SHARING = [
  'src/{answers,base,checks,dnsbl,documents,geo,mailhosts,message,names,plan,profiles,providers,score}/**/*.test.ts',
  'src/{cli/machine,mailbox/reply,mailbox/side-data,monitors/changes,monitors/notify,reports}/**/*.test.ts',
  'test/golden/**/*.test.ts',
]
const REAL = ['test/real/**', 'node_modules/**']
// Many tests wait for sockets and processes: three files at a time even where vitest would take one (two processors).
const maxWorkers = Math.max(3, availableParallelism() - 1)
const common = {
  maxWorkers,
  testTimeout: 60_000, // of the longest on a machine that is busy with other things
  hookTimeout: 30_000, // the first file that needs it starts the database
  setupFiles: ['test/no-internet.ts'],
}

/** Everything that needs no root. The real servers have `vitest.real.config.ts`. */
export default defineConfig({
  test: {
    maxWorkers,
    projects: [
      {
        test: { ...common, name: 'sharing', include: SHARING, isolate: false, globalSetup: ['test/client-types.ts'] },
      },
      {
        resolve: {
          // The examples name the package as its users do.
          alias: [
            { find: /^mailsonde$/, replacement: `${import.meta.dirname}/src/library.ts` },
            { find: /^mailsonde\/client$/, replacement: `${import.meta.dirname}/src/client/client.ts` },
          ],
        },
        test: {
          ...common,
          name: 'alone',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: [...REAL, ...SHARING],
          globalSetup: ['test/client-types.ts', 'test/skipped-corpora.ts', 'test/database-server.ts'],
        },
      },
    ],
  },
})
