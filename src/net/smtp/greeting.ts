import type { Ip } from '../../names/ip.ts'
import { dialProblem } from '../problems.ts'
import { type Channel, exchange, faultOf, type StageOutcome } from './channel.ts'
import { type Capabilities, ehlo, helo, parseCapabilities, STARTTLS } from './commands.ts'
import type { Connection, TlsInfo, TlsOffer } from './dial.ts'
import { isSuccess } from './reply.ts'
import type { Transcript } from './transcript.ts'

type Greeting = {
  readonly channel: Channel
  readonly connection: Connection
  readonly log: Transcript
  readonly options: {
    readonly serverName: string
    readonly heloName: (localAddress: Ip) => Promise<string>
    readonly startTls: boolean
    readonly tlsOffer?: TlsOffer
  }
}
export type Greeted = {
  /** Present if the greeting did not succeed: the fault or refusal. */
  readonly outcome?: StageOutcome
  readonly heloName?: string
  readonly esmtp?: boolean
  readonly capabilities?: Capabilities
  readonly tls?: TlsInfo
}

/** Banner, EHLO with HELO as fallback, STARTTLS if offered and EHLO again (RFC 5321 §3.1, §3.2, RFC 3207). */
export async function greet(greeting: Greeting): Promise<Greeted> {
  const { channel, connection, options } = greeting
  const named = options.heloName(connection.localAddress)
  const banner = await exchange(channel, 'banner')
  channel.bounds.next(channel.stageMs('ehlo')) // also for the wait for our own name
  const heloName = await named
  if (!banner.reply || !isSuccess('banner', banner.reply)) return { outcome: banner, heloName }
  const first = await hello(channel, heloName)
  if (first.outcome || !options.startTls || !first.capabilities?.has('STARTTLS')) return { ...first, heloName }
  const secured = await secure(greeting)
  if (secured.outcome) return { outcome: secured.outcome, heloName }
  if (!secured.tls) return { ...first, heloName } // opportunistic: STARTTLS was offered and then refused
  // RFC 3207 §4.2: discard what was learned before TLS.
  return { ...(await hello(channel, heloName)), heloName, tls: secured.tls }
}

/** RFC 5321 §3.2: EHLO, and HELO if EHLO is not supported. */
async function hello(channel: Channel, heloName: string): Promise<Greeted> {
  const extended = await exchange(channel, 'ehlo', ehlo(heloName))
  if (!extended.reply) return { outcome: extended }
  if (extended.reply.code === 250) return { esmtp: true, capabilities: parseCapabilities(extended.reply.lines) }
  if (!/^(?:50[0-5]|55[05])$/.test(String(extended.reply.code))) return { outcome: extended }
  const plain = await exchange(channel, 'ehlo', helo(heloName))
  if (plain.reply?.code === 250) return { esmtp: false, capabilities: new Map() }
  // Some servers close after they refuse EHLO: the refusal is more specific than the closed connection.
  return { outcome: plain.reply ? plain : extended }
}

/**
 * RFC 3207 §4: the command is sent alone. Bytes before the handshake are not from the server (response injection): the
 * session ends.
 */
async function secure({
  channel,
  connection,
  log,
  options,
}: Greeting): Promise<{ tls?: TlsInfo; outcome?: StageOutcome }> {
  const ready = await exchange(channel, 'starttls', STARTTLS)
  if (!ready.reply) return { outcome: ready }
  if (ready.reply.code === 421) return { outcome: ready }
  if (ready.reply.code >= 400) return {}
  if (!isSuccess('starttls', ready.reply)) return { outcome: ready }
  if (channel.wire.hasUnread())
    return {
      outcome: {
        stage: 'starttls',
        fault: 'protocol_error',
        problem: dialProblem('early_data'),
      },
    }
  channel.bounds.next(channel.stageMs('starttls'))
  try {
    const tls = await connection.startTls(options.serverName, options.tlsOffer)
    log.add(
      'note',
      `TLS: ${tls.protocol} ${tls.cipher}${tls.trusted ? '' : `, not trusted (${tls.trustError ?? 'no reason'})`}`,
    )
    return { tls }
  } catch (error) {
    const outcome = faultOf('starttls', error)
    return { outcome: outcome.fault === 'connection_lost' ? { ...outcome, fault: 'tls_failure' } : outcome }
  }
}
