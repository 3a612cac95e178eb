import { canonicalName, labelsOf } from '../../src/names/domain.ts'
import { parseIp } from '../../src/names/ip.ts'
import {
  type Answer,
  DnsError,
  type DnsReason,
  type RecordData,
  type RecordType,
  type Resolve,
} from '../../src/net/dns/resolver.ts'

type Fault = 'SERVFAIL' | 'TIMEOUT' | 'REFUSED' | 'BOGUS'
type Written<T extends RecordType> = T extends 'MX'
  ? readonly [preference: number, exchange: string] | RecordData['MX']
  : RecordData[T] | string
/**
 * One name of a lab zone: its records by type, a fault for a type (or for all by writing the fault alone), `AD` when
 * signed.
 */
export type LabNode = { readonly [T in RecordType]?: readonly Written<T>[] | Fault } & {
  readonly AD?: boolean
  readonly TTL?: number
}
/** `NXDOMAIN`: the name does not exist, although it is written here or names below it are. */
export type LabZone = Readonly<Record<string, LabNode | Fault | 'NXDOMAIN'>>

const FAULTS: Record<Fault, DnsReason> = {
  SERVFAIL: 'servfail',
  TIMEOUT: 'timeout',
  REFUSED: 'refused',
  BOGUS: 'servfail',
}

/**
 * A zone literal as a {@link Resolve}. Names that are not written do not exist; a name above a written one exists
 * without records (RFC 8020); `*.a.example` answers for names below that are not written (RFC 4592); CNAMEs are
 * followed, at most 16. `BOGUS` is SERVFAIL unless checking is disabled. `asked` holds every question as `name TYPE`,
 * in order.
 */
export function labDns(zone: LabZone): { readonly resolve: Resolve; readonly asked: string[] } {
  const nodes = new Map(Object.entries(zone).map(([name, node]) => [canonicalName(name), node]))
  const asked: string[] = []

  /** The names that are written, and all above them. */
  const existing = new Set<string>()
  for (const written of nodes.keys())
    for (let name = written; name !== '' && !existing.has(name); name = name.slice(name.indexOf('.') + 1)) {
      existing.add(name)
      if (!name.includes('.')) break
    }
  const exists = (name: string): boolean => existing.has(name)

  function nodeOf(name: string): LabNode | Fault | undefined {
    const node = nodes.get(name)
    if (node === 'NXDOMAIN') return undefined
    if (exists(name)) return node ?? {}
    const labels = labelsOf(name)
    for (let i = 1; i < labels.length; i++) {
      const encloser = labels.slice(i).join('.')
      const wild = nodes.get(`*.${encloser}`)
      if (wild !== undefined) return wild === 'NXDOMAIN' ? undefined : wild
      if (exists(encloser)) return undefined
    }
    return undefined
  }

  const resolve: Resolve = async (asker, type, signal, options) => {
    const name = canonicalName(asker)
    asked.push(`${name} ${type}`)
    const question = { name, type }
    if (signal.aborted) throw new DnsError('timeout', question)
    const labels = labelsOf(name)
    if (name.length > 253 || labels.some((label) => label.length > 63 || label === ''))
      throw new DnsError('invalid_name', question)
    const cname: string[] = []
    let at = name
    let secure = true
    for (;;) {
      const node = nodeOf(at)
      const fault = typeof node === 'string' ? node : node?.[type]
      if (typeof fault === 'string' && !(fault === 'BOGUS' && options?.checkingDisabled)) {
        throw new DnsError(FAULTS[fault as Fault], question, {
          server: '127.0.0.1:53',
          ede: fault === 'BOGUS' ? [{ code: 6, text: 'lab: bogus' }] : [],
        })
      }
      const here = typeof node === 'object' ? node : undefined
      secure &&= here?.AD === true
      const base = { name, type, ttlSeconds: here?.TTL ?? 300, cname, secure, ede: [] }
      if (!node || typeof node === 'string')
        return { ...base, kind: node ? 'nodata' : 'nxdomain', records: [] } as Answer<typeof type>
      // bogus, and seen all the same
      const records = (typeof fault === 'string' ? [] : (node[type] ?? [])) as readonly unknown[]
      if (records.length > 0)
        return { ...base, kind: 'found', records: records.map((record) => written(type, record)) } as Answer<
          typeof type
        >
      const target = type === 'CNAME' ? undefined : (node.CNAME as readonly string[] | undefined)?.[0]
      if (target === undefined) return { ...base, kind: 'nodata', records: [] } as Answer<typeof type>
      at = canonicalName(target)
      cname.push(at)
      if (cname.length > 16) throw new DnsError('cname_loop', question)
    }
  }
  return { resolve, asked }
}

function written(type: RecordType, record: unknown): unknown {
  if (type === 'MX' && Array.isArray(record))
    return { preference: record[0], exchange: record[1] === '.' ? '' : canonicalName(record[1]) }
  if ((type === 'A' || type === 'AAAA') && typeof record === 'string') {
    const address = parseIp(record)
    if (!address.ok) throw new TypeError(address.problem.text)
    return address.value
  }
  if (type === 'CNAME' || type === 'NS' || type === 'PTR') return canonicalName(record as string)
  return record
}
