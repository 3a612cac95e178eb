import type { LabDomain } from '../world.ts'
import { LONG_KEY } from './keys.ts'
import { numbered, record, zoneOf } from './shown.ts'
import { dnsDomain } from './zone.ts'

/**
 * Zones that are made to cost much. Each has to end within the deadline and the question budget, and the answer says
 * which limit was reached.
 */
export const hostileDomains: readonly LabDomain[] = [
  dnsDomain(
    'manymx.test',
    '100 MX hosts',
    'unsigned',
    zoneOf({
      mx: numbered(100, (n) => `@ MX ${n} m${n}`),
      more: numbered(100, (n) => `m${n} A 45.53.10.${n}`),
    }),
  ),
  dnsDomain(
    'many500.test',
    '500 TXT records at the domain, at _dmarc and at a selector',
    'unsigned',
    zoneOf({
      more: ['@', '_dmarc', 's1._domainkey'].flatMap((name) =>
        numbered(500, (n) => record(name, `verification-${n}=0123456789abcdef`)),
      ),
    }),
  ),
  dnsDomain(
    'big64k.test',
    'an answer of 63 kB',
    'unsigned',
    zoneOf({ more: numbered(30, (n) => record('@', `filler-${n}=${'x'.repeat(2_000)}`)) }),
  ),
  dnsDomain(
    'manyrua.test',
    '200 report addresses at 200 domains',
    'unsigned',
    zoneOf({ dmarc: [`v=DMARC1; p=reject; rua=${numbered(200, (n) => `mailto:d@r${n}.example`).join()}`] }),
  ),
  dnsDomain(
    'hugekey.test',
    'an RSA key of 16,384 bits',
    'unsigned',
    zoneOf({ dkim: [record('s1._domainkey', `v=DKIM1; p=${LONG_KEY}`)] }),
  ),
  dnsDomain(
    'bomb.test',
    'SPF includes 9 wide and 3 deep: 820 records',
    'unsigned',
    zoneOf({
      spf: [`v=spf1 ${numbered(9, (n) => `include:b${n}.bomb.test`).join(' ')} -all`],
      more: numbered(9, (n) => [
        record(`b${n}`, `v=spf1 ${numbered(9, (m) => `include:b${n}${m}.bomb.test`).join(' ')} -all`),
        ...numbered(9, (m) => [
          record(`b${n}${m}`, `v=spf1 ${numbered(9, (l) => `include:b${n}${m}${l}.bomb.test`).join(' ')} -all`),
          ...numbered(9, (l) => record(`b${n}${m}${l}`, 'v=spf1 a:gone.bomb.test -all')),
        ]).flat(),
      ]).flat(),
    }),
  ),
  dnsDomain(
    'macros.test',
    'macros that make names of all lengths',
    'unsigned',
    zoneOf({ spf: [`v=spf1 exists:${'%{d}.'.repeat(30)}macros.test include:%{l5r+}.%{d9}.macros.test -all`] }),
  ),
]
