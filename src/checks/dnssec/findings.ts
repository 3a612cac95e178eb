import { critical, defineFindings, list, low, medium } from '../check.ts'

export const findings = defineFindings({
  'dnssec.bogus': critical({
    title: 'DNSSEC validation fails',
    detail: ({ domain, fits }) =>
      `Validating resolvers return no answer for ${domain}, so senders that use them cannot deliver mail to it. Without validation there is an answer.${
        fits ? ' The DS record matches a key of the zone, so the signatures are wrong, missing or out of date.' : ''
      }`,
    repair: 'Correct the DS record at the registrar or the signatures; until then remove the DS record.',
    reference: 'RFC 4035 §5.5',
  }),
  'dnssec.expired': critical({
    title: 'DNSSEC signatures have expired',
    detail: ({ domain, zone }) =>
      `Validating resolvers return no answer for ${domain}, because signatures of ${zone} have expired.`,
    repair: 'Sign the zone again, and make sure that this happens automatically.',
    reference: 'RFC 4035 §5.3.1',
  }),
  'dnssec.not_yet_valid': critical({
    title: 'DNSSEC signatures are not valid yet',
    detail: ({ domain, zone }) =>
      `Validating resolvers return no answer for ${domain}, because signatures of ${zone} are not valid yet.`,
    repair: 'Correct the clock of the machine that signs, and sign the zone again.',
    reference: 'RFC 4035 §5.3.1',
  }),
  'dnssec.expires_soon': medium({
    title: 'DNSSEC signatures expire soon',
    detail: ({ zone, days, expires }) =>
      `A signature of ${zone} expires at ${expires} (${days} full days left) and has not been renewed. After it expires, validating resolvers return no answer for the domain.`,
    repair: 'Make sure that the zone is signed again, and that this happens automatically.',
    reference: 'RFC 6781 §4.4.2',
  }),
  'dnssec.nsec3_parameters': low({
    title: 'NSEC3 with iterations or a salt',
    detail: ({ zone, iterations, salt }) =>
      `${zone} uses NSEC3 with ${iterations} extra iterations and a salt of ${salt} octets. Neither protects anything, and resolvers may treat a zone with iterations as unsigned.`,
    repair: 'Set 0 iterations and no salt (NSEC3PARAM 1 0 0 -), or use NSEC.',
    reference: 'RFC 9276 §3.1',
  }),
  'dnssec.ds_mismatch': critical({
    title: 'DS record without a matching key',
    detail: ({ zone }) =>
      `The parent of ${zone} has a DS record for a key that the zone does not have, so validating resolvers return no answer for it.`,
    repair: 'Give the DS record of the current key to the registrar, or remove the old one.',
    reference: 'RFC 4035 §5.2',
  }),
  'dnssec.island': low({
    title: 'Zone is signed, but has no DS record',
    detail: ({ zone }) =>
      `${zone} is signed, but its parent has no DS record for it, so no resolver can validate the signatures.`,
    repair: 'Give the DS record of the zone to the registrar.',
    reference: 'RFC 4035 §5.2',
  }),
  'dnssec.insecure': low({
    title: 'Zone is signed, but not validated',
    detail: ({ zone }) =>
      `${zone} has a DS record, but a validating resolver does not report its answers as authentic: a zone above is not signed, or the resolver does not know the algorithm.`,
    repair: 'Make sure that every zone above is signed, and sign with algorithm 13 (ECDSA P-256) or 8 (RSA/SHA-256).',
    reference: 'RFC 4035 §4.3',
  }),
  'dnssec.unsigned': low({
    title: 'Zone is not signed',
    detail: ({ zone }) => `The zone ${zone} is not signed, so its mail records can be forged and DANE cannot be used.`,
    repair: 'Enable DNSSEC at the DNS provider and give the DS record to the registrar.',
    reference: 'RFC 9364 §1',
  }),
  'dnssec.weak_algorithm': medium({
    title: 'Signed with an outdated algorithm',
    detail: ({ zone, algorithms }) =>
      `The DS records of ${zone} refer only to keys of algorithm ${list(algorithms)}; more and more resolvers treat such a zone as unsigned.`,
    repair: 'Change to algorithm 13 (ECDSA P-256).',
    reference: 'RFC 9904 §3',
  }),
  'dnssec.weak_digest': low({
    title: 'DS record with SHA-1 only',
    detail: ({ zone }) => `The DS records of ${zone} are SHA-1 digests (type 1), which may no longer be relied on.`,
    repair: 'Publish a DS record with SHA-256 (digest type 2).',
    reference: 'RFC 9904 §4',
  }),
})
