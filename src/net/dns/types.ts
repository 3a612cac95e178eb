import type { RecordType } from './resolver.ts'

/** The numbers of the record types that are read (IANA, RFC 1035 §3.2.2 and the RFC of each). */
export const TYPE_CODES: Readonly<Record<RecordType, number>> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  DS: 43,
  RRSIG: 46,
  DNSKEY: 48,
  NSEC3PARAM: 51,
  TLSA: 52,
  CAA: 257,
}

/** The pseudo-record of EDNS0 (RFC 6891 §6.1.1). */
export const OPT = 41

/** Types that may occur in an answer in addition to the queried one. */
export const DNAME = 39
export const { RRSIG } = TYPE_CODES

/** The only class that is used (RFC 1035 §3.2.4). */
export const CLASS_IN = 1

/** The response codes that are handled individually (RFC 1035 §4.1.1). */
export const RCODE = { noError: 0, formErr: 1, servFail: 2, nxDomain: 3, notImp: 4, refused: 5 } as const
