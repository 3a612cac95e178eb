import { describe, expect, it } from 'vitest'
import { type LabZone, labDns } from '../../../test/lab/dns.ts'
import { believable, topLevelDomains } from './nxdomain.ts'
import type { Answer, DnsError, Resolve } from './resolver.ts'
import { cached } from './wrap.ts'

const forever = new AbortController().signal
const HOUR = 3_600_000
const WORLD: LabZone = {
  com: { NS: ['a.gtld.test'] },
  de: { NS: ['a.nic.test'] },
  'example.de': { A: ['192.0.2.1'] },
  'alias.example.de': { CNAME: ['gone.example.org'] },
  'host.test': { A: ['192.0.2.2'] },
}

type Lie = (question: string) => Partial<Pick<Answer, 'kind' | 'ttlSeconds' | 'secure'>> | undefined

/** A resolver whose lies are switched on and off, with a clock. */
function bench(zone: LabZone = WORLD, lies: Lie = () => undefined) {
  const { resolve, asked } = labDns(zone)
  let nowMs = 0
  const state = { lies, asked, pass: (ms: number) => void (nowMs += ms) }
  const liar: Resolve = async (name, type, signal) => {
    const answer = await resolve(name, type, signal)
    const lie = state.lies(`${name} ${type}`)
    return lie ? { ...answer, records: [], cname: [], ...lie } : answer
  }
  const ask = believable(
    liar,
    topLevelDomains(liar, () => nowMs),
  )
  return {
    ...state,
    liar,
    lie: (next: Lie) => {
      state.lies = next
    },
    ask: (name: string) =>
      ask(name, 'A', forever).then(
        ({ kind }) => kind,
        (error) => error.reason,
      ),
  }
}
const DENIED = 'resolver_denies_everything'
const everything = () => ({ kind: 'nxdomain' }) as const

describe('a resolver that denies everything', () => {
  it.each(['example.de', 'www.example.com', 'x.notatld', 'host.test', '1.2.0.192.in-addr.arpa', 'de', ''])(
    'is not believed about %j',
    async (name) => {
      expect(await bench(WORLD, everything).ask(name)).toBe(DENIED)
    },
  )

  it('is told without the stack of the question, which would hold the request as long as the error is cached', async () => {
    const ask = believable(
      bench(WORLD, everything).liar,
      topLevelDomains(bench(WORLD, everything).liar, () => 0),
    )
    const error = await ask('example.de', 'A', forever).catch((thrown: DnsError) => thrown)
    expect([String(error), String((error as DnsError).cause), ((error as DnsError).cause as Error).stack]).toEqual([
      expect.stringContaining('example.de'),
      expect.stringContaining('top-level domain de'),
      expect.not.stringContaining('\n'),
    ])
  })

  it('is believed again a minute after it has come to its senses', async () => {
    const { ask, lie, pass } = bench(WORLD, everything)
    expect(await ask('gone.de')).toBe(DENIED)
    lie(() => undefined)
    expect(await ask('gone.de')).toBe(DENIED)
    expect(await ask('example.de')).toBe('found')
    pass(60_000)
    expect(await ask('gone.de')).toBe('nxdomain')
  })

  it('is believed later each time that it denies everything again', async () => {
    const { ask, lie, pass } = bench(WORLD)
    for (const ms of [60_000, 120_000, 240_000]) {
      lie(() => ({ kind: 'nxdomain', ttlSeconds: 0 }))
      expect(await ask('gone.de')).toBe(DENIED)
      lie(() => undefined)
      pass(ms - 1)
      expect(await ask('gone.de')).toBe(DENIED)
      pass(1)
      expect(await ask('gone.de')).toBe('nxdomain')
      pass(HOUR / 4)
    }
  })

  it('leaves no lie in the cache', async () => {
    const { resolve } = labDns(WORLD)
    let nowMs = 0
    let lying = true
    const liar: Resolve = async (name, type, signal) => ({
      ...(await resolve(name, type, signal)),
      ...(lying && { kind: 'nxdomain', records: [], cname: [], ttlSeconds: 10_000 }),
    })
    const now = () => nowMs
    const domains = topLevelDomains(liar, now)
    const ask = cached(believable(liar, domains), {
      now,
      maxEntries: 9,
      maxBytes: 9_999,
      nxdomainSinceMs: domains.deniedAtMs,
    })
    const kindOf = async (name: string) => (await ask(name, 'A', forever).catch((error) => error.reason)).kind
    lying = false
    await kindOf('gone.de') // the resolver is known to be honest
    lying = true
    expect(await kindOf('example.de')).toBe('nxdomain') // and begins to lie: not found out yet
    expect(await kindOf('www.example.com')).toBeUndefined()
    lying = false
    nowMs = 60_000
    expect(await kindOf('example.de')).toBe('found')
    expect(await kindOf('www.example.com')).toBe('nxdomain')
  })

  it('is found out within the hour when its NXDOMAIN has no SOA record, and after it otherwise', async () => {
    for (const [ttlSeconds, untilMs] of [
      [0, 60_000],
      [300, HOUR],
    ] as const) {
      const { ask, lie, pass } = bench()
      expect(await ask('gone.de')).toBe('nxdomain')
      lie(() => ({ kind: 'nxdomain', ttlSeconds }))
      pass(untilMs - 1)
      expect(await ask('example.de')).toBe('nxdomain')
      pass(1)
      expect(await ask('example.de')).toBe(DENIED)
      expect(await ask('gone.test')).toBe(DENIED) // what it said of other domains before is worth nothing now
    }
  })
})

it.each([
  ['a missing name of a domain that it knows', WORLD, 'gone.de', 'nxdomain'],
  ['a missing name of a domain that is in no list and its own', WORLD, 'gone.test', 'nxdomain'],
  ['a domain that does not exist', WORLD, 'x.notatld', 'nxdomain'],
  ['.onion, which no resolver may know (RFC 7686)', WORLD, 'x.onion', 'nxdomain'],
  ['the end of a chain, in another domain', { ...WORLD, org: {} }, 'alias.example.de', 'nxdomain'],
  ['the end of a chain in a domain that it denies', WORLD, 'alias.example.de', DENIED],
  ['a listed domain that it denies alone', WORLD, 'gone.fr', DENIED],
  ['a domain that it cannot ask for', { ...WORLD, de: 'SERVFAIL', 'gone.de': { A: [] } }, 'x.de', 'servfail'],
  ['a domain that it does not give the NS of', { ...WORLD, de: { NS: 'REFUSED' } }, 'gone.de', 'nxdomain'],
  ['a name that exists', { 'a.de': { A: ['192.0.2.1'] } }, 'a.de', 'found'],
] as const)('%s', async (_, zone, name, expected) => {
  expect(await bench(zone as LabZone).ask(name)).toBe(expected)
})

it('does not take a denied domain for a denial of all others', async () => {
  const { ask } = bench()
  expect(await ask('gone.fr')).toBe(DENIED)
  expect(await ask('gone.de')).toBe('nxdomain')
})

it('asks for a top-level domain beside the first question below it, once an hour', async () => {
  const { ask, asked, pass } = bench()
  await Promise.all([ask('example.de'), ask('gone.de'), ask('gone.DE.')])
  await ask('other.de')
  pass(HOUR - 1)
  await ask('gone.de')
  expect(asked.filter((question) => question === 'de NS')).toHaveLength(1)
  expect(asked[1]).toBe('de NS')
  pass(1)
  await ask('gone.de')
  expect(asked.filter((question) => question === 'de NS')).toHaveLength(2)
})

it('believes a validated NXDOMAIN', async () => {
  const { ask } = bench(WORLD, () => ({ kind: 'nxdomain', secure: true }))
  expect(await ask('example.de')).toBe('nxdomain')
})

it('does not wait longer than the caller', async () => {
  const control = new AbortController()
  const silent: Resolve = (name, type, signal) =>
    name === 'de' ? new Promise(() => {}) : labDns(WORLD).resolve(name, type, signal)
  const ask = believable(
    silent,
    topLevelDomains(silent, () => 0),
  )
  const pending = ask('gone.de', 'A', control.signal)
  setImmediate(() => control.abort())
  await expect(pending).rejects.toMatchObject({ name: 'DnsError', reason: 'aborted' })
})

it('asks for a domain that could not be asked for again after two seconds', async () => {
  const { ask, asked, pass } = bench({ ...WORLD, de: { NS: 'SERVFAIL' } })
  await ask('x.de')
  await ask('x.de')
  expect(asked.filter((question) => question === 'de NS')).toHaveLength(1)
  pass(2_000)
  await ask('x.de')
  expect(asked.filter((question) => question === 'de NS')).toHaveLength(2)
})
