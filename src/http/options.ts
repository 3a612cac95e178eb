import type { FastifyBaseLogger } from 'fastify'
import type { Execute } from '../operations/execute.ts'
import type { Operation } from '../operations/operation.ts'
import type { Site } from '../pages/page.ts'
import type { ApiKey } from '../store/key-file.ts'
import type { World } from '../world.ts'
import type { CallerRule, TrustedProxies } from './caller.ts'

export type HttpOptions = CallerRule & {
  readonly operations: readonly Operation[]
  readonly world: World
  readonly execute: Execute
  /** The keys in force at present; none: no key is required, unless `closed`. */
  readonly keys: () => readonly ApiKey[]
  /**
   * Why no request is answered at present (keys existed and are lost), or undefined. Health is answered nevertheless.
   */
  readonly closed?: () => string | undefined
  /** The secret of the cluster, if there is one. */
  readonly peerSecret?: string
  /** The origin at which other nodes call this one: their proofs must name it. */
  readonly origin: string
  /** Requests per minute for each key or address. */
  readonly ratePerMinute: number
  /** Maximum number of requests in progress. */
  readonly maxConcurrency: number
  /** Where bodies that are read as a whole are received, and their maximum size, octets. */
  readonly spool: { readonly folder: string; readonly maxOctets: number }
  /** Maximum number of open connections; default 10,000. */
  readonly maxConnections?: number
  /** The proxies whose word about their callers counts; none by default. */
  readonly trustedProxies?: TrustedProxies
  readonly logger: FastifyBaseLogger
  /** True while the service stops: every request except health gets 503. */
  readonly draining: () => boolean
  /** Called with every answer; `path` is that of an operation, or "" for anything else. */
  readonly onAnswer?: (event: { readonly path: string; readonly status: number; readonly ms: number }) => void
  readonly version: string
  /** The text of `/metrics`; without it the path does not exist. */
  readonly metrics?: () => Promise<{ readonly contentType: string; readonly text: string }>
  /** The pages for people; without them there is only the API. */
  readonly site?: Site
  /** False: new requests are accepted even if the event loop is late. */
  readonly refuseWhenLate?: boolean
}
