import { health } from './health.ts'
import type { Operation } from './operation.ts'

/** Everything the product can do: one line an operation. HTTP, command line and the OpenAPI document are made from this list. */
export const operations: readonly Operation[] = [health]
