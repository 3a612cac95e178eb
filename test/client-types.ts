import { execFileSync } from 'node:child_process'

/** Before all tests: the types of the client, which are not in the tree. */
export const setup = (): void =>
  void execFileSync(process.execPath, [`${import.meta.dirname}/../scripts/client.ts`], { stdio: 'inherit' })
