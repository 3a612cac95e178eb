import { defineFindings, high, info, list, low, medium } from '../check.ts'

export const findings = defineFindings({
  'dane.mismatch': high({
    title: 'Certificate does not match the TLSA records',
    detail: ({ host, name }) =>
      `The certificate of ${host} matches no TLSA record at ${name}; senders that use DANE do not deliver to it.`,
    repair: 'Publish a record for the current key, and keep the old record until its TTL has passed.',
    reference: 'RFC 7672 §2.2',
  }),
  'dane.no_starttls': high({
    title: 'TLSA records for a mail host without TLS',
    detail: ({ host, name }) =>
      `The TLSA records at ${name} promise TLS, but ${host} offers none; senders that use DANE do not deliver to it.`,
    repair: 'Enable STARTTLS, or remove the TLSA records.',
    reference: 'RFC 7672 §2.2',
  }),
  'dane.unanswered': medium({
    title: 'TLSA records could not be looked up',
    detail: ({ host, reason }) =>
      `Whether ${host} has TLSA records is not known: ${reason}. Its zone is signed, so senders that use DANE delay their mail until they get an answer.`,
    repair: 'If this lasts, make sure that the name servers answer TLSA queries.',
    reference: 'RFC 7672 §2.1.2',
  }),
  'dane.misplaced': low({
    title: 'TLSA records at the wrong name',
    detail: ({ name, names }) =>
      `There are TLSA records at ${name}. Senders look at the names of the mail hosts: ${list(names)}.`,
    repair: 'Publish the records at the names of the mail hosts, with the keys of these hosts.',
    reference: 'RFC 7672 §2.2',
  }),
  'dane.insecure': low({
    title: 'TLSA records without DNSSEC',
    detail: ({ name, part }) => `The records at ${name} have no effect: ${String(part)} are not signed and validated.`,
    repair: 'Sign the zone, or remove the TLSA records.',
    reference: 'RFC 7672 §2.2',
  }),
  'dane.unusable': medium({
    title: 'No usable TLSA record',
    detail: ({ name }) =>
      `None of the TLSA records at ${name} can be used: senders require TLS, but do not check the certificate.`,
    repair: 'Publish a record 3 1 1 with the SHA-256 of the public key.',
    reference: 'RFC 7672 §2.2',
  }),
  'dane.pkix': low({
    title: 'TLSA record with an unusable certificate usage',
    detail: ({ name, problem }) => `Senders ignore a record at ${name}: ${problem}.`,
    repair: 'Use certificate usage 3 (or 2).',
    reference: 'RFC 7672 §3.1.3',
  }),
  'dane.syntax': medium({
    title: 'Invalid TLSA record',
    detail: ({ name, problem }) => `Senders ignore a record at ${name}: ${problem}.`,
    repair: 'Publish a record 3 1 1 with the SHA-256 of the public key.',
    reference: 'RFC 6698 §2.1',
  }),
  'dane.partial': low({
    title: 'DANE for some mail hosts only',
    detail: ({ hosts }) =>
      `${list(hosts)}: no usable TLSA records. An attacker can divert mail to these hosts and read it.`,
    repair: 'Publish TLSA records for every mail host.',
    reference: 'RFC 7672 §2.2.1',
  }),
  'dane.rollover': info({
    title: 'Only one TLSA record',
    detail: ({ host, name }) =>
      `${name} has one record. Before the key of ${host} changes, a record for the next key must be published as well, for at least the TTL; otherwise mail is delayed.`,
    repair: 'Publish a record for the next key first, wait until the TTL has passed, and then change the certificate.',
    reference: 'RFC 7671 §8.1',
  }),
  'dane.none': info({
    title: 'No TLSA records',
    detail: ({ domain, secure }) =>
      `The mail hosts of ${domain} have no TLSA records, so senders cannot check their certificates with DANE.${
        secure ? '' : ' DANE requires DNSSEC.'
      }`,
    reference: 'RFC 7672 §1.3',
  }),
})
