import { type Args, defineFindings, high, info, list, low, medium } from '../check.ts'

const REPAIR = 'Ask the provider of the address to set the PTR record shown here.'
/** If no MX host has the address, its owner chooses the name. */
const advice = (_: Args, isOffered: boolean): string | undefined =>
  isOffered
    ? undefined
    : 'Ask the provider of the address to set a PTR record with the name of the sending host, and give that name an address record with this address.'

export const findings = defineFindings({
  'ptr.no_address': medium({
    title: 'No mail host address to check',
    detail: ({ domain }) => `${domain} has no mail host with an address, so there is no PTR record to check.`,
    repair: 'Give the mail hosts addresses first; a PTR record belongs to an address.',
    reference: 'RFC 5321 §5.1',
  }),
  'ptr.missing': high({
    title: 'Address without a PTR record',
    detail: ({ address, sends }) =>
      `${address} has no PTR record; many receivers refuse mail from such an address.${sends ? '' : ' SPF names no sender, so the address of the mail host is judged; it matters if that host also sends.'}`,
    repair: REPAIR,
    advice,
    reference: 'RFC 1912 §2.1',
  }),
  'ptr.not_confirmed': medium({
    title: 'PTR name does not resolve back to the address',
    detail: ({ address, names }) => `None of the PTR names of ${address} resolves to that address: ${list(names)}.`,
    repair: 'Publish an address record with this address at the name, or set the PTR record shown here.',
    advice,
    reference: 'RFC 8601 §2.7.3',
  }),
  'ptr.generic': medium({
    title: 'Generic PTR name',
    detail: ({ address, names }) =>
      `${list(names)} looks generated from ${address}, as for dial-up customers; receivers often distrust such names.`,
    repair: REPAIR,
    advice,
    reference: 'RFC 5321 §4.1.4',
  }),
  'ptr.several_names': low({
    title: 'Address with several PTR names',
    detail: ({ address, names, count }) =>
      `${address} has ${count} names (${list(names)}); some receivers read only one.`,
    repair: 'Keep one PTR record for each address.',
    reference: 'RFC 2181 §10.2',
  }),
  'ptr.many_names': low({
    title: 'Address with very many PTR names',
    detail: ({ address, count, seen }) => `${address} has ${count} names; only the first ${seen} were checked.`,
    repair: 'Keep one PTR record for each address.',
    reference: 'RFC 7208 §5.5',
  }),
  'ptr.not_asked': info({
    title: 'A PTR record could not be looked up',
    detail: ({ address, reason }) => `Whether ${address} has a PTR record is not known: ${reason}.`,
    repair: 'If this lasts, ask the provider of the address to check its reverse zone.',
    reference: 'RFC 8601 §2.7.3',
  }),
  'ptr.confirmation_unknown': info({
    title: 'A PTR name could not be looked up',
    detail: ({ address, reason }) => `Whether a PTR name of ${address} resolves back to it is not known: ${reason}.`,
    repair: 'If this lasts, check the name servers of that name.',
    reference: 'RFC 8601 §2.7.3',
  }),
  'ptr.too_many': info({
    title: 'Not all addresses were checked for PTR records',
    detail: ({ seen, count }) =>
      `The mail hosts have ${count} addresses; ${seen} were checked, in order of preference.`,
    reference: 'RFC 5321 §5.1',
  }),
})
