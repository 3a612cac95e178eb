import { expect, it } from 'vitest'
import { domain } from '../../src/names/domain.ts'
import { checkDomain } from '../../src/operations/check.ts'
import { askServerInWaves, inWaves, waves } from '../lab/waves.ts'
import { type DomainCase, domains, type WrittenNode } from './cases.ts'
import { worldOf } from './lab.ts'

/**
 * What a check asks of the resolver and of name servers, counted where it leaves the program, fixes that are tried
 * included: at most 60 questions and 12 for each address of a mail host, and never more than 120. And how often it
 * waits for answers: usually five times, with SPF records on many levels eight times.
 */
const { cases, ...shared } = domains()
const CASES = cases.filter(({ domain: name, path, expect: { refused } }) => name && !path && !refused)

type Cost = { readonly questions: number; readonly allowed: number; readonly waits: number }

async function costOf(row: DomainCase): Promise<Cost> {
  const on = waves()
  const lab = worldOf(row, shared)
  const world = {
    ...lab,
    resolve: inWaves(lab.resolve, on).resolve,
    askServer: askServerInWaves(lab.askServer, on),
  }
  let questions = 0
  const counted =
    <A extends readonly unknown[], R>(ask: (...args: A) => R) =>
    (...args: A): R => {
      questions += 1
      return ask(...args)
    }
  const resolve = counted(world.resolve) as typeof world.resolve
  const askServer = counted(world.askServer) as typeof world.askServer
  const ctx = { ...world, resolve, askServer, signal: AbortSignal.timeout(20_000) }
  const { starttls, selector } = row.query ?? {}
  const { mx } = await checkDomain(ctx, { smtpPort: 25, heloName: async () => 'sonde.test' }, domain(row.domain!), {
    selectors: selector?.split(',') ?? [],
    starttls: starttls === 'true',
    plan: row.class === 'bounds',
  })
  const addresses = new Set(mx.flatMap((host) => host.addresses.map(({ address }) => address)))
  return { questions, allowed: Math.min(120, 60 + 12 * addresses.size), waits: on.waits() }
}

const HOSTS = Array.from({ length: 10 }, (_, i) => `m${i}.bound.com`)
const pointer = (address: string): string => `${address.split('.').reverse().join('.')}.in-addr.arpa`

/**
 * A domain with everything at its bound: ten mail hosts of two addresses, report addresses at twelve hosts, SPF at ten
 * lookups, four name servers.
 */
function atItsBound(id: string, changes: Readonly<Record<string, WrittenNode>> = {}): DomainCase {
  const zone: Record<string, WrittenNode> = {
    'bound.com': {
      MX: HOSTS.map((host, i): [number, string] => [i, host]),
      TXT: [
        'v=spf1 mx a:h0.bound.com a:h1.bound.com include:i0.com include:i1.com include:i2.com include:i3.com include:i4.com mx:other.com exists:e.bound.com ?all',
      ],
      NS: ['ns1.dnshost.net', 'ns2.dnshost.net', 'ns3.dnshost.net', 'ns4.dnshost.net'],
      CAA: [[0, 'issue', 'letsencrypt.org']],
    },
    'other.com': {
      MX: [
        [1, 'o0.other.com'],
        [2, 'o1.other.com'],
      ],
    },
    'o0.other.com': { A: ['45.60.0.1'] },
    'o1.other.com': { A: ['45.60.0.2'] },
    'h0.bound.com': { A: ['45.61.0.1'], AAAA: ['2a00:1450::1'] },
    'h1.bound.com': { A: ['45.61.0.2'] },
    'e.bound.com': { A: ['127.0.0.2'] },
    ...Object.fromEntries(
      Array.from({ length: 5 }, (_, i) => [`i${i}.com`, { TXT: [`v=spf1 ip4:45.62.${i}.0/24 ~all`] }]),
    ),
    '_dmarc.bound.com': {
      TXT: [
        `v=DMARC1; p=none; rua=${Array.from({ length: 12 }, (_, i) => `mailto:d@r${i}.net`).join(',')}; ruf=mailto:f@in.bound.com`,
      ],
    },
    ...Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [
        `r${i}.net`,
        {
          MX: [
            [1, `mx.r${i}.net`],
            [2, `my.r${i}.net`],
          ],
        } satisfies WrittenNode,
      ]),
    ),
    '_mta-sts.bound.com': { TXT: ['v=STSv1; id=1'] },
    '_smtp._tls.bound.com': { TXT: ['v=TLSRPTv1; rua=mailto:t@bound.com'] },
    'default._bimi.bound.com': { TXT: ['v=BIMI1; l=https://bound.com/l.svg'] },
  }
  HOSTS.forEach((host, at) => {
    const both = [`45.53.${at}.1`, `45.53.${at}.2`]
    zone[host] = { A: both }
    for (const address of both) zone[pointer(address)] = { PTR: Array.from({ length: 11 }, (_, i) => `p${i}.${host}`) }
  })
  return { id, class: 'bounds', domain: 'bound.com', zone: { ...zone, ...changes }, expect: {} }
}

const BOUNDS = [
  atItsBound('everything at its bound'),
  atItsBound('everything at its bound, and no DKIM', { '_domainkey.bound.com': {} }),
  atItsBound('many report addresses and nothing else', {
    'bound.com': { TXT: ['v=spf1 -all'], MX: [[0, '.']] },
  }),
]

const WAITS: number[] = []

it.each([...CASES, ...BOUNDS].map((row) => [row.id, row] as const))('%s', async (_, row) => {
  const { questions, allowed, waits } = await costOf(row)
  expect(questions).toBeLessThanOrEqual(allowed)
  if (row.class === 'bounds') return
  expect(waits).toBeLessThanOrEqual(8)
  WAITS.push(waits)
})

it('usually waits at most five times', () => {
  expect(WAITS.filter((waits) => waits > 5).length).toBeLessThanOrEqual(WAITS.length / 10)
})
