import { type Args, critical, defineFindings, high, info, list, low, medium } from '../check.ts'

/** What to do at a domain that sends no mail. */
const unused = (args: Args): string | undefined =>
  args.unused === true
    ? 'The domain sends no mail, and none can arrive: publish the null MX "0 ." as its only MX record.'
    : undefined

const takeover = ({ host, free }: Args): string =>
  `${host} does not exist, and neither does ${free}: anyone who registers ${free} receives mail for this domain.`

export const findings = defineFindings({
  'mx.no_domain': critical({
    title: 'The domain does not exist',
    detail: ({ domain }) =>
      `The name ${domain} does not exist in the DNS (NXDOMAIN), so mail to it cannot be delivered.`,
    repair: 'Check the spelling, the registration and the delegation of the domain.',
    reference: 'RFC 2308 §2.1',
  }),
  'mx.reverse_zone': info({
    title: 'A reverse zone, and no mail domain',
    detail: ({ domain }) =>
      `${domain} is a name of a reverse zone, which names addresses: nothing about mail is judged. Whether a PTR record is right is part of the check of the domain that sends from its address.`,
    reference: 'RFC 1035 §3.5',
  }),
  'mx.none': critical({
    title: 'No mail host',
    detail: ({ domain }) => `${domain} has no MX record and no address of its own, so mail to it cannot be delivered.`,
    repair: 'Publish an MX record; or, if the domain is to accept no mail, publish the null MX shown here.',
    unoffered: 'Publish an MX record with the mail host, or a null MX if the domain accepts no mail.',
    reference: 'RFC 5321 §5.1',
  }),
  'mx.null_missing': low({
    title: 'No null MX',
    detail: ({ domain }) =>
      `${domain} sends no mail and has no MX record, but does not declare that it accepts none: senders keep trying for days.`,
    repair: 'Publish a null MX.',
    reference: 'RFC 7505 §3',
  }),
  'mx.null': info({
    title: 'Domain accepts no mail',
    detail: () => 'A null MX declares that the domain accepts no mail.',
    reference: 'RFC 7505 §3',
  }),
  'mx.no_replies': low({
    title: 'Mail from this domain cannot be answered',
    detail: ({ domain, declared }) =>
      `SPF names servers that send as ${domain}, but ${declared ? 'a null MX declares that it accepts no mail' : 'it has neither an MX record nor an address'}: replies and bounces are lost, and some receivers refuse senders that cannot be answered.`,
    repair: 'Publish an MX record for replies and bounces; or, if the domain sends no mail, publish "v=spf1 -all".',
    reference: 'RFC 7505 §4.2',
  }),
  'mx.null_beside_others': high({
    title: 'Null MX beside other MX records',
    detail: () =>
      'A null MX means "no mail" only if it is the only MX record; senders handle a mixed set in different ways.',
    repair: 'Publish the records shown: the hosts that take the mail, without the null MX.',
    unoffered: 'Remove the null MX, or every other MX record.',
    reference: 'RFC 7505 §3',
  }),
  'mx.implicit': medium({
    title: 'No MX record: mail goes to the address of the domain',
    detail: ({ domain }) =>
      `${domain} has no MX record, so senders fall back on its A and AAAA records, which often belong to a web server.`,
    repair: 'Publish an MX record with the mail host, or "0 ." (null MX) if the domain accepts no mail.',
    reference: 'RFC 5321 §5.1',
  }),
  'mx.none_resolvable': critical({
    title: 'No MX host has an address',
    detail: ({ count }) =>
      `${count === 1 ? 'The only MX host has no address' : `None of the ${count} MX hosts has an address`}, so mail cannot be delivered.`,
    repair: 'Publish A or AAAA records for the hosts, or MX records with hosts that have them.',
    advice: (args) =>
      unused(args) ??
      (args.providers === undefined
        ? undefined
        : `The MX record only proves to ${list(args.providers)} that the domain is its customer's, and takes no mail. Which provider is to take the mail of the domain? Publish the MX records that it shows.`),
    reference: 'RFC 5321 §5.1',
  }),
  'mx.verification_left': low({
    title: 'An MX record for verification is left over',
    detail: ({ hosts, provider }) =>
      `${list(hosts)} only proves to ${provider} that the domain is its customer's: no mail arrives there, and senders may try it.`,
    repair: 'Remove the verification record; the other MX records stay.',
    reference: 'RFC 5321 §5.1',
  }),
  'mx.two_providers': low({
    title: 'MX hosts of two mailbox providers',
    detail: ({ providers }) =>
      `The mail of the domain goes to the mailboxes of ${list(providers, ' and of ')}: each message arrives at only one of them.`,
    repair: 'Remove the MX records of the provider that no longer has the mailboxes.',
    reference: 'RFC 5321 §5.1',
  }),
  'mx.takeover': high({
    title: 'Anyone can register the name of an MX host',
    detail: takeover,
    repair: 'Publish the records shown, without that host; or register its name.',
    unoffered: 'Remove the MX record, or register the name.',
    reference: 'RFC 5321 §5.1',
  }),
  'mx.unresolvable': low({
    title: 'An MX host has no address',
    detail: ({ host, exists, isMet, free }) =>
      free === undefined
        ? `${host} ${exists ? 'exists but has neither an A nor an AAAA record' : 'does not exist'}.${isMet ? '' : ' Senders reach a host of better preference first.'}`
        : takeover({ host: host!, free }),
    repair: 'Give the host an address or remove its MX record.',
    advice: ({ free }, isOffered) =>
      isOffered
        ? `Publish the records shown, without that host; or ${free === undefined ? 'give it an address' : 'register its name'}.`
        : undefined,
    reference: 'RFC 5321 §5.1',
  }),
  'mx.missing_dot': low({
    title: 'MX host with the domain name twice: a missing dot',
    detail: ({ host, meant, domain }) =>
      `${host} does not exist. In the zone file the dot at the end of "${meant}." is missing, so the name server appends ${domain}.`,
    repair: 'End the host name with a dot in the zone file.',
    reference: 'RFC 1035 §5.1',
  }),
  'mx.underscore': low({
    title: 'Underscore in the name of an MX host',
    detail: ({ host }) => `${host} is not a valid host name; some senders refuse to deliver there.`,
    repair: 'Give the host a name of letters, digits and hyphens, and put that name into the MX record.',
    reference: 'RFC 1123 §2.1',
  }),
  'mx.domain_alias': low({
    title: 'The domain itself is an alias (CNAME)',
    detail: ({ domain, target }) =>
      `${domain} is a CNAME of ${target}, so its MX and SPF are those of ${target}. A CNAME is not allowed beside the SOA and NS records of a zone, and resolvers answer differently.`,
    repair:
      'Replace the CNAME with A and AAAA records (or an ALIAS record of the DNS provider), and publish MX and TXT records at the domain itself.',
    reference: 'RFC 1034 §3.6.2',
  }),
  'mx.web_proxy': low({
    title: 'An MX host is behind a web proxy',
    detail: ({ host, proxy, address }) =>
      `${host} has addresses of the web proxy of ${proxy} (${address}), which forwards websites and takes no mail at port 25.`,
    repair:
      'Set the address records of the host to "DNS only" at the provider of the proxy, so that they name the mail server itself.',
    reference: 'RFC 5321 §5.1',
  }),
  'mx.ip_literal': low({
    title: 'An MX record names an IP address',
    detail: ({ host }) =>
      `${host} is an IP address, but an MX record must contain a host name: senders look for addresses of a host with that name, and find none.`,
    repair: 'Give the host a name with an A or AAAA record and put that name into the MX record.',
    reference: 'RFC 1035 §3.3.9',
  }),
  'mx.cname': medium({
    title: 'An MX host is an alias',
    detail: ({ host, target }) => `${host} is a CNAME to ${target}; an MX record must name the host itself.`,
    repair: 'Put the name at the end of the CNAME chain into the MX record.',
    reference: 'RFC 2181 §10.3',
  }),
  'mx.not_public': high({
    title: 'An MX host has a private or reserved address',
    detail: ({ host, addresses }) => `${host}: ${list(addresses)}. Senders on the internet cannot connect there.`,
    repair: 'Publish public addresses only.',
    advice: unused,
    reference: 'RFC 6890 §2.2',
  }),
  'mx.duplicate': low({
    title: 'Duplicate MX host',
    detail: ({ host }) => `${host} is in several MX records, which adds no redundancy.`,
    repair: 'Keep one record for each host.',
    reference: 'RFC 5321 §5.1',
  }),
  'mx.ipv6_only': medium({
    title: 'MX hosts without IPv4',
    detail: ({ hosts }) =>
      `${list(hosts)}: no MX host has an IPv4 address, so senders without IPv6 cannot deliver. Many cannot use IPv6.`,
    repair: 'Give at least one MX host an A record.',
    reference: 'RFC 3974 §2',
  }),
  'mx.no_ipv6': info({
    title: 'MX hosts without IPv6',
    detail: ({ hosts }) => `${list(hosts)}: no MX host has an IPv6 address. All senders can deliver over IPv4.`,
    reference: 'RFC 3974 §2',
  }),
  'mx.single_address': low({
    title: 'One address receives all mail',
    detail: ({ address }) => `All MX hosts resolve to ${address}; mail waits while that machine is down.`,
    repair: 'Add a second mail host, preferably in another network.',
    reference: 'RFC 5321 §5.1',
  }),
  'mx.single_host': info({
    title: 'One MX host',
    detail: ({ host, addresses }) => `${host} is the only MX host; it has several addresses (${list(addresses)}).`,
    reference: 'RFC 5321 §5.1',
  }),
  'mx.too_many': low({
    title: 'Very many MX hosts',
    detail: ({ count, seen }) => `There are ${count} MX hosts; only the ${seen} with the best preference were checked.`,
    repair: 'Use fewer MX hosts: senders try only a few.',
    reference: 'RFC 5321 §5.1',
  }),
  'mx.too_many_addresses': low({
    title: 'An MX host has very many addresses',
    detail: ({ host, left }) => `${left} more addresses of ${host} were not checked.`,
    repair: 'Publish fewer addresses at one name.',
    reference: 'RFC 5321 §5.1',
  }),
  'mx.host_unknown': medium({
    title: 'The addresses of an MX host could not be looked up',
    detail: ({ host, reason }) => `Whether ${host} has addresses is not known: ${reason}.`,
    repair: 'If this lasts, check the name servers of that host.',
    reference: 'RFC 5321 §5.1',
  }),
  'mx.family_unknown': info({
    title: 'Some addresses of an MX host could not be looked up',
    detail: ({ host, reason }) => `${host} has addresses, but there may be more: ${reason}.`,
    reference: 'RFC 5321 §5.1',
  }),
})
