import { connect as connectTcp, type Socket } from 'node:net'
import {
  connect as connectTls,
  createSecureContext,
  type DetailedPeerCertificate,
  rootCertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls'
import { codeOf, messageOf } from '../../base/errors.ts'
import { familyOf, type Ip, parseIp } from '../../names/ip.ts'
import type { ProxyName } from '../../names/source.ts'
import { dialProblem } from '../problems.ts'
import type { Guard } from '../public-only.ts'
import {
  type Connection,
  connectError,
  type Dial,
  DialError,
  lostError,
  stoppedError,
  type Target,
  type TlsInfo,
  type TlsOffer,
  tlsError,
} from './dial.ts'

type TcpDialOptions = {
  /** Called with the address itself, just before the socket is opened. */
  readonly reachable: Guard
  /** Trusted roots in addition to the built-in ones, PEM. */
  readonly ca?: readonly string[]
  /** Connects through a proxy; without it, targets with a proxy are refused. Rejects with {@link DialError}. */
  readonly byProxy?: (
    proxy: ProxyName,
    target: Target,
    signal: AbortSignal,
  ) => Promise<{ readonly socket: Socket; readonly localAddress: Ip }>
}

/**
 * The real {@link Dial}: a TCP connection by node:net from the given source address, without Nagle's algorithm, with at
 * most 64 KiB unread in memory. A certificate is recorded but never required (RFC 3207 §4.1, RFC 7435). An old TLS
 * version is better than none here, so TLS 1.0 and later are accepted.
 */
export function tcpDial(options: TcpDialOptions): Dial {
  let context: SecureContext | undefined
  let outdated: SecureContext | undefined
  const secureContext = (offer?: TlsOffer): SecureContext =>
    offer === undefined
      ? (context ??= opportunistic(options.ca ?? []))
      : (outdated ??= createSecureContext({ ...ANY_VERSION, maxVersion: 'TLSv1.1' }))
  return async (target, signal) => {
    if (!options.reachable(target.address)) throw unsafe(target.address)
    if (signal.aborted) throw stoppedError(signal)
    if (target.proxy === undefined) return connectionOver(await open(target, signal), signal, secureContext)
    if (!options.byProxy) throw new DialError('proxy_failed', dialProblem('no_proxy', { proxy: target.proxy }))
    const { socket, localAddress } = await options.byProxy(target.proxy, target, signal)
    return connectionOver(socket, signal, secureContext, localAddress)
  }
}

/** How long the other side may take to close after we did, ms. */
const LINGER_MS = 1_000
/** One for all: a stack trace is expensive, and nobody reads this one. */
const CLOSED = new DialError('connection_lost', dialProblem('closed'))

const WRITTEN = Promise.resolve()

const unsafe = (address: Ip): DialError => new DialError('unsafe_address', dialProblem('private_address', { address }))

const ANY_VERSION = { minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const

/** Reading the trusted roots takes milliseconds, so it is done once per process and not per connection. */
const opportunistic = (ca: readonly string[]): SecureContext =>
  createSecureContext({
    ...ANY_VERSION,
    ...(ca.length === 0 ? {} : { ca: [...rootCertificates, ...ca] }),
  })

/** What a connection without TLS receives is read into one buffer and copied: Node would allocate 64 KiB each time. */
const RECEIVED = Buffer.allocUnsafe(64 * 1024)

function deliver(socket: Socket, length: number): boolean {
  socket.emit('data', Buffer.from(RECEIVED.subarray(0, length)))
  return true
}

function open(target: Target, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connectTcp({
      host: target.address,
      port: target.port,
      family: familyOf(target.address),
      autoSelectFamily: false,
      noDelay: true,
      onread: { buffer: RECEIVED, callback: (length) => deliver(socket, length) },
      ...(target.localAddress === undefined ? {} : { localAddress: target.localAddress }),
    })
    const settle = (act: () => void): void => {
      socket.off('connect', onConnect).off('error', onError)
      signal.removeEventListener('abort', onAbort)
      act()
    }
    const fail = (error: DialError): void =>
      settle(() => {
        socket.on('error', () => {})
        socket.destroy()
        reject(error)
      })
    const onConnect = (): void => settle(() => resolve(socket))
    const onError = (error: Error): void => fail(connectError(error, target.localAddress !== undefined))
    const onAbort = (): void => fail(stoppedError(signal))
    socket.once('connect', onConnect).once('error', onError)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/**
 * The connection of an open socket. `seenAs`: the client address that the other side sees, if it is not the socket's
 * own.
 */
export const connectionOver = (
  tcp: Socket,
  signal: AbortSignal,
  secureContext: (offer?: TlsOffer) => SecureContext,
  seenAs?: Ip,
): Connection => new TcpConnection(tcp, signal, secureContext, seenAs)

/** A class, as are the bounds of a connection (lifetime.ts). */
class TcpConnection implements Connection {
  readonly localAddress: Ip
  readonly #tcp: Socket
  readonly #signal: AbortSignal
  readonly #secureContext: (offer?: TlsOffer) => SecureContext
  #socket: Socket | TLSSocket
  #box: Inbox

  constructor(
    tcp: Socket,
    signal: AbortSignal,
    secureContext: (offer?: TlsOffer) => SecureContext,
    seenAs: Ip | undefined,
  ) {
    this.#tcp = this.#socket = tcp
    this.#signal = signal
    this.#secureContext = secureContext
    this.#box = inbox(tcp)
    const local = parseIp((tcp.localAddress ?? '').split('%')[0]!)
    this.localAddress = seenAs ?? (local.ok ? local.value : ('0.0.0.0' as Ip))
    tcp.once('close', () => signal.removeEventListener('abort', this))
    if (signal.aborted) this.handleEvent()
    else signal.addEventListener('abort', this, { once: true })
  }

  handleEvent(): void {
    this.#box.fail(stoppedError(this.#signal))
    this.close()
  }

  read(): Promise<Uint8Array | undefined> {
    return this.#box.read()
  }

  write(bytes: Uint8Array | string): Promise<void> {
    const failed = this.#box.failure()
    if (failed) return Promise.reject(failed)
    this.#socket.write(bytes)
    return WRITTEN
  }

  async startTls(serverName: string, offer?: TlsOffer): Promise<TlsInfo> {
    if (this.#box.unread() > 0) throw new DialError('protocol_error', dialProblem('early_data'))
    this.#tcp.on('error', () => {}) // reported by the TLS socket
    this.#box.detach()
    const secured = await handshake(this.#tcp, serverName, this.#secureContext(offer), this.#signal)
    this.#socket = secured
    this.#box = inbox(secured)
    return tlsInfo(secured)
  }

  close(): void {
    this.#signal.removeEventListener('abort', this)
    this.#box.fail(CLOSED)
    this.#socket.destroy()
    this.#tcp.destroy()
  }

  /** A socket that is closed with unread bytes is reset, which some servers report as a fault. */
  finish(last: string): void {
    this.#box.fail(CLOSED)
    this.#box.detach()
    this.#socket.on('error', () => {}).resume()
    this.#socket.end(last)
    const timer = setTimeout(() => this.close(), LINGER_MS).unref()
    this.#tcp.once('close', () => clearTimeout(timer)).unref()
  }
}

function handshake(tcp: Socket, serverName: string, context: SecureContext, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(stoppedError(signal))
    const secured = connectTls({
      socket: tcp,
      servername: serverName,
      secureContext: context,
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
    })
    const settle = (act: () => void): void => {
      secured.off('secureConnect', onSecure).off('error', onError).off('close', onClose)
      signal.removeEventListener('abort', onAbort)
      act()
    }
    const fail = (error: DialError): void =>
      settle(() => {
        secured.on('error', () => {})
        secured.destroy()
        tcp.destroy()
        reject(error)
      })
    const onSecure = (): void => settle(() => resolve(secured))
    const onError = (error: Error): void => fail(tlsError(error))
    const onClose = (): void => fail(tlsError(new Error('the server closed the connection')))
    const onAbort = (): void => fail(stoppedError(signal))
    secured.once('secureConnect', onSecure).once('error', onError).once('close', onClose)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

const MAX_NAMES = 100
/** Maximum number of certificates that are kept of a chain. */
const MAX_CHAIN = 10

/**
 * The result of a completed handshake: the certificates as the server sent them, and whether they lead to a trusted
 * root. The name is not checked here.
 */
function tlsInfo(socket: TLSSocket): TlsInfo {
  const leaf = socket.getPeerCertificate(true)
  const error = socket.authorizationError as Error | string | null | undefined
  return {
    protocol: socket.getProtocol() ?? 'unknown',
    cipher: socket.getCipher()?.name ?? 'unknown',
    trusted: socket.authorized,
    ...(socket.authorized || !error ? {} : { trustError: codeOf(error) ?? messageOf(error) }),
    names: namesOf(leaf),
    subject: nameText(leaf.subject),
    issuer: nameText(leaf.issuer),
    expiresAtMs: Date.parse(leaf.valid_to ?? '') || 0,
    chain: chainOf(leaf),
  }
}

/** DNS names of the subjectAltName (RFC 6125 §6.4.4: if there are any, the common name does not count). */
function namesOf(leaf: DetailedPeerCertificate): readonly string[] {
  const names = [
    ...(leaf.subjectaltname ?? '').slice(0, 65_536).matchAll(/DNS:(?:"((?:[^"\\]|\\.){0,512})"|([^,"]{1,512}))/g),
  ]
    .slice(0, MAX_NAMES)
    .map((match) => (match[1] ?? match[2] ?? '').toLowerCase())
  if (names.length > 0) return names
  const common = leaf.subject?.CN
  return typeof common === 'string' ? [common.toLowerCase()] : []
}

/** `CN=…, O=…`, at most 512 characters. */
const nameText = (name: object | undefined): string =>
  Object.entries(name ?? {})
    .map(([key, value]) => `${key}=${Array.isArray(value) ? value.join('+') : String(value)}`)
    .join(', ')
    .slice(0, 512)

function chainOf(leaf: DetailedPeerCertificate): readonly Uint8Array[] {
  const chain: Uint8Array[] = []
  let at: DetailedPeerCertificate | undefined = leaf
  while (at?.raw && chain.length < MAX_CHAIN) {
    chain.push(at.raw)
    at = at.issuerCertificate === at ? undefined : at.issuerCertificate // a root is its own issuer
  }
  return chain
}

/** Received bytes of a socket that nobody has read yet. */
export type Inbox = {
  /**
   * The next bytes; undefined once the other side has closed and everything is read. Bytes that arrived before a fault
   * are returned before the fault. One reader at a time.
   */
  readonly read: () => Promise<Uint8Array | undefined>
  /** Makes this and every further read reject; unread bytes are discarded. */
  readonly fail: (error: DialError) => void
  readonly failure: () => DialError | undefined
  /** Number of unread bytes. */
  readonly unread: () => number
  /** Stops listening and discards unread bytes. */
  readonly detach: () => void
}

/** Maximum number of unread bytes; beyond it the socket is paused, and the TCP window stops the sender. */
export const MAX_UNREAD = 64 * 1024

/** Listens to `socket` until {@link Inbox.detach}: at most {@link MAX_UNREAD} bytes and one chunk wait unread. */
export const inbox = (socket: Socket): Inbox => new SocketInbox(socket)

type Reader = {
  readonly resolve: (bytes: Uint8Array | undefined) => void
  readonly reject: (error: DialError) => void
}

/** A class, as are the bounds of a connection (lifetime.ts). */
class SocketInbox implements Inbox {
  readonly #socket: Socket
  #chunks: Uint8Array[] = []
  #unread = 0
  #ended = false
  #failed: DialError | undefined
  #waiting: Reader | undefined
  readonly #onData = (chunk: Uint8Array): void => {
    this.#chunks.push(chunk)
    this.#unread += chunk.length
    if (this.#unread >= MAX_UNREAD) this.#socket.pause()
    this.#deliver()
  }
  readonly #onEnd = (): void => {
    this.#ended = true
    this.#deliver()
  }
  readonly #onError = (error: Error): void => {
    this.#failed ??= lostError(error)
    this.#deliver()
  }

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onEnd).on('error', this.#onError)
  }

  read(): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#deliver()
    })
  }

  fail(error: DialError): void {
    this.#failed ??= error
    this.#discard()
    this.#deliver()
  }

  failure(): DialError | undefined {
    return this.#failed
  }

  unread(): number {
    return this.#unread
  }

  detach(): void {
    this.#discard()
    this.#socket.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onEnd).off('error', this.#onError)
  }

  #discard(): void {
    this.#chunks = []
    this.#unread = 0
  }

  #deliver(): void {
    if (!this.#waiting) return
    const { resolve, reject } = this.#waiting
    const next = this.#chunks.shift()
    if (next) this.#unread -= next.length
    else if (!this.#failed && !this.#ended) return
    this.#waiting = undefined
    if (next) resolve(next)
    else if (this.#failed) reject(this.#failed)
    else resolve(undefined)
    if (this.#unread < MAX_UNREAD && this.#socket.isPaused()) this.#socket.resume()
  }
}
