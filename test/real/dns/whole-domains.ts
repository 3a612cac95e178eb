import type { LabDomain } from '../world.ts'
import { ED25519, RSA_1024, RSA_2048 } from './keys.ts'
import { dnsDomain, txt } from './zone.ts'

/**
 * Whole domains as an expert would find them: cared for, neglected, parked, abandoned, and the ways an MX can be wrong.
 */
export const wholeDomains: readonly LabDomain[] = [
  dnsDomain('healthy.test', 'enforced and clean: nothing to complain about', 'signed', [
    '@ MX 10 mx.danegood.test.',
    '@ MX 20 mx.danesecond.test.',
    '@ A 45.53.8.1',
    'mta-sts A 45.53.6.20',
    `_mta-sts TXT ${txt('v=STSv1; id=20260101')}`,
    `@ TXT ${txt('v=spf1 mx -all')}`,
    '@ CAA 0 issue "ca.lab.test"',
    `s1._domainkey TXT ${txt(`v=DKIM1; k=rsa; p=${RSA_2048}`)}`,
    `s2._domainkey TXT ${txt(`v=DKIM1; k=ed25519; p=${ED25519}`)}`,
    `_dmarc TXT ${txt('v=DMARC1; p=reject; rua=mailto:dmarc@healthy.test')}`,
    `_smtp._tls TXT ${txt('v=TLSRPTv1; rua=mailto:tls@healthy.test')}`,
  ]),
  dnsDomain(
    'neglected.test',
    'two SPF records, p=none, a short test key, an MX that is a CNAME, no useful PTR',
    'unsigned',
    [
      '@ MX 10 mail',
      'mail CNAME host',
      'host A 45.53.8.2',
      '@ A 45.53.8.2',
      `@ TXT ${txt('v=spf1 a mx ?all')}`,
      `@ TXT ${txt('v=spf1 include:_spf.neglected.test ~all')}`,
      `_spf TXT ${txt('v=spf1 ip4:45.53.8.0/24 ~all')}`,
      `default._domainkey TXT ${txt(`v=DKIM1; t=y; p=${RSA_1024}`)}`,
      `_dmarc TXT ${txt('v=DMARC1; p=none; pct=50')}`,
    ],
  ),
  dnsDomain('parked.test', 'declares that it neither sends nor takes mail (RFC 7505)', 'unsigned', [
    '@ MX 0 .',
    '@ A 45.53.8.1',
    `@ TXT ${txt('v=spf1 -all')}`,
    `_dmarc TXT ${txt('v=DMARC1; p=reject')}`,
  ]),
  dnsDomain('listed.test', 'mail hosts on blacklists, two of their addresses listed and one not', 'unsigned', [
    '@ MX 10 mail',
    '@ MX 20 mx.accept.test.',
    'mail A 45.53.9.9',
    'mail AAAA 2a02:53:9::9',
    `@ TXT ${txt('v=spf1 mx ~all')}`,
    `s1._domainkey TXT ${txt(`v=DKIM1; k=rsa; p=${RSA_2048}`)}`,
    `_dmarc TXT ${txt('v=DMARC1; p=none; rua=mailto:dmarc@listed.test')}`,
  ]),
  dnsDomain('abandoned.test', 'an address and nothing else', 'unsigned', ['@ A 45.53.8.3']),
  dnsDomain('dangling.test', 'the one MX host does not exist', 'unsigned', ['@ MX 10 gone']),
  dnsDomain('literal.test', 'an address where a host name belongs (RFC 5321 §5.1)', 'unsigned', ['@ MX 10 45.53.5.1.']),
  dnsDomain('loopback.test', 'MX hosts at 127.0.0.1 and 10.0.0.1', 'unsigned', [
    '@ MX 10 a',
    '@ MX 20 b',
    'a A 127.0.0.1',
    'b A 10.0.0.1',
  ]),
  dnsDomain('nullandmx.test', 'a null MX beside another (RFC 7505 §3)', 'unsigned', [
    '@ MX 0 .',
    '@ MX 10 mx.accept.test.',
  ]),
  dnsDomain('manylookups.test', 'SPF with 13 lookups, 4 of them void (RFC 7208 §4.6.4)', 'unsigned', [
    '@ MX 10 mx.accept.test.',
    `@ TXT ${txt('v=spf1 include:a.manylookups.test include:b.manylookups.test a:v1.manylookups.test a:v2.manylookups.test -all')}`,
    `a TXT ${txt('v=spf1 a:h1.manylookups.test a:h2.manylookups.test a:h3.manylookups.test a:h4.manylookups.test -all')}`,
    `b TXT ${txt('v=spf1 a:h5.manylookups.test a:h6.manylookups.test mx a:v3.manylookups.test a:v4.manylookups.test -all')}`,
    ...[1, 2, 3, 4, 5, 6].map((n) => `h${n} A 45.53.8.${n + 10}`),
  ]),
]
