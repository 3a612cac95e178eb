import { type Args, defineFindings, high, info, list, low, medium } from '../check.ts'

/** Which patterns of the policy match which hosts not (RFC 8461 §4.1). */
function missed(patterns: Args[string] | undefined, hosts: Args[string] | undefined): string {
  const isWild = list(patterns).includes('*')
  return `its patterns (${list(patterns) || 'none'}) do not match ${list(hosts)}${isWild ? '; "*" stands for exactly one label' : ''}`
}

/** The lines that a policy lacks. */
const lines = (hosts: Args[string] | undefined): string =>
  Array.isArray(hosts) ? hosts.map((host) => `"mx: ${host}"`).join(', ') : ''

export const findings = defineFindings({
  'mta_sts.no_record': low({
    title: 'No MTA-STS policy',
    detail: ({ domain }) =>
      `${domain} does not ask senders to insist on TLS, so an attacker in the network can make them send mail unencrypted.`,
    repair:
      'Serve the policy, publish "v=STSv1; id=1" at _mta-sts, watch the TLS reports, then set mode to enforce and change the id.',
    unoffered: 'Repair the mail hosts first: a policy names them.',
    reference: 'RFC 8461 §3',
  }),
  'mta_sts.no_mail': info({
    title: 'No MTA-STS needed',
    detail: ({ domain, reason }) => `${domain} ${reason}, so there is no mail to protect.`,
    reference: 'RFC 7505 §3',
  }),
  'mta_sts.several_records': medium({
    title: 'Several MTA-STS records',
    detail: ({ domain, count }) =>
      `_mta-sts.${domain} has ${count} records; senders then act as if there were no policy.`,
    repair: 'Keep one.',
    reference: 'RFC 8461 §3.1',
  }),
  'mta_sts.version': medium({
    title: 'Invalid MTA-STS version',
    detail: ({ domain }) =>
      `The record at _mta-sts.${domain} does not begin with exactly "v=STSv1;", so senders ignore it.`,
    repair: 'Correct the version.',
    reference: 'RFC 8461 §3.1',
  }),
  'mta_sts.syntax': medium({
    title: 'Invalid MTA-STS record',
    detail: ({ problem, at }) =>
      `${problem}${Number(at) >= 0 ? ` (at character ${at})` : ''}. Senders then act as if there were no policy.`,
    repair: 'Publish "v=STSv1; id=" with 1 to 32 letters and digits that change with the policy.',
    reference: 'RFC 8461 §3.1',
  }),
  'mta_sts.policy_unknown': info({
    title: 'The MTA-STS policy could not be checked',
    detail: ({ url, reason }) => `${url}: ${reason}. The cause may be temporary, or on our side.`,
    reference: 'RFC 8461 §3.3',
  }),
  'mta_sts.no_policy': low({
    title: 'MTA-STS record without a policy',
    detail: ({ url, reason }) => `${url}: ${reason}. Senders act as if there were neither record nor policy.`,
    repair: 'Serve the policy, or remove the record.',
    advice: ({ url }) =>
      `Serve the policy at ${url} with status 200, without a redirect, with a certificate of a public authority for the name of the host; or remove the record.`,
    reference: 'RFC 8461 §3.3',
  }),
  'mta_sts.policy_type': high({
    title: 'The MTA-STS policy has the wrong media type',
    detail: ({ url, type }) =>
      `${url} is served ${type ? `as ${type}` : 'without a media type'}; senders accept text/plain only.`,
    repair: 'Serve it as text/plain.',
    reference: 'RFC 8461 §3.2',
  }),
  'mta_sts.policy_syntax': high({
    title: 'Invalid MTA-STS policy',
    detail: ({ url, problem }) => `${url}: ${problem}. Senders do not use the policy.`,
    repair: 'Correct the policy.',
    reference: 'RFC 8461 §3.2',
  }),
  'mta_sts.uncovered_mx': high({
    title: 'MX hosts missing from the MTA-STS policy',
    detail: ({ hosts, patterns, all }) =>
      `The policy is enforced, but ${missed(patterns, hosts)}. Senders that apply MTA-STS ${all ? 'cannot deliver at all' : 'do not deliver there'}.`,
    repair: 'Add an mx line for each to the policy, then change the id of the record.',
    advice: ({ hosts }) =>
      `Add to the policy, each on a line of its own: ${lines(hosts)}. Then change the id of the record.`,
    reference: 'RFC 8461 §4.1',
  }),
  'mta_sts.uncovered_mx_testing': medium({
    title: 'MX hosts missing from the MTA-STS policy (testing)',
    detail: ({ hosts, patterns, all }) =>
      `${missed(patterns, hosts).replace(/^./, (first) => first.toUpperCase())}. Once it is enforced, senders ${all ? 'cannot deliver at all' : 'do not deliver there'}.`,
    repair: 'Add an mx line for each before the policy is enforced.',
    advice: ({ hosts }) => `Add to the policy, each on a line of its own, before it is enforced: ${lines(hosts)}.`,
    reference: 'RFC 8461 §4.1',
  }),
  'mta_sts.mx_tls': high({
    title: 'MX hosts without the TLS that the MTA-STS policy demands',
    detail: ({ hosts, all }) =>
      `The policy is enforced, but ${list(hosts, '; ')}. Senders that apply MTA-STS ${all ? 'cannot deliver at all' : 'do not deliver there'}.`,
    repair:
      'Enable STARTTLS on each host, with a certificate of a public authority for the name of the host. Until then, set the policy to testing and change the id of the record.',
    reference: 'RFC 8461 §4.2',
  }),
  'mta_sts.mx_tls_testing': medium({
    title: 'MX hosts without the TLS that the MTA-STS policy demands (testing)',
    detail: ({ hosts, all }) =>
      `${list(hosts, '; ')}. Once the policy is enforced, senders ${all ? 'cannot deliver at all' : 'do not deliver there'}.`,
    repair:
      'Before the policy is enforced, enable STARTTLS on each host, with a certificate of a public authority for the name of the host.',
    reference: 'RFC 8461 §4.2',
  }),
  'mta_sts.testing': low({
    title: 'MTA-STS policy in testing mode',
    detail: () => 'With mode testing, senders report failures but still deliver without TLS.',
    repair: 'When the TLS reports are clean, set mode to enforce and change the id of the record.',
    reference: 'RFC 8461 §5',
  }),
  'mta_sts.none': low({
    title: 'MTA-STS policy mode is "none"',
    detail: () => 'With mode none, senders act as if there were no policy.',
    repair: 'Change mode to testing or enforce; or, once max_age has passed, remove the record and the policy.',
    reference: 'RFC 8461 §8.3',
  }),
  'mta_sts.short_max_age': low({
    title: 'MTA-STS max_age too short',
    detail: ({ seconds }) =>
      `max_age is ${seconds} seconds. Senders forget the policy if an attacker blocks it for that long; weeks are usual.`,
    repair: 'Raise max_age, for example to 1209600 (two weeks).',
    reference: 'RFC 8461 §3.2',
  }),
  'mta_sts.long_max_age': low({
    title: 'MTA-STS max_age too long',
    detail: ({ seconds, limit }) =>
      `max_age is ${seconds} seconds; at most ${limit} is allowed, and senders may refuse the policy.`,
    repair: 'Lower max_age.',
    reference: 'RFC 8461 §3.2',
  }),
  'mta_sts.unused_mx': info({
    title: 'MTA-STS policy with hosts that are not MX hosts',
    detail: ({ patterns }) => `No mail host of the domain matches ${list(patterns)}.`,
    reference: 'RFC 8461 §3.2',
  }),
  'mta_sts.mx_unknown': info({
    title: 'The MX hosts could not be compared with the MTA-STS policy',
    detail: ({ reason }) => `${reason}.`,
    reference: 'RFC 8461 §4.1',
  }),
})
