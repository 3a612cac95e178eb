import { type Answer, DnsError } from '../net/dns/resolver.ts'

/** Whether a name may exist by an answer about it: NXDOMAIN at the end of a CNAME chain is about its last name (RFC 6604 §3), and no answer says nothing. */
export const mayExist = (answer: Answer | DnsError | undefined): boolean =>
  answer === undefined || answer instanceof DnsError || answer.kind !== 'nxdomain' || answer.cname.length > 0
