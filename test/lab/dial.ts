import { familyOf, type Ip, ip } from '../../src/names/ip.ts'
import { type Connection, type Dial, DialError, type DialReason, type TlsInfo } from '../../src/net/smtp/dial.ts'
import { labProblem } from './problem.ts'

/**
 * What a lab server says at one step: a reply, its lines parted by "\n" (`550-a\n550 b`), or a fault: `!close`,
 * `!reset`, `!silence`, `!garbage` (bytes that are no SMTP), `!drip` (a byte and then nothing), `!endless` (a reply
 * without end).
 */
export type LabStep = string
/** The address that connections by proxies leave from in the lab. */
export const LAB_EXIT = '45.53.9.99'
type ConnectFault = 'proxy' | 'refuse' | 'timeout' | 'unreachable' | 'not_local' | 'unsafe' | 'reset'

/** An SMTP server as data. What is not written is what a plain, willing server says. */
export type LabServer = {
  readonly connect?: ConnectFault
  readonly banner?: LabStep
  /** The rows of the EHLO reply, or a step of its own. */
  readonly ehlo?: readonly string[] | LabStep
  readonly helo?: LabStep
  readonly starttls?: LabStep
  /** A segment that comes after the reply to STARTTLS and before the handshake. */
  readonly beforeTls?: LabStep
  /** What STARTTLS leads to: what the certificate showed, or a handshake that fails. */
  readonly tls?: Partial<TlsInfo> | 'fail'
  /** The best TLS version below 1.2 that it accepts; absent: it accepts none. */
  readonly outdated?: 'TLSv1' | 'TLSv1.1'
  readonly rset?: LabStep
  readonly mail?: LabStep
  /** By address; `*` is for all others (default: no such user). Several steps are taken in turn, the last one stays. */
  readonly rcpt?: Readonly<Record<string, LabStep | readonly LabStep[]>>
  /** Milliseconds before a reply is given, of the real clock. */
  readonly delayMs?: { readonly banner?: number; readonly rcpt?: number }
  /** What is different for a source address. */
  readonly from?: Readonly<Record<string, Omit<LabServer, 'from'>>>
}

export type LabDial = {
  readonly dial: Dial
  /** Every dial in order: `45.53.5.1`, or `45.53.5.1 from 45.53.1.9`. */
  readonly dialled: string[]
  /** Every line received, in order, over all connections. */
  readonly received: string[]
  /** Connections that are open now. */
  readonly open: () => number
}

export const NO_SUCH_USER = '550 5.1.1 User unknown'
const CAPABILITIES = ['PIPELINING', 'SIZE 10240000', 'ENHANCEDSTATUSCODES', '8BITMIME', 'SMTPUTF8']
const CONNECT: Record<ConnectFault, DialReason> = {
  proxy: 'proxy_failed',
  refuse: 'connect_refused',
  timeout: 'connect_timeout',
  unreachable: 'network_unreachable',
  not_local: 'address_not_local',
  unsafe: 'unsafe_address',
  reset: 'connection_lost',
}
const TLS: TlsInfo = {
  protocol: 'TLSv1.3',
  cipher: 'TLS_AES_256_GCM_SHA384',
  trusted: true,
  names: ['mx.example'],
  subject: 'CN=mx.example',
  issuer: 'CN=lab',
  expiresAtMs: Date.UTC(2030, 0, 1),
  chain: [],
}

/**
 * SMTP servers of data by their address. An address that is not written is a connection that times out only when the
 * signal fires.
 */
export function labDial(servers: Readonly<Record<string, LabServer>>): LabDial {
  const dialled: string[] = []
  const received: string[] = []
  const turns = new Map<string, number>()
  let open = 0
  const dial: Dial = async (target, signal) => {
    const way = target.localAddress ?? target.proxy
    dialled.push(way ? `${target.address} from ${way}` : target.address)
    const written = servers[target.address]
    const server = { ...written, ...written?.from?.[way ?? ''] }
    if (!written || signal.aborted) await silence(signal)
    if (server.connect) throw new DialError(CONNECT[server.connect], labProblem(`lab: ${server.connect}`))
    open++
    const local =
      target.localAddress ??
      ip(target.proxy ? LAB_EXIT : familyOf(target.address) === 6 ? '2a01:4f8::99' : '45.53.1.99')
    return connection({ server, signal, local, received, turns, key: target.address, closed: () => void open-- })
  }
  return { dial, dialled, received, open: () => open }
}

const silence = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => {
      const late = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
      reject(
        new DialError(late ? 'timeout' : 'aborted', labProblem(late ? 'no answer in time' : 'the client disconnected')),
      )
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })

function connection(lab: {
  readonly server: LabServer
  readonly signal: AbortSignal
  readonly local: Ip
  readonly received: string[]
  readonly turns: Map<string, number>
  readonly key: string
  readonly closed: () => void
}): Connection {
  const { server, signal } = lab
  const outbox: string[] = []
  let wake = (): void => {}
  let isClosed = false
  const say = (step: LabStep): void => {
    outbox.push(step)
    wake()
  }
  const sayAfter = (ms: number | undefined, step: LabStep): void => {
    if (ms === undefined) say(step)
    else setTimeout(() => say(step), ms)
  }
  sayAfter(server.delayMs?.banner, server.banner ?? '220 lab ESMTP')

  async function read(): Promise<Uint8Array | undefined> {
    while (outbox.length === 0) {
      await Promise.race([silence(signal), new Promise<void>((resolve) => (wake = resolve))])
    }
    const step = outbox.shift()!
    if (step === '!close') return undefined
    if (step === '!reset') throw new DialError('connection_lost', labProblem('lab: reset'))
    if (step === '!silence') return silence(signal)
    if (step === '!garbage') return Buffer.from([0, 255, 7, 0, 66, 10])
    if (step === '!drip') {
      outbox.unshift('!silence')
      return Buffer.from('2')
    }
    if (step === '!endless') {
      outbox.unshift(step)
      return Buffer.from('250-more\r\n'.repeat(400))
    }
    return Buffer.from(`${step.replaceAll('\n', '\r\n')}\r\n`)
  }
  const close = (): void => {
    if (!isClosed) lab.closed()
    isClosed = true
  }
  return {
    read,
    write: async (bytes) => {
      for (const line of String(bytes).split('\r\n').slice(0, -1)) {
        lab.received.push(line)
        const step = stepFor(lab, line)
        if (step !== undefined) sayAfter(line.startsWith('RCPT') ? server.delayMs?.rcpt : undefined, step)
      }
    },
    startTls: async (_, offer) => {
      if (server.beforeTls !== undefined) say(server.beforeTls)
      if (outbox.length > 0) throw new DialError('protocol_error', labProblem('lab: bytes before the handshake'))
      if (server.tls === 'fail') throw new DialError('tls_failure', labProblem('lab: the handshake failed'))
      if (offer === 'outdated' && server.outdated === undefined)
        throw new DialError('tls_failure', labProblem('lab: no version in common'))
      return { ...TLS, ...server.tls, ...(offer === 'outdated' ? { protocol: server.outdated! } : {}) }
    },
    localAddress: lab.local,
    close,
    finish: (last) => {
      lab.received.push(last.trimEnd())
      close()
    },
  }
}

function stepFor(
  lab: { readonly server: LabServer; readonly turns: Map<string, number>; readonly key: string },
  line: string,
): LabStep | undefined {
  const { server } = lab
  const verb = line.slice(0, 4).toUpperCase()
  if (verb === 'EHLO') {
    if (typeof server.ehlo === 'string') return server.ehlo
    const rows = ['lab', ...(server.ehlo ?? CAPABILITIES)]
    return rows.map((row, i) => `250${i < rows.length - 1 ? '-' : ' '}${row}`).join('\n')
  }
  if (verb === 'HELO') return server.helo ?? '250 lab'
  if (verb === 'STAR') return server.starttls ?? '220 2.0.0 Ready'
  if (verb === 'RSET') return server.rset ?? '250 2.0.0 Ok'
  if (verb === 'MAIL') return server.mail ?? '250 2.1.0 Ok'
  if (verb === 'QUIT') return undefined
  if (verb !== 'RCPT') return '502 5.5.2 Command not recognized'
  const address = /<(.*)>/.exec(line)?.[1] ?? ''
  const rule = server.rcpt?.[address] ?? server.rcpt?.['*'] ?? NO_SUCH_USER
  if (typeof rule === 'string') return rule
  const turn = lab.turns.get(`${lab.key} ${address}`) ?? 0
  lab.turns.set(`${lab.key} ${address}`, turn + 1)
  return rule[Math.min(turn, rule.length - 1)]
}

/**
 * Milliseconds that a verification may take in a lab of these servers and this zone: short where one of them keeps silent,
 * for then the time is waited for, else longer than a busy machine needs.
 */
export const timeoutFor = (...lab: readonly unknown[]): number =>
  /"(!silence|!drip|timeout|TIMEOUT)"/.test(JSON.stringify(lab)) ? 1_000 : 15_000
