import { firstOf } from '../../base/text.ts'
import { type Args, critical, defineFindings, high, info, list, low, medium } from '../check.ts'

export const findings = defineFindings({
  'spf.no_domain': high({
    title: 'The domain does not exist',
    detail: ({ domain }) => `The name ${domain} does not exist in the DNS (NXDOMAIN), so it has no SPF record.`,
    repair: 'Check the spelling, the registration and the delegation of the domain.',
    reference: 'RFC 7208 §4.3',
  }),
  'spf.no_record': high({
    title: 'No SPF record',
    detail: ({ domain }) => `${domain} does not declare which hosts may send its mail, so anyone can use its name.`,
    repair:
      'Publish the record shown here, or the one that your mail provider gives you, with a term for every other service that sends mail for the domain.',
    advice: ({ similar, returnPath, both, takesNone }, isOffered) => {
      if (returnPath)
        return 'Complete the set-up of this name in your account at the sending provider: it shows the records.'
      if (both && isOffered)
        return 'If a host at the address of the domain sends its mail, publish the record shown, with a term for every other service that sends. If the domain sends no mail, publish "v=spf1 -all", the MX record "0 ." (null MX) and, at _dmarc, "v=DMARC1; p=reject".'
      if (similar) return 'Correct the TXT record that is meant as SPF; see the finding "spf.not_spf".'
      if (takesNone && isOffered)
        return 'If nothing sends mail as the domain, publish the record shown here. Otherwise name in it every host and service that sends, and end it with "~all".'
      return isOffered ? undefined : UNOFFERED
    },
    reference: 'RFC 7208 §3',
  }),
  'spf.no_record_web': low({
    title: 'No SPF record at a name without mail',
    detail: ({ domain, alias }) =>
      `${domain} has no SPF record${alias === undefined ? '' : `, and none can stand beside its alias (CNAME) of ${alias}`}. The DMARC policy that covers it counts at receivers that apply DMARC; others accept mail in this name from any server.`,
    repair: 'Publish the record shown here: the name sends no mail.',
    unoffered: 'Publish "v=spf1 -all" at the name: it sends no mail.',
    advice: ({ alias }) =>
      alias === undefined
        ? undefined
        : `No record can stand beside the alias (CNAME) of ${alias}: the DMARC record that covers the name protects it.`,
    reference: 'RFC 7208 §10.1.2',
  }),
  'spf.not_spf': high({
    title: 'TXT record meant as SPF, but not valid',
    detail: ({ slips }) =>
      `Receivers ignore it: an SPF record must begin with exactly "v=spf1" and a space.${found(slips)}`,
    repair: 'Replace the text with the record shown; if none is shown, correct the beginning.',
    unoffered: 'Correct the beginning of the text.',
    reference: 'RFC 7208 §4.5',
  }),
  'spf.many_records': high({
    title: 'Several SPF records',
    detail: ({ count }) => `${count} SPF records at one name: receivers return permerror and use none of them.`,
    repair: 'Replace them all by the one record shown.',
    unoffered: 'Merge them into one record.',
    reference: 'RFC 7208 §3.2',
  }),
  'spf.syntax': high({
    title: 'Invalid SPF record',
    detail: ({ problem, at, term, slips }) =>
      `At character ${at}, in "${term}": ${problem}. One error makes the whole record unusable (permerror).${found(slips)}`,
    repair:
      'Publish the record shown. It does not end in "-all", because the broken record has rejected no mail so far; end it in "-all" when reports show that no sender is missing.',
    unoffered: 'Correct the term.',
    advice: ({ term }, isOffered) =>
      isOffered
        ? undefined
        : `Correct "${term}", or remove it if it names no sender: until then receivers use nothing of the record.`,
    reference: 'RFC 7208 §4.6',
  }),
  'spf.too_long': high({
    title: 'SPF record too long to evaluate',
    detail: ({ length, most }) =>
      `${count(length)} characters: longer records than ${count(most)} are not evaluated here, and few receivers accept them.`,
    repair: 'Remove terms that are no longer needed, and use the includes of providers.',
    reference: 'RFC 7208 §3.4',
  }),
  'spf.joined_terms': high({
    title: 'Missing space between two SPF terms',
    detail: ({ slips }) => `Receivers read the two terms as one, and neither has an effect.${found(slips)}`,
    repair: 'Publish the record shown. Where a record is split into strings, begin or end each with a space.',
    unoffered: 'Write a space between the terms. Where a record is split into strings, begin or end each with a space.',
    reference: 'RFC 7208 §3.3',
  }),
  'spf.odd_name': high({
    title: 'SPF term without a valid name',
    detail: ({ slips }) => `Receivers look it up exactly as written and find nothing.${found(slips)}`,
    repair: 'Publish the record shown: one term for each name, without "https://" or "@".',
    unoffered: 'Write one term for each name, without "https://" or "@".',
    reference: 'RFC 7208 §5',
  }),
  'spf.doubled_name': medium({
    title: 'SPF name with the domain appended',
    detail: ({ names, meant }) =>
      `${some(names)} has no records; ${some(meant)} was meant. The term authorizes no host.`,
    repair: 'Correct the name as shown.',
    unoffered: 'Correct the name; in a zone file it ends in a dot.',
    reference: 'RFC 1035 §5.1',
  }),
  'spf.two_in_one': high({
    title: 'Two SPF records in one text',
    detail: ({ slips }) =>
      `Receivers use the terms up to the first "all"; they ignore the second record.${found(slips)}`,
    repair: 'Publish the one record shown.',
    unoffered: 'Merge the two into one record.',
    reference: 'RFC 7208 §3.2',
  }),
  'spf.too_many_lookups': high({
    title: 'Too many SPF lookups',
    detail: ({ lookups, limit, atLeast, costs }) =>
      `The record and its includes need ${atLeast ? 'at least ' : ''}${lookups} lookups; above ${limit}, receivers return permerror. By term: ${some(costs)}.`,
    repair: 'Publish the record shown: it is without terms that let nobody more pass.',
    unoffered: 'Remove includes of services that are no longer used, or let a service send from its own subdomain.',
    advice: ({ move }, isOffered) =>
      isOffered || move === undefined || list(move) === ''
        ? undefined
        : `Remove what is no longer used. If that is not enough, move ${list(move, ', ')} to the SPF record of a subdomain that the service uses as its return path, which is set up at the service: the rest is then within the limit.`,
    reference: 'RFC 7208 §4.6.4',
  }),
  'spf.too_many_void_lookups': high({
    title: 'Too many void SPF lookups',
    detail: ({ count, limit, names }) =>
      `${count} terms refer to names without records; above ${limit}, receivers return permerror: ${some(names)}.`,
    repair: 'Remove the terms whose names have no records.',
    reference: 'RFC 7208 §4.6.4',
  }),
  'spf.loop': high({
    title: 'SPF include loop',
    detail: ({ name, term, at }) =>
      `${name} includes itself${at === name ? '' : `, by ${term} in the record of ${at}`}: receivers reach the lookup limit and return permerror.`,
    repair: 'Remove the term that closes the loop.',
    advice: ({ term, at, ends }) =>
      `Remove ${term} from the record of ${at}${ends ? ', and end the own record in "~all" until reports show that no sender is missing' : ''}.`,
    reference: 'RFC 7208 §4.6.4',
  }),
  'spf.include_without_record': high({
    title: 'SPF include without an SPF record',
    detail: ({ term, name, at }) =>
      `"${term}"${at === undefined ? '' : ` in the record of ${at}`} refers to ${name}, which has no SPF record: receivers return permerror.`,
    repair:
      'Correct the name, or remove the term and end the record with "~all" until reports show that no sender is missing.',
    advice: ({ top, at }) =>
      top === undefined
        ? undefined
        : `Ask whoever runs ${at} to correct its SPF record; or remove ${top}, if nothing sends by way of it, and end the record in "~all" until reports show that no sender is missing.`,
    reference: 'RFC 7208 §5.2',
  }),
  'spf.include_broken': high({
    title: 'Invalid included SPF record',
    detail: ({ name, problem }) => `The record at ${name} makes receivers return permerror: ${problem}.`,
    repair: 'Notify the owner of that record, or remove the include.',
    reference: 'RFC 7208 §5.2',
  }),
  'spf.too_many_mx': high({
    title: 'SPF mx term with more than ten MX hosts',
    detail: ({ term, name, count }) =>
      `"${term}" refers to ${name}, which has ${count} MX hosts; more than 10 result in permerror.`,
    repair: 'Use the addresses of the sending hosts instead.',
    reference: 'RFC 7208 §4.6.4',
  }),
  'spf.names_nobody': medium({
    title: 'SPF names senders, but nobody passes',
    detail: ({ terms, all }) =>
      `No host on the internet passes: ${some(terms)}. ${all === '-' ? 'Receivers get "fail" for all mail of the domain.' : 'For receivers, all mail of the domain comes from hosts that it does not authorize.'}`,
    repair: 'Publish the record shown, if the hosts that it names send the mail of the domain.',
    unoffered:
      'Name the hosts that send the mail: with "ip4", "ip6", "a:" and a host name, or the include of the provider.',
    reference: 'RFC 7208 §5',
  }),
  'spf.dead_term': low({
    title: 'SPF term that lets nobody pass',
    detail: ({ terms }) => `${some(terms)}. If a host was meant that sends mail, its mail fails SPF.`,
    repair: 'Publish the record shown; if a host was meant that sends mail, name it there.',
    unoffered: 'Correct the term, or remove it.',
    reference: 'RFC 7208 §5',
  }),
  'spf.provider_missing': low({
    title: 'SPF does not let the mail provider pass',
    detail: ({ provider, key, other }) => {
      const missing = `The MX hosts are those of ${provider}, but SPF lets none of its servers pass.`
      if (key === 'usable')
        return `${missing} Mail that ${provider} sends for the domain fails SPF, and passes DMARC by its DKIM key alone.`
      const fails = `Mail that ${provider} sends for the domain fails SPF`
      const signed = key === 'absent' ? ', and no DKIM key of it is there either' : ''
      return `${missing} ${fails}${signed}${other === undefined ? '.' : `, unless it leaves by ${other}, which SPF lets pass.`}`
    },
    repair: 'Publish the record shown, unless all mail of the domain leaves by another service.',
    unoffered:
      'Add the include of the provider to the record, unless all mail of the domain leaves by another service.',
    advice: ({ include }, isOffered) =>
      isOffered
        ? undefined
        : `Add "include:${String(include)}" to the record, unless all mail of the domain leaves by another service.`,
    reference: 'RFC 7208 §5.2',
  }),
  'spf.host_bits': low({
    title: 'Network written with bits beyond its prefix',
    detail: ({ terms }) => `${list(terms, '; ')}. The bits of the address beyond the prefix are ignored.`,
    repair: 'Write the network by its first address; or, if one host is meant, leave the prefix out.',
    reference: 'RFC 7208 §5.6',
  }),
  'spf.equals_sign': medium({
    title: 'SPF mechanism written with "="',
    detail: ({ terms }) =>
      `Receivers ignore ${some(terms)} as an unknown modifier, so the senders that it was meant to name fail SPF.`,
    repair: 'Publish the record shown: mechanisms are written with a colon.',
    unoffered: 'Write the term with a colon.',
    reference: 'RFC 7208 §6',
  }),
  'spf.plus_all': critical({
    title: 'SPF allows everyone to send',
    detail: ({ path }) => `"+all" lets every host on the internet pass (${path}).`,
    repair: 'List the hosts that send mail, and end the record with "~all" or "-all".',
    reference: 'RFC 7208 §5.1',
  }),
  'spf.everybody': critical({
    title: 'SPF allows the whole internet to send',
    detail: ({ domain, ipv4, ipv6, terms }) =>
      `${some(terms)}: ${passing(Number(ipv4), ipv6 === true)} may send as ${domain}, as with "+all".`,
    repair:
      'First add the hosts that send mail (your own hosts, the include of your mail provider). Then remove the term, or the include that contains it. End the record with "~all" until reports show that no sender is missing.',
    advice: ({ terms }) =>
      `First add the hosts that send mail (your own hosts, the include of your mail provider). Then remove ${some(terms)}, or the include that leads there. End the record with "~all" until reports show that no sender is missing.`,
    reference: 'RFC 7208 §11.4',
  }),
  'spf.include_takeover': critical({
    title: 'SPF term with an unregistered domain',
    detail: ({ term, name, free }) =>
      `"${term}" ${name === free ? `leads to ${free}, which` : `leads to ${name}, and ${free}`} is not registered: anyone who registers it decides which hosts may send as this domain.`,
    repair: 'Publish the record shown, without the term, or correct its name.',
    unoffered: 'Remove the term, or correct its name.',
    reference: 'RFC 7208 §11.3',
  }),
  'spf.neutral_all': medium({
    title: 'SPF record ends in "?all"',
    detail: () =>
      'It makes no statement about other hosts, so receivers treat their mail as if there were no SPF record.',
    repair: 'End the record with "~all" or "-all".',
    reference: 'RFC 7208 §8.2',
  }),
  'spf.no_all': medium({
    title: 'SPF record without "all"',
    detail: () => 'Other hosts get "neutral", as with "?all".',
    repair: 'End the record with "~all" or "-all".',
    reference: 'RFC 7208 §4.7',
  }),
  'spf.softfail': info({
    title: 'SPF record ends in "~all"',
    detail: () =>
      'Mail from other hosts is treated as suspicious, but not rejected. With an enforced DMARC policy this is enough.',
    reference: 'RFC 7208 §8.5',
  }),
  'spf.sends_no_mail': info({
    title: 'The domain declares that it sends no mail',
    detail: ({ domain }) => `The record of ${domain} authorizes no host: no mail may be sent in its name.`,
    reference: 'RFC 7208 §5.1',
  }),
  'spf.ptr': low({
    title: 'SPF record uses "ptr"',
    detail: () =>
      'The mechanism is slow, depends on the PTR names of the connecting host, and is ignored by several receivers.',
    repair: 'List the hosts with "ip4", "ip6" or "a", and remove "ptr" when the reports show that none is missing.',
    reference: 'RFC 7208 §5.5',
  }),
  'spf.very_many_addresses': high({
    title: 'SPF allows a large part of the internet to send',
    detail: ({ count: ipv4 }) =>
      `${count(ipv4)} IPv4 addresses pass, including those of includes; even several large providers together have fewer.`,
    repair: 'Narrow the widest terms to the hosts that send mail.',
    advice: ({ terms }) => `Narrow the widest terms to the hosts that send mail, first ${some(terms)}.`,
    reference: 'RFC 7208 §11.4',
  }),
  'spf.many_addresses': medium({
    title: 'SPF allows very many addresses to send',
    detail: ({ count: ipv4 }) => `${count(ipv4)} IPv4 addresses pass by the record itself, not counting includes.`,
    repair: 'Narrow the networks to the hosts that send mail.',
    advice: ({ terms }) => `Narrow the networks to the hosts that send mail, first ${some(terms)}.`,
    reference: 'RFC 7208 §11.4',
  }),
  'spf.too_wide': medium({
    title: 'Too many SPF networks to count',
    detail: () => 'The record and its includes have so many networks that the count was stopped after 20,000 steps.',
    repair: 'Combine adjacent networks, and remove those that send no mail.',
    reference: 'RFC 7208 §11.1',
  }),
  'spf.not_public': low({
    title: 'SPF record with private or reserved addresses',
    detail: ({ terms }) =>
      `No receiver ever sees mail from such an address, so the term has no effect: ${some(terms)}.`,
    repair: 'Remove the term, and add the public address that the mail is sent from.',
    reference: 'RFC 1918 §3',
  }),
  'spf.lookups_near_limit': info({
    title: 'SPF lookup limit almost reached',
    detail: ({ lookups }) => `${lookups} of 10 lookups are used; an included record that grows may break this one.`,
    reference: 'RFC 7208 §4.6.4',
  }),
  'spf.long': low({
    title: 'SPF record is long',
    detail: ({ bytes }) =>
      `The record has ${bytes} octets; above 450, the answer may not fit in one UDP packet of 512.`,
    repair: 'Shorten the record.',
    reference: 'RFC 7208 §3.4',
  }),
  'spf.very_long': low({
    title: 'SPF record too long for plain UDP',
    detail: ({ bytes }) =>
      `The record has ${bytes} octets. A plain UDP answer has at most 512; a longer one needs EDNS0 or TCP.`,
    repair: 'Shorten the record, or move a part into an include.',
    reference: 'RFC 7208 §3.4',
  }),
  'spf.after_all': low({
    title: 'SPF terms that are never evaluated',
    detail: ({ terms }) => `Terms after "all" have no effect, and neither has a redirect beside it: ${some(terms)}.`,
    repair: 'Move the terms before "all", or remove them.',
    advice: (_, isOffered) =>
      isOffered ? 'Publish the record shown, in which the terms stand before "all", or remove them.' : undefined,
    reference: 'RFC 7208 §5.1',
  }),
  'spf.duplicate_include': low({
    title: 'Repeated SPF include',
    detail: ({ names }) => `Each include costs its lookups again: ${some(names)}.`,
    repair: 'Include it once.',
    reference: 'RFC 7208 §4.6.4',
  }),
  'spf.unknown_modifier': low({
    title: 'Unknown SPF modifier',
    detail: ({ term }) => `Receivers ignore "${term}".`,
    repair: 'Correct or remove the term.',
    reference: 'RFC 7208 §6',
  }),
  'spf.part_unknown': medium({
    title: 'Part of the SPF record could not be looked up',
    detail: ({ name, reason }) =>
      `${String(reason).includes(String(name)) ? '' : `${name}: `}${reason}.${String(reason).includes('too_many_questions') ? '' : ' While this lasts, receivers that evaluate it return temperror.'}`,
    repair: 'Check the name servers of that name.',
    reference: 'RFC 7208 §2.6.6',
  }),
  'spf.not_all_read': info({
    title: 'SPF include tree not read completely',
    detail: ({ limit }) => `Reading stopped after ${READ_UNTIL[limit as keyof typeof READ_UNTIL]}.`,
    reference: 'RFC 7208 §11.1',
  }),
})

const READ_UNTIL = {
  records: '40 records',
  levels: '11 levels of records',
  hosts: '30 host lookups',
} as const

/** Maximum number of list items shown in a sentence. */
const MAX_SHOWN = 15

/** The first 15 items of a list, and the number of further ones. */
export const some = (items: Args[string] | undefined): string =>
  Array.isArray(items) ? firstOf(items.map(String), MAX_SHOWN) : list(items)

/** The content of the text, as a sentence of its own. */
export const found = (slips: Args[string] | undefined): string =>
  Array.isArray(slips) && slips.length > 0 ? ` Found: ${slips.join('; ')}.` : ''

export const count = (value: Args[string] | undefined): string => Number(value).toLocaleString('en-US')

/** Who passes, by family. A few IPv4 addresses beside wide IPv6 networks are omitted. */
export function passing(ipv4: number, ipv6: boolean): string {
  if (ipv6 && ipv4 < 2 ** 24) return 'most of IPv6'
  if (ipv6 && ipv4 >= 2 ** 32) return 'every address'
  return `${count(ipv4)} IPv4 addresses${ipv6 ? ' and IPv6 networks' : ''}`
}

/** If no record can be computed. */
const UNOFFERED =
  'Publish the SPF record that your mail provider gives you, with a term for every other service that sends mail for the domain.'
