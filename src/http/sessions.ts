import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ttlCache } from '../base/ttl-cache.ts'
import { type ApiKey, hashKey } from '../store/key-file.ts'
import { findKey, parseHostField } from './caller.ts'
import { callerError } from './problems.ts'

/** How long an unused session lasts, ms. */
const LIFETIME_MS = 12 * 3_600_000
/** Maximum number of sessions; the least recently used one ends first. */
const MAX_SESSIONS = 10_000

/** Maximum number of sessions of a key; its least recently used one ends first, and none of another key. */
const MAX_OF_KEY = 100

const NAME = 'mailsonde_session'
const SECURE_NAME = `__Host-${NAME}` // a browser accepts it only with Secure, Path=/ and no Domain
const ID = /^[\w-]{22}$/

type Request = Pick<FastifyRequest, 'headers' | 'method'> & Partial<Pick<FastifyRequest, 'client'>>
type Reply = Pick<FastifyReply, 'header'>

/** Sessions of browsers: a cookie in place of a key, and the token for changes. They end with the process. */
export type Sessions = ReturnType<typeof sessionsOf>
/** A session: the id of its key and the hash of the key. */
type Session = { readonly key: string; readonly hash: string }

/** `keys` are those in force. Of a session the hash of its id is stored, of its key the id and the hash. */
export function sessionsOf(options: {
  readonly keys: () => readonly ApiKey[]
  readonly now: () => number
  readonly monotonic: () => number
  readonly maxSessions?: number
}) {
  const secret = randomBytes(32)
  const known = sessionMemory(options.monotonic, options.maxSessions)
  const tokenOf = (id: string): string => createHmac('sha256', secret).update(id).digest('base64url')

  function give(request: Request, reply: Reply, id: string, maxAgeS?: number): void {
    const isSecure = isHttps(request)
    const life = maxAgeS === undefined ? '' : `; Max-Age=${maxAgeS}`
    const cookie = `${isSecure ? SECURE_NAME : NAME}=${id}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}${life}`
    void reply.header('set-cookie', cookie)
  }

  return {
    /** The key of the session of a request, as long as that key is in force. */
    keyOf: (request: Request): ApiKey | undefined => {
      const id = idOf(request)
      if (id === undefined) return undefined
      const session = known.use(hashKey(id))
      const key = session && options.keys().find((one) => one.id === session.key && one.hash === session.hash)
      if (!key || (key.expires_at !== undefined && Date.parse(key.expires_at) <= options.now())) return undefined
      return key
    },
    /** The token for the forms of this visitor; a visitor without a cookie gets one. */
    tokenFor: (request: Request, reply: Reply): string => {
      const id = idOf(request) ?? newId()
      if (idOf(request) === undefined) give(request, reply, id)
      return tokenOf(id)
    },
    /**
     * Throws AppError `forbidden` unless the token belongs to the visitor's cookie and the browser states that this
     * site has made the request (`Sec-Fetch-Site`, or `Origin` if it does not support that field).
     */
    refuseForged: (request: Request, token: string | undefined): void => {
      const id = idOf(request)
      if (id === undefined || token === undefined || !equal(token, tokenOf(id)) || !isOwnSite(request))
        throw callerError('forged')
    },
    /** Starts a session with a new id and a key that was entered; false: no such key is in force. */
    begin: (request: Request, reply: Reply, presented: string): boolean => {
      const key = findKey(options.keys(), presented, options.now())
      if (!key) return false
      const id = newId() // never one that existed before the login
      known.store(hashKey(id), { key: key.id, hash: key.hash })
      give(request, reply, id)
      return true
    },
    end: (request: Request, reply: Reply): void => {
      const id = idOf(request)
      if (id !== undefined) known.drop(hashKey(id))
      give(request, reply, 'ended', 0)
    },
    size: known.size,
  }
}

/** Sessions by the hash of their id, each as long as it is used. */
function sessionMemory(monotonic: () => number, maxEntries = MAX_SESSIONS) {
  const known = ttlCache<Session>({ maxEntries, now: monotonic })
  /** The hashes of each key, the least recently used first. */
  const ofKey = new Map<string, Set<string>>()
  function store(hash: string, session: Session): void {
    const own = ofKey.get(session.key) ?? new Set()
    ofKey.set(session.key, own)
    own.delete(hash)
    own.add(hash)
    known.set(hash, session, LIFETIME_MS)
    const [oldest] = own
    if (oldest !== undefined && own.size > MAX_OF_KEY) drop(oldest, session.key)
  }
  /** The hash of a session that has expired stays in the set of its key, which is bounded, until it is its oldest. */
  function drop(hash: string, key = known.get(hash)?.value.key): void {
    known.delete(hash)
    const own = key === undefined ? undefined : ofKey.get(key)
    if (key !== undefined && own?.delete(hash) && own.size === 0) ofKey.delete(key)
  }
  return {
    /** The session, which is renewed. */
    use: (hash: string): Session | undefined => {
      const session = known.get(hash)?.value
      if (session) store(hash, session)
      return session
    },
    store,
    drop,
    size: known.size,
  }
}

const newId = (): string => randomBytes(16).toString('base64url')

function equal(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)]
  return x.length === y.length && timingSafeEqual(x, y)
}

/** The id in the cookie of a request; the cookie that only HTTPS can set comes first. */
function idOf({ headers }: Request): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  for (const name of [SECURE_NAME, NAME]) {
    const id = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
    if (id !== undefined && ID.test(id)) return id
  }
  return undefined
}

/**
 * Whether the browser uses HTTPS, with a proxy before us: a trusted one says so, or the browser by `Origin`. A false
 * claim leads to a cookie that the client cannot use.
 */
const isHttps = ({ headers, client }: Request): boolean =>
  client?.isHttps === true || headers.origin?.startsWith('https://') === true

function isOwnSite({ headers }: Request): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin, host } = headers
  const own = parseHostField(host ?? '')
  return (
    origin !== undefined && own !== undefined && URL.canParse(origin) && parseHostField(new URL(origin).host) === own
  )
}
