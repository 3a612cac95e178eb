import type { Socket } from 'node:net'
import { raced, within } from '../../base/deadline.ts'
import type { Problem } from '../../base/problem.ts'
import { sharedWork } from '../../base/share-work.ts'
import { type Ip, ip, parseIp } from '../../names/ip.ts'
import { isPublic } from '../../names/ip-range.ts'
import type { ProxyName, SocksProxy } from '../../names/source.ts'
import { DnsError, type Resolve } from '../dns/resolver.ts'
import { dialProblem, proxyFault, proxyProblem } from '../problems.ts'
import { addressLiteral } from '../smtp/commands.ts'
import { type Connection, DialError, type Target } from '../smtp/dial.ts'
import { openSession } from '../smtp/session.ts'
import { connectBySocks, type Proxied, proxyError } from './connect.ts'

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

/** The SOCKS5 proxies of the pool. */
export type Proxies = {
  /** The proxies to use from now on. */
  readonly use: (proxies: readonly SocksProxy[]) => void
  /**
   * Connects through a proxy. Rejects with {@link DialError}: `proxy_failed` also if its exit address is not known, or
   * if it makes false claims.
   */
  readonly connect: (
    name: ProxyName,
    target: Target,
    signal: AbortSignal,
  ) => Promise<{ readonly socket: Socket; readonly localAddress: Ip }>
  /** What was determined within the last hour; no query is sent. */
  readonly known: (name: ProxyName) => ProxyState
  /**
   * Determines the exit address, and whether the proxy claims to reach an address that nobody has. Rejects only with
   * the signal's reason.
   */
  readonly examine: (name: ProxyName, signal: AbortSignal) => Promise<ProxyState>
  /** All proxies in use. */
  readonly names: () => readonly ProxyName[]
}

type ProxiesOptions = {
  readonly resolve: Resolve
  readonly now: () => number
  /** Mail hosts that name the address of the client in their reply to EHLO. */
  readonly echoHosts: readonly string[]
  /** Their port. */
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
/**
 * A documentation address, which no mail host has (RFC 5737 §3): a proxy that claims to reach it answers for others.
 */
const NOBODY = ip('192.0.2.1')

type Kept<T> = { readonly value: T; readonly untilMs: number }

/** The proxies of a process. */
export function proxies(options: ProxiesOptions): Proxies {
  const { now } = options
  let all: ReadonlyMap<ProxyName, SocksProxy> = new Map()
  const exits = new Map<ProxyName, Kept<Exit | undefined>>()
  const liars = new Map<ProxyName, Kept<boolean>>()
  const finding = sharedWork<Exit | undefined>({ longestMs: EXAMINE_MS })
  const testing = sharedWork<boolean>({ longestMs: EXAMINE_MS })

  const fresh = <T>(kept: Kept<T> | undefined): Kept<T> | undefined =>
    kept !== undefined && kept.untilMs > now() ? kept : undefined

  async function open(proxy: SocksProxy, target: Target, signal: AbortSignal): Promise<Proxied> {
    return connectBySocks(proxy, await addressOfProxy(options.resolve, proxy, signal), target, signal)
  }

  async function exitOf(proxy: SocksProxy, signal: AbortSignal): Promise<Exit | undefined> {
    const kept = fresh(exits.get(proxy.name))
    if (kept) return kept.value
    const begin = (lifetime: { readonly signal: AbortSignal }) => ({
      result: findExit(options, open, proxy, lifetime.signal).then((exit) => {
        exits.set(proxy.name, { value: exit, untilMs: now() + (exit ? KEPT_MS : UNKNOWN_MS) })
        return exit
      }),
    })
    return finding(proxy.name, begin, { signal }).result
  }

  async function isLiar(proxy: SocksProxy, signal: AbortSignal): Promise<boolean> {
    const kept = fresh(liars.get(proxy.name))
    if (kept) return kept.value
    const begin = (lifetime: { readonly signal: AbortSignal }) => ({
      result: claimsNobody(open, proxy, options.port, lifetime.signal).then((lies) => {
        liars.set(proxy.name, { value: lies, untilMs: now() + KEPT_MS })
        return lies
      }),
    })
    return testing(proxy.name, begin, { signal }).result
  }

  const known = (name: ProxyName): ProxyState => {
    if (!all.has(name)) return { problem: 'it is not in the pool' }
    const exit = fresh(exits.get(name))
    return {
      ...(exit?.value && { exit: exit.value }),
      ...(exit && !exit.value && { problem: UNKNOWN.text }),
      ...(fresh(liars.get(name))?.value && { lie: LIES.text }),
    }
  }
  const proxyNamed = (name: ProxyName): SocksProxy => {
    const proxy = all.get(name)
    if (!proxy) throw proxyError(name, proxyProblem('not_in_pool'))
    return proxy
  }
  return {
    use: (list) => {
      all = new Map(list.map((proxy) => [proxy.name, proxy]))
      for (const kept of [exits, liars]) for (const name of kept.keys()) if (!all.has(name)) kept.delete(name)
    },
    connect: async (name, target, signal) => {
      const proxy = proxyNamed(name)
      // Whether it makes false claims is tested together with the first questions, which do not wait for it.
      void isLiar(proxy, within(EXAMINE_MS)).catch(() => {})
      if (fresh(liars.get(name))?.value) throw unusable(name, LIES)
      const exit = await exitWithin(name, exitOf(proxy, within(EXAMINE_MS)), signal)
      if (exit === undefined) throw unusable(name, UNKNOWN)
      const { socket } = await open(proxy, target, signal)
      return { socket, localAddress: exit.address }
    },
    known,
    examine: async (name, signal) => {
      const proxy = all.get(name)
      if (!proxy) return known(name)
      try {
        await Promise.all([exitOf(proxy, signal), isLiar(proxy, signal)])
      } catch (error) {
        if (!(error instanceof DialError)) throw error
        return { ...known(name), problem: error.message }
      }
      return known(name)
    },
    names: () => [...all.keys()],
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
