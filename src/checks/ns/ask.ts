import { within } from '../../base/deadline.ts'
import type { Ip } from '../../names/ip.ts'
import { type Answer, DnsError, type ServerAnswer } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'

/** The mail records that are compared server by server. */
export type Copy = 'mx' | 'spf' | 'dmarc'
const COPIES: readonly Copy[] = ['mx', 'spf', 'dmarc']

/** Time for one server, both questions. */
const SERVER_MS = 3_000

/** What a server said when asked itself. */
export type Heard = {
  readonly address: Ip
  /** Its answer to the SOA question. */
  readonly soa: ServerAnswer<'SOA'> | DnsError
  /** The one mail record that it was asked for. */
  readonly copy: Copy
  readonly answer: ServerAnswer<'MX' | 'TXT'> | DnsError
}

type Question = { readonly address: Ip; readonly domain: string; readonly zone: string; readonly turn: number }

/**
 * Asks a server for the SOA record and for one of MX, SPF and DMARC, which take turns: two questions and no more, since the address was
 * chosen by the owner of the zone. At most 3 s. What it does not answer is data.
 */
export async function askDirectly(ctx: Pick<Ctx, 'askServer' | 'signal'>, question: Question): Promise<Heard> {
  const { address, domain, zone, turn } = question
  const copy = COPIES[turn % COPIES.length]!
  const signal = within(SERVER_MS, ctx.signal)
  const name = copy === 'dmarc' ? `_dmarc.${domain}` : domain
  const [soa, answer] = await Promise.all([
    settled(ctx.askServer(address, zone, 'SOA', signal)),
    settled<ServerAnswer<'MX' | 'TXT'>>(
      copy === 'mx' ? ctx.askServer(address, name, 'MX', signal) : ctx.askServer(address, name, 'TXT', signal),
    ),
  ])
  return { address, soa, copy, answer }
}

/** An answer, or the DnsError as data. */
export async function settled<A extends Answer>(work: Promise<A>): Promise<A | DnsError> {
  try {
    return await work
  } catch (error) {
    if (error instanceof DnsError) return error
    throw error
  }
}
