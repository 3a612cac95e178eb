import { serverAsker } from '../net/dns/ask-server.ts'
import { dnsClient } from '../net/dns/client.ts'
import { believable, topLevelDomains } from '../net/dns/nxdomain.ts'
import type { DnsEvent } from '../net/dns/question.ts'
import type { Resolve } from '../net/dns/resolver.ts'
import type { Server } from '../net/dns/system.ts'
import { cached, limited, merged } from '../net/dns/wrap.ts'
import type { Guard } from '../net/public-only.ts'
import type { World } from '../world.ts'

/** Maximum number of queries in progress at the resolvers; further ones wait. */
const MAX_QUESTIONS = 5_000
/** The DNS cache: entries, and bytes in total. */
const CACHE = { maxEntries: 100_000, maxBytes: 16 * 1024 * 1024 }

type DnsOptions = {
  readonly servers: readonly Server[]
  readonly trustAd: boolean
  /** The addresses of name servers that may be queried directly. */
  readonly allowed: Guard
  readonly random: () => number
  readonly now: () => number
  /** Called for every query to a resolver. */
  readonly onEvent?: (event: DnsEvent) => void
}

type Dns = {
  readonly resolve: Resolve
  /** Without the cache of answers. */
  readonly uncached: Resolve
  /** Without any wrapper: each query goes to a resolver, and NXDOMAIN is not verified. */
  readonly direct: Resolve
  readonly askServer: World['askServer']
}

/** The resolvers and the name servers, over the network. */
export function openDns(options: DnsOptions): Dns & { readonly close: () => void } {
  const { servers, trustAd, allowed, random, now, onEvent } = options
  const client = dnsClient({ servers, trustAd, random, ...(onEvent && { onEvent }) })
  const asker = serverAsker({ allowed, random })
  const asked = merged(limited(client.resolve, MAX_QUESTIONS))
  const domains = topLevelDomains(asked, now)
  const uncached = believable(asked, domains)
  return {
    resolve: cached(uncached, { now, nxdomainSinceMs: domains.deniedAtMs, ...CACHE }),
    uncached,
    direct: client.resolve,
    askServer: asker.ask,
    close: () => {
      client.close()
      asker.close()
    },
  }
}
