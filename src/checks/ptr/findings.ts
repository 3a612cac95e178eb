import { defineFindings, list } from '../check.ts'

const REPAIR = 'Ask the provider of the address to set the PTR record shown here.'

export const findings = defineFindings({
  'ptr.no_address': {
    severity: 'medium',
    title: 'No mail host address to look at',
    detail: ({ domain }) => `${domain} has no mail host with an address, so there is no PTR record to judge.`,
    reference: 'RFC 5321 §5.1',
  },
  'ptr.missing': {
    severity: 'high',
    title: 'A mail host address has no PTR record',
    detail: ({ address }) => `${address} has no name; many receivers refuse mail from such an address.`,
    repair: REPAIR,
    reference: 'RFC 1912 §2.1',
  },
  'ptr.not_confirmed': {
    severity: 'medium',
    title: 'A PTR name does not lead back',
    detail: ({ address, names }) => `${list(names)}: none of the names of ${address} has that address.`,
    repair: 'Give the name an address record with this address, or set the PTR record shown here.',
    reference: 'RFC 8601 §2.7.3',
  },
  'ptr.generic': {
    severity: 'medium',
    title: 'A PTR name looks made by the provider',
    detail: ({ address, names }) =>
      `${list(names)} looks made from ${address}, as dial-up pools are; receivers often distrust such names.`,
    repair: REPAIR,
    reference: 'RFC 5321 §4.1.4',
  },
  'ptr.several_names': {
    severity: 'low',
    title: 'An address has several PTR names',
    detail: ({ address, names, count }) =>
      `${address} has ${count} names (${list(names)}); some receivers read only one.`,
    repair: 'Keep one PTR record for each address.',
    reference: 'RFC 2181 §10.2',
  },
  'ptr.many_names': {
    severity: 'low',
    title: 'An address has very many PTR names',
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
