import { type ExpectAnswer, expectAnswer } from '../answers/what-if.ts'
import { asTheyCome } from '../base/at-most.ts'
import { messageOf } from '../base/errors.ts'
import { isJsonRecord } from '../base/json.ts'
import { type Parsed, parsed, problem } from '../base/problem.ts'
import type { CheckInput } from '../checks/check.ts'
import { repeatable } from '../checks/repeatable.ts'
import { CHECK_KEYS } from '../checks/run.ts'
import { expectDocument } from '../documents/what-if.ts'
import type { Domain } from '../names/domain.ts'
import type { OverlayRecord } from '../net/dns/overlay.ts'
import { presentationOf } from '../net/dns/record-text.ts'
import { DnsError, type RecordType, settled } from '../net/dns/resolver.ts'
import { lookUp, type Snapshot, subjectOf, tryChange } from '../plan/snapshot.ts'
import type { Acceptances } from '../score/accepted.ts'
import type { Ctx } from '../world.ts'
import { acceptancesFor, acceptParam } from './accept.ts'
import type { Deps } from './deps.ts'
import { defineOperation, ok } from './operation.ts'
import { BODY_LIMIT, plainRecordsParam, readRecords, zoneParam } from './overlay-input.ts'
import { domainParam, positional, timeoutParam } from './params.ts'
import { paramProblem, questionError } from './problems.ts'

/** Maximum number of record sets. */
const MAX_SETS = 1_000

const zone = zoneParam('text of a zone file (RFC 1035 §5.1) with the expected records', {
  name: 'expect',
  description: 'exit 1 if the DNS differs from this zone file or JSON',
  fields: fieldsOf,
})

/** Whether the records in a file are published exactly as written. */
export const expectRecords = defineOperation({
  name: 'expect',
  method: 'POST',
  path: '/v1/expect',
  partOf: 'check',
  summary: 'Compare the published records with a zone file or list',
  scope: 'read',
  bodyLimit: BODY_LIMIT,
  params: {
    domain: positional(domainParam('domain of the records')),
    records: plainRecordsParam(
      'expected records; `name` is relative to the domain (`@` is the domain itself), a full name below the domain, or a name that ends in a dot. All records of each given name and type are compared; other names and types are ignored',
    ),
    zone,
    accept: acceptParam,
    timeout: timeoutParam('time limit of all queries'),
  },
  answer: expectAnswer,
  example: {
    input: { domain: 'example.org', records: [{ name: '_dmarc', type: 'TXT', value: 'v=DMARC1; p=reject' }] },
    output: {
      domain: 'example.org',
      status: 'fail',
      total: 1,
      differs: 1,
      unknown: 0,
      sets: [
        {
          name: '_dmarc.example.org',
          type: 'TXT',
          status: 'differs',
          expected: ['v=DMARC1; p=reject'],
          published: ['v=DMARC1; p=none'],
        },
      ],
      skipped: {},
      observed_at: '2026-01-02T03:04:05.000Z',
    },
  },
  uses: ['heloName', 'smtpPort', 'acceptedHere'],
  run: async (ctx, deps, { domain, records = [], zone, accept }) => {
    const { laid, skipped } = readRecords(domain, records, zone)
    checkSets(domain, laid, 'records')
    const accepted = await acceptancesFor(ctx, deps, domain, accept)
    const compared = await withAccepted(ctx, deps, domain, await compareSets(ctx, laid), { laid, accepted })
    const count = (...wanted: readonly string[]): number =>
      compared.filter(({ status, accepted }) => wanted.includes(status) && accepted === undefined).length
    const [differs, unknown] = [count('differs', 'missing'), count('unknown')]
    const status: ExpectAnswer['status'] = differs > 0 ? 'fail' : unknown > 0 ? 'unknown' : 'pass'
    return ok<ExpectAnswer>({
      domain,
      status,
      total: compared.length,
      differs,
      unknown,
      sets: [...compared].sort((a, b) => rank(a.status) - rank(b.status)),
      skipped,
      observed_at: new Date(ctx.now()).toISOString(),
    })
  },
  verdict: ({ status }) => (({ pass: 'good', fail: 'bad', unknown: 'unclear' }) as const)[status],
  document: expectDocument,
})

const rank = (status: string): number => ['differs', 'missing', 'unknown', 'same'].indexOf(status)

/** Throws AppError for names outside of the domain, and for too many names and types. */
export function checkSets(domain: Domain, laid: readonly OverlayRecord[], parameter: string): void {
  const stray = laid.find(({ name }) => name !== domain && !name.endsWith(`.${domain}`))
  if (stray) throw questionError('outside_domain', { name: stray.name, domain }, { parameter })
  const sets = new Set(laid.map(({ name, type }) => `${name} ${type}`)).size
  if (sets > MAX_SETS) throw questionError('record_sets', { count: sets, max: MAX_SETS }, { parameter })
}

/**
 * A file for `--expect`: JSON in the form of what-if (`{"records": [...]}`, or only the list), otherwise a zone file.
 */
export function fieldsOf(text: string): Parsed<Readonly<Record<string, unknown>>> {
  if (!/^\s*[[{]/.test(text)) return parsed({ zone: text })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return problem(paramProblem('json', { reason: messageOf(error) }))
  }
  const records = Array.isArray(value) ? value : isJsonRecord(value) ? value.records : undefined
  return Array.isArray(records) ? parsed({ records }) : problem(paramProblem('no_records'))
}

/** Maximum number of queries sent at the same time. */
export const AT_A_TIME = 16

type RecordSet = ExpectAnswer['sets'][number]
type Wanted = { readonly name: string; readonly type: RecordType; readonly expected: readonly string[] }

/**
 * Compares expected records with the published ones, one answer for each name and type, in the order of the records.
 * The order within a set and the serial of an SOA record are ignored; a name that is an alias does not have the records
 * of its target. Never rejects because of a server.
 */
async function compareSets(
  ctx: Pick<Ctx, 'resolve' | 'signal'>,
  records: readonly OverlayRecord[],
): Promise<readonly RecordSet[]> {
  const wanted = setsOf(records)
  const compared = new Map<number, RecordSet>()
  const asked = asTheyCome(AT_A_TIME, [...wanted.entries()], async ([i, set]) => [i, await compare(ctx, set)] as const)
  for await (const [i, set] of asked) compared.set(i, set)
  return wanted.flatMap((_, i) => compared.get(i) ?? [])
}

/** Maximum number of sets that differ for which it is found out whether that is accepted. */
const MAX_TRIED = 50

/**
 * The sets with what is accepted: a set that differs is, if the domain as it is has findings that it would not have with
 * the expected records of this set, and each of these is accepted.
 */
async function withAccepted(
  ctx: Ctx,
  deps: Pick<Deps, 'heloName' | 'smtpPort'>,
  domain: Domain,
  sets: readonly RecordSet[],
  { laid, accepted }: { readonly laid: readonly OverlayRecord[]; readonly accepted: Acceptances },
): Promise<readonly RecordSet[]> {
  const other = sets.filter(({ status }) => status === 'differs' || status === 'missing').slice(0, MAX_TRIED)
  if (accepted.size === 0 || other.length === 0) return sets
  const helo: CheckInput['helo'] = (source) => deps.heloName(source, ctx)
  const subject = subjectOf(repeatable(ctx, domain), domain, { selectors: [], helo, smtpPort: deps.smtpPort })
  const now = await lookUp(subject)
  const told = new Map<RecordSet, RecordSet['accepted']>()
  for (const set of other) {
    const records = laid.filter(({ name, type }) => name === set.name && type === set.type)
    const then = findingsOf(await tryChange(subject, now, { records }))
    const brought = [...findingsOf(now)].filter((id) => !then.has(id))
    const known = brought.flatMap((finding) => {
      const one = accepted.get(finding)
      return one ? [{ finding, ...one }] : []
    })
    if (known.length > 0 && known.length === brought.length) told.set(set, known)
  }
  return sets.map((set) => {
    const known = told.get(set)
    return known ? { ...set, accepted: known } : set
  })
}

const findingsOf = ({ outcomes }: Snapshot): ReadonlySet<string> =>
  new Set(CHECK_KEYS.flatMap((key) => (outcomes[key]?.findings ?? []).map(({ id }) => id)))

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
