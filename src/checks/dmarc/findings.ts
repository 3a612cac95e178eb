import { type Args, defineFindings, high, info, list, low, medium } from '../check.ts'
import { type MakeFinding, makeFinding } from '../finding.ts'
import { recordFindings, softened } from './record-words.ts'

/** An alias (CNAME) at the DMARC name without a target record. */
const dangling = (alias: Args[string] | undefined): string =>
  alias ? ` The name is an alias (CNAME) of ${alias}, where there is no record.` : ''

export const findings = defineFindings({
  'dmarc.no_record': high({
    title: 'No DMARC record',
    detail: ({ domain, alias }) =>
      `Neither ${domain} nor a domain above it has a DMARC record: receivers have no instruction for forged mail and send no reports.${dangling(alias)}`,
    repair:
      'Publish the record shown. When the reports show that all of your own mail passes, raise p to quarantine and then to reject.',
    advice: ({ alias, above, silent }, isOffered) => {
      if (alias)
        return 'Ask the operator of the alias target to publish the record, or replace the alias with the record shown.'
      if (above)
        return `Publish a record at _dmarc.${above} first: it covers this name. One at this name alone would make it an organizational domain of its own, for which signatures of ${above} do not count.`
      return silent && isOffered ? 'Publish the record shown: nothing is sent as this name.' : undefined
    },
    unoffered:
      'Publish a record at _dmarc, first with p=none and a rua. When the reports show that all of your own mail passes, raise p to quarantine and then to reject.',
    reference: 'RFC 9989 §4.10.1',
  }),
  'dmarc.no_record_parked': medium({
    title: 'No DMARC record for a domain without mail',
    detail: ({ domain }) =>
      `${domain} neither sends nor accepts mail, but no DMARC record asks receivers to reject mail in its name.`,
    repair: 'Publish the record shown: the domain has no mail that could be lost.',
    unoffered: 'Publish "v=DMARC1; p=reject" at _dmarc: the domain has no mail that could be lost.',
    reference: 'RFC 9989 §4.10.1',
  }),
  'dmarc.misplaced': medium({
    title: 'DMARC record at the wrong name',
    detail: ({ domain, from }) =>
      `A DMARC record is at ${domain} itself; receivers query only _dmarc.${domain}${from === undefined ? '.' : `, and apply the record of ${from}.`}`,
    repair: 'Move the record to the name shown.',
    advice: softened,
    unoffered: 'Move the record to the name _dmarc.',
    reference: 'RFC 9989 §4.5',
  }),
  'dmarc.doubled_name': high({
    title: 'DMARC record at a name with the domain twice',
    detail: ({ name }) =>
      `The DMARC record is at ${name}, where no receiver looks it up: the name server appends the domain to a name without a final dot.`,
    repair: 'Move the record to the name shown.',
    advice: softened,
    unoffered: 'Move the record to the name without the second domain.',
    reference: 'RFC 1035 §5.1',
  }),
  'dmarc.other_txt': info({
    title: 'Other TXT records at the DMARC name',
    detail: ({ name, count }) =>
      `${name} has ${count} TXT record(s) that are not DMARC records, usually from a wildcard.`,
    reference: 'RFC 9989 §4.10',
  }),
  'dmarc.several_records': high({
    title: 'Several DMARC records at one name',
    detail: ({ name, count, above }) =>
      `${name} has ${count} DMARC records: receivers discard all of them${above ? ` and apply the one of ${above}` : ''}.`,
    repair: 'Keep one record. The record shown has the weakest of the policies and all report addresses.',
    advice: (args, isOffered) => {
      if (!isOffered) return 'Keep one record.'
      const words = `Keep one record, or none. The record shown has at least the policy that ${args.above} gives the name today, and all report addresses.`
      return args.above === undefined ? softened(args, isOffered) : words
    },
    reference: 'RFC 9989 §4.10',
  }),
  'dmarc.malformed': high({
    title: 'Invalid DMARC record',
    detail: ({ name, reasons }) =>
      `The record at ${name} does not begin with exactly "v=DMARC1;", so receivers ignore it as a whole${list(reasons) ? `: ${list(reasons)}` : ''}.`,
    repair: 'Publish the record with "v=DMARC1;" as its first tag, in these capitals.',
    advice: softened,
    reference: 'RFC 9989 §4.7',
  }),
  'dmarc.duplicate_tag': high({
    title: 'DMARC tag occurs twice',
    detail: ({ domain, tags }) =>
      `The DMARC record of ${domain} has ${list(tags)} more than once, which makes the whole record invalid.`,
    repair: 'Keep one of each tag.',
    advice: softened,
    reference: 'RFC 6376 §3.2',
  }),
  'dmarc.unusable_policy': high({
    title: 'Unknown DMARC policy',
    detail: ({ domain, tag, value, at }) =>
      `In the DMARC record of ${domain}, ${tag}=${value} (at character ${at}) is not none, quarantine or reject, and there is no valid rua: receivers do not apply DMARC to this domain.`,
    repair: 'Write none, quarantine or reject.',
    advice: softened,
    reference: 'RFC 9989 §4.10.1',
  }),
  'dmarc.invalid_policy': medium({
    title: 'Unknown DMARC policy, read as "none"',
    detail: ({ tags }) =>
      `The value of ${list(tags)} is not none, quarantine or reject. Because the record requests reports, receivers read it as p=none.`,
    repair: 'Write none, quarantine or reject.',
    advice: softened,
    reference: 'RFC 9989 §4.10.1',
  }),
  'dmarc.missing_policy': low({
    title: 'DMARC record without a policy (p)',
    detail: () =>
      'The record has no p, which is read as p=none. Receivers of the older standard, and some of the new one, use such a record only if it has a valid rua.',
    repair: 'Write the policy as p=none, p=quarantine or p=reject.',
    advice: softened,
    reference: 'RFC 9989 §4.7',
  }),
  'dmarc.policy_none': medium({
    title: 'DMARC policy is "none"',
    detail: ({ tag, unread, from }) =>
      `${unread ? 'The record has no p that receivers can read, so the policy' : from === undefined ? `The policy of this domain (${tag})` : `The policy of ${from} that applies to this name (${tag})`} is "none": receivers deliver forged mail like any other.`,
    repair: 'When the reports show that all of your own mail passes, publish the record shown.',
    advice: ({ canPass, silent }, isOffered) =>
      silent && isOffered
        ? 'Publish the record shown: nothing is sent as this name.'
        : canPass === false
          ? 'First repair SPF or set up DKIM: none of your own mail could pass a stricter policy. Raise the policy to quarantine when the reports show that all of it passes.'
          : undefined,
    unoffered:
      'When the reports show that all of your own mail passes, raise the policy to quarantine, and later to reject.',
    reference: 'RFC 9989 §4.7',
  }),
  'dmarc.policy_quarantine': info({
    title: 'DMARC policy is "quarantine"',
    detail: () =>
      'Receivers put forged mail into the junk folder. The strongest policy is reject; it suits domains whose users do not post to mailing lists.',
    reference: 'RFC 9989 §7.4',
  }),
  'dmarc.testing': low({
    title: 'DMARC policy in test mode',
    detail: ({ policy, effective }) =>
      `t=y asks receivers to apply ${policy} one step lower, as ${effective}. Receivers of the older standard do not know the tag.`,
    repair: 'Remove t=y, and pct with it, when the reports show that all of your own mail passes.',
    reference: 'RFC 9989 §4.7',
  }),
  'dmarc.subdomains_weaker': medium({
    title: 'Weaker DMARC policy for subdomains',
    detail: ({ p, sp, np }) =>
      `The policy is ${p}, but ${sp} for subdomains and ${np} for names that do not exist, so forgers can use such a name.`,
    repair:
      'Raise sp and np to the strength of p, from none to quarantine first, while the reports show that your own mail passes.',
    reference: 'RFC 9989 §4.7',
  }),
  'dmarc.no_rua': low({
    title: 'No aggregate reports',
    detail: ({ unread }) =>
      `The record has no rua${unread ? ' that receivers can read' : ''}, so the owner does not learn which mail is sent in the name of the domain.`,
    repair: 'Add a rua with a mailbox that exists, in a domain that accepts mail.',
    advice: (args, isOffered) => {
      if (!isOffered) return undefined
      return args.unread
        ? 'Publish the record shown.'
        : 'Create a mailbox for the reports and publish the record shown.'
    },
    reference: 'RFC 9989 §4.7',
  }),
  'dmarc.alias': info({
    title: 'DMARC record behind an alias',
    detail: ({ name, target }) => `${name} is an alias (CNAME) of ${target}: the record can be changed only there.`,
    reference: 'RFC 1034 §3.6.2',
  }),
  'dmarc.inherited': info({
    title: 'DMARC policy is inherited from a parent domain',
    detail: ({ domain, from, tag }) => `${domain} has no usable record of its own; the ${tag} of ${from} governs it.`,
    reference: 'RFC 9989 §4.10.1',
  }),
  ...recordFindings,
  'dmarc.report_uri': medium({
    title: 'Invalid DMARC report address',
    detail: ({ uri, problem }) => `${JSON.stringify(uri)}: ${problem}. No reports are sent there.`,
    repair: 'Write it as mailto:name@domain, and separate several with commas.',
    reference: 'RFC 9989 §4.8',
  }),
  'dmarc.report_scheme': low({
    title: 'DMARC report address is not a mailbox',
    detail: ({ uri, scheme }) =>
      `${uri}: receivers need to support only mailto, and hardly any of them supports ${scheme}.`,
    repair: 'Use a mailto address.',
    reference: 'RFC 9989 §4.7',
  }),
  'dmarc.report_unauthorized': medium({
    title: 'DMARC report recipient has not agreed',
    detail: ({ host, domain, reason }) =>
      `${host} has not agreed to accept reports about ${domain} (${reason}), so receivers send none there.`,
    repair: 'Ask the owner of that domain to publish the record shown, or use your own address.',
    advice: ({ takesNone, isPublic, host }, isOffered) => {
      if (isPublic)
        return takesNone
          ? `Nobody can agree for a mailbox at ${host}: use an address in another of your domains that accepts mail.`
          : `Nobody can agree for a mailbox at ${host}: put an address of your own domain before it, and let it forward.`
      if (takesNone)
        return isOffered
          ? 'Ask the owner of that domain to publish the record shown, or use an address in another of your domains that accepts mail: this one accepts none.'
          : 'Use an address in another of your domains that accepts mail, or remove the address from the record: this domain accepts no mail.'
      return isOffered ? undefined : 'Use your own address, or correct the address in the record.'
    },
    reference: 'RFC 9990 §4',
  }),
  'dmarc.rua_unreachable': medium({
    title: 'DMARC report address cannot receive mail',
    detail: ({ host, reason }) => `No report can be delivered to ${host}: ${reason}.`,
    repair: 'Use an address in a domain that accepts mail, or publish an MX record for this one.',
    reference: 'RFC 5321 §5.1',
  }),
  'dmarc.report_unknown': info({
    title: 'Agreement to accept DMARC reports could not be checked',
    detail: ({ host, reason }) => `${host}: ${reason}.`,
    reference: 'RFC 9990 §4',
  }),
  'dmarc.report_limit': low({
    title: 'Very many DMARC report destinations',
    detail: ({ hosts, limit }) =>
      `The record has report addresses at ${hosts} hosts; only ${limit} of them were checked.`,
    repair: 'Use fewer report addresses.',
    reference: 'RFC 9990 §4',
  }),
  'dmarc.psd_misused': low({
    title: 'psd=y on a domain that is not a public suffix',
    detail: ({ domain }) =>
      `psd=y declares that anyone can register names below ${domain}; each name below it then counts as a separate organization.`,
    repair:
      'If nobody else can register names below it, remove psd=y, or write psd=n: the domain is then a separate organization. Then make the plan again.',
    reference: 'RFC 9989 §4.7',
  }),
  'dmarc.walk_gap': info({
    title: 'A parent domain could not be looked up',
    detail: ({ name, reason }) =>
      `${name} could not be looked up (${reason}). The policy does not depend on it, but the organizational domain does.`,
    reference: 'RFC 9989 §4.10.2',
  }),
  'dmarc.legacy_differs': info({
    title: 'Older receivers read the same records differently',
    detail: ({ foundAt, policy, pct, organizationalDomain, now, effective }) => {
      const [older, newer] =
        organizationalDomain === now
          ? ['', '']
          : [` and the organizational domain is ${organizationalDomain}`, ` and it is ${now || 'not known'}`]
      const share = pct === 100 ? '' : ` to ${pct} % of the mail`
      const applied = foundAt === '' ? 'no record applies' : `the record of ${foundAt} applies with ${policy}${share}`
      return `By RFC 7489 ${applied}${older}; by RFC 9989 the policy is ${effective || 'none at all'}${newer}.`
    },
    reference: 'RFC 9989 Appendix C.3',
  }),
})

export const finding: MakeFinding<typeof findings> = makeFinding
