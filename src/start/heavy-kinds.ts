import type { AnyKind } from '../lane/serve.ts'

/** All work of the lane, one line each. */
export const KINDS: readonly AnyKind[] = []
