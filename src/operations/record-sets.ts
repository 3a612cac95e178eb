import type { ExpectAnswer } from '../answers/expect.ts'
import { asTheyCome } from '../base/at-most.ts'
import type { OverlayRecord } from '../net/dns/overlay.ts'
import { presentationOf } from '../net/dns/record-text.ts'
import { DnsError, type RecordType, settled } from '../net/dns/resolver.ts'
import type { Ctx } from '../world.ts'

/** Maximum number of queries sent at the same time. */
export const AT_A_TIME = 16

type RecordSet = ExpectAnswer['sets'][number]
type Wanted = { readonly name: string; readonly type: RecordType; readonly expected: readonly string[] }

/**
 * Compares expected records with the published ones, one answer for each name and type, in the order of the records. The order within a set and the serial of
 * an SOA record are ignored; a name that is an alias does not have the records of its target. Never rejects because of a server.
 */
export async function compareSets(
  ctx: Pick<Ctx, 'resolve' | 'signal'>,
  records: readonly OverlayRecord[],
): Promise<readonly RecordSet[]> {
  const wanted = setsOf(records)
  const compared = new Map<number, RecordSet>()
  const asked = asTheyCome(AT_A_TIME, [...wanted.entries()], async ([i, set]) => [i, await compare(ctx, set)] as const)
  for await (const [i, set] of asked) compared.set(i, set)
  return wanted.flatMap((_, i) => compared.get(i) ?? [])
}

function setsOf(records: readonly OverlayRecord[]): readonly Wanted[] {
  const sets = new Map<string, Wanted>()
  for (const { name, type, data } of records) {
    const key = `${name} ${type}`
    const known = sets.get(key)
    const text = presentationOf(type, data)
    if (!known?.expected.includes(text))
      sets.set(key, { name, type, expected: [...(known?.expected ?? []), text].sort() })
  }
  return [...sets.values()]
}

async function compare({ resolve, signal }: Pick<Ctx, 'resolve' | 'signal'>, wanted: Wanted): Promise<RecordSet> {
  const { name, type, expected } = wanted
  const answer = await settled(resolve(name, type, signal))
  if (answer instanceof DnsError)
    return { name, type, status: 'unknown', expected: [...expected], published: [], reason: answer.message }
  const [alias] = answer.cname
  const published =
    alias === undefined || type === 'CNAME'
      ? answer.records.map((data) => presentationOf(type, data)).sort()
      : [`CNAME ${alias}.`]
  const isSame = published.length === expected.length && published.every((text, i) => text === expected[i])
  const status = isSame ? 'same' : published.length === 0 ? 'missing' : 'differs'
  return { name, type, status, expected: [...expected], published }
}
