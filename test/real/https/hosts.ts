import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

import { txt, wellKept } from '../dns/zone.ts'
import type { LabDomain, NameService } from '../world.ts'

/** A policy host of MTA-STS (RFC 8461 §3.3): `mta-sts.<domain>`, at its own address. */
export type PolicyHost = {
  readonly domain: string
  readonly address: string
  readonly shows: string
  readonly certificate: 'good' | 'expired' | 'self_signed' | 'wrong_name'
  readonly serve: (request: IncomingMessage, response: ServerResponse) => void
  /** Of the domain's name servers; unsigned and well kept where it is not said. */
  readonly service?: NameService
  /** False: the address of the policy host is not in the zone. */
  readonly named?: false
}

/** A good policy. */
export const POLICY = 'version: STSv1\r\nmode: enforce\r\nmx: mx.accept.test\r\nmax_age: 604800\r\n'
export const STS_RECORD = 'v=STSv1; id=20260101T000000;'
const PATH = '/.well-known/mta-sts.txt'

export const serves = (body: string) => (request: IncomingMessage, response: ServerResponse) => {
  const found = request.url === PATH
  response.writeHead(found ? 200 : 404, { 'content-type': 'text/plain' }).end(found ? body : 'not here\n')
}

/** A policy host of `<name>.test`: with a good policy, but for `more`. */
export const host = (name: string, n: number, shows: string, more: Partial<PolicyHost> = {}): PolicyHost => ({
  domain: `${name}.test`,
  address: `45.53.6.${n}`,
  shows,
  certificate: 'good',
  serve: serves(POLICY),
  ...more,
})

/** The policy hosts; each domain's MX is mx.accept.test. */
export const policyHosts: readonly PolicyHost[] = [
  host('stsgood', 1, 'a good policy'),
  host('stswrongname', 2, 'the certificate is of another name', { certificate: 'wrong_name' }),
  host('stsexpired', 3, 'the certificate ended in 2020', { certificate: 'expired' }),
  host('stsself', 4, 'the certificate is signed by itself', { certificate: 'self_signed' }),
  host('stsredirect', 5, 'a redirect, which may not be followed (RFC 8461 §3.3)', {
    serve: (_, response) => void response.writeHead(302, { location: `https://mta-sts.stsgood.test${PATH}` }).end(),
  }),
  host('stsbig', 6, 'a policy of 10 MB', { serve: serves(POLICY + `mx: ${'x'.repeat(60)}.test\r\n`.repeat(150_000)) }),
  host('stsbomb', 7, 'gzip that unpacks to 100 MB', { serve: bomb() }),
  host('stsdrip', 8, 'one byte a second', { serve: drip }),
  host('stsendless', 13, 'a policy that never ends', { serve: endless }),
  host('stsmissing', 9, 'no policy: 404', { serve: notFound }),
  host('stsother', 10, 'a policy that does not cover the MX', {
    serve: serves(POLICY.replace('mx.accept.test', '*.other.test')),
  }),
  host('ststesting', 11, 'mode testing', { serve: serves(POLICY.replace('enforce', 'testing')) }),
  host('stsbroken', 12, 'a policy that cannot be read', { serve: serves('version: STSv2\r\nmode: maybe\r\n') }),
]

/** The domains of the policy hosts. */
export const policyDomains: readonly LabDomain[] = policyHosts.map(policyDomain)

/** The domain of a policy host. */
export function policyDomain(row: PolicyHost): LabDomain {
  const { domain: name, address, shows, service = 'unsigned', named } = row
  const zone = [
    '@ MX 10 mx.accept.test.',
    ...(named === false ? [] : [`mta-sts A ${address}`]),
    `_mta-sts TXT ${txt(STS_RECORD)}`,
    ...wellKept(name),
  ]
  return { name, shows: `MTA-STS: ${shows}`, service, zone, mailboxes: [] }
}

function notFound(_: IncomingMessage, response: ServerResponse): void {
  response.writeHead(404, { 'content-type': 'text/plain' }).end('not here\n')
}

/** 100 MB of nothing; packed when first asked for, since few tests do. */
function bomb(): PolicyHost['serve'] {
  let packed: Buffer | undefined
  return (_, response) => {
    packed ??= gzipSync(Buffer.alloc(100_000_000, ' '))
    response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(packed)
  }
}

/** Spaces for as long as somebody reads. */
export function endless(_: IncomingMessage, response: ServerResponse): void {
  const spaces = Buffer.alloc(65_536, ' ')
  const more = (): void => {
    while (!response.destroyed && response.write(spaces));
  }
  response.writeHead(200, { 'content-type': 'text/plain' }).on('drain', more)
  more()
}

export function drip(_: IncomingMessage, response: ServerResponse): void {
  let sent = 0
  response.writeHead(200, { 'content-type': 'text/plain' }).flushHeaders()
  const timer = setInterval(() => void response.write(POLICY[sent++ % POLICY.length]!), 1_000)
  response.once('close', () => clearInterval(timer))
}
