import {
  DEAD_SERVER,
  FAULTY_SERVER,
  LEAF_SERVERS,
  REFUSING_HOST,
  SCRIPTED_SERVER,
  STALE_SERVER,
  VICTIM,
} from '../addresses.ts'
import { policyDomain, STS_RECORD } from '../https/hosts.ts'
import { LOGO_HOST, morePolicyHosts } from '../https/policy-hosts.ts'
import type { LabDomain } from '../world.ts'
import { dnsDomain, txt, wellKept } from './zone.ts'

const MX = '@ MX 10 mx.accept.test.'
const GOOD = '@ NS ns1.lab.test.'
const BOTH = [GOOD, '@ NS ns2.lab.test.']

/** A well kept domain with more records. */
const kept = (name: string, shows: string, ...more: readonly string[]): LabDomain =>
  dnsDomain(`${name}.test`, shows, 'unsigned', [MX, ...wellKept(`${name}.test`), ...more])

const texts = (at: string, ...records: readonly string[]): string[] => records.map((text) => `${at} TXT ${txt(text)}`)

const sts = (name: string, shows: string, ...records: readonly string[]): LabDomain =>
  kept(name, `MTA-STS: ${shows}`, ...texts('_mta-sts', ...records))

const rpt = (name: string, shows: string, ...records: readonly string[]): LabDomain =>
  kept(name, `TLS-RPT: ${shows}`, ...texts('_smtp._tls', ...records))

const bimi = (name: string, shows: string, ...records: readonly string[]): LabDomain =>
  kept(name, `BIMI: ${shows}`, ...texts('default._bimi', ...records))

/** A domain whose logo is this file. */
const logo = (name: string, shows: string, url: string): LabDomain =>
  bimi(
    name,
    shows,
    `v=BIMI1; l=${url.startsWith('/') ? `https://${LOGO_HOST}${url}` : url}; a=https://${LOGO_HOST}/vmc.pem`,
  )

/** A well kept domain with name servers of its own. */
const servers = (name: string, shows: string, ...apex: readonly string[]): LabDomain => ({
  ...kept(name, `NS: ${shows}`),
  apex,
})

/** A well kept domain with two servers in its own zone, and the address of the second as the parent has it. */
const ownServers = (name: string, shows: string, ...glue: readonly string[]): LabDomain => {
  const named = ['@ NS ns1', '@ NS ns2', `ns1 A ${LEAF_SERVERS[0]}`]
  return {
    ...servers(name, shows, ...named, `ns2 A ${LEAF_SERVERS[1]}`),
    parent: absoluteNs(name, [...named, ...glue]),
  }
}

/** NS data is written in full in the zone of the parent. */
const absoluteNs = (name: string, lines: readonly string[]): readonly string[] =>
  lines.map((line) => line.replace(/^(@ NS \S+[^.])$/, `$1.${name}.test.`))

const stsDomains: readonly LabDomain[] = [
  ...morePolicyHosts
    .filter((row) => row.domain !== 'healthy.test')
    .map((row) =>
      row.named === false
        ? {
            ...policyDomain(row),
            zone: [...policyDomain(row).zone, 'mta-sts NS ns.mta-sts', `ns.mta-sts A ${SCRIPTED_SERVER}`],
          }
        : policyDomain(row),
    ),
  sts('ststwo', 'two records', 'v=STSv1; id=1', 'v=STSv1; id=2'),
  sts('stsversion', 'a version that is none', 'v=STS1; id=1'),
  sts('stssyntax', 'an id that is none', 'v=STSv1; id=2026-01-01'),
  {
    ...sts('stsrefuses', 'a policy host that refuses connections', STS_RECORD),
    zone: [MX, `mta-sts A ${REFUSING_HOST}`, ...texts('_mta-sts', STS_RECORD)],
  },
  {
    ...sts('stsprivate', 'a policy host in a private network', STS_RECORD),
    zone: [MX, 'mta-sts A 10.53.0.1', 'mta-sts AAAA fd53::1', ...texts('_mta-sts', STS_RECORD)],
  },
]

const rptDomains: readonly LabDomain[] = [
  rpt('rpttwo', 'two records', 'v=TLSRPTv1; rua=mailto:a@rpttwo.test', 'v=TLSRPTv1; rua=mailto:b@rpttwo.test'),
  rpt('rptversion', 'a version that is none', 'v=TLSRPT1; rua=mailto:a@rptversion.test'),
  rpt('rptsyntax', 'an address without a scheme', 'v=TLSRPTv1; rua=a@rptsyntax.test'),
  rpt('rpturi', 'one address of two cannot be used', 'v=TLSRPTv1; rua=mailto:a@rpturi.test,http://rpturi.test/tls'),
]

const bimiDomains: readonly LabDomain[] = [
  {
    ...logo('bimigood', 'a logo that keeps to the profile', '/logo.svg'),
    zone: [
      ...logo('bimigood', '', '/logo.svg').zone,
      'logos A 45.53.6.50',
      'expired A 45.53.6.51',
      `refuses A ${REFUSING_HOST}`,
      'private A 10.53.0.1',
      'news A 45.53.8.1',
    ],
  },
  logo('bimisvgz', 'a packed logo', '/logo.svgz'),
  logo('bimiscript', 'a logo with a script', '/script.svg'),
  logo('bimientities', 'a logo with entities that make a billion characters', '/entities.svg'),
  logo('bimioutside', 'a logo with an entity that reads a file', '/outside.svg'),
  logo('bimiwide', 'a logo that is not square', '/wide.svg'),
  logo('bimilarge', 'a logo of 40 kB', '/large.svg'),
  logo('bimihuge', 'a logo of 10 MB', '/huge.svg'),
  logo('bimibomb', 'a packed logo of 100 MB', '/bomb.svgz'),
  logo('bimiendless', 'a logo that never ends', '/endless.svg'),
  logo('bimidrip', 'a logo of one byte a second', '/drip.svg'),
  logo('bimiinside', 'a redirect into a private network', '/inside.svg'),
  logo('bimimissing', 'no logo: 404', '/missing.svg'),
  logo('bimiexpired', 'the host of the logo has a certificate of 2020', 'https://expired.bimigood.test/logo.svg'),
  logo('bimirefuses', 'the host of the logo refuses connections', 'https://refuses.bimigood.test/logo.svg'),
  logo('bimiprivate', 'the host of the logo is in a private network', 'https://private.bimigood.test/logo.svg'),
  logo('bimihttp', 'an address without TLS', 'http://logos.bimigood.test/logo.svg'),
  logo('bimipng', 'another image format', '/logo.png'),
  bimi('bimideclined', 'declines to show a logo', 'v=BIMI1; l=; a='),
  bimi('bimitwo', 'two records', 'v=BIMI1; l=; a=', 'v=BIMI1; l='),
  bimi('bimiversion', 'a version that is none', `v=bimi1; l=https://${LOGO_HOST}/logo.svg`),
  bimi('bimisyntax', 'a record without l', `v=BIMI1; a=https://${LOGO_HOST}/vmc.pem`),
  bimi('bimimark', 'a certificate without a logo', `v=BIMI1; l=; a=https://${LOGO_HOST}/vmc.pem`),
  bimi('bimibare', 'a logo without a certificate', `v=BIMI1; l=https://${LOGO_HOST}/logo.svg`),
  {
    ...logo('biminone', 'a logo that DMARC does not let through', '/logo.svg'),
    zone: [
      MX,
      ...texts('_dmarc', 'v=DMARC1; p=none'),
      ...texts('default._bimi', `v=BIMI1; l=https://${LOGO_HOST}/logo.svg`),
    ],
  },
  {
    ...logo('bimidmarc', 'a logo, and no answer about DMARC', '/logo.svg'),
    zone: [MX, '_dmarc NS ns1.dead.test.', ...texts('default._bimi', `v=BIMI1; l=https://${LOGO_HOST}/logo.svg`)],
  },
]

const caa = (name: string, shows: string, ...records: readonly string[]): LabDomain =>
  kept(name, `CAA: ${shows}`, 'www A 45.53.8.1', ...records.map((record) => `@ CAA ${record}`))

const caaDomains: readonly LabDomain[] = [
  caa('caagood', 'one authority', '0 issue "ca.lab.test"'),
  caa('caaiodef', 'no issue', '0 iodef "mailto:security@caaiodef.test"'),
  caa('caanobody', 'nobody may issue', '0 issue ";"'),
  caa('caacritical', 'a critical property that nobody knows', '0 issue "ca.lab.test"', '128 tbs "x"'),
  caa('caabroken', 'an authority that is none', '0 issue "%%%"'),
]

const nsDomains: readonly LabDomain[] = [
  servers('nssingle', 'one server', GOOD),
  servers('nsnetwork', 'two servers in one network', GOOD, '@ NS near', `near A ${FAULTY_SERVER}`),
  servers('nsgone', 'a server without address', ...BOTH, '@ NS gone'),
  servers('nscname', 'a server that is an alias', GOOD, '@ NS alias', 'alias CNAME ns2.lab.test.'),
  servers('nslame', 'a server that does not know the zone', ...BOTH, '@ NS lame', `lame A ${STALE_SERVER}`),
  servers('nssilent', 'a server that never answers', ...BOTH, '@ NS silent', `silent A ${DEAD_SERVER}`),
  {
    ...servers(
      'nsudp',
      'one server of three that answers over UDP alone',
      ...BOTH,
      '@ NS udp',
      `udp A ${FAULTY_SERVER}`,
    ),
    service: 'no_tcp',
  },
  ownServers('nsglue', 'glue of another machine', `ns2 A ${STALE_SERVER}`),
  ownServers('nsnoglue', 'a server in the zone without glue'),
  {
    ...servers('nsstale', 'one server of three has an older version', ...BOTH, '@ NS late', `late A ${STALE_SERVER}`),
    otherZone: [
      '@ MX 10 old',
      'old A 45.53.8.9',
      ...texts('@', 'v=spf1 a ~all'),
      ...texts('_dmarc', 'v=DMARC1; p=none'),
    ],
  },
  servers('nschanged', 'two servers that agree; its MX is changed by a test', ...BOTH),
  servers(
    'nsmany',
    'fourteen servers',
    ...Array.from({ length: 14 }, (_, n) => [`@ NS n${n}`, `n${n} A ${LEAF_SERVERS[n % 2]}`]).flat(),
  ),
  servers(
    'nsprivate',
    'servers at private addresses',
    ...BOTH,
    '@ NS a',
    'a A 10.53.0.1',
    'a AAAA fd53::1',
    '@ NS b',
    'b A 127.0.0.53',
    '@ NS c',
    'c AAAA 64:ff9b::a35:1',
  ),
  {
    ...servers(
      'nsvictim',
      "twelve names of servers at a stranger's address",
      ...BOTH,
      ...Array.from({ length: 11 }, (_, n) => [`@ NS v${n}`, `v${n} A ${VICTIM}`]).flat(),
    ),
    // Each address of a mail host allows 12 more questions: the servers are asked as well.
    zone: [
      '@ MX 10 mx',
      ...Array.from({ length: 5 }, (_, n) => `mx A 45.53.7.${50 + n}`),
      ...wellKept('nsvictim.test'),
    ],
  },
]

/** Domains for the checks that give findings and no points: MTA-STS, TLS-RPT, BIMI, CAA, NS and SOA. */
export const hardeningDomains: readonly LabDomain[] = [
  ...stsDomains,
  ...rptDomains,
  ...bimiDomains,
  ...caaDomains,
  ...nsDomains,
  {
    ...kept('soabad', 'SOA: no primary, no contact, and every time out of order'),
    soa: '. . 2026010101 3600 7200 3600 604800',
  },
]
