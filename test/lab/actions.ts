import type { Actions } from '../../src/cli/program.ts'

const unused = async (): Promise<number> => 70

/**
 * What the command line does, where a test or a document only wants to see what it is given: everything but `parts`
 * ends with 70.
 */
export const labActions = (parts: Partial<Actions> = {}): Actions => ({
  serve: unused,
  config: unused,
  mcp: unused,
  operate: unused,
  keys: unused,
  list: unused,
  db: unused,
  ...parts,
})
