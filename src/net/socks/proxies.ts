import { connect as connectTcp, type Socket } from 'node:net'
import { raced, within } from '../../base/deadline.ts'
import type { Problem } from '../../base/problem.ts'
import { sharedWork } from '../../base/share-work.ts'
import { ttlCache } from '../../base/ttl-cache.ts'
import { type Ip, ip, parseIp } from '../../names/ip.ts'
import { isPublic } from '../../names/ip-range.ts'
import type { ProxyName, SocksProxy } from '../../names/source.ts'
import { DnsError, type Resolve } from '../dns/resolver.ts'
import { dialProblem, proxyFault, proxyProblem } from '../problems.ts'
import { addressLiteral } from '../smtp/commands.ts'
import { type Connection, DialError, type DialReason, stoppedError, type Target } from '../smtp/dial.ts'
import { openSession } from '../smtp/session.ts'

/**
 * The exit address of connections, and its source: this machine (its own), a mail host, the proxy, or an assumption
 * (the proxy's own address).
 */
export type Exit = { readonly address: Ip; readonly by: 'machine' | 'mail_host' | 'proxy' | 'assumed' }

/**
 * What is known about a proxy. `lie`: why it is not used any more; `problem`: why it could not be used or its exit
 * address could not be determined.
 */
export type ProxyState = { readonly exit?: Exit; readonly lie?: string; readonly problem?: string }

export type Proxies = ReturnType<typeof proxies>

type ProxiesOptions = {
  readonly resolve: Resolve
  readonly now: () => number
  /** Mail hosts that name the address of the client in their reply to EHLO. */
  readonly echoHosts: readonly string[]
  readonly port: number
  /** The connection over a socket, for the greeting of an echo host. */
  readonly connectionOver: (socket: Socket, signal: AbortSignal, seenAs: Ip) => Connection
}

/** Time that a detected outgoing address, and a failed detection, are cached, ms. */
const KEPT_MS = 3_600_000
const UNKNOWN_MS = 300_000
/** Time limit for one echo host and for the address that nobody has, ms. */
const ASK_MS = 5_000
const EXAMINE_MS = 20_000
/** Proxies that are remembered: a pool has no more. */
const MAX_PROXIES = 1_024
/**
 * A documentation address, which no mail host has (RFC 5737 §3): a proxy that claims to reach it answers for others.
 */
const NOBODY = ip('192.0.2.1')

export function proxies(options: ProxiesOptions) {
  const { now } = options
  let all: ReadonlyMap<ProxyName, SocksProxy> = new Map()
  async function open(proxy: SocksProxy, target: Target, signal: AbortSignal): Promise<Proxied> {
    return connectBySocks(proxy, await addressOfProxy(options.resolve, proxy, signal), target, signal)
  }

  const exits = examined(now, (proxy, signal) => findExit(options, open, proxy, signal))
  const liars = examined(now, (proxy, signal) => claimsNobody(open, proxy, options.port, signal))

  /** What was determined within the last hour; no query is sent. */
  const known = (name: ProxyName): ProxyState => {
    if (!all.has(name)) return { problem: 'it is not in the pool' }
    const exit = exits.known(name)
    return {
      ...(exit?.value && { exit: exit.value }),
      ...(exit && !exit.value && { problem: UNKNOWN.text }),
      ...(liars.known(name)?.value && { lie: LIES.text }),
    }
  }
  const proxyNamed = (name: ProxyName): SocksProxy => {
    const proxy = all.get(name)
    if (!proxy) throw proxyError(name, proxyProblem('not_in_pool'))
    return proxy
  }
  return {
    use: (list: readonly SocksProxy[]): void => {
      all = new Map(list.map((proxy) => [proxy.name, proxy]))
      for (const one of [exits, liars]) one.keep((name) => all.has(name))
    },
    /**
     * Connects through a proxy. Rejects with {@link DialError}: `proxy_failed` also if its exit address is not known,
     * or if it makes false claims.
     */
    connect: async (
      name: ProxyName,
      target: Target,
      signal: AbortSignal,
    ): Promise<{ readonly socket: Socket; readonly localAddress: Ip }> => {
      const proxy = proxyNamed(name)
      // Whether it makes false claims is tested together with the first questions, which do not wait for it.
      void liars.of(proxy, within(EXAMINE_MS)).catch(() => {})
      if (liars.known(name)?.value) throw unusable(name, LIES)
      const exit = await exitWithin(name, exits.of(proxy, within(EXAMINE_MS)), signal)
      if (exit === undefined) throw unusable(name, UNKNOWN)
      const { socket } = await open(proxy, target, signal)
      return { socket, localAddress: exit.address }
    },
    known,
    /**
     * Determines the exit address, and whether the proxy claims to reach an address that nobody has. Rejects only with
     * the signal's reason.
     */
    examine: async (name: ProxyName, signal: AbortSignal): Promise<ProxyState> => {
      const proxy = all.get(name)
      if (!proxy) return known(name)
      try {
        await Promise.all([exits.of(proxy, signal), liars.of(proxy, signal)])
      } catch (error) {
        if (!(error instanceof DialError)) throw error
        return { ...known(name), problem: error.message }
      }
      return known(name)
    },
    /** All proxies in use. */
    names: () => [...all.keys()],
  }
}

/** What was found out about proxies, each once at a time; it counts for an hour, and what is not known for less. */
function examined<T>(now: () => number, find: (proxy: SocksProxy, signal: AbortSignal) => Promise<T>) {
  const values = ttlCache<{ readonly value: T }>({ maxEntries: MAX_PROXIES, now })
  const finding = sharedWork<T>({ longestMs: EXAMINE_MS })
  const known = (name: ProxyName): { readonly value: T } | undefined => values.get(name)?.value
  const found = async (proxy: SocksProxy, signal: AbortSignal): Promise<T> => {
    const value = await find(proxy, signal)
    values.set(proxy.name, { value }, value === undefined ? UNKNOWN_MS : KEPT_MS)
    return value
  }
  return {
    known,
    of: async (proxy: SocksProxy, signal: AbortSignal): Promise<T> => {
      const kept = known(proxy.name)
      return kept ? kept.value : finding(proxy.name, (own) => ({ result: found(proxy, own.signal) }), { signal }).result
    },
    keep: (isUsed: (name: ProxyName) => boolean): void => void values.deleteWhere((name) => !isUsed(name as ProxyName)),
  }
}

const LIES = proxyFault('lies', { address: NOBODY })
const UNKNOWN = proxyFault('no_exit')

const unusable = (proxy: ProxyName, why: Problem): DialError =>
  new DialError('proxy_failed', dialProblem('proxy_unusable', { proxy, why }))

async function exitWithin(
  name: ProxyName,
  finding: Promise<Exit | undefined>,
  signal: AbortSignal,
): Promise<Exit | undefined> {
  try {
    return await raced(signal, finding)
  } catch (error) {
    if (!signal.aborted) throw error
    throw proxyError(name, proxyProblem('late'))
  }
}

/** The address of the proxy: the operator named it, so a private address is permitted. */
async function addressOfProxy(resolve: Resolve, { name, host }: SocksProxy, signal: AbortSignal): Promise<Ip> {
  const literal = parseIp(host)
  if (literal.ok) return literal.value
  for (const type of ['A', 'AAAA'] as const) {
    try {
      const { records } = await resolve(host, type, signal)
      if (records[0] !== undefined) return records[0]
    } catch (error) {
      if (!(error instanceof DnsError)) throw error
    }
  }
  throw proxyError(name, proxyProblem('unknown_host'))
}

type Open = (proxy: SocksProxy, target: Target, signal: AbortSignal) => Promise<Proxied>

/**
 * Asks the echo hosts in turn; rejects with DialError if the proxy itself fails. Without a result: the socket address
 * that the proxy reports, or its own address if that is public. Undefined: not known.
 */
async function findExit(
  options: ProxiesOptions,
  open: Open,
  proxy: SocksProxy,
  signal: AbortSignal,
): Promise<Exit | undefined> {
  let bound: Ip | undefined
  let fault: DialError | undefined
  const opened: Open = async (...asked) => {
    try {
      const proxied = await open(...asked)
      bound ??= proxied.bound
      return proxied
    } catch (error) {
      if (error instanceof DialError && error.reason === 'proxy_failed') fault = error
      throw error
    }
  }
  for (const host of options.echoHosts) {
    const address = await echoOf(options, opened, proxy, host, within(ASK_MS, signal))
    if (address !== undefined) return { address, by: 'mail_host' }
    signal.throwIfAborted()
    if (fault) throw fault
  }
  if (bound !== undefined && isPublic(bound) && bound !== proxy.host) return { address: bound, by: 'proxy' }
  const own = parseIp(proxy.host)
  return own.ok && isPublic(own.value) ? { address: own.value, by: 'assumed' } : undefined
}

/**
 * The client's address in a mail host's reply to EHLO: the last address in brackets. Undefined if there is none, or the
 * host was not reached.
 */
async function echoOf(
  { resolve, now, port, connectionOver }: ProxiesOptions,
  open: Open,
  proxy: SocksProxy,
  host: string,
  signal: AbortSignal,
): Promise<Ip | undefined> {
  try {
    const { records } = await resolve(host, 'A', signal)
    const [address] = records
    if (address === undefined) return undefined
    const opened = await openSession(
      {
        dial: async (target, stop) => connectionOver((await open(proxy, target, stop)).socket, stop, NOBODY),
        monotonic: now,
      },
      {
        target: { address, port, proxy: proxy.name },
        serverName: host,
        heloName: async () => addressLiteral(NOBODY),
        startTls: false,
        stageMs: () => ASK_MS,
      },
      signal,
    )
    if (!opened.ok) return undefined
    const lines = opened.session.transcript().filter(({ from, text }) => from === 'server' && text.startsWith('250'))
    opened.session.quit()
    return lines.flatMap(({ text }) => addressesIn(text)).find((one) => one !== address)
  } catch (error) {
    if (error instanceof DnsError || error instanceof DialError || signal.aborted) return undefined
    throw error
  }
}

/** Public addresses in brackets, the last first, because some hosts first repeat the name of the client. */
function addressesIn(line: string): readonly Ip[] {
  const found = [...line.matchAll(/[[(](?:IPv6:)?([0-9a-f.:]{3,45})[\])]/gi)].flatMap(([, text]) => {
    const read = parseIp(text!)
    return read.ok && isPublic(read.value) && read.value !== NOBODY ? [read.value] : []
  })
  return found.toReversed()
}

async function claimsNobody(open: Open, proxy: SocksProxy, port: number, signal: AbortSignal): Promise<boolean> {
  try {
    const { socket } = await open(proxy, { address: NOBODY, port }, within(ASK_MS, signal))
    socket.on('error', () => {}).destroy()
    return true
  } catch (error) {
    if (error instanceof DialError || error instanceof DnsError) return false
    throw error
  }
}

/** A TCP connection made by a proxy, and the exit address that the proxy reports (RFC 1928 §6, BND.ADDR). */
type Proxied = { readonly socket: Socket; readonly bound: Ip | undefined }

/** Time limit of a whole request, ms; the caller's signal may end it earlier. */
const LONGEST_MS = 120_000

/**
 * Connects to the proxy at `address` and makes it connect to the target, by address and never by name (RFC 1928 §4).
 * Rejects with {@link DialError}: `proxy_failed` if the proxy could not be reached, refused the login or the request,
 * or is not a SOCKS5 proxy; otherwise with what it reports about the target. No error contains the login.
 */
async function connectBySocks(proxy: SocksProxy, address: Ip, target: Target, signal: AbortSignal): Promise<Proxied> {
  if (signal.aborted) throw stoppedError(signal)
  const socket = connectTcp({ host: address, port: proxy.port, autoSelectFamily: false, noDelay: true })
  const abort = (): void => void socket.destroy()
  signal.addEventListener('abort', abort, { once: true })
  try {
    await connected(proxy, socket)
    return await requested(proxy, socket, target)
  } catch (error) {
    socket.on('error', () => {}).destroy()
    if (!signal.aborted) throw error
    throw isAsked(socket) ? stoppedError(signal) : proxyError(proxy.name, proxyProblem('silent'))
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** A proxy that could not be used, or what it reports about the target: `why` is what the proxy does. */
const proxyError = (proxy: ProxyName, why: Problem, reason: DialReason = 'proxy_failed'): DialError =>
  new DialError(reason, dialProblem('proxy', { proxy, why }))

const connected = (proxy: SocksProxy, socket: Socket): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (error?: NodeJS.ErrnoException): void =>
      reject(proxyError(proxy.name, proxyProblem('unreachable', { code: error?.code ?? 'closed' })))
    const closed = (): void => stop()
    socket.once('error', stop).once('close', closed)
    socket.once('connect', () => {
      socket.off('error', stop).off('close', closed)
      resolve()
    })
  })

/**
 * The first reply of the proxy: its choice of a login method determines the number of octets before the request to
 * connect.
 */
const heard = new WeakMap<Socket, number>()

/** Whether the request to connect was sent: from then on, the target may be the side that does not answer. */
const isAsked = (socket: Socket): boolean => {
  const method = heard.get(socket)
  return method !== undefined && socket.bytesRead >= (method === 2 ? 4 : 2)
}

async function requested(proxy: SocksProxy, socket: Socket, target: Target): Promise<Proxied> {
  socket.once('data', (chunk: Buffer) => void heard.set(socket, chunk[1] ?? 0))
  const { login } = proxy
  try {
    const { SocksClient } = await import('socks') // most services have no proxy
    const { remoteHost } = await SocksClient.createConnection({
      command: 'connect',
      destination: { host: target.address, port: target.port },
      proxy: {
        type: 5,
        host: proxy.host,
        port: proxy.port,
        ...(login && { userId: login.user, password: login.password }),
      },
      existing_socket: socket,
      timeout: LONGEST_MS,
    })
    const bound = parseIp(remoteHost?.host ?? '')
    return { socket, bound: bound.ok ? bound.value : undefined }
  } catch (error) {
    // The library's error contains the login, so it is not used as a cause.
    throw refusalOf(proxy, error instanceof Error ? error.message : '')
  }
}

/** What a proxy reports about the target (RFC 1928 §6). */
const OF_TARGET: readonly (readonly [RegExp, DialReason, Problem])[] = [
  [/NetworkUnreachable/, 'network_unreachable', proxyProblem('no_route')],
  [/HostUnreachable/, 'network_unreachable', proxyProblem('no_target')],
  [/ConnectionRefused/, 'connect_refused', proxyProblem('target_refused')],
  [/Failure/, 'network_unreachable', proxyProblem('target_failed')],
  [/TTLExpired/, 'connect_timeout', proxyProblem('target_silent')],
]
const OF_PROXY: readonly (readonly [RegExp, Problem])[] = [
  [/Authentication failed|accepted authentication type/i, proxyProblem('login')],
  [/NotAllowed/, proxyProblem('not_allowed')],
  [/CommandNotSupported|AddressNotSupported/, proxyProblem('not_supported')],
  [/Socket closed/i, proxyProblem('closed')],
  [/timed out/i, proxyProblem('silent')],
]

function refusalOf(proxy: SocksProxy, message: string): DialError {
  const ofTarget = OF_TARGET.find(([pattern]) => pattern.test(message))
  if (ofTarget) return proxyError(proxy.name, ofTarget[2], ofTarget[1])
  const ofProxy = OF_PROXY.find(([pattern]) => pattern.test(message))
  return proxyError(proxy.name, ofProxy?.[1] ?? proxyProblem('not_socks'))
}
