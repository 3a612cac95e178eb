import { defineFindings, list } from '../check.ts'

export const findings = defineFindings({
  'ns.none': {
    severity: 'high',
    title: 'No name servers',
    detail: ({ domain }) => `No NS records were found at ${domain} nor above it, up to the registered domain.`,
    repair: 'Check that the domain is registered and delegated to name servers that know it.',
    reference: 'RFC 1034 §4.2.1',
  },
  'ns.single': {
    severity: 'medium',
    title: 'One name server',
    detail: ({ zone, host }) => `${zone} has one name server (${host}); while it is down nothing of the domain works.`,
    repair: 'Run at least two, in different networks.',
    reference: 'RFC 1034 §4.1',
  },
  'ns.one_network': {
    severity: 'low',
    title: 'All name servers are in one network',
    detail: ({ zone, network }) => `Every name server of ${zone} is in ${network}.`,
    repair: 'Put one of them into another network.',
    reference: 'RFC 2182 §3.1',
  },
  'ns.no_ipv6': {
    severity: 'info',
    title: 'Name servers without IPv6',
    detail: ({ zone }) => `No name server of ${zone} has an IPv6 address, so resolvers with IPv6 only cannot ask it.`,
    repair: 'Give at least one name server an AAAA record, and glue at the registrar where it is in the zone.',
    reference: 'RFC 3901 §4.2',
  },
  'ns.unresolvable': {
    severity: 'high',
    title: 'A name server has no address',
    detail: ({ host }) =>
      `${host} has neither an A nor an AAAA record; whoever can make that name could answer for you.`,
    repair: 'Give it an address or remove it from the zone and from the delegation.',
    reference: 'RFC 1912 §2.8',
  },
  'ns.cname': {
    severity: 'medium',
    title: 'A name server is an alias',
    detail: ({ host, target }) => `${host} is a CNAME to ${target}; an NS record must name the host itself.`,
    repair: 'Put the end of the chain into the NS record.',
    reference: 'RFC 2181 §10.3',
  },
  'ns.not_public': {
    severity: 'high',
    title: 'A name server has an address that the internet cannot reach',
    detail: ({ host, addresses }) => `${host}: ${list(addresses)}. It was not asked there.`,
    repair: 'Publish public addresses only.',
    reference: 'RFC 6890 §2.2',
  },
  'ns.lame': {
    severity: 'high',
    title: 'A name server does not answer for the zone',
    detail: ({ host, zone, reason }) => `${host} does not answer for ${zone} (${reason}).`,
    repair: 'Set the zone up on that server or remove its NS record.',
    reference: 'RFC 1912 §2.8',
  },
  'ns.silent': {
    severity: 'info',
    title: 'A name server could not be asked',
    detail: ({ host, reason }) => `${host} stays open: ${reason}.`,
    reference: 'RFC 2182 §3',
  },
  'ns.serial': {
    severity: 'medium',
    title: 'A name server has another version of the zone',
    detail: ({ host, zone, serial }) => `${host} has serial ${serial} of ${zone}, other than most servers.`,
    repair: 'Check zone transfers to that server.',
    reference: 'RFC 1912 §2.2',
  },
  'ns.differs': {
    severity: 'high',
    title: 'A name server gives other mail records',
    detail: ({ host, records }) => `${host} answers otherwise than the other name servers for ${list(records)}.`,
    repair: 'Bring that server to the same version of the zone.',
    reference: 'RFC 1034 §4.3.5',
  },
  'ns.resolver': {
    severity: 'info',
    title: 'The resolver has other mail records than a name server',
    detail: ({ records }) =>
      `${list(records)}: a name server and the resolver do not say the same. Usually the records were changed lately and the resolver remembers the earlier ones; if it stays so, the name servers differ.`,
    reference: 'RFC 1035 §7.4',
  },
  'ns.too_many': {
    severity: 'info',
    title: 'More name servers than are looked at',
    detail: ({ count, seen }) => `${count} name servers are named; ${seen} were looked at.`,
    reference: 'RFC 2182 §5',
  },
})
