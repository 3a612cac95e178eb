import type { Config } from '../config.ts'
import type { Deps } from '../operations/deps.ts'
import type { Outside } from './world.ts'

/** The rooms that keep state, made once for the life of the process. */
export async function createDeps(_config: Config, _outside: Outside): Promise<Deps> {
  return {}
}
