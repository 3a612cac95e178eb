import { LEAF_SERVERS, RECEIVER, SUBMISSION, WATCHED_SERVERS } from '../addresses.ts'
import type { LabDomain, NameService } from '../world.ts'
import { RSA_2048 } from './keys.ts'
import { dnsDomain, txt, wellKept } from './zone.ts'

const MX = '@ MX 10 mx.accept.test.'

/** A well kept domain that differs in how its name servers behave, and in nothing else. */
const service = (name: string, kind: NameService, shows: string): LabDomain =>
  dnsDomain(name, shows, kind, [MX, '@ A 45.53.8.1', 'www A 45.53.8.1', ...wellKept(name)])

const repeat = (count: number, line: (n: number) => string): string[] =>
  Array.from({ length: count }, (_, n) => line(n))

const watchedServers = WATCHED_SERVERS.flatMap((address, n) => [
  `@ NS ns${n + 1}.watched.test.`,
  `ns${n + 1} A ${address}`,
])

/** Domains that are there for what their DNS does. */
export const dnsDomains: readonly LabDomain[] = [
  dnsDomain('lab.test', 'the name servers of all lab domains', 'signed', [
    ...LEAF_SERVERS.map((address, n) => `ns${n + 1} A ${address}`),
    // Takes the reports of all (RFC 9990 §4).
    `*._report._dmarc TXT ${txt('v=DMARC1')}`,
  ]),
  dnsDomain('sonde.test', 'the names of the machine that runs the program', 'unsigned', [
    'a A 45.53.1.1',
    'b A 45.53.1.2',
    'a AAAA 2a02:53:1::1',
    'b AAAA 2a02:53:1::2',
    ...['@', 'a', 'b'].map((name) => `${name} TXT ${txt('v=spf1 ip4:45.53.1.0/24 ip6:2a02:53:1::/48 -all')}`),
  ]),
  service('signed.test', 'signed', 'a signed chain from the root: AD'),
  service('insecure.test', 'unsigned', 'an unsigned zone below a signed one: no AD'),
  service('island.test', 'island', 'signed, without DS: no AD'),
  service('bogus.test', 'bogus', 'DS of another key: SERVFAIL with EDE, an answer with CD'),
  service('expired.test', 'expired', 'signatures of 2020: SERVFAIL with EDE 7, an answer with CD'),
  service('expiring.test', 'expiring', 'signatures that end in three days'),
  service('nsec3.test', 'nsec3', 'NSEC3 with iterations and a salt (RFC 9276)'),
  service('servfail.test', 'servfail', 'SERVFAIL with and without CD'),
  service('lame.test', 'lame', 'delegated to servers that refuse it: SERVFAIL'),
  service('dead.test', 'dead', 'name servers that never answer'),
  service('drop.test', 'drop', 'a name server that drops every question'),
  service('truncated.test', 'truncate', 'TC over UDP, then TCP'),
  service('delayed.test', 'delay', 'answers 400 ms late'),
  service('formerr.test', 'formerr', 'FORMERR to everything'),
  service('lossy.test', 'loss', 'every second datagram is lost'),
  {
    ...service('disagree.test', 'disagree', 'two servers with different MX, SPF and serial'),
    otherZone: ['@ MX 10 old', 'old A 45.53.8.9', '@ A 45.53.8.9', `@ TXT ${txt('v=spf1 a ~all')}`],
  },
  {
    ...dnsDomain('watched.test', 'its records change and its name servers come and go, by a test', 'unsigned', [
      MX,
      ...wellKept('watched.test'),
    ]),
    apex: watchedServers,
    parent: watchedServers,
  },
  dnsDomain('notify.test', 'receivers of messages', 'unsigned', [
    ...['hooks', 'slack', 'ntfy'].map((host) => `${host} A ${RECEIVER}`),
    `submit A ${SUBMISSION}`,
    ...wellKept('notify.test'),
  ]),
  dnsDomain('wildcard.test', 'any DKIM selector exists (RFC 4592)', 'unsigned', [
    MX,
    `*._domainkey TXT ${txt(`v=DKIM1; p=${RSA_2048}`)}`,
  ]),
  dnsDomain('many.test', 'any name below it is a mail domain: for a great many of them', 'unsigned', [
    '* MX 10 mx.accept.test.',
    '* A 45.53.8.1',
    `* TXT ${txt('v=spf1 mx -all')}`,
    `*._domainkey TXT ${txt(`v=DKIM1; p=${RSA_2048}`)}`,
  ]),
  dnsDomain('ent.test', '_domainkey and a.b exist without records: NODATA, not NXDOMAIN (RFC 8020)', 'signed', [
    MX,
    `hidden._domainkey TXT ${txt(`v=DKIM1; p=${RSA_2048}`)}`,
    'a.b.c A 45.53.8.1',
  ]),
  dnsDomain('nodata.test', 'exists, and has no MX, A or AAAA', 'unsigned', [`@ TXT ${txt('nothing to see')}`]),
  dnsDomain('bigtxt.test', 'one TXT record of 10 kB', 'unsigned', [
    MX,
    `@ TXT ${txt(`v=spf1 ${'x'.repeat(10_000)} -all`)}`,
  ]),
  dnsDomain('manytxt.test', '61 TXT records, SPF among them', 'unsigned', [
    MX,
    `@ TXT ${txt('v=spf1 mx -all')}`,
    ...repeat(60, (n) => `@ TXT ${txt(`site-verification-${n}=0123456789abcdef0123456789abcdef`)}`),
  ]),
  dnsDomain('chain.test', 'www is a chain of 8 CNAMEs, long one of 15 (unbound follows 11)', 'unsigned', [
    'www CNAME c1',
    ...repeat(8, (n) => (n < 7 ? `c${n + 1} CNAME c${n + 2}` : 'c8 A 45.53.8.1')),
    'long CNAME l1',
    ...repeat(15, (n) => (n < 14 ? `l${n + 1} CNAME l${n + 2}` : 'l15 A 45.53.8.1')),
  ]),
  dnsDomain('loop.test', 'CNAMEs in a circle, at _dmarc too', 'unsigned', [
    MX,
    'www CNAME w2',
    'w2 CNAME www',
    '_dmarc CNAME _dmarc2',
    '_dmarc2 CNAME _dmarc',
  ]),
  dnsDomain('halfdead.test', '_dmarc is delegated to a server that is dead; the rest answers', 'unsigned', [
    MX,
    '_dmarc NS ns.dead.test.',
    `@ TXT ${txt('v=spf1 mx -all')}`,
  ]),
]
