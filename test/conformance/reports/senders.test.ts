import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, vi } from 'vitest'
import { dayOf } from '../../../src/base/time.ts'
import { domain as domainOf } from '../../../src/names/domain.ts'
import type { Sender } from '../../../src/reports/senders.ts'
import { type ReportService, reportService } from '../../../src/reports/service.ts'
import type { Database } from '../../../src/store/postgres/connect.ts'
import type { WrittenZone } from '../../archetypes/cases.ts'
import { worldOf } from '../../archetypes/lab.ts'
import { runCases } from '../../archetypes/run.ts'
import { labApp, labDeps } from '../../lab/app.ts'
import { CORPORA, corpus } from '../../lab/corpora.ts'
import { labDatabase } from '../../lab/database.ts'
import { heavyHere } from '../../lab/heavy.ts'
import { aggregateReport, type LabRow } from '../../lab/report-xml.ts'
import { NO_REPORTS } from '../../lab/reports.ts'
import { UNBOUNDED } from '../../lab/storage.ts'

/** Months of reports about a domain, and what an expert says about its senders: the cases of `mail/senders`. */
vi.setConfig({ testTimeout: 120_000 })

const NOW = Date.UTC(2026, 10, 25, 12)
const DAY_MS = 86_400_000
const dayAgo = (days: number): string => dayOf(NOW - days * DAY_MS)
const FROM = dayAgo(27)

const REPORTERS = {
  google: { organization: 'google.com', email: 'noreply-dmarc-support@google.com' },
  yahoo: { organization: 'Yahoo', email: 'dmarchelp@yahooinc.com' },
  microsoft: { organization: 'Enterprise Outlook', email: 'dmarcreport@microsoft.com' },
  small: { organization: 'dorfverein.example', email: 'dmarc@dorfverein.example' },
} as const
type Reporter = keyof typeof REPORTERS

type Traffic = {
  readonly ip: string
  readonly a_day?: number
  readonly n: number
  readonly from?: number
  readonly to?: number
  readonly every?: number
  readonly by?: readonly Reporter[]
  readonly dkim: readonly (readonly [domain: string, selector: string, result: string])[]
  readonly spf: readonly [domain: string, result: string]
  readonly pass: '' | 'dkim' | 'spf' | 'both'
  readonly envelope?: string
  readonly reason?: readonly [type: string, comment?: string]
  readonly disposition?: string
}
type Words = { readonly says?: readonly string[]; readonly never_says?: readonly string[] }
type Wanted = {
  readonly ip: string
  readonly verdict?: readonly string[]
  readonly name?: string
  readonly to_do?: Words
  readonly because?: Words
  readonly messages?: true
  readonly optional?: true
}
type Affected = {
  readonly policy: string
  readonly affected?: readonly string[]
  readonly unaffected?: readonly string[]
}
type Expect = {
  readonly senders?: readonly Wanted[]
  readonly apart?: readonly (readonly string[])[]
  readonly together?: readonly (readonly string[])[]
  readonly lines_at_most?: number
  readonly absent?: readonly string[]
  readonly sums?: true
  readonly one_window?: true
  readonly policy?: readonly Affected[]
  readonly check?: Words
  readonly plan?: Words
  readonly advice?: Words
  readonly reporters?: Words
  readonly said?: Words
  readonly owner?: readonly Wanted[]
  readonly owner_policy?: Affected
}
type Said = { readonly ip: string; readonly ours: boolean | null; readonly note?: string }
type Case = {
  readonly id: string
  readonly class: string
  readonly domain: string
  readonly policy: string
  readonly zone: WrittenZone
  readonly traffic: readonly Traffic[]
  readonly phases: readonly { readonly zone?: WrittenZone; readonly owner?: readonly Said[]; readonly expect: Expect }[]
  readonly why: string
}

/** The addresses of an entry that send on a day. */
function addressesOn({ ip, a_day = 1 }: Traffic, ago: number): readonly string[] {
  const [, prefix = '', first = '', last = ''] = /^(.*\.)(\d+)-(\d+)$/.exec(ip) ?? []
  if (prefix === '') return [ip]
  const size = Number(last) - Number(first) + 1
  return Array.from({ length: a_day }, (_, k) => `${prefix}${Number(first) + ((ago * a_day + k) % size)}`)
}

function rowsOn({ traffic, domain }: Case, ago: number, reporter: Reporter): readonly LabRow[] {
  const named = (name: string): string => name.replaceAll('@', domain)
  return traffic.flatMap((one) => {
    const { from = 28, to = 1, every = 1, by = ['google', 'yahoo'], pass, reason, disposition } = one
    if (ago > from || ago < to || (ago - to) % every !== 0 || !by.includes(reporter)) return []
    return addressesOn(one, ago).map((address) => ({
      ...{ address, count: one.n, envelope: named(one.envelope ?? one.spf[0]), spfResult: one.spf[1] },
      ...{
        spf: pass === 'spf' || pass === 'both' ? 'pass' : 'fail',
        dkim: pass === 'dkim' || pass === 'both' ? 'pass' : 'fail',
      },
      signatures: one.dkim.map(([name, selector, result]) => ({ domain: named(name), selector, result })),
      ...(reason && { reason: reason[0] }),
      ...(disposition !== undefined && { disposition }),
    })) as readonly LabRow[]
  })
}

/** The sums of the default window, and the messages of each address in it. */
type Sums = { messages: number; passing: number; readonly of: Map<string, number> }

async function importCase(row: Case, service: ReportService): Promise<Sums> {
  const sums: Sums = { messages: 0, passing: 0, of: new Map() }
  const longest = Math.max(...row.traffic.map(({ from = 28 }) => from))
  for (let ago = longest; ago >= 1; ago--)
    for (const reporter of Object.keys(REPORTERS) as Reporter[]) {
      const rows = rowsOn(row, ago, reporter)
      if (rows.length === 0) continue
      const begin = Date.parse(dayAgo(ago)) / 1_000
      const about = { domain: row.domain, id: `${reporter}-${ago}`, begin, policy: `<p>${row.policy}</p>`, rows }
      const text = aggregateReport({ ...about, ...REPORTERS[reporter] })
      const request = { name: 'body', way: 'file', owner: 'key', accepts: () => 'taken' as const } as const
      await service.import(Buffer.from(text), { ...request, signal: AbortSignal.timeout(60_000) })
      if (dayAgo(ago) < FROM) continue
      for (const { address, count, spf, dkim } of rows) {
        sums.messages += count
        if (spf === 'pass' || dkim === 'pass') sums.passing += count
        sums.of.set(address, (sums.of.get(address) ?? 0) + count)
      }
    }
  return sums
}

let database: Database
beforeAll(async () => {
  database = await labDatabase()
})

async function faultsOf(row: Case): Promise<readonly string[]> {
  const faults: string[] = []
  let zone = row.zone
  let sums: Sums | undefined
  for (const [n, phase] of row.phases.entries()) {
    zone = { ...zone, ...phase.zone }
    const { ask, put, senders, close, service } = await installation(row.domain, zone)
    sums ??= await importCase(row, service)
    for (const { ip, ...word } of phase.owner ?? []) {
      const id = (await senders()).find(({ addresses }) => addresses.has(ip))?.id ?? ip
      const { statusCode, body } = await put(`/v1/reports/senders/${encodeURIComponent(id)}`, word)
      if (statusCode !== 200) faults.push(`phase ${n}: the word about ${ip}: ${statusCode} ${body}`)
    }
    const found = [
      ...(await faultsIn(phase.expect, sums, row.domain, await senders(), ask)),
      ...(await numberFaults(row.domain, ask)),
    ]
    faults.push(...found.map((fault) => `phase ${n}: ${fault}`))
    await close()
  }
  return faults
}

// biome-ignore lint/suspicious/noExplicitAny: any answer
type Ask = (path: string) => Promise<any>

async function installation(domain: string, zone: WrittenZone) {
  const row = { id: '', class: '', domain, zone, expect: {}, why: '' }
  const world = { ...worldOf(row, { hosts: {}, apex: {} }), now: () => NOW }
  const service = reportService({
    ...{ heavy: heavyHere, storage: UNBOUNDED, open: async () => database },
    envelopeOf: async () => ({ from: [], signatures: [], isTrusted: false }),
    networkOf: async () => undefined,
    listedOn: async () => undefined,
    ...{
      keepMs: 400 * DAY_MS,
      maxOctets: 26_214_400,
      now: () => NOW,
      monotonic: () => performance.now(),
      log: world.log,
    },
  })
  const deps = labDeps(world, {
    reports: async () => service,
    reportsHere: { ...NO_REPORTS, find: async () => service },
  })
  const app = await labApp(world, { deps })
  const ask: Ask = async (path) => {
    const response = await app.inject({ url: path })
    if (response.statusCode !== 200) throw new Error(`${path}: ${response.body}`)
    return response.json()
  }
  const put = (url: string, payload: object) => app.inject({ method: 'PUT', url, payload })
  const period = { domain: domainOf(domain), from: FROM, to: dayOf(NOW), includeUncounted: false }
  const asking = { resolve: world.resolve, signal: AbortSignal.timeout(60_000) }
  return {
    ask,
    put,
    service,
    close: () => app.close(),
    senders: async () => (await service.senders(asking, period)).senders,
  }
}

async function faultsIn(
  expected: Expect,
  sums: Sums,
  domain: string,
  senders: readonly Sender[],
  ask: Ask,
): Promise<readonly string[]> {
  const shown = await ask(`/v1/reports?domain=${domain}`)
  const { data } = await ask(`/v1/reports/senders?domain=${domain}&limit=100&today=false`)
  const check = await ask(`/v1/check?domain=${domain}&plan=true`)
  const of = (address: string): Sender | undefined => senders.find(({ addresses }) => addresses.has(address))
  const faults: string[] = []
  const fault = (isWrong: boolean, text: string): void => void (isWrong && faults.push(text))
  const spoken = (what: string, words: Words | undefined, answer: unknown): void => {
    if (words) faults.push(...wordFaults(words, textsOf(answer).join('\n')).map((one) => `${what} ${one}`))
  }
  for (const wanted of [...(expected.senders ?? []), ...(expected.owner ?? [])]) {
    const sender = of(wanted.ip)
    if (!sender) fault(!wanted.optional, `${wanted.ip} is not there`)
    else faults.push(...senderFaults(wanted, sender, sums))
  }
  for (const some of expected.apart ?? [])
    fault(
      new Set(some.map((one) => of(one)?.id ?? one)).size < some.length,
      `not apart: ${some.map((one) => of(one)?.name)}`,
    )
  for (const some of expected.together ?? [])
    fault(new Set(some.map((one) => of(one)?.id)).size > 1, `not together: ${some.map((one) => of(one)?.name)}`)
  fault(data.length > (expected.lines_at_most ?? 100), `${data.length} lines`)
  for (const one of expected.absent ?? []) fault(of(one) !== undefined, `${one} is there`)
  if (expected.sums) {
    const told = `${shown.messages} messages, ${shown.passing} pass`
    fault(
      told !== `${sums.messages} messages, ${sums.passing} pass`,
      `${told}; true are ${sums.messages}, ${sums.passing}`,
    )
  }
  if (expected.one_window) {
    const here = [shown.from, shown.to, shown.messages, shown.days.length].join(' ')
    const there = [check.reports.from, check.reports.to, check.reports.messages, check.reports.days].join(' ')
    fault(here !== there, `the check rests on ${there}, the reports on ${here}`)
  }
  spoken('check', expected.check, [check.findings, check.reports, check.plan])
  spoken('plan', expected.plan, check.plan)
  spoken('advice', expected.advice, [shown.advice, data.map(({ to_do = '' }) => to_do)])
  spoken(
    'reporters',
    expected.reporters,
    JSON.stringify([shown.reporters, shown.other_reporters]).replaceAll('":', '": '),
  )
  spoken('said', expected.said, [shown, data])
  for (const { policy, affected = [], unaffected = [] } of [
    ...(expected.policy ?? []),
    ...(expected.owner_policy ? [expected.owner_policy] : []),
  ]) {
    const told = await ask(`/v1/reports/policy?domain=${domain}&policy=${policy}`)
    const ids = new Set(told.affected.map(({ sender }: { sender: string }) => sender))
    for (const one of affected) fault(!ids.has(of(one)?.id ?? ''), `p=${policy} does not touch ${one}`)
    for (const one of unaffected) fault(ids.has(of(one)?.id ?? ''), `p=${policy} touches ${one}`)
  }
  return faults
}

/** What a step says of the mail that was seen. */
const BASIS = /Of ([\d,]+) messages from (\S+) to (\S+) \(reports of (one|\d+) days?\)/
const OWN = /([\d,]+) messages of your senders would have been/
const OPEN = /([\d,]+) messages of senders that are not known would have been/
const numberIn = (text: string, shape: RegExp): number => Number(shape.exec(text)?.[1]?.replaceAll(',', '') ?? 0)

/**
 * Check, plan and page give the numbers of the reports: the sums of the same window, and what a step of the plan says of
 * a policy is what the trial of its records says.
 */
async function numberFaults(domain: string, ask: Ask): Promise<readonly string[]> {
  const shown = await ask(`/v1/reports?domain=${domain}`)
  const { reports, plan } = await ask(`/v1/check?domain=${domain}`)
  const faults: string[] = []
  const same = (what: string, is: unknown, wanted: unknown): void => {
    if (JSON.stringify(is) !== JSON.stringify(wanted))
      faults.push(`${what}: ${JSON.stringify(is)} and not ${JSON.stringify(wanted)}`)
  }
  const sums = ({ messages, passing, forwarded, failing }: Readonly<Record<string, unknown>>) => [
    ...[messages, passing, forwarded, failing],
  ]
  same('the sums of the check', sums(reports), sums(shown))
  const records: string[] = []
  for (const { title, by, records: laid, wait = '', instructions = '' } of plan.steps) {
    // A record of a later step takes the place of an earlier one.
    for (const { name, type, value, action } of by === 'dns' ? laid : [])
      if (action !== 'remove') records.push(`${name}. ${type} ${value}`)
    const words = `${wait} ${instructions}`
    const [, , from, to, days] = BASIS.exec(words) ?? []
    if (from === undefined) continue
    const tried = new URLSearchParams({ domain })
    for (const one of latest(records)) tried.append('with', one)
    const trial = await ask(`/v1/reports/policy?${tried}`)
    const lost = (verdicts: readonly string[]): number =>
      trial.affected
        .filter(({ verdict }: { verdict: string }) => verdicts.includes(verdict))
        .reduce((sum: number, { messages }: { messages: number }) => sum + messages, 0)
    same(`"${title}" on messages`, numberIn(words, BASIS), trial.messages)
    same(`"${title}" on its window`, [from, to], [shown.from, shown.to])
    same(`"${title}" on days`, days === 'one' ? 1 : Number(days), shown.days.length)
    same(`"${title}" on your senders`, numberIn(words, OWN), lost(['authorized', 'needs_setup']))
    same(`"${title}" on unknown senders`, numberIn(words, OPEN), lost(['unknown']))
    if (words.includes('none of your senders'))
      same(`"${title}" on none`, lost(['authorized', 'needs_setup', 'unknown']), 0)
  }
  return faults
}

/** The last record of each name and type. */
const latest = (records: readonly string[]): readonly string[] => [
  ...new Map(records.map((line) => [line.split(' ').slice(0, 2).join(' '), line])).values(),
]

function senderFaults(wanted: Wanted, sender: Sender, sums: Sums): readonly string[] {
  const { ip, verdict, name, to_do, because, messages } = wanted
  const faults: string[] = []
  if (verdict && !verdict.includes(sender.verdict)) faults.push(`is ${sender.verdict}: ${sender.because.join('; ')}`)
  if (name !== undefined && !pattern(name).test(sender.name)) faults.push(`is called ${sender.name}`)
  if (to_do) faults.push(...wordFaults(to_do, sender.to_do ?? ''))
  if (because) faults.push(...wordFaults(because, sender.because.join('\n')))
  if (messages && (sender.addresses.size > 1 || sender.messages !== sums.of.get(ip)))
    faults.push(`has ${sender.messages} messages of ${sender.addresses.size} addresses, and not ${sums.of.get(ip)}`)
  return faults.map((one) => `${ip} ${one}`)
}

/** A pattern as the corpus writes it: flags in front, `{day:5}` for the date five days ago. */
function pattern(text: string): RegExp {
  const [, flags = '', rest = ''] = /^(?:\(\?([ims]+)\))?(.*)$/s.exec(text)!
  return new RegExp(
    rest.replaceAll(/\{day:(\d+)\}/g, (_, days) => dateWords(Number(days))),
    flags,
  )
}
function dateWords(ago: number): string {
  const date = new Date(NOW - ago * DAY_MS)
  return `(?:${dayAgo(ago)}|${date.getUTCDate()} ${date.toLocaleString('en-GB', { month: 'long', timeZone: 'UTC' })})`
}

function wordFaults({ says = [], never_says = [] }: Words, text: string): readonly string[] {
  return [
    ...says.filter((one) => !pattern(one).test(text)).map((one) => `does not say ${one}: ${text.slice(0, 300)}`),
    ...never_says.filter((one) => pattern(one).test(text)).map((one) => `says ${one}: ${pattern(one).exec(text)?.[0]}`),
  ]
}

const textsOf = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(textsOf)
      : []

type FieldCase = {
  readonly id: string
  readonly group: string
  readonly why: string
  readonly expect: {
    readonly senders: {
      readonly domain: string
      readonly address: string
      readonly passing: boolean
      readonly never: string
    }
  }
}

/** Reports of which a domain has one sender; all of those of the folder are in. */
async function fieldFaults({ id, expect: { senders: wanted } }: FieldCase): Promise<readonly string[]> {
  const { senders, close, service } = await installation(wanted.domain, field.zone)
  const request = { name: id, way: 'file', owner: 'key', accepts: () => 'taken' as const } as const
  const octets = readFileSync(join(CORPORA, 'field/reports', id))
  await service.import(octets, { ...request, signal: AbortSignal.timeout(60_000) })
  const [one, ...others] = await senders()
  await close()
  if (!one || others.length > 0 || !one.addresses.has(wanted.address)) return [`${others.length + 1} senders`]
  return [
    ...((one.passing === one.messages) === wanted.passing ? [] : [`${one.passing} of ${one.messages} pass`]),
    ...wordFaults({ never_says: [`(?i)${wanted.never}`] }, one.to_do ?? ''),
  ]
}
const field = corpus('field/reports/expected.json')
const fieldCases: readonly FieldCase[] = (field?.cases ?? []).filter(({ group }: FieldCase) => group === 'sender')
describe.runIf(fieldCases.length > 0)('senders of the field', () =>
  runCases(
    'field',
    fieldCases.map((one) => ({ ...one, class: 'field' })),
    fieldFaults,
    {},
  ),
)

const cases: readonly Omit<Case, 'class'>[] = corpus('mail/senders/index.json')?.cases ?? []
describe.runIf(cases.length > 0)('senders', () =>
  runCases(
    'senders',
    cases.map((one) => ({ ...one, class: 'senders' })),
    faultsOf,
    {},
  ),
)
