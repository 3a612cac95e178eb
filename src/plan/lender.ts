import { madeUpName } from '../base/text.ts'
import { type Domain, isWithin } from '../names/domain.ts'
import { registrableDomain } from '../names/suffix.ts'
import { DnsError, type RecordType, settled } from '../net/dns/resolver.ts'
import type { Ctx } from '../world.ts'

const TYPES: readonly RecordType[] = ['A', 'MX', 'TXT']

/** The source of a name's records, if they are not its own: a record published at the name would remove all of them. */
type Lender = {
  readonly kind: 'alias' | 'wildcard'
  readonly name: string
  /** The wildcard that gives the name, if there is one. */
  readonly wildcard?: string
}

/**
 * The target of `domain` if it is an alias (no other record may exist beside a CNAME, RFC 1034 §3.6.2), or the wildcard
 * that provides its records (RFC 4592 §2.2.1); undefined if the records are its own. A wildcard is detected by a
 * made-up name beside the domain with the same records; a registrable domain has none above it. At most 6 queries, two
 * if there is no wildcard. Rejects with DnsError if one has no answer.
 */
export async function lenderOf(
  { resolve, signal, random }: Pick<Ctx, 'resolve' | 'signal' | 'random'>,
  domain: Domain,
): Promise<Lender | undefined> {
  const [target] = (await resolve(domain, 'TXT', signal)).cname
  const alias = target === undefined ? undefined : ({ kind: 'alias', name: target } as const)
  if ((registrableDomain(domain) ?? domain) === domain) return alias
  const parent = domain.slice(domain.indexOf('.') + 1)
  const madeUp = `${madeUpName(random)}.${parent}`
  const wildcard = `*.${parent}`
  const other = await resolve(madeUp, 'A', signal)
  if (alias) return other.cname[0] === target ? { ...alias, wildcard } : alias
  if (other.kind === 'nxdomain') return undefined
  // Asked at once, and read one after another: one without an answer counts only where those before it are equal.
  const pairs = TYPES.map((type) => [domain, madeUp].map((name) => settled(resolve(name, type, signal))))
  for (const pair of pairs) {
    const [own, others] = (await Promise.all(pair)).map((answer) => {
      if (answer instanceof DnsError) throw answer
      return shown(answer)
    })
    if (own !== others) return undefined
  }
  return { kind: 'wildcard', name: wildcard, wildcard }
}

const shown = ({ records }: { readonly records: readonly unknown[] }): string =>
  JSON.stringify(records.map((record) => JSON.stringify(record)).sort())

/**
 * Whether a record at `name` would remove the records that `domain` gets from elsewhere: at the name itself, and below
 * one that exists only by a wildcard (RFC 4592 §2.2.2).
 */
export const takesRecords = ({ wildcard }: Lender, domain: Domain, name: string): boolean =>
  name === domain || (wildcard !== undefined && isWithin(name, domain))

/** What to find out before a record is published at a name that may live from a wildcard. */
export const mayBeLent = (domain: string): string =>
  `Look first whether ${domain} has records of its own: a name beside it is answered by a wildcard, and a record at a name that lives from one hides all that it gives (RFC 4592 §2.2.1).`

/** What to do in place of publishing a record at a name whose records come from elsewhere; a value may not be known. */
export function repairBeside(
  { kind, name, wildcard }: Lender,
  domain: string,
  record: { readonly name: string; readonly rtype: string; readonly value?: string | undefined },
): string {
  const { rtype, value } = record
  const what = value === undefined ? `the ${rtype} record` : `${rtype} ${value}`
  return kind === 'alias' && (record.name === domain || wildcard === undefined)
    ? `The name is an alias (CNAME) of ${name}, and an alias cannot have other records (RFC 1034 §3.6.2). If ${name} is yours, publish ${what} there. Otherwise replace the alias with the addresses of its target, and publish the record at the same name.`
    : `The name gets its records from the wildcard ${wildcard}; a record at the name itself or below it hides all of them (RFC 4592 §2.2.1). Publish ${what} together with all records that the wildcard gives the name now.`
}
