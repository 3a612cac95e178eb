import { z } from 'zod'
import { AppError } from '../base/errors.ts'
import type { Parsed } from '../base/problem.ts'
import type { Domain } from '../names/domain.ts'
import type { OverlayChange, OverlayRecord } from '../net/dns/overlay.ts'
import { type ChangeText, parseChange, type RecordText } from '../net/dns/record-text.ts'
import { parseZone } from '../net/dns/zone-text.ts'
import { setKey } from '../plan/records.ts'
import { type Flag, listParam, type Param } from './params.ts'
import { questionError } from './problems.ts'

const MAX_RECORDS = 5_000
export const MAX_BYTES = 512_000
/** Maximum size of the body, bytes: JSON may escape every character of the text. */
export const BODY_LIMIT = 2 * MAX_BYTES + 65_536
const record = z.strictObject({
  name: z.string().max(1_100),
  type: z.string().max(20),
  value: z.string().max(65_535),
})
/** Records without removals. */
export const plainRecordsParam = (description: string) => listParam(record, MAX_RECORDS, { description })
/** What a record of a plan has beside its name, type and value. */
const ofPlan = {
  action: z.enum(['add', 'replace', 'remove', 'keep']).optional(),
  ttl: z.int().optional(),
  was: z.array(z.string()).optional(),
  beside: z.array(z.string().max(65_535)).max(MAX_RECORDS).optional(),
  beside_unknown: z.string().optional(),
}
export const recordsParam = listParam(
  record.partial({ value: true }).extend({ remove: z.boolean().optional(), ...ofPlan }),
  MAX_RECORDS,
  {
    description:
      'records to overlay on the DNS; they replace all records of the same name and type, those of TXT only the ones of the same kind (SPF, DMARC, DKIM …: their first tag). With `remove`, the record is removed; without `value`, all of its name and type; records of a plan are taken as they stand. `name` is relative to the domain (`@` is the domain itself), a full name below the domain, or a name that ends in a dot. `value` is in presentation format; the quotes of a TXT record may be omitted',
  },
)

type Overlaid = { readonly laid: readonly OverlayChange[]; readonly skipped: Readonly<Record<string, number>> }

/** {@link readOverlay} of records alone. */
export function readRecords(
  domain: Domain,
  records: readonly RecordText[],
  zone: string | undefined,
): Overlaid & { readonly laid: readonly OverlayRecord[] } {
  const { laid, skipped } = readOverlay(domain, records, zone)
  return { laid: laid.flatMap((one) => ('remove' in one ? [] : [one])), skipped }
}

type GivenRecord = ChangeText & {
  readonly action?: string | undefined
  readonly beside?: readonly string[] | undefined
}

/** A record of a plan: one to remove, or one to publish beside those that stay. */
const changesOf = ({ name, type, value, remove, action, beside = [] }: GivenRecord): readonly ChangeText[] => [
  { name, type, value, remove: remove ?? action === 'remove' },
  ...(action === 'remove' ? [] : beside.map((other) => ({ name, type, value: other, asIs: true as const }))),
]

/** Reads all records of the overlay. Throws AppError with the record or line that cannot be read. */
export function readOverlay(domain: Domain, given: readonly GivenRecord[], zone: string | undefined): Overlaid {
  const records = given.map(changesOf)
  refuseTooMuch(records.flat(), zone)
  const single = records.flatMap((some, i) =>
    some.map((record) => orRefuse(parseChange(record, domain), 'records', `records.${i}`)),
  )
  const whole = zone === undefined ? undefined : orRefuse(parseZone(zone, domain), 'zone', 'zone')
  const laid = [...(whole?.records ?? []), ...single]
  if (laid.length === 0) throw questionError('no_overlay', undefined, { parameter: 'records' })
  if (laid.length > MAX_RECORDS) throw questionError('overlay_records', { count: laid.length, max: MAX_RECORDS })
  return { laid: replaced(laid, single), skipped: Object.fromEntries(whole?.skipped ?? []) }
}

function refuseTooMuch(records: readonly ChangeText[], zone = ''): void {
  const texts = [zone, ...records.flatMap(({ name, type, value }) => [name, type, value ?? ''])]
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes > MAX_BYTES) throw questionError('overlay_bytes', { count: bytes, max: MAX_BYTES })
}

/** A single record replaces those of the zone with its name and type, of TXT only those of its kind. */
function replaced(laid: readonly OverlayChange[], single: readonly OverlayChange[]): readonly OverlayChange[] {
  const [own, keys] = [new Set(single), new Set(single.map(setKey))]
  return laid.filter((record) => own.has(record) || !keys.has(setKey(record)))
}

function orRefuse<T>(read: Parsed<T>, parameter: string, at: string): T {
  if (read.ok) return read.value
  throw new AppError('invalid_parameter', read.problem, { parameter, at })
}

type FileFlag = Extract<Flag, { kind: 'file' }>

/** A parameter with the text of a zone file; with `flag`, the command line reads it from a file. */
export const zoneParam = <const F extends Pick<FileFlag, 'name' | 'description' | 'fields'>>(
  description: string,
  flag: F,
) =>
  ({
    kind: 'text',
    description,
    group: 'question',
    required: false,
    bounds: { max: String(MAX_BYTES) },
    unit: 'bytes',
    flag: { kind: 'file', argument: 'FILE', maxBytes: MAX_BYTES, ...flag },
    schema: z.string().optional(),
  }) as const satisfies Param
