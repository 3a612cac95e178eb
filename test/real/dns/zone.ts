import type { LabDomain, Mailbox } from '../world.ts'
import { RSA_2048 } from './keys.ts'

/** A TXT record's data in zone form, cut into strings of 255 octets (RFC 1035 §3.3.14). */
export const txt = (text: string): string =>
  (text.match(/.{1,255}/gs) ?? ['']).map((part) => `"${part.replace(/["\\]/g, '\\$&')}"`).join(' ')

/** The records of a domain that does everything right, without its MX. */
export const wellKept = (name: string): readonly string[] => [
  `@ TXT ${txt('v=spf1 mx -all')}`,
  `s1._domainkey TXT ${txt(`v=DKIM1; k=rsa; p=${RSA_2048}`)}`,
  `_dmarc TXT ${txt(`v=DMARC1; p=reject; rua=mailto:dmarc@${name}`)}`,
]

/** A well kept mail domain with one mail host. */
export function mailDomain(
  name: string,
  shows: string,
  addresses: readonly string[],
  mailboxes: readonly Mailbox[] = [],
  service: LabDomain['service'] = 'unsigned',
): LabDomain {
  const hosts = addresses.map((address) => `mx ${address.includes(':') ? 'AAAA' : 'A'} ${address}`)
  return { name, shows, service, zone: ['@ MX 10 mx', ...hosts, ...wellKept(name)], mailboxes }
}

/** A domain that is there for its DNS alone. */
export const dnsDomain = (
  name: string,
  shows: string,
  service: LabDomain['service'],
  zone: readonly string[],
): LabDomain => ({ name, shows, service, zone, mailboxes: [] })
