import { z } from 'zod'
import { whatIfAnswer } from '../answers/what-if.ts'
import { AppError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { Parsed } from '../base/parsed.ts'
import type { CheckInput } from '../checks/check.ts'
import type { Domain } from '../names/domain.ts'
import { type OverlayRecord, overlay } from '../net/dns/overlay.ts'
import { parseRecord, type RecordText } from '../net/dns/record-text.ts'
import { parseZone } from '../net/dns/zone-text.ts'
import { composeCheck } from '../report/compose.ts'
import { selectorParam } from './check.ts'
import { repeatable } from './context.ts'
import { reportDocuments } from './documents.ts'
import { whatIfExample } from './examples.ts'
import { judgeDomain } from './judge-domain.ts'
import { defineOperation } from './operation.ts'
import { domainParam, durationParam, listParam, TIMEOUT } from './params.ts'

/** Records that one question may lay over the DNS, beside a zone. */
const MAX_RECORDS = 100
/** Characters of a zone's text. */
const MAX_ZONE = 1 << 20
/** Records of the overlay that the answer repeats. */
const SHOWN = 100

/** The check of a domain as if records stood in the DNS: an overlay on the resolver, nothing else is different. */
export const whatIf = defineOperation({
  name: 'what-if',
  method: 'POST',
  path: '/v1/check',
  partOf: 'check',
  summary: 'How the domain would stand if these records were published, and how it stands now',
  scope: 'read',
  positional: ['domain'],
  input: z.object({
    domain: domainParam('domain to check'),
    records: listParam(
      z.strictObject({ name: z.string().max(1_100), type: z.string().max(20), value: z.string().max(65_535) }),
      MAX_RECORDS,
      'records as if published, in place of those of the same name and type; `name` is relative to the domain (`@` is the domain), below it in full, or ends in a dot; `value` is presentation format, a TXT text may go without quotes',
    ),
    zone: z
      .string()
      .max(MAX_ZONE, `a zone of more than ${MAX_ZONE} characters is not read`)
      .optional()
      .meta({ description: 'text of a zone file (RFC 1035 §5.1) whose records are as if published' }),
    selector: selectorParam.optional(),
    timeout: durationParam('time for the whole check; default 20s', TIMEOUT).optional(),
  }),
  output: whatIfAnswer,
  example: whatIfExample,
  deadlineMs: 20_000,
  documents: reportDocuments,
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
    const [before, after] = [now, then].map((judged) => composeCheck(domain, judged, judged.score))
    return {
      ...after,
      before: standingOf(before!),
      after: standingOf(after!),
      as_if: laid.slice(0, SHOWN).map(({ name, type, data }) => ({ name, type, data })),
      passed_over: passedOver,
      observed_at: new Date(ctx.now()).toISOString(),
    }
  },
})

type Overlaid = { readonly laid: readonly OverlayRecord[]; readonly passedOver: Readonly<Record<string, number>> }

/** Reads all that is to be laid over the DNS. Throws AppError that says which record or line cannot be read. */
function readOverlay(domain: Domain, records: readonly RecordText[], zone: string | undefined): Overlaid {
  const single = records.map((record, i) => orRefuse(parseRecord(record, domain), 'records', `records.${i}: `))
  const whole = zone === undefined ? undefined : orRefuse(parseZone(zone, domain), 'zone', 'zone: ')
  const laid = [...(whole?.records ?? []), ...single]
  if (laid.length === 0)
    throw new AppError('missing_parameter', 'give records or a zone: there is nothing to be laid over the DNS', {
      parameter: 'records',
    })
  return { laid: replaced(laid, single), passedOver: Object.fromEntries(whole?.passedOver ?? []) }
}

/** A single record stands in place of those of the zone with its name and type. */
function replaced(laid: readonly OverlayRecord[], single: readonly OverlayRecord[]): readonly OverlayRecord[] {
  const key = ({ name, type }: OverlayRecord): string => `${name} ${type}`
  const own = new Set(single.map(key))
  return laid.filter((record) => single.includes(record) || !own.has(key(record)))
}

function orRefuse<T>(read: Parsed<T>, parameter: string, at: string): T {
  if (read.ok) return read.value
  throw new AppError('invalid_parameter', `${at}${read.problem}`, { parameter })
}

const standingOf = (answer: JsonObject): JsonObject => {
  const { score, grade, status, domain_role, complete, score_min, score_max, findings } = answer
  const ids = (findings as readonly { readonly id: string }[]).map(({ id }) => id)
  return {
    score,
    grade,
    status,
    domain_role,
    complete,
    ...(score_min === undefined ? {} : { score_min, score_max }),
    findings: [...new Set(ids)],
  }
}
