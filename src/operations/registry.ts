import { blacklist } from './blacklist.ts'
import { blacklists } from './blacklists.ts'
import { check } from './check.ts'
import { dmarc } from './dmarc.ts'
import { health } from './health.ts'
import type { Operation } from './operation.ts'
import { spf } from './spf.ts'

/** Everything the product can do: one line an operation. HTTP, command line and the OpenAPI document are made from this list. */
export const operations: readonly Operation[] = [health, check, blacklist, spf, dmarc, blacklists]
