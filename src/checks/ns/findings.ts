import { defineFindings, high, info, list, low, medium } from '../check.ts'

export const findings = defineFindings({
  'ns.none': high({
    title: 'No name servers',
    detail: ({ domain }) => `No NS records were found at ${domain} or above it, up to the registered domain.`,
    repair: 'Check that the domain is registered and delegated to name servers that know it.',
    reference: 'RFC 1034 §4.2.1',
  }),
  'ns.single': medium({
    title: 'One name server',
    detail: ({ zone, host }) =>
      `${zone} has one name server (${host}); while it is down, the domain cannot be resolved.`,
    repair: 'Run at least two, in different networks.',
    reference: 'RFC 1034 §4.1',
  }),
  'ns.one_network': low({
    title: 'All name servers in one network',
    detail: ({ zone, network }) => `Every name server of ${zone} is in ${network}.`,
    repair: 'Put one of them into another network.',
    reference: 'RFC 2182 §3.1',
  }),
  'ns.no_ipv6': info({
    title: 'Name servers without IPv6',
    detail: ({ zone }) =>
      `No name server of ${zone} has an IPv6 address, so resolvers that only have IPv6 cannot reach any.`,
    repair: 'Give at least one name server an AAAA record, and glue at the registrar where it is in the zone.',
    reference: 'RFC 3901 §4.2',
  }),
  'ns.unresolvable': high({
    title: 'Name server without an address',
    detail: ({ host }) =>
      `${host} has neither an A nor an AAAA record; anyone who can create that name can answer for your domain.`,
    repair: 'Give it an address or remove it from the zone and from the delegation.',
    reference: 'RFC 1912 §2.8',
  }),
  'ns.cname': medium({
    title: 'Name server is an alias',
    detail: ({ host, target }) => `${host} is a CNAME to ${target}; an NS record must name the host itself.`,
    repair: 'Put the name at the end of the CNAME chain into the NS record.',
    reference: 'RFC 2181 §10.3',
  }),
  'ns.not_public': high({
    title: 'Name server with a private or reserved address',
    detail: ({ host, addresses }) => `${host}: ${list(addresses)}. It was not queried there.`,
    repair: 'Publish public addresses only.',
    reference: 'RFC 6890 §2.2',
  }),
  'ns.lame': high({
    title: 'Lame name server',
    detail: ({ host, zone, reason }) =>
      `${host} does not answer for ${zone} (${reason}); resolvers that query it lose time or fail.`,
    repair: 'Set up the zone on that server, or remove its NS record.',
    reference: 'RFC 1912 §2.8',
  }),
  'ns.silent': info({
    title: 'Name server that could not be checked',
    detail: ({ host, reason }) => `${host} was not checked: ${reason}.`,
    reference: 'RFC 2182 §3',
  }),
  'ns.serial': medium({
    title: 'Name server with a different version of the zone',
    detail: ({ host, zone, serial }) =>
      `${host} has serial ${serial} for ${zone}; most of the other name servers have a different one.`,
    repair: 'Check zone transfers to that server.',
    reference: 'RFC 1912 §2.2',
  }),
  'ns.differs': medium({
    title: 'Name servers with different mail records',
    detail: ({ records, said }) =>
      `The name servers do not give the same ${list(records)} records: ${list(said, '; ')}. Which of them applies depends on the server that is asked.`,
    repair: 'Find out which version is right, and load the same zone on all name servers.',
    reference: 'RFC 1034 §4.3.5',
  }),
  'ns.resolver': info({
    title: 'Mail records differ between the resolver and a name server',
    detail: ({ records, said }) =>
      `${list(records)}: a name server and the resolver give different answers: ${list(said, '; ')}. Usually the records were changed recently and the resolver still caches the old ones; if this lasts, the name servers differ.`,
    reference: 'RFC 1035 §7.4',
  }),
  'ns.delegation': medium({
    title: 'Name servers differ between the zone and its parent',
    detail: ({ zone, from, only_above, only_here }) =>
      [
        list(only_above) &&
          `${from} delegates ${zone} to ${list(only_above)}, which has no NS record in the zone itself.`,
        list(only_here) && `The zone has an NS record for ${list(only_here)}, to which ${from} does not delegate.`,
      ]
        .filter(Boolean)
        .join(' '),
    repair: 'Make the name servers at the registrar the same as the NS records of the zone.',
    reference: 'RFC 1034 §4.2.2',
  }),
  'ns.glue': medium({
    title: 'Glue address differs from the address of the name server',
    detail: ({ host, from, glue, addresses }) =>
      `${from} gives ${list(glue)} for ${host}, but the zone itself gives ${list(addresses)}. Resolvers that use the glue address may get no answer, or the answer of another server.`,
    repair: 'Correct the glue records at the registrar.',
    reference: 'RFC 1034 §4.2.1',
  }),
  'ns.glue_missing': medium({
    title: 'No glue address for a name server in the zone',
    detail: ({ host, zone, from }) =>
      `${from} delegates ${zone} to ${host} without its address. The name is in the zone itself, so resolvers cannot find the address.`,
    repair: 'Register the address of the name server (a glue or host record) at the registrar.',
    reference: 'RFC 9471 §2.1',
  }),
  'ns.no_tcp': medium({
    title: 'Name server does not answer over TCP',
    detail: ({ host, reason }) =>
      `${host} answers over UDP, but not over TCP (${reason}). Answers that are too large for UDP, such as long TXT records and DNSSEC, are lost.`,
    repair: 'Open TCP port 53 on the server and in the firewalls in front of it.',
    reference: 'RFC 7766 §5',
  }),
  'ns.too_many': info({
    title: 'Not all name servers were checked',
    detail: ({ count, seen }) => `There are ${count} name servers; ${seen} of them were checked.`,
    reference: 'RFC 2182 §5',
  }),
})
