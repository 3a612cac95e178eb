import { blacklist } from './blacklist.ts'
import { blacklistBulk } from './blacklist-bulk.ts'
import { blacklists } from './blacklists.ts'
import { check } from './check.ts'
import { dkim } from './dkim.ts'
import { dmarc } from './dmarc.ts'
import { doctor } from './doctor.ts'
import { geo } from './geo.ts'
import { health } from './health.ts'
import type { Operation } from './operation.ts'
import { peerHeartbeat } from './peer-heartbeat.ts'
import { peerRegister } from './peer-register.ts'
import { peers } from './peers.ts'
import { pool, poolReload } from './pool.ts'
import { ready } from './ready.ts'
import { report } from './report.ts'
import { spf } from './spf.ts'
import { verify } from './verify.ts'
import { whatIf } from './what-if.ts'

/** Everything the product can do: one line an operation. HTTP, command line and the OpenAPI document are made from this list. */
export const operations: readonly Operation[] = [
  health,
  ready,
  check,
  whatIf,
  verify,
  blacklist,
  blacklistBulk,
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
  poolReload,
  doctor,
]
