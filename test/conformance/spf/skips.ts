/** Cases of the public suites that are answered otherwise on purpose: the case, why, and the section that decides. */
export const SKIPS: Readonly<Record<string, string>> = {
  'pyspf-extra/corner cases [3]/default-modifier':
    'a lax mode of its authors for "default=", of drafts before the RFC: an unknown modifier changes nothing, so neutral (RFC 7208 §6)',
  'mail-auth/all#1':
    'reads a record with a syntax fault up to the fault: a fault anywhere makes permerror before anything is evaluated (RFC 7208 §4.6)',
  'mail-auth/exists#2': 'lets "exists" match an AAAA record: the type is A whatever the client is (RFC 7208 §5.7)',
}
