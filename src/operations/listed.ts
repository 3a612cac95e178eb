import { setImmediate } from 'node:timers/promises'
import type { Operation } from './operation.ts'

/** The properties of an operation that a server needs before its first request. */
export const ROUTE_FACTS = [
  'name',
  'method',
  'path',
  'summary',
  'scope',
  'open',
  'isPage',
  'embeddable',
  'ignoresBody',
  'headers',
  'forPeers',
  'uploads',
  'bodyLimit',
] as const satisfies readonly (keyof Operation)[]

/** What adapters know of an operation without its code. */
export type RouteFacts = Pick<Operation, (typeof ROUTE_FACTS)[number]> & {
  /** Its file in this folder. */
  readonly module: string
}

/** An operation whose code is loaded when it is first needed. */
export type Listed = RouteFacts & { readonly load: () => Promise<Operation> }

/** The operation itself. */
export const loaded = async (one: Operation | Listed): Promise<Operation> => ('load' in one ? one.load() : one)

/** All of them, loaded one after another: an import holds the event loop until its modules are loaded. */
export async function allLoaded(all: readonly (Operation | Listed)[]): Promise<readonly Operation[]> {
  const operations: Operation[] = []
  for (const one of all) {
    if ('load' in one) await setImmediate()
    operations.push(await loaded(one))
  }
  return operations
}
