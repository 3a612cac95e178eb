import { createHash } from 'node:crypto'
import { labelsOf } from '../../names/domain.ts'
import type { RecordData } from '../../net/dns/resolver.ts'

type Ds = RecordData['DS']
type Dnskey = RecordData['DNSKEY']

/** DS digest types that we can compute, by number (RFC 4509, RFC 6605). */
const DIGESTS: Readonly<Record<number, string>> = { 1: 'sha1', 2: 'sha256', 4: 'sha384' }

/** Whether a DS record matches a key: by the digest of the key if we can compute it, otherwise by its key tag and algorithm (RFC 4034 §5.1). */
export function dsMatches(ds: Ds, zone: string, key: Dnskey): boolean {
  if (ds.keyTag !== keyTagOf(key) || ds.algorithm !== key.algorithm) return false
  const hash = DIGESTS[ds.digestType]
  if (hash === undefined) return true
  return createHash(hash).update(ownerOf(zone)).update(rdataOf(key)).digest('hex') === ds.digest
}

/** RFC 4034 appendix B; algorithm 1 has a rule of its own (B.1). */
export function keyTagOf(key: Dnskey): number {
  const rdata = rdataOf(key)
  if (key.algorithm === 1) return rdata.length < 7 ? 0 : rdata.readUInt16BE(rdata.length - 3)
  let sum = 0
  for (const [i, octet] of rdata.entries()) sum += i % 2 === 0 ? octet << 8 : octet
  return (sum + ((sum >> 16) & 0xffff)) & 0xffff
}

/** RFC 4034 §2.1 */
function rdataOf(key: Dnskey): Buffer {
  const fixed = Buffer.from([key.flags >> 8, key.flags & 0xff, key.protocol, key.algorithm])
  return Buffer.concat([fixed, Buffer.from(key.publicKey, 'base64')])
}

/** The owner name in wire format. The checked names are host names: their labels contain no escapes. */
const ownerOf = (zone: string): Buffer =>
  Buffer.concat([
    ...labelsOf(zone).flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, 'ascii')]),
    Buffer.from([0]),
  ])
