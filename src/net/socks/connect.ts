import { connect as connectTcp, type Socket } from 'node:net'
import type { Problem } from '../../base/problem.ts'
import { type Ip, parseIp } from '../../names/ip.ts'
import type { ProxyName, SocksProxy } from '../../names/source.ts'
import { dialProblem, proxyProblem } from '../problems.ts'
import { DialError, type DialReason, stoppedError, type Target } from '../smtp/dial.ts'

/** A TCP connection made by a proxy, and the exit address that the proxy reports (RFC 1928 §6, BND.ADDR). */
export type Proxied = { readonly socket: Socket; readonly bound: Ip | undefined }

/** Time limit of a whole request, ms; the caller's signal may end it earlier. */
const LONGEST_MS = 120_000

/**
 * Connects to the proxy at `address` and makes it connect to the target, by address and never by name (RFC 1928 §4).
 * Rejects with {@link DialError}: `proxy_failed` if the proxy could not be reached, refused the login or the request,
 * or is not a SOCKS5 proxy; otherwise with what it reports about the target. No error contains the login.
 */
export async function connectBySocks(
  proxy: SocksProxy,
  address: Ip,
  target: Target,
  signal: AbortSignal,
): Promise<Proxied> {
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
export const proxyError = (proxy: ProxyName, why: Problem, reason: DialReason = 'proxy_failed'): DialError =>
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
