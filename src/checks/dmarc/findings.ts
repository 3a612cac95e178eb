import { defineFindings, list } from '../check.ts'

export const findings = defineFindings({
  'dmarc.no_record': {
    severity: 'high',
    title: 'No DMARC record',
    detail: ({ domain }) =>
      `Neither ${domain} nor a domain above it has a DMARC record, so receivers have no instruction for forged mail and send no reports.`,
    repair:
      'Publish the record shown, with a mailbox that exists; when the reports show that all of your own mail passes, raise p to quarantine and then to reject.',
    reference: 'RFC 9989 §4.10.1',
  },
  'dmarc.no_record_parked': {
    severity: 'medium',
    title: 'No DMARC record for a domain without mail',
    detail: ({ domain }) =>
      `${domain} says that it neither sends nor takes mail, but has no DMARC record that asks receivers to refuse mail in its name.`,
    repair: 'Publish the record shown: nothing can be lost by it.',
    reference: 'RFC 9989 §4.10.1',
  },
  'dmarc.misplaced': {
    severity: 'high',
    title: 'The DMARC record is at the wrong name',
    detail: ({ domain }) => `A DMARC record stands at ${domain} itself; receivers look at _dmarc.${domain} only.`,
    repair: 'Move the record to the name shown.',
    reference: 'RFC 9989 §4.5',
  },
  'dmarc.other_txt': {
    severity: 'info',
    title: 'Other TXT records at the DMARC name',
    detail: ({ name, count }) =>
      `${name} answers with ${count} TXT record(s) that have nothing to do with DMARC, as a wildcard record does.`,
    reference: 'RFC 9989 §4.10',
  },
  'dmarc.several_records': {
    severity: 'high',
    title: 'Several DMARC records at one name',
    detail: ({ name, count }) => `${name} has ${count} DMARC records; receivers discard all of them.`,
    repair:
      'Keep one. The record shown has the weakest of their policies, so that no mail is refused of a sudden, and all their report addresses.',
    reference: 'RFC 9989 §4.10',
  },
  'dmarc.malformed': {
    severity: 'high',
    title: 'A DMARC record that receivers do not take for one',
    detail: ({ name }) => `The record at ${name} does not begin with exactly "v=DMARC1;", so it is ignored as a whole.`,
    repair: 'Write the version as the first tag, with these capitals, and end it with a semicolon.',
    reference: 'RFC 9989 §4.7',
  },
  'dmarc.duplicate_tag': {
    severity: 'high',
    title: 'A tag occurs twice',
    detail: ({ domain, tags }) =>
      `The DMARC record of ${domain} has more than one ${list(tags)}; that makes the whole record invalid.`,
    repair: 'Keep one of each.',
    reference: 'RFC 6376 §3.2',
  },
  'dmarc.unusable_policy': {
    severity: 'high',
    title: 'A policy that does not exist',
    detail: ({ domain, tag, value, at }) =>
      `In the DMARC record of ${domain}, ${tag}=${value} (at character ${at}) is none of none, quarantine and reject, and there is no valid rua: receivers do no DMARC for this domain.`,
    repair: 'Write none, quarantine or reject.',
    reference: 'RFC 9989 §4.10.1',
  },
  'dmarc.invalid_policy': {
    severity: 'medium',
    title: 'A policy that does not exist, read as none',
    detail: ({ tags }) =>
      `The value of ${list(tags)} is none of none, quarantine and reject. Because reports are asked for, receivers read the record as p=none.`,
    repair: 'Write none, quarantine or reject.',
    reference: 'RFC 9989 §4.10.1',
  },
  'dmarc.missing_policy': {
    severity: 'low',
    title: 'No p tag',
    detail: () =>
      'The record has no p, which is read as p=none; receivers of the older standard, and careful readers of the new one, use such a record only when it has a valid rua.',
    repair: 'Write the policy out.',
    reference: 'RFC 9989 §4.7',
  },
  'dmarc.policy_none': {
    severity: 'medium',
    title: 'The policy asks for nothing',
    detail: ({ tag }) => `The policy of this domain (${tag}) is none: forged mail is delivered like any other.`,
    repair: 'When the reports show that all of your own mail passes, publish the record shown, and reject later.',
    reference: 'RFC 9989 §4.7',
  },
  'dmarc.policy_quarantine': {
    severity: 'info',
    title: 'Forged mail goes to the spam folder',
    detail: () =>
      'The policy is quarantine. The strongest is reject; it suits domains whose users write to no mailing lists.',
    reference: 'RFC 9989 §7.4',
  },
  'dmarc.testing': {
    severity: 'low',
    title: 'The policy is being tested',
    detail: ({ policy, effective }) =>
      `t=y asks receivers to apply ${policy} one step lower, as ${effective}. Receivers of the older standard do not know the tag.`,
    repair: 'Remove t=y when the test is over.',
    reference: 'RFC 9989 §4.7',
  },
  'dmarc.subdomains_weaker': {
    severity: 'medium',
    title: 'Subdomains are protected less than the domain',
    detail: ({ p, sp, np }) =>
      `The policy is ${p}, but ${sp} for subdomains and ${np} for names that do not exist; a forger takes one of those.`,
    repair: 'Remove sp and np, or make them as strong as p.',
    reference: 'RFC 9989 §4.7',
  },
  'dmarc.no_rua': {
    severity: 'low',
    title: 'No aggregate reports',
    detail: () => 'The record has no rua, so nobody learns which mail is sent in the name of the domain.',
    repair: 'Add a rua with a mailbox that exists.',
    reference: 'RFC 9989 §4.7',
  },
  'dmarc.inherited': {
    severity: 'info',
    title: 'The policy comes from a domain above',
    detail: ({ domain, from, tag }) => `${domain} has no usable record of its own; the ${tag} of ${from} governs it.`,
    reference: 'RFC 9989 §4.10.1',
  },
  'dmarc.syntax': {
    severity: 'low',
    title: 'A part of the record is no tag',
    detail: ({ value, at }) => `At character ${at}, ${JSON.stringify(value)} is no tag=value; receivers ignore it.`,
    repair: 'Remove it, or write it as a tag.',
    reference: 'RFC 9989 §4.8',
  },
  'dmarc.ignored_value': {
    severity: 'low',
    title: 'A tag has a value that it cannot have',
    detail: ({ tag, value, at }) =>
      `At character ${at}, ${tag}=${value} means nothing; receivers use the default of ${tag}.`,
    repair: 'Correct or remove the tag.',
    reference: 'RFC 9989 §4.7',
  },
  'dmarc.limit': {
    severity: 'low',
    title: 'A record too large to be read in full',
    detail: ({ limits, faults }) =>
      `Not all of the record was looked at (${list(limits) || 'its faults'}): at most 100 tags, 50 addresses a list, and 10 of its ${faults} ignored parts are told.`,
    repair: 'Shorten the record.',
    reference: 'RFC 9989 §4.8',
  },
  'dmarc.unknown_tags': {
    severity: 'info',
    title: 'Tags that DMARC does not know',
    detail: ({ tags }) => `Receivers ignore ${list(tags)}. Names of tags are written in small letters.`,
    reference: 'RFC 9989 §4.7',
  },
  'dmarc.removed_tags': {
    severity: 'info',
    title: 'Tags that were removed from DMARC',
    detail: ({ tags }) => `${list(tags)} is no longer part of the standard and can go.`,
    repair: 'Publish the record without it.',
    reference: 'RFC 9989 §9.3',
  },
  'dmarc.pct_partial': {
    severity: 'medium',
    title: 'The policy is for a share of the mail only, which is no longer heeded',
    detail: ({ pct }) =>
      `pct=${pct} was removed from the standard: newer receivers apply the policy to all mail, older ones to this share.`,
    repair: 'Remove pct; while still testing, use t=y in its place.',
    reference: 'RFC 9989 Appendix A.6',
  },
  'dmarc.size_suffix': {
    severity: 'info',
    title: 'A size limit on a report address',
    detail: () => 'The "!" with a size behind a report address was removed from the standard; reporters ignore it.',
    repair: 'Remove it.',
    reference: 'RFC 9989 §4.8',
  },
  'dmarc.fo_without_ruf': {
    severity: 'info',
    title: 'fo without ruf',
    detail: () => 'fo says when failure reports are wanted, but there is no ruf to send them to; it is ignored.',
    reference: 'RFC 9989 §4.7',
  },
  'dmarc.policy_order': {
    severity: 'info',
    title: 'p is not the second tag',
    detail: () => 'The older standard wants p right after v; receivers that keep to it may ignore this record.',
    repair: 'Put p second.',
    reference: 'RFC 7489 §6.3',
  },
  'dmarc.long_record': {
    severity: 'low',
    title: 'A very long record',
    detail: ({ octets, limit }) =>
      `The record has ${octets} octets. Over ${limit} its answer may not fit one UDP packet, and some receivers fail to get it.`,
    repair: 'Shorten it.',
    reference: 'RFC 9715 §3',
  },
  'dmarc.report_uri': {
    severity: 'medium',
    title: 'A report address that cannot be used',
    detail: ({ uri, problem }) => `${JSON.stringify(uri)}: ${problem}. No reports are sent there.`,
    repair: 'Write it as mailto:name@domain, and separate several with commas.',
    reference: 'RFC 9989 §4.8',
  },
  'dmarc.report_scheme': {
    severity: 'low',
    title: 'Reports to something other than a mailbox',
    detail: ({ uri, scheme }) => `${uri}: receivers have to support mailto only, and hardly any supports ${scheme}.`,
    repair: 'Use a mailto address.',
    reference: 'RFC 9989 §4.7',
  },
  'dmarc.report_unauthorized': {
    severity: 'medium',
    title: 'A report address of another organization that has not agreed',
    detail: ({ host, domain, reason }) =>
      `${host} has not said that it takes reports about ${domain} (${reason}), so receivers send none there.`,
    repair: 'Let the owner of that domain publish the record shown, or use an address of your own.',
    reference: 'RFC 9990 §4',
  },
  'dmarc.report_unknown': {
    severity: 'info',
    title: 'It could not be found out whether reports are taken',
    detail: ({ host, reason }) => `${host}: ${reason}.`,
    reference: 'RFC 9990 §4',
  },
  'dmarc.report_limit': {
    severity: 'low',
    title: 'Very many report destinations',
    detail: ({ hosts, limit }) => `The record names ${hosts} hosts; ${limit} were asked whether they take the reports.`,
    repair: 'Name fewer.',
    reference: 'RFC 9990 §4',
  },
  'dmarc.psd_misused': {
    severity: 'low',
    title: 'psd=y on a domain that is no public suffix',
    detail: ({ domain }) =>
      `${domain} says of itself that anyone can register names below it; each name below then counts as an organization of its own.`,
    repair: 'Remove psd=y; psd=n says that the domain is an organization of its own.',
    reference: 'RFC 9989 §4.7',
  },
  'dmarc.walk_gap': {
    severity: 'info',
    title: 'A name above could not be asked',
    detail: ({ name, reason }) =>
      `${name} gave no answer (${reason}). The policy does not depend on it; which domain counts as the organization does.`,
    reference: 'RFC 9989 §4.10.2',
  },
  'dmarc.legacy_differs': {
    severity: 'info',
    title: 'Older receivers read the same records differently',
    detail: ({ foundAt, policy, pct, organizationalDomain, now, effective }) =>
      `By RFC 7489 ${foundAt === '' ? 'no record applies' : `the record of ${foundAt} applies with ${policy}${pct === 100 ? '' : ` to ${pct} % of the mail`}`} and the organizational domain is ${organizationalDomain}; by RFC 9989 the policy is ${effective || 'none at all'} and the organizational domain ${now || 'not known'}.`,
    reference: 'RFC 9989 Appendix C.3',
  },
})
