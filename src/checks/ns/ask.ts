import { within } from '../../base/deadline.ts'
import { familyOf, type Ip } from '../../names/ip.ts'
import { type Answer, DnsError, type ServerAnswer, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'

/** The mail records that are compared server by server. */
export type Copy = 'mx' | 'spf' | 'dmarc'
export const COPIES: readonly Copy[] = ['mx', 'spf', 'dmarc']

/** Time for one address, all questions. */
const ADDRESS_MS = 3_000
/** Time for one question over TCP, so that there is some for a second. */
const TCP_MS = 1_400
/** Maximum number of queries of one check to addresses that the domain owner chose: two for each of 13 servers. */
const MAX_QUESTIONS = 26
const QUESTIONS_AN_ADDRESS = 2

type Said<A extends Answer> = A | DnsError

/** What one address said when asked itself: two of these four. */
export type Heard = {
  readonly address: Ip
  /** Of these, what was asked over TCP. */
  readonly overTcp?: Copy
  /** Asked twice over TCP, it gave no answer within the time of either, and answered over UDP. */
  readonly silentOverTcp?: true
  readonly soa?: Said<ServerAnswer<'SOA'>>
  readonly copies: { readonly [C in Copy]?: Said<ServerAnswer<'MX' | 'TXT'>> }
}

type Asker = Pick<Ctx, 'askServer' | 'signal'>
type Zone = { readonly domain: string; readonly zone: string; readonly servers: number }

/** Asks the addresses of a server; `turn` is the server's place among the servers. */
export type AskHost = (addresses: readonly Ip[], turn: number) => Promise<readonly Heard[]>

/**
 * Asks name servers themselves, at public addresses that the owner of the zone chose, and that may be a stranger's: two questions an address and no more,
 * also where several servers share one, 26 in all, at most 3 s each. The first address of a server is asked for the SOA record and one of MX, SPF and DMARC,
 * which take turns, the latter over TCP (RFC 7766 §5), and once more where it answered over UDP alone: a lost packet proves nothing; a second address, where there are few servers, for the other two. What is not answered is data.
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

/** The first address, and the first of the other family, else the second: two ways to the same server. */
function chosen(addresses: readonly Ip[], most: number): readonly Ip[] {
  const [first, ...rest] = addresses
  if (first === undefined) return []
  const second = rest.find((address) => familyOf(address) !== familyOf(first)) ?? rest[0]
  return second === undefined || most < 2 ? [first] : [first, second]
}

/** `first`: the first address of its server, asked over both transports. */
type Share = { readonly address: Ip; readonly first: boolean; readonly copies: readonly Copy[] }

async function askAddress(ctx: Asker, { domain, zone }: Zone, { address, first, copies }: Share): Promise<Heard> {
  const signal = within(ADDRESS_MS, ctx.signal)
  const options = first ? ({ over: 'tcp' } as const) : {}
  const askCopy = (copy: Copy, at: AbortSignal) =>
    settled<ServerAnswer<'MX' | 'TXT'>>(
      copy === 'mx'
        ? ctx.askServer(address, domain, 'MX', at, options)
        : ctx.askServer(address, copy === 'dmarc' ? `_dmarc.${domain}` : domain, 'TXT', at, options),
    )
  const askOverTcp = (): Promise<Said<ServerAnswer<'MX' | 'TXT'>>> => askCopy(copies[0]!, within(TCP_MS, signal))
  const [serial, ...said] = await Promise.all([
    first ? settled(ctx.askServer(address, zone, 'SOA', signal)) : undefined,
    ...(first ? [askOverTcp()] : copies.map((copy) => askCopy(copy, signal))),
  ])
  const isUp = serial !== undefined && !(serial instanceof DnsError)
  if (isUp && isSilence(said[0])) said[0] = await askOverTcp()
  return {
    address,
    ...(first ? { overTcp: copies[0]! } : {}),
    // A time-out of the whole check is none of the server's.
    ...(isUp && isSilence(said[0]) && !ctx.signal.aborted ? { silentOverTcp: true } : {}),
    ...(serial ? { soa: serial } : {}),
    copies: Object.fromEntries(copies.map((copy, i) => [copy, said[i]!])),
  }
}

/** No answer over TCP, and no refusal of the connection, which says enough by itself. */
const isSilence = (said: Said<Answer> | undefined): said is DnsError =>
  said instanceof DnsError && (said.reason === 'timeout' || said.reason === 'network') && !isRefusal(said)

/** Whether the machine refused the connection. */
export const isRefusal = ({ cause }: DnsError): boolean =>
  (cause as { readonly code?: unknown } | undefined)?.code === 'ECONNREFUSED'
