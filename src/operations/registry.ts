import { blacklist } from './blacklist.ts'
import { blacklists } from './blacklists.ts'
import { check } from './check.ts'
import { dkim } from './dkim.ts'
import { dmarc } from './dmarc.ts'
import { geo } from './geo.ts'
import { health } from './health.ts'
import type { Operation } from './operation.ts'
import { peerHeartbeat } from './peer-heartbeat.ts'
import { peerRegister } from './peer-register.ts'
import { peers } from './peers.ts'
import { pool } from './pool.ts'
import { ready } from './ready.ts'
import { report } from './report.ts'
import { spf } from './spf.ts'
import { verify } from './verify.ts'

/** Everything the product can do: one line an operation. HTTP, command line and the OpenAPI document are made from this list. */
export const operations: readonly Operation[] = [
  health,
  ready,
  check,
  verify,
  blacklist,
  report,
  peerRegister,
  peers,
  peerHeartbeat,
  geo,
  spf,
  dkim,
  dmarc,
  blacklists,
  pool,
]
