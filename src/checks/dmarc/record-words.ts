import { type Args, defineFindings, high, info, list, low, medium } from '../check.ts'

/** What to do if the shown record requests less than its owner wrote, because no receiver has applied it so far. */
export const softened = (args: Args, isOffered: boolean): string | undefined =>
  isOffered && args.softened
    ? 'Publish the record shown. It begins with the policy that receivers apply to the name today, because none applied what was written. What was meant is a later step.'
    : undefined

export const recordFindings = defineFindings({
  'dmarc.syntax': low({
    title: 'Invalid part in the DMARC record',
    detail: ({ value, at }) =>
      `At character ${at}, ${JSON.stringify(value)} is not of the form tag=value; receivers ignore it.`,
    repair: 'Remove it, or write it as a tag.',
    reference: 'RFC 9989 §4.8',
  }),
  'dmarc.hidden_character': medium({
    title: 'Invisible character in the DMARC record',
    detail: ({ code, at, tags }) =>
      `At character ${at}, the record has ${code}, which receivers read as part of the tag: what was meant as ${list(tags, ' and ')} is not recognized. Such characters often come from copying a record from a web page.`,
    repair: 'Type the record again, with plain spaces.',
    advice: softened,
    reference: 'RFC 9989 §4.8',
  }),
  'dmarc.quotes': medium({
    title: 'Quotation marks or backslashes in the DMARC record',
    detail: ({ tags }) =>
      `Quotation marks or backslashes are part of the text, so ${list(tags)} is not read as intended. The web forms of DNS providers add the outer quotation marks.`,
    repair: 'Publish the record without them.',
    advice: softened,
    reference: 'RFC 9989 §4.8',
  }),
  'dmarc.separator': medium({
    title: 'Missing semicolon in the DMARC record',
    detail: ({ tags }) =>
      `Two tags have no semicolon between them, so ${list(tags)} is not read as intended. Where a TXT record has several strings, they are joined without a space.`,
    repair: 'Put a semicolon between all tags.',
    advice: softened,
    reference: 'RFC 9989 §4.8',
  }),
  'dmarc.two_records': high({
    title: 'Two DMARC records in one text',
    detail: () => 'The text has "v=DMARC1" twice. Repeated tags make the whole record invalid.',
    repair: 'Publish one record.',
    advice: softened,
    reference: 'RFC 6376 §3.2',
  }),
  'dmarc.ignored_value': low({
    title: 'Invalid value of a DMARC tag',
    detail: ({ tag, value, at }) =>
      `At character ${at}, ${tag}=${value} is not valid; receivers use the default of ${tag}.`,
    repair: 'Correct or remove the tag.',
    reference: 'RFC 9989 §4.7',
  }),
  'dmarc.limit': low({
    title: 'DMARC record too large to be read in full',
    detail: ({ limits, faults }) =>
      `Only part of the record was read (${list(limits) || 'its faults'}): at most 100 tags, 50 addresses per list, and 10 of ${faults} ignored parts.`,
    repair: 'Shorten the record.',
    reference: 'RFC 9989 §4.8',
  }),
  'dmarc.unknown_tags': info({
    title: 'Unknown DMARC tags',
    detail: ({ tags }) => `Receivers ignore ${list(tags)}.`,
    reference: 'RFC 9989 §4.7',
  }),
  'dmarc.tag_case': info({
    title: 'DMARC tags in capital letters',
    detail: ({ tags }) =>
      `${list(tags)}: the standard writes tag names in lower case. Deployed receivers accept either case.`,
    reference: 'RFC 9989 §4.8',
  }),
  'dmarc.removed_tags': info({
    title: 'Removed DMARC tags',
    detail: ({ tags }) => `${list(tags)}: no longer part of the standard, and without effect at newer receivers.`,
    repair: 'Publish the record without it.',
    advice: ({ isKept }) =>
      isKept
        ? 'Keep pct while the policy is raised, and remove it in a step of its own when the reports show that all of your own mail passes.'
        : undefined,
    reference: 'RFC 9989 §9.3',
  }),
  'dmarc.pct_partial': medium({
    title: 'DMARC policy for a share of the mail',
    detail: ({ pct, policy }) =>
      `pct=${pct} was removed from the standard: newer receivers apply ${policy} to all mail, older ones ${pct === 0 ? `the policy one step lower (${policy === 'reject' ? 'quarantine' : 'none'})` : `to ${pct} % of it`}.`,
    repair: 'Remove pct when the reports show that all of your own mail passes.',
    reference: 'RFC 9989 Appendix A.6',
  }),
  'dmarc.size_suffix': info({
    title: 'Size limit on a DMARC report address',
    detail: () => 'The "!" with a size after a report address was removed from the standard; reporters ignore it.',
    repair: 'Remove it.',
    reference: 'RFC 9989 §4.8',
  }),
  'dmarc.fo_without_ruf': info({
    title: 'fo without ruf',
    detail: () => 'fo selects failure reports, but there is no ruf to send them to; it is ignored.',
    reference: 'RFC 9989 §4.7',
  }),
  'dmarc.policy_order': info({
    title: 'DMARC tag p is not the second tag',
    detail: () => 'The older standard requires p right after v; receivers that follow it may ignore this record.',
    repair: 'Put p second.',
    reference: 'RFC 7489 §6.3',
  }),
  'dmarc.long_record': low({
    title: 'Very long DMARC record',
    detail: ({ octets, limit }) =>
      `The record has ${octets} octets. Above ${limit}, the answer may not fit in one UDP packet, and some receivers do not get it.`,
    repair: 'Shorten it.',
    reference: 'RFC 9715 §3',
  }),
})
