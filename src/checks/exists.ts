import { type Answer, DnsError } from '../net/dns/resolver.ts'

/**
 * Whether a name may exist according to an answer: NXDOMAIN at the end of a CNAME chain is about its last name (RFC
 * 6604 §3), and a missing answer shows nothing.
 */
export const mayExist = (answer: Answer | DnsError | undefined): boolean =>
  answer === undefined || answer instanceof DnsError || answer.kind !== 'nxdomain' || answer.cname.length > 0
