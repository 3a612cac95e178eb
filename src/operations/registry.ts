import { blacklist } from './blacklist.ts'
import { blacklists } from './blacklists.ts'
import { check } from './check.ts'
import { dkim } from './dkim.ts'
import { dmarc } from './dmarc.ts'
import { health } from './health.ts'
import type { Operation } from './operation.ts'
import { pool } from './pool.ts'
import { report } from './report.ts'
import { spf } from './spf.ts'
import { verify } from './verify.ts'

/** Everything the product can do: one line an operation. HTTP, command line and the OpenAPI document are made from this list. */
export const operations: readonly Operation[] = [
  health,
  check,
  verify,
  blacklist,
  report,
  spf,
  dkim,
  dmarc,
  blacklists,
  pool,
]
