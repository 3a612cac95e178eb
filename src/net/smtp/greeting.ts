import type { Ip } from '../../names/ip.ts'
import { type Capabilities, ehlo, helo, parseCapabilities, STARTTLS } from './commands.ts'
import type { Connection, TlsInfo } from './dial.ts'
import { faultOf, type Heard, hear, type Line, say } from './line.ts'
import { isSuccess } from './reply.ts'
import type { Transcript } from './transcript.ts'

export type Greeting = {
  readonly line: Line
  readonly connection: Connection
  readonly log: Transcript
  readonly options: {
    readonly serverName: string
    readonly heloName: (localAddress: Ip) => Promise<string>
    readonly startTls: boolean
  }
  readonly signal: AbortSignal
}
export type Greeted = {
  /** Present when the greeting did not succeed: what ended it. */
  readonly heard?: Heard
  readonly heloName?: string
  readonly esmtp?: boolean
  readonly capabilities?: Capabilities
  readonly tls?: TlsInfo
}

/** Banner, EHLO with HELO as fallback, STARTTLS where offered and EHLO again (RFC 5321 §3.1, §3.2, RFC 3207). */
export async function greet(greeting: Greeting): Promise<Greeted> {
  const { line, connection, options, signal } = greeting
  const named = options.heloName(connection.localAddress)
  const banner = await hear(line, 'banner', signal)
  const heloName = await named
  if (!banner.reply || !isSuccess('banner', banner.reply)) return { heard: banner, heloName }
  const first = await hello(line, heloName, signal)
  if (first.heard || !options.startTls || !first.capabilities?.has('STARTTLS')) return { ...first, heloName }
  const secured = await secure(greeting)
  if (secured.heard) return { heard: secured.heard, heloName }
  if (!secured.tls) return { ...first, heloName } // opportunistic: STARTTLS was offered and then refused
  // RFC 3207 §4.2: what was learnt before TLS counts no more.
  return { ...(await hello(line, heloName, signal)), heloName, tls: secured.tls }
}

/** RFC 5321 §3.2: EHLO, and HELO where EHLO is not known. */
async function hello(line: Line, heloName: string, signal: AbortSignal): Promise<Greeted> {
  const extended = await say(line, 'ehlo', ehlo(heloName), signal)
  if (!extended.reply) return { heard: extended }
  if (extended.reply.code === 250) return { esmtp: true, capabilities: parseCapabilities(extended.reply.lines) }
  if (!/^(?:50[0-5]|55[05])$/.test(String(extended.reply.code))) return { heard: extended }
  const plain = await say(line, 'ehlo', helo(heloName), signal)
  if (plain.reply?.code === 250) return { esmtp: false, capabilities: new Map() }
  // Some servers close after a refused EHLO: their refusal says more than the silence behind it.
  return { heard: plain.reply ? plain : extended }
}

/** RFC 3207 §4: the command stands alone. Bytes that come in before the handshake are not the server's (response injection): the session ends. */
async function secure({ line, connection, log, options, signal }: Greeting): Promise<{ tls?: TlsInfo; heard?: Heard }> {
  const ready = await say(line, 'starttls', STARTTLS, signal)
  if (!ready.reply) return { heard: ready }
  if (ready.reply.code === 421) return { heard: ready }
  if (ready.reply.code >= 400) return {}
  if (!isSuccess('starttls', ready.reply)) return { heard: ready }
  if (line.wire.hasUnread())
    return {
      heard: {
        stage: 'starttls',
        fault: 'protocol_error',
        message: 'bytes came between STARTTLS and the TLS handshake',
      },
    }
  const release = line.lifetime.bound(line.stageMs('starttls'), signal)
  try {
    const tls = await connection.startTls(options.serverName)
    log.add(
      'note',
      `TLS: ${tls.protocol} ${tls.cipher}${tls.trusted ? '' : `, not trusted (${tls.trustError ?? 'no reason'})`}`,
    )
    return { tls }
  } catch (error) {
    const heard = faultOf('starttls', error)
    return { heard: heard.fault === 'connection_lost' ? { ...heard, fault: 'tls_failure' } : heard }
  } finally {
    release()
  }
}
