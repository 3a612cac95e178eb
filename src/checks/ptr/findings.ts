import { type Args, defineFindings, list } from '../check.ts'

const REPAIR = 'Ask the provider of the address to set the PTR record shown here.'
/** Where no MX host has the address, its name is for its owner to choose. */
const advice = (_: Args, isOffered: boolean): string | undefined =>
  isOffered
    ? undefined
    : 'Ask the provider of the address to set a PTR record with the name of the sending host, and give that name an address record with this address.'

export const findings = defineFindings({
  'ptr.no_address': {
    severity: 'medium',
    title: 'No mail host address to look at',
    detail: ({ domain }) => `${domain} has no mail host with an address, so there is no PTR record to judge.`,
    reference: 'RFC 5321 §5.1',
  },
  'ptr.missing': {
    severity: 'high',
    title: 'Sending address without a PTR record',
    detail: ({ address }) => `${address} has no name; many receivers refuse mail from such an address.`,
    repair: REPAIR,
    advice,
    reference: 'RFC 1912 §2.1',
  },
  'ptr.not_confirmed': {
    severity: 'medium',
    title: 'PTR name that does not lead back',
    detail: ({ address, names }) => `${list(names)}: none of the names of ${address} has that address.`,
    repair: 'Give the name an address record with this address, or set the PTR record shown here.',
    advice,
    reference: 'RFC 8601 §2.7.3',
  },
  'ptr.generic': {
    severity: 'medium',
    title: 'Generic PTR name',
    detail: ({ address, names }) =>
      `${list(names)} looks made from ${address}, as dial-up pools are; receivers often distrust such names.`,
    repair: REPAIR,
    advice,
    reference: 'RFC 5321 §4.1.4',
  },
  'ptr.several_names': {
    severity: 'low',
    title: 'Address with several PTR names',
    detail: ({ address, names, count }) =>
      `${address} has ${count} names (${list(names)}); some receivers read only one.`,
    repair: 'Keep one PTR record for each address.',
    reference: 'RFC 2181 §10.2',
  },
  'ptr.many_names': {
    severity: 'low',
    title: 'Address with very many PTR names',
    detail: ({ address, count, seen }) => `${address} has ${count} names; the first ${seen} were followed.`,
    repair: 'Keep one PTR record for each address.',
    reference: 'RFC 7208 §5.5',
  },
  'ptr.not_asked': {
    severity: 'info',
    title: 'A PTR record could not be asked for',
    detail: ({ address, reason }) => `Whether ${address} has a name stays open: ${reason}.`,
    repair: 'When this lasts, the provider of the address should see to its reverse zone.',
    reference: 'RFC 8601 §2.7.3',
  },
  'ptr.confirmation_unknown': {
    severity: 'info',
    title: 'A PTR name could not be followed',
    detail: ({ address, reason }) => `Whether a name of ${address} leads back stays open: ${reason}.`,
    repair: 'When this lasts, see to the name servers of that name.',
    reference: 'RFC 8601 §2.7.3',
  },
  'ptr.too_many': {
    severity: 'info',
    title: 'More addresses than are looked at',
    detail: ({ seen, count }) => `The mail hosts have ${count} addresses; ${seen} were looked at, the best first.`,
    reference: 'RFC 5321 §5.1',
  },
})
