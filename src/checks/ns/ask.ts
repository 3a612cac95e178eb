import { withDeadline } from '../../base/deadline.ts'
import { codeOf } from '../../base/errors.ts'
import { familyOf, type Ip } from '../../names/ip.ts'
import { type Answer, DnsError, type ServerAnswer, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'

/** The mail records that are compared server by server. */
export type Copy = 'mx' | 'spf' | 'dmarc'
export const COPIES: readonly Copy[] = ['mx', 'spf', 'dmarc']

/** Time limit for one address, for all queries. */
const ADDRESS_MS = 3_000
/** Time limit for one query over TCP, so that there is time for a second. */
const TCP_MS = 1_400
/** Maximum number of queries of one check to addresses that the domain owner chose: two for each of 13 servers. */
const MAX_QUESTIONS = 26
const QUESTIONS_AN_ADDRESS = 2

type Said<A extends Answer> = A | DnsError

/** The answers of one address to direct queries: two of these four. */
export type Heard = {
  readonly address: Ip
  /** The record type that was queried over TCP. */
  readonly overTcp?: Copy
  /** It gave no answer to two queries over TCP, and answered over UDP. */
  readonly silentOverTcp?: true
  readonly soa?: Said<ServerAnswer<'SOA'>>
  readonly copies: { readonly [C in Copy]?: Said<ServerAnswer<'MX' | 'TXT'>> }
}

type Asker = Pick<Ctx, 'askServer' | 'signal'>
type Zone = { readonly domain: string; readonly zone: string; readonly servers: number }

/** Queries the addresses of a server; `turn` is the server's index among the servers. */
type AskHost = (addresses: readonly Ip[], turn: number) => Promise<readonly Heard[]>

/**
 * Queries name servers directly, at public addresses that the owner of the zone chose and that may belong to others: at
 * most two queries per address, even if several servers share it, 26 in total, at most 3 s each. The first address of a
 * server gets a query for the SOA record and one for MX, SPF or DMARC in turn. The latter uses TCP (RFC 7766 §5), and
 * is repeated if the address answered only over UDP, because a lost packet proves nothing. If there are few servers, a
 * second address gets the other two queries. A missing answer is data.
 */
export function hostAsker(ctx: Asker, zone: Zone): AskHost {
  const asked = new Map<Ip, Promise<Heard>>()
  const most = Math.floor(MAX_QUESTIONS / QUESTIONS_AN_ADDRESS / Math.max(1, zone.servers)) >= 2 ? 2 : 1
  return (addresses, turn) => {
    const first = turn % COPIES.length
    const shares = [[COPIES[first]!], COPIES.filter((_, i) => i !== first)] as const
    const heard = chosen(addresses, most).map((address, place) => {
      const known = asked.get(address)
      if (known) return known
      const share = { address, first: place === 0, copies: shares[place]! }
      const hearing = askAddress(ctx, zone, share)
      asked.set(address, hearing)
      return hearing
    })
    return Promise.all(heard)
  }
}

/** The first address, and the first of the other family, otherwise the second: two paths to the same server. */
function chosen(addresses: readonly Ip[], most: number): readonly Ip[] {
  const [first, ...rest] = addresses
  if (first === undefined) return []
  const second = rest.find((address) => familyOf(address) !== familyOf(first)) ?? rest[0]
  return second === undefined || most < 2 ? [first] : [first, second]
}

/** `first`: the first address of its server, queried over both transports. */
type Share = { readonly address: Ip; readonly first: boolean; readonly copies: readonly Copy[] }

const askAddress = (ctx: Asker, zone: Zone, share: Share): Promise<Heard> =>
  withDeadline(ADDRESS_MS, ctx.signal, (signal) => askWithin(signal, ctx, zone, share))

async function askWithin(
  signal: AbortSignal,
  ctx: Asker,
  { domain, zone }: Zone,
  { address, first, copies }: Share,
): Promise<Heard> {
  const options = first ? ({ over: 'tcp' } as const) : {}
  const askCopy = (copy: Copy, at: AbortSignal) =>
    settled<ServerAnswer<'MX' | 'TXT'>>(
      copy === 'mx'
        ? ctx.askServer(address, domain, 'MX', at, options)
        : ctx.askServer(address, copy === 'dmarc' ? `_dmarc.${domain}` : domain, 'TXT', at, options),
    )
  const askOverTcp = (): Promise<Said<ServerAnswer<'MX' | 'TXT'>>> =>
    withDeadline(TCP_MS, signal, (at) => askCopy(copies[0]!, at))
  const [serial, ...said] = await Promise.all([
    first ? settled(ctx.askServer(address, zone, 'SOA', signal)) : undefined,
    ...(first ? [askOverTcp()] : copies.map((copy) => askCopy(copy, signal))),
  ])
  const isUp = serial !== undefined && !(serial instanceof DnsError)
  if (isUp && isSilence(said[0])) said[0] = await askOverTcp()
  return {
    address,
    ...(first ? { overTcp: copies[0]! } : {}),
    // The timeout of the whole check is not a fault of the server.
    ...(isUp && isSilence(said[0]) && !ctx.signal.aborted ? { silentOverTcp: true } : {}),
    ...(serial ? { soa: serial } : {}),
    copies: Object.fromEntries(copies.map((copy, i) => [copy, said[i]!])),
  }
}

/** No answer over TCP, and no refused connection, which is conclusive by itself. */
const isSilence = (said: Said<Answer> | undefined): said is DnsError =>
  said instanceof DnsError && (said.reason === 'timeout' || said.reason === 'network') && !isRefusal(said)

/** Whether the machine refused the connection. */
export const isRefusal = ({ cause }: DnsError): boolean => codeOf(cause) === 'ECONNREFUSED'
