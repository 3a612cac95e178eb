import { defineFindings, high, low } from '../check.ts'

export const findings = defineFindings({
  'soa.none': high({
    title: 'No zone',
    detail: ({ domain }) => `No SOA record was found at ${domain} or above it, up to the registered domain.`,
    repair: 'Check that the domain is registered and delegated to name servers that know it.',
    reference: 'RFC 1034 §4.2.1',
  }),
  'soa.primary': low({
    title: 'No primary server in the SOA record',
    detail: ({ zone }) => `The first field of the SOA record of ${zone} is not a host name.`,
    repair: 'Set it to the name of the primary name server.',
    reference: 'RFC 1035 §3.3.13',
  }),
  'soa.contact': low({
    title: 'No mailbox in the SOA record',
    detail: ({ zone }) =>
      `The second field of the SOA record of ${zone} is not a mailbox in the form of a domain name.`,
    repair: 'Write hostmaster@example.org as hostmaster.example.org.',
    reference: 'RFC 1035 §3.3.13',
  }),
  'soa.retry': low({
    title: 'SOA retry is not shorter than refresh',
    detail: ({ zone, retry, refresh }) => `${zone}: retry is ${retry} s, refresh ${refresh} s.`,
    repair: 'Make retry a fraction of refresh.',
    reference: 'RFC 1912 §2.2',
  }),
  'soa.expire': low({
    title: 'SOA expire is too short',
    detail: ({ zone, expire, least }) =>
      `${zone}: expire is ${expire} s; below ${least} s, or below the sum of refresh and retry, an outage of the primary server takes the zone down.`,
    repair: 'Set expire to two to four weeks.',
    reference: 'RFC 1912 §2.2',
  }),
  'soa.minimum': low({
    title: 'Negative caching time is too long',
    detail: ({ zone, minimum, most }) =>
      `${zone}: resolvers may cache for ${minimum} s that a name does not exist; more than ${most} s delays new records.`,
    repair: 'Set the last field to one to three hours.',
    reference: 'RFC 2308 §5',
  }),
})
