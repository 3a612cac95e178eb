import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { labDns } from '../../../test/lab/dns.ts'
import { type LabServer, labServer, type Query, response, zoneBehaviour } from '../../../test/lab/dns-server.ts'
import { CONTRACT, CONTRACT_ZONE } from '../../../test/lab/resolve-contract.ts'
import { type DnsClient, dnsClient } from './client.ts'
import { DnsError, type Resolve } from './resolver.ts'
import { cached, limited, merged } from './wrap.ts'

let server: LabServer
let client: DnsClient
const zone = zoneBehaviour(CONTRACT_ZONE)

/** As a resolver does: what does not fit is truncated over UDP, and a loop is answered with the part that it saw. */
async function behave(query: Query): Promise<Buffer | undefined> {
  if (/^(round|again)\.example$/.test(query.name)) return response(query, { answers: ROUND })
  const reply = (await zone(query)) as Buffer | undefined
  return reply && query.over === 'udp' && reply.length > 1_232 ? response(query, { flags: 0x0200 }) : reply
}
const ROUND = [
  { type: 'CNAME', name: 'round.example', ttl: 60, data: 'again.example' },
  { type: 'CNAME', name: 'again.example', ttl: 60, data: 'round.example' },
]

beforeAll(async () => {
  server = await labServer(behave)
  client = dnsClient({
    servers: [server.server],
    trustAd: true,
    random: () => 0.5,
    timeouts: { tryMs: 100, totalMs: 800 },
  })
})
afterAll(() => {
  client.close()
  server.close()
})

const cache = { now: () => 0, maxEntries: 100, maxBytes: 100_000 }
const kinds: readonly (readonly [string, () => Resolve])[] = [
  ['the lab', () => labDns(CONTRACT_ZONE).resolve],
  ['the client', () => client.resolve],
  ['the cached client', () => remembered],
  ['the cached client, the second time', () => remembered],
]
let inner: Resolve
const remembered: Resolve = (...args) => {
  inner ??= merged(cached(limited(client.resolve, 10), cache))
  return inner(...args)
}

describe.each(kinds)('%s', (_, resolve) => {
  it.each(CONTRACT)('$why: $ask.0 $ask.1', async ({ ask, answer, error }) => {
    const [name, type, options] = ask
    const asked = resolve()(name, type, AbortSignal.timeout(5_000), options)
    if (answer) expect(await asked).toMatchObject(answer)
    else {
      const thrown = await asked.catch((reason: unknown) => reason)
      expect(thrown).toBeInstanceOf(DnsError)
      expect((thrown as DnsError).reason).toBe(error)
      expect((thrown as DnsError).question.type).toBe(type)
    }
  })
  it('rejects a question that was given up before', async () => {
    const asked = resolve()('a.example', 'A', AbortSignal.abort())
    await expect(asked).rejects.toBeInstanceOf(DnsError)
  })
})
