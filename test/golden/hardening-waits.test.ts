import { expect, it } from 'vitest'
import type { Check } from '../../src/checks/check.ts'
import * as registry from '../../src/checks/registry.ts'
import { remembering } from '../../src/checks/repeatable.ts'
import type { CheckKey } from '../../src/checks/run.ts'
import { domain } from '../../src/names/domain.ts'
import type { AskServer } from '../../src/net/dns/resolver.ts'
import type { Fetch } from '../../src/net/fetch.ts'
import { runCheck, runChecks } from '../lab/checks.ts'
import { type LabZone, labDns } from '../lab/dns.ts'
import { askServerInWaves, fetchInWaves, inWaves, waves } from '../lab/waves.ts'
import { labCtx } from '../lab/world.ts'

/** The checks without points stand beside the five that score, and add at most two round trips to a cold check. */
const SCORED = ['spf', 'dkim', 'dmarc', 'mx', 'ptr'] as const satisfies readonly CheckKey[]

const SOA = {
  mname: 'ns1.a.example',
  rname: 'h.a.example',
  serial: 1,
  refresh: 9_000,
  retry: 900,
  expire: 1_209_600,
  minimum: 300,
}
const EVERYTHING: LabZone = {
  'a.example': {
    MX: [[10, 'mx.a.example']],
    TXT: ['v=spf1 mx -all'],
    NS: ['ns1.a.example', 'ns2.a.example'],
    SOA: [SOA],
    CAA: [{ critical: false, tag: 'issue', value: 'ca.example' }],
    AD: true,
  },
  'mx.a.example': { A: ['45.53.5.1'], AD: true },
  '1.5.53.45.in-addr.arpa': { PTR: ['mx.a.example'] },
  '_25._tcp.mx.a.example': { TLSA: [{ usage: 3, selector: 1, matchingType: 1, data: '00'.repeat(32) }], AD: true },
  'ns1.a.example': { A: ['45.53.6.1'], AAAA: ['2a00::1'] },
  'ns2.a.example': { A: ['45.54.6.2'] },
  '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:dmarc@a.example'] },
  's1._domainkey.a.example': { TXT: ['v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='] },
  '_mta-sts.a.example': { TXT: ['v=STSv1; id=1'] },
  'mta-sts.a.example': { A: ['45.53.6.20'] },
  'logos.a.example': { A: ['45.53.6.21'] },
  '_smtp._tls.a.example': { TXT: ['v=TLSRPTv1; rua=mailto:tls@a.example'] },
  'default._bimi.a.example': { TXT: ['v=BIMI1; l=https://logos.a.example/logo.svg; a='] },
}
const POLICY = 'version: STSv1\nmode: enforce\nmx: mx.a.example\nmax_age: 1209600\n'
const fetch: Fetch = async (url) => ({ status: 200, contentType: 'text/plain', body: Buffer.from(POLICY), url })

async function waitsOf(zone: LabZone, name: string, keys: 'all' | readonly CheckKey[]): Promise<number> {
  const on = waves()
  const { resolve } = labDns(zone)
  const askServer: AskServer = async (_, asked, type, signal) => ({
    ...(await resolve(asked, type, signal)),
    authoritative: true,
  })
  const parts = {
    resolve: inWaves(resolve, on).resolve,
    askServer: askServerInWaves(askServer, on),
    fetch: fetchInWaves(fetch, on),
  }
  const ctx = remembering(labCtx({}, parts))
  const input = { selectors: ['s1'] }
  if (keys === 'all') await runChecks(ctx, domain(name), input)
  else await Promise.all(keys.map((key) => runCheck(registry[key] as Check<unknown>, ctx, domain(name), input)))
  return on.waits()
}

it.each<[string, LabZone, string]>([
  ['everything published', EVERYTHING, 'a.example'],
  ['a name below, which inherits', { ...EVERYTHING, 'b.a.example': { A: ['45.53.5.1'] } }, 'b.a.example'],
  ['nothing but an address', { 'a.example': { A: ['45.53.5.1'] } }, 'a.example'],
  ['parked', { 'a.example': { MX: [[0, '.']], TXT: ['v=spf1 -all'] } }, 'a.example'],
  ['no such domain', {}, 'a.example'],
])('%s: at most three waits more', async (_why, zone, name) => {
  const scored = await waitsOf(zone, name, SCORED)
  const all = await waitsOf(zone, name, 'all')
  expect(all).toBeLessThanOrEqual(scored + 3)
})
