import { z } from 'zod'
import { type PlanAnswer, planAnswer } from '../answers/plan.ts'
import { asTheyCome, only } from '../base/at-most.ts'
import { AppError } from '../base/errors.ts'
import { type Parsed, parsed, problem } from '../base/problem.ts'
import type { CheckInput } from '../checks/check.ts'
import { repeatable } from '../checks/repeatable.ts'
import { planDocument } from '../documents/plan.ts'
import { type Domain, parseDomain, unicodeOf } from '../names/domain.ts'
import { parseIp } from '../names/ip.ts'
import { pastedAddress } from '../names/pasted.ts'
import type { OverlayRecord } from '../net/dns/overlay.ts'
import { presentationOf } from '../net/dns/record-text.ts'
import { textKind } from '../net/dns/text-kind.ts'
import { formatPlan, isPlanFormat, PLAN_FORMATS } from '../plan/formats/formats.ts'
import { TERRAFORM_PROVIDERS, type TerraformProvider } from '../plan/formats/terraform.ts'
import { planOf } from '../plan/plan.ts'
import { presentWithPlan } from '../plan/present.ts'
import { knownProviders, type MailHost, providerNamed, type Setup, setupSteps } from '../plan/setup.ts'
import { lookUp, publishedAt, type Snapshot, type Subject, subjectOf } from '../plan/snapshot.ts'
import { composeCheck } from '../score/compose.ts'
import type { Deps } from './deps.ts'
import { planExample } from './examples.ts'
import { AT_A_TIME, checkSets, fieldsOf } from './expect.ts'
import { type Call, defineOperation, ok, type Reply } from './operation.ts'
import { BODY_LIMIT, MAX_BYTES, plainRecordsParam, readRecords } from './overlay-input.ts'
import {
  choiceParam,
  domainParam,
  flagParam,
  listParam,
  optional,
  type Param,
  positional,
  selectorsParam,
  textParam,
  timeoutParam,
} from './params.ts'
import { paramProblem, setupError, setupProblem } from './problems.ts'
import { domainProfileParam, profileOf, profileVerdict, withProfile } from './profile.ts'
import { joinedReports } from './reports/joined.ts'

/** The formats of a plan: documents, and files for tools that publish records. */
const planFormatParam = choiceParam(['json', 'html', 'markdown', ...PLAN_FORMATS], 'json', {
  description: 'format of the answer: a document, or a file for a tool that publishes records',
})
const terraformParam = choiceParam(TERRAFORM_PROVIDERS, 'cloudflare', {
  description: 'provider of the Terraform resources',
})

/** What to publish, in which order, and the score that each step leads to. */
export const plan = defineOperation({
  name: 'plan',
  method: 'GET',
  path: '/v1/plan',
  summary: 'Show what to publish, in which order, and the score after each step',
  scope: 'read',
  params: {
    domain: positional(domainParam('domain to plan for')),
    selector: selectorsParam,
    starttls: flagParam('connect to the mail hosts and check their TLS'),
    profile: domainProfileParam,
    timeout: timeoutParam('time limit of the plan'),
    format: planFormatParam,
    provider: terraformParam,
  },
  answer: planAnswer,
  example: planExample,
  uses: ['heloName', 'smtpPort', 'reportsHere', 'ownProfiles'],
  streams: PLAN_FORMATS,
  document: planDocument,
  verdict: ({ profile }) => profileVerdict(profile) ?? 'good',
  run: async (ctx, deps, { domain, selector, starttls, profile, format, provider }) => {
    const rules = profileOf(profile, deps)
    const joined = await joinedReports(ctx, deps, domain, {})
    const input = { ...inputOf(ctx, deps, selector), starttls, ...joined?.input }
    const subject = subjectOf(repeatable(ctx, domain), domain, input)
    const start = await lookUp(subject)
    const unicode = unicodeOf(domain)
    const made = await planOf(subject, start, { seen: await joined?.input.seen?.() })
    const judged = rules && withProfile(composeCheck(domain, start, presentWithPlan(start, made)), rules).profile
    const answer: PlanAnswer = {
      domain,
      ...gradeOf(start),
      ...made,
      ...(judged && { profile: judged }),
      ...(unicode === domain ? {} : { unicode_domain: unicode }),
      observed_at: new Date(ctx.now()).toISOString(),
    }
    return planReply(answer, format, provider)
  },
})

/** What the checks of a plan need. */
const inputOf = (
  ctx: Call,
  deps: Pick<Deps, 'heloName' | 'smtpPort'>,
  selectors: readonly string[] = [],
): CheckInput => ({ selectors, helo: (source) => deps.heloName(source, ctx), smtpPort: deps.smtpPort })

/** The plan as JSON, or as the file of a tool. */
function planReply(answer: PlanAnswer, format: string, provider: TerraformProvider): Reply<PlanAnswer> {
  if (!isPlanFormat(format)) return ok(answer)
  const { contentType, text } = formatPlan(answer, format, provider)
  return { status: 200, stream: { contentType, text: only(text) } }
}

const MAX_SENDERS = 20
/** Maximum number of mail hosts of a setup. */
const MAX_HOSTS = 20
const OWN = 'own'

const mailboxes = {
  ...optional(
    textParam<string>('invalid_parameter', parsed, { description: 'provider of the mailboxes, or own, for a setup' }),
  ),
  flag: { kind: 'text', name: 'mailboxes', argument: 'PROVIDER', description: 'plan a setup with these mailboxes' },
} as const satisfies Param
const senders = {
  ...listParam(z.string().max(80), MAX_SENDERS, { description: 'providers that send as the domain, for a setup' }),
  flag: {
    kind: 'text',
    isList: true,
    name: 'senders',
    argument: 'PROVIDERS',
    description: 'plan a setup with these senders: a,b',
  },
} as const satisfies Param
const reports = {
  ...optional(
    textParam<string>('invalid_parameter', mailtoOf, { description: 'mail address for DMARC reports, for a setup' }),
  ),
  flag: { kind: 'text', name: 'reports', argument: 'ADDRESS', description: 'mail address for DMARC reports' },
} as const satisfies Param
const expect = {
  kind: 'text',
  description: 'records of a plan, as a zone file or JSON: the answer says how many are published',
  group: 'question',
  required: false,
  bounds: { max: String(MAX_BYTES) },
  unit: 'bytes',
  flag: {
    kind: 'file',
    name: 'expect',
    argument: 'FILE',
    maxBytes: MAX_BYTES,
    description: 'exit 1 unless the records of this file are published',
  },
  schema: z.string().optional(),
} as const satisfies Param

/** The plan of a setup from nothing, or what of a plan's records is published. */
export const planSetup = defineOperation({
  name: 'plan-setup',
  method: 'POST',
  path: '/v1/plan',
  partOf: 'plan',
  summary: 'Plan the records of mailbox and sending providers, or compare a plan with the DNS',
  scope: 'read',
  bodyLimit: BODY_LIMIT,
  params: {
    domain: positional(domainParam('domain to plan for')),
    mailboxes,
    senders,
    mail_hosts: listParam(
      z.strictObject({ host: z.string().max(254), addresses: z.array(z.string().max(45)).max(20) }),
      MAX_HOSTS,
      { description: 'the mail hosts, with mailboxes=own' },
    ),
    reports,
    expect,
    selector: selectorsParam,
    timeout: timeoutParam('time limit of the plan'),
    format: planFormatParam,
    provider: terraformParam,
  },
  answer: planAnswer,
  example: {
    ...planExample,
    input: { domain: 'neglected.test', mailboxes: 'google-workspace', senders: ['mailchimp'] },
  },
  uses: ['heloName', 'smtpPort'],
  document: planDocument,
  verdict: ({ missing = [] }) => {
    if (missing.length === 0) return 'good'
    return missing.every(({ reason }) => reason !== undefined) ? 'unclear' : 'bad'
  },
  run: async (ctx, deps, { domain, selector, format, provider, ...wanted }) => {
    const subject = subjectOf(repeatable(ctx, domain), domain, inputOf(ctx, deps, selector))
    const setup = readSetup(wanted)
    const expected = wanted.expect === undefined ? undefined : readExpected(domain, wanted.expect)
    const start = await lookUp(subject)
    const unicode = unicodeOf(domain)
    const seeds = setup && (await seedsOf(subject, start, setup))
    const answer: PlanAnswer = {
      domain,
      ...gradeOf(start),
      ...(await planOf(subject, start, {}, seeds)),
      ...(expected && (await comparison(expected, subject, start))),
      ...(unicode === domain ? {} : { unicode_domain: unicode }),
      ...(setup && { setup: shownSetup(setup) }),
      observed_at: new Date(ctx.now()).toISOString(),
    }
    return planReply(answer, format, provider)
  },
})

const gradeOf = ({ score: { score, grade } }: Snapshot) => ({ score, grade })

async function seedsOf(subject: Subject, start: Snapshot, setup: Setup) {
  const { domain } = subject
  const texts = await publishedAt(subject, start, domain, 'TXT')
  const spf = 'values' in texts ? texts.values.filter((text) => /^v=spf1(?: |$)/i.test(text)) : []
  return setupSteps(domain, setup, spf.length === 1 ? spf[0] : undefined)
}

function mailtoOf(text: string): Parsed<string> {
  const address = pastedAddress(text)
  return /^[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,253}$/.test(address)
    ? parsed(`mailto:${address}`)
    : problem(setupProblem('reports', { text }))
}

type Wanted = {
  readonly mailboxes?: string | undefined
  readonly senders?: readonly string[] | undefined
  readonly mail_hosts?: readonly { readonly host: string; readonly addresses: readonly string[] }[] | undefined
  readonly reports?: string | undefined
}

function readSetup({
  mailboxes: text,
  senders: names = [],
  mail_hosts: hosts = [],
  reports: to,
}: Wanted): Setup | undefined {
  if (text === undefined && names.length === 0 && hosts.length === 0) return undefined
  const isOwn = text === undefined || text.toLowerCase() === OWN
  if (isOwn && hosts.length === 0) throw setupError('no_hosts', undefined, { parameter: 'mail_hosts' })
  return {
    ...(isOwn ? {} : { mailboxes: known(text, true) }),
    senders: names.map((name) => known(name, false)),
    mailHosts: isOwn ? hosts.map(readHost) : [],
    ...(to !== undefined && { reports: to }),
  }
}

function known(text: string, isMailbox: boolean) {
  const found = providerNamed(text)
  if (found) return found
  const ids = [...(isMailbox ? [OWN] : []), ...knownProviders(isMailbox)]
  throw setupError('provider', { text, known: ids }, { parameter: isMailbox ? 'mailboxes' : 'senders' })
}

function readHost({ host, addresses }: NonNullable<Wanted['mail_hosts']>[number]): MailHost {
  const name = parseDomain(host)
  const ips = addresses.map((text) => parseIp(text))
  const bad = addresses[ips.findIndex((ip) => !ip.ok)]
  if (!name.ok || bad !== undefined) throw setupError('host', { text: bad ?? host }, { parameter: 'mail_hosts' })
  return { host: name.value, addresses: ips.flatMap((ip) => (ip.ok ? [ip.value] : [])) }
}

const shownSetup = ({ mailboxes: provider, senders: others }: Setup): NonNullable<PlanAnswer['setup']> => ({
  ...(provider && { mailboxes: provider.id }),
  senders: others.map(({ id }) => id),
  sources: [...(provider ? [provider] : []), ...others].map(
    ({ name, seen, setup }) => `${name}: ${setup?.source ?? seen}`,
  ),
})

function readExpected(domain: Domain, text: string): readonly OverlayRecord[] {
  const read = fieldsOf(text)
  if (!read.ok) throw new AppError('invalid_parameter', read.problem, { parameter: 'expect' })
  const { records, zone } = read.value
  const list = plainRecordsParam('').schema.safeParse(records)
  if (!list.success) throw new AppError('invalid_parameter', paramProblem('no_records'), { parameter: 'expect' })
  const { laid } = readRecords(domain, list.data ?? [], typeof zone === 'string' ? zone : undefined)
  checkSets(domain, laid, 'expect')
  return laid
}

/** Which of the records are published: a TXT is if it is the only one of its kind. At most 16 questions at a time. */
async function comparison(
  records: readonly OverlayRecord[],
  subject: Subject,
  start: Snapshot,
): Promise<Pick<PlanAnswer, 'expected' | 'published' | 'missing'>> {
  const compared = asTheyCome(AT_A_TIME, [...records.entries()], async ([i, { name, type, data }]) => {
    const value = presentationOf(type, data)
    const found = await publishedAt(subject, start, name, type)
    if ('unknown' in found) return [i, { name, type, value, reason: found.unknown }] as const
    const isSame = (text: string): boolean => type !== 'TXT' || textKind(name, text) === textKind(name, value)
    const same = found.values.filter(isSame)
    const isThere = same.includes(value) && (type !== 'TXT' || same.length === 1)
    return [i, isThere ? undefined : { name, type, value }] as const
  })
  const rows = new Map<number, NonNullable<PlanAnswer['missing']>[number] | undefined>()
  for await (const [i, row] of compared) rows.set(i, row)
  const missing = records.flatMap((_, i) => rows.get(i) ?? [])
  return { expected: records.length, published: records.length - missing.length, missing }
}
