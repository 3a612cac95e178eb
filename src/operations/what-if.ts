import { z } from 'zod'
import type { CheckAnswer } from '../answers/check.ts'
import { type CheckSummary, whatIfAnswer } from '../answers/what-if.ts'
import { AppError } from '../base/errors.ts'
import type { Parsed } from '../base/parsed.ts'
import type { CheckInput } from '../checks/check.ts'
import { whatIfDocument } from '../documents/what-if.ts'
import type { Domain } from '../names/domain.ts'
import { type OverlayRecord, overlay } from '../net/dns/overlay.ts'
import { parseRecord, parseRecordLine, type RecordText } from '../net/dns/record-text.ts'
import { parseZone } from '../net/dns/zone-text.ts'
import { composeCheck } from '../report/compose.ts'
import { selectorParam } from './check.ts'
import { repeatable } from './context.ts'
import { formatParam } from './documents.ts'
import { whatIfExample } from './examples.ts'
import { judgeDomain } from './judge-domain.ts'
import { defineOperation, ok } from './operation.ts'
import type { Param } from './param.ts'
import { domainParam, listParam, positional, timeoutParam } from './params.ts'
import { bodySaveParams } from './saving.ts'
import { checkScore, checkVerdict } from './score-range.ts'

/** An overlay: its records, and bytes of its text in all. */
const MAX_RECORDS = 5_000
const MAX_BYTES = 512_000
/** Bytes of a body: in JSON every character of the text may be escaped by another. */
const BODY_LIMIT = 2 * MAX_BYTES + 65_536
/** Records of the overlay that the answer repeats. */
const SHOWN = 100
const DEADLINE_MS = 20_000

const records = listParam(
  z.strictObject({ name: z.string().max(1_100), type: z.string().max(20), value: z.string().max(65_535) }),
  MAX_RECORDS,
  {
    description:
      'records as if published, in place of those of the same name and type; `name` is relative to the domain (`@` is the domain), below it in full, or ends in a dot; `value` is presentation format, a TXT text may go without quotes',
    flag: {
      kind: 'lines',
      name: 'with',
      argument: 'RECORD',
      description: 'judge as if this record stood, such as \'_dmarc TXT "v=DMARC1; p=none"\' (repeatable)',
      read: parseRecordLine,
    },
  },
)

const zone = {
  kind: 'text',
  description: 'text of a zone file (RFC 1035 §5.1) whose records are as if published',
  group: 'question',
  required: false,
  bounds: { max: String(MAX_BYTES) },
  unit: 'bytes',
  flag: {
    kind: 'file',
    name: 'zone',
    argument: 'FILE',
    description: 'judge as if the records of this zone file stood',
    maxBytes: MAX_BYTES,
  },
  schema: z.string().optional(),
} as const satisfies Param

/** The check of a domain as if records stood in the DNS: an overlay on the resolver, nothing else is different. */
export const whatIf = defineOperation({
  name: 'what-if',
  method: 'POST',
  path: '/v1/check',
  partOf: 'check',
  summary: 'The check as if these records were published, compared with the check of now',
  scope: 'read',
  bodyLimit: BODY_LIMIT,
  params: {
    domain: positional(domainParam('domain to check')),
    records,
    zone,
    selector: selectorParam,
    timeout: timeoutParam('time for the whole check', DEADLINE_MS),
    format: formatParam,
    ...bodySaveParams,
  },
  answer: whatIfAnswer,
  example: whatIfExample,
  deadlineMs: DEADLINE_MS,
  uses: ['heloName', 'smtpPort'],
  saves: {
    kind: 'what-if',
    about: ({ domain, status, score }) => ({ subject: domain, names: { domain }, status, score }),
    add: (answer, fields) => ({ ...answer, ...fields }),
  },
  verdict: checkVerdict,
  score: checkScore,
  document: whatIfDocument,
  run: async (ctx, deps, { domain, records = [], zone, selector }) => {
    const { laid, passedOver } = readOverlay(domain, records, zone)
    const shared = repeatable(ctx)
    const input: CheckInput = {
      selectors: selector ?? [],
      helo: (source) => deps.heloName(source, ctx),
      smtpPort: deps.smtpPort,
    }
    const asIf = (one: typeof shared) => ({ ...one, resolve: overlay(shared.resolve, laid) })
    const [now, then] = await Promise.all([
      judgeDomain(shared, domain, input),
      judgeDomain({ ...asIf(shared), anew: () => asIf({ ...shared, ...shared.anew() }) }, domain, input),
    ])
    const before = composeCheck(domain, now, now.score)
    const after = composeCheck(domain, then, then.score)
    return ok({
      ...after,
      before: summaryOf(before),
      after: summaryOf(after),
      as_if: laid.slice(0, SHOWN).map(({ name, type, data }) => ({ name, type, data })),
      passed_over: passedOver,
      observed_at: new Date(ctx.now()).toISOString(),
    })
  },
})

type Overlaid = { readonly laid: readonly OverlayRecord[]; readonly passedOver: Readonly<Record<string, number>> }

/** Reads all that is to be laid over the DNS. Throws AppError that says which record or line cannot be read. */
function readOverlay(domain: Domain, records: readonly RecordText[], zone: string | undefined): Overlaid {
  refuseTooMuch(records, zone)
  const single = records.map((record, i) => orRefuse(parseRecord(record, domain), 'records', `records.${i}: `))
  const whole = zone === undefined ? undefined : orRefuse(parseZone(zone, domain), 'zone', 'zone: ')
  const laid = [...(whole?.records ?? []), ...single]
  if (laid.length === 0)
    throw new AppError('missing_parameter', 'give records or a zone: there is nothing to be laid over the DNS', {
      parameter: 'records',
    })
  if (laid.length > MAX_RECORDS)
    throw new AppError('payload_too_large', `an overlay of ${laid.length} records is more than ${MAX_RECORDS}`)
  return { laid: replaced(laid, single), passedOver: Object.fromEntries(whole?.passedOver ?? []) }
}

function refuseTooMuch(records: readonly RecordText[], zone = ''): void {
  const texts = [zone, ...records.flatMap(({ name, type, value }) => [name, type, value])]
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes > MAX_BYTES)
    throw new AppError('payload_too_large', `an overlay of ${bytes} bytes is more than ${MAX_BYTES} (512 kB)`)
}

/** A single record stands in place of those of the zone with its name and type. */
function replaced(laid: readonly OverlayRecord[], single: readonly OverlayRecord[]): readonly OverlayRecord[] {
  const key = ({ name, type }: OverlayRecord): string => `${name} ${type}`
  const [own, keys] = [new Set(single), new Set(single.map(key))]
  return laid.filter((record) => own.has(record) || !keys.has(key(record)))
}

function orRefuse<T>(read: Parsed<T>, parameter: string, at: string): T {
  if (read.ok) return read.value
  throw new AppError('invalid_parameter', `${at}${read.problem}`, { parameter })
}

const summaryOf = (answer: CheckAnswer): CheckSummary => {
  const { score, grade, status, domain_role, complete, score_min, score_max, findings, spf } = answer
  return {
    score,
    grade,
    status,
    domain_role,
    complete,
    ...(score_min === undefined ? {} : { score_min, score_max }),
    findings: [...new Set(findings.map(({ id }) => id))],
    ...(spf.passing && { passing: spf.passing }),
  }
}
