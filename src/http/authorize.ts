import type { FastifyRequest } from 'fastify'
import type { AppError } from '../base/errors.ts'
import type { Problem } from '../base/problem.ts'
import { networkOf } from '../names/cidr.ts'
import { familyOf, parseIp } from '../names/ip.ts'
import type { Caller, Operation } from '../operations/operation.ts'
import { proofProblem } from '../peers/problems.ts'
import { nonceMemory, parseProof, refuteProof, SCHEME } from '../peers/proof.ts'
import type { ApiKey } from '../store/key-file.ts'
import { allows, findKey, OWNER, presentedKey, refusal } from './caller.ts'
import type { HttpOptions } from './options.ts'
import { callerError } from './problems.ts'
import type { Sessions } from './sessions.ts'

/** The caller as the rate counts it (a key, a node, an address), and its permissions. */
export type Auth = {
  readonly by: string
  readonly caller?: Caller
  readonly refused?: AppError
  /** The key of the request, or of the session. */
  readonly key?: ApiKey
  /** The cookie of a session stands for the key: changes also need the token of the session. */
  readonly bySession?: true
}
type Asked = Pick<Operation, 'scope' | 'forPeers' | 'open'>
export type Authorize = (operation: Asked, request: FastifyRequest) => Auth

/** Whether a request has a node's proof, which is verified once the body is read. */
export const bringsProof = (request: FastifyRequest): boolean =>
  request.headers.authorization?.startsWith(`${SCHEME} `) === true

/**
 * The rule of docs/operations.md: the owner of the data folder over its socket; otherwise a node's proof; otherwise a
 * key of the scope; otherwise, while no key is in force, the callers that may use this host.
 */
export function authorizer(options: HttpOptions, sessions: Pick<Sessions, 'keyOf'>): Authorize {
  const seen = nonceMemory(options.world.now)
  const startedMs = options.world.now()
  return (operation, request) => {
    const by = callerAddress(request.client.address)
    if (request.client.isOwner) return { by: OWNER.address, caller: { isAdmin: true } }
    if (options.closed?.() !== undefined) return { by, refused: closedError() }
    if (bringsProof(request)) return byProof(operation, options, request, { by, seen, startedMs })
    const keys = options.keys()
    if (keys.length === 0) return withoutKeys(operation, options, request, by)
    const presented = presentedKey(request.headers)
    const ofSession = presented === undefined ? sessions.keyOf(request) : undefined
    if (presented === undefined && !ofSession && operation.open) return { by, caller: { isAdmin: false } }
    if (presented === undefined && !ofSession) return { by, refused: callerError('no_key') }
    const key = ofSession ?? findKey(keys, presented ?? '', options.world.now())
    if (!key) return { by, refused: callerError('unknown_key') }
    const mayNot = {
      ...(!allows(key, 'verify') && { mayVerify: false as const }),
      ...(!allows(key, 'reports') && { maySeeReports: false as const }),
      ...(key.domains && { domains: key.domains }),
    }
    const caller = { key: key.id, isAdmin: allows(key, 'admin'), ...mayNot }
    const known = { by: `key ${key.id}`, caller, key, ...(ofSession && { bySession: true as const }) }
    if (operation.open || operation.scope === undefined || allows(key, operation.scope)) return known
    return { ...known, refused: callerError('scope', { scope: operation.scope, has: key.scopes.join(',') }) }
  }
}

/** The message to callers of a closed service; the reason is for the operator, and in the log. */
export const closedError = (): AppError => callerError('closed')

/** An address as the rate counts it: IPv6 by its /64, because one caller has all of it. */
export function callerAddress(text: string): string {
  const address = parseIp(text)
  if (!address.ok) return `address ${text}`
  return `address ${familyOf(address.value) === 6 ? networkOf(address.value, 64) : address.value}`
}

type Memory = { readonly by: string; readonly seen: (nonce: string) => boolean; readonly startedMs: number }

function byProof(
  operation: Parameters<Authorize>[0],
  { peerSecret: secret, origin, world }: HttpOptions,
  request: FastifyRequest,
  { by, seen, startedMs }: Memory,
): Auth {
  const refuse = (why: Problem): Auth => ({ by, refused: callerError('proof', { why }) })
  if (secret === undefined) return refuse(proofProblem('no_secret'))
  const proof = parseProof(request.headers.authorization ?? '')
  if (!proof) return refuse(proofProblem('malformed'))
  const call = { method: request.method, origin, path: request.url, body: request.rawBody }
  const why = refuteProof(proof, call, { secret, nowMs: world.now(), notBeforeMs: startedMs, seen })
  if (why !== undefined) return refuse(why)
  const auth = { by: `node ${proof.id}`, caller: { peer: proof.id, isAdmin: false } }
  if (operation.forPeers || operation.scope === 'read' || operation.scope === 'verify') return auth
  return { ...auth, refused: callerError('not_for_nodes') }
}

function withoutKeys(
  operation: Parameters<Authorize>[0],
  options: HttpOptions,
  request: FastifyRequest,
  by: string,
): Auth {
  const { host, origin } = request.headers
  const why = refusal(options, { host, origin, localAddress: request.socket.localAddress })
  if (why) return { by, refused: callerError(why) }
  const { isHere } = request.client
  const caller = { isAdmin: true, ...(!isHere && { isRemote: true as const }) }
  if (!operation.forPeers) return { by, caller }
  if (options.peerSecret !== undefined) return { by, refused: callerError('no_proof') }
  if (isHere) return { by, caller }
  return { by, refused: callerError('not_local') }
}
