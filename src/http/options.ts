import type { FastifyBaseLogger } from 'fastify'
import type { Execute } from '../operations/execute.ts'
import type { Operation } from '../operations/operation.ts'
import type { Site } from '../pages/page.ts'
import type { ApiKey } from '../store/key-file.ts'
import type { World } from '../world.ts'
import type { CallerRule } from './caller.ts'

export type HttpOptions = CallerRule & {
  readonly operations: readonly Operation[]
  readonly world: World
  readonly execute: Execute
  /** Keys in force at this moment; none: no key is asked for, unless `closed`. */
  readonly keys: () => readonly ApiKey[]
  /** Why nobody is answered at this moment (keys were there and are lost), or undefined. Health is answered all the same. */
  readonly closed?: () => string | undefined
  /** The cluster's secret, where there is one. */
  readonly peerSecret?: string
  /** The origin at which other nodes call this one: their proofs must be made for it. */
  readonly origin: string
  /** Requests a minute for each key or address. */
  readonly ratePerMinute: number
  /** Requests under way at most. */
  readonly maxConcurrency: number
  /** Connections that may be open; 10,000 when left out. */
  readonly maxConnections?: number
  readonly logger: FastifyBaseLogger
  /** True while the service is stopping: every request but health is answered 503. */
  readonly draining: () => boolean
  /** Told of every answer; `path` is that of an operation, or "" for anything else. */
  readonly onAnswer?: (event: { readonly path: string; readonly status: number; readonly ms: number }) => void
  readonly version: string
  /** What `/metrics` answers; without it there is no such path. */
  readonly metrics?: () => Promise<{ readonly contentType: string; readonly text: string }>
  /** The pages for people; without them there is the API alone. */
  readonly site?: Site
  /** False: new work is taken however late the event loop is. */
  readonly refuseWhenLate?: boolean
}
