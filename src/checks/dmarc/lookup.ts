import { atMost } from '../../base/at-most.ts'
import { webProxyOf } from '../../mailhosts/web-proxies.ts'
import type { Domain } from '../../names/domain.ts'
import { type Ip, looksLikeIp } from '../../names/ip.ts'
import { isPublic } from '../../names/ip-range.ts'
import { registrableDomain } from '../../names/suffix.ts'
import { type Answer, DnsError, type RecordType, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { inPart } from '../questions.ts'
import { type Discovery, type DmarcFacts, discover, doubledName, type Existence } from './facts.ts'
import { parseDmarc } from './parse.ts'
import { destinationProblem } from './problems.ts'
import { authorizationName, type Destination, judgeAuthorization, MAX_DESTINATIONS, relationOf } from './reports.ts'
import type { ReportUri } from './uri.ts'
import { type WalkAnswer, walkDomains } from './walk.ts'

type Asking = Pick<Ctx, 'resolve' | 'signal' | 'questions'>

/**
 * Finds the DMARC record that applies to `domain` by the tree walk (RFC 9989 §4.10), whether the domain exists, and who
 * gets the reports (RFC 9990 §4). One round of at most 10 queries: all names of the walk are queried at once and judged
 * in order; one more query for a domain without a record. Then the hosts of report addresses, at most 10: their
 * authorization, and whether they accept mail. Never rejects with DnsError: a query without an answer is recorded in
 * the facts.
 */
export async function lookupDmarc(ctx: Asking, domain: Domain): Promise<DmarcFacts> {
  const { discovery, mx } = await lookupRecord(ctx, domain)
  ctx.questions?.end('dmarc')
  return { ...discovery, ...(await lookupDestinations(inPart(ctx, 'consents'), discovery, mx)) }
}

/**
 * Only the first round: the record and its policy, without the report addresses. `isOrganizational`: whether the domain
 * exists does not matter for its own record, and is not asked.
 */
export async function lookupPolicy(ctx: Asking, domain: Domain, isOrganizational = false): Promise<DmarcFacts> {
  const { discovery } = await lookupRecord(ctx, domain, isOrganizational)
  return { ...discovery, rua: [], ruf: [] }
}

async function lookupRecord(ctx: Asking, domain: Domain, isOrganizational = false) {
  const walk = walkDomains(domain).map((at) => ({ name: `_dmarc.${at}`, type: 'TXT' as const }))
  const own = isOrganizational
    ? []
    : ([
        { name: domain, type: 'TXT' },
        { name: domain, type: 'MX' },
      ] as const)
  const answers = await atMost(10, [...walk, ...own], ({ name, type }) => ask(ctx, name, type))
  const asked = answers.slice(walk.length)
  const [txt = answers[0] as Answer<'TXT'> | DnsError, mx] = asked as [Answer<'TXT'> | DnsError, MxAnswer]
  const discovery = discovered(domain, answers, () => ({
    walk: answers.slice(0, walk.length).map((answer) => walkAnswer(answer as Answer<'TXT'> | DnsError)),
    txt: walkAnswer(txt),
    exists: existence([answers[0]!, ...asked]),
  }))
  return { discovery: { ...discovery, ...(await lookupDoubled(ctx, discovery)) }, mx }
}

type Answers = readonly (Answer | DnsError)[]
/** What was read last of answers, by the first of them: DMARC and BIMI read the same. */
const READ = new WeakMap<object, { readonly answers: Answers; readonly discovery: Discovery }>()

function discovered(domain: Domain, answers: Answers, asked: () => Parameters<typeof discover>[1]): Discovery {
  const last = READ.get(answers[0]!)
  if (last?.answers.length === answers.length && answers.every((answer, i) => answer === last.answers[i]))
    return last.discovery
  const discovery = discover(domain, asked())
  READ.set(answers[0]!, { answers, discovery })
  return discovery
}

/** Queried only if the domain has no record. A query without an answer is ignored: it changes no policy. */
async function lookupDoubled(
  ctx: Asking,
  { domain, walk, applied, unknown, exists }: Discovery,
): Promise<Pick<Discovery, 'doubled'>> {
  const isWithout =
    exists !== false &&
    !applied &&
    unknown === undefined &&
    walk.steps.every(({ decision }) => decision === 'no_record')
  const name = doubledName(domain)
  if (!isWithout || name.length > 253) return {}
  const answer = await ask(ctx, name, 'TXT')
  const text = answer instanceof DnsError ? undefined : answer.records.find((one) => parseDmarc(one).ok)
  return text === undefined ? {} : { doubled: text }
}

const walkAnswer = (answer: Answer<'TXT'> | DnsError): WalkAnswer =>
  answer instanceof DnsError
    ? { kind: 'unknown', reason: answer.problem }
    : { kind: answer.kind, texts: answer.records, ...(answer.cname.length > 0 ? { alias: answer.cname.at(-1)! } : {}) }

/**
 * RFC 8020: NXDOMAIN for a name is about it and all names below; an NXDOMAIN at the end of a CNAME chain is about the
 * chain's target.
 */
function existence(answers: readonly (Answer | DnsError)[]): Existence {
  const known = answers.filter((answer) => !(answer instanceof DnsError)) as Answer[]
  if (known.some((answer) => answer.kind !== 'nxdomain' || answer.cname.length > 0)) return true
  return known.some((answer) => !answer.name.startsWith('_dmarc.')) ? false : undefined
}

type MxAnswer = Answer<'MX'> | DnsError
type Asked = Pick<Destination, 'authorization' | 'reason' | 'takesMail'>

async function lookupDestinations(
  ctx: Asking,
  discovery: Discovery,
  ownMx: MxAnswer,
): Promise<Pick<DmarcFacts, 'rua' | 'ruf'>> {
  const { applied } = discovery
  if (!applied) return { rua: [], ruf: [] }
  const { rua, ruf } = applied.reading.record
  const valid = [...rua, ...ruf].filter((uri) => uri.problem === undefined)
  const hosts = [...new Set(valid.map((uri) => uri.host!))]
  const others = hosts.filter((host) => host !== discovery.domain).slice(0, MAX_REACHED)
  const reached = hosts.slice(0, MAX_DESTINATIONS).map(async (host) => {
    const byMail = valid.some((uri) => uri.host === host && uri.scheme === 'mailto')
    const mx = host === discovery.domain ? ownMx : byMail && others.includes(host) ? ask(ctx, host, 'MX') : undefined
    const [agreed, asked] = await Promise.all([lookupAuthorization(ctx, discovery, host), byMail ? mx : undefined])
    return { host, agreed, mx: asked }
  })
  // One host after another: the order decides which mail hosts are queried.
  const budget = { hosts: MAX_MAIL_HOSTS }
  const answers: Asked[] = []
  for (const { host, agreed, mx } of await Promise.all(reached))
    answers.push(await reachable(ctx, host, { agreed, mx }, budget))
  const byHost = new Map(hosts.map((host, i) => [host, answers[i]]))
  const destination = (uri: ReportUri): Destination => {
    if (uri.problem !== undefined) return { ...uri, authorization: 'invalid', reason: uri.problem }
    const notAsked = destinationProblem('not_asked', { max: MAX_DESTINATIONS })
    return { ...uri, ...(byHost.get(uri.host!) ?? { authorization: 'unknown', reason: notAsked }) }
  }
  return { rua: rua.map(destination), ruf: ruf.map(destination) }
}

/** Whether one host gets reports: it has authorized them and, for reports by mail, it accepts mail. */
async function reachable(
  ctx: Asking,
  host: Domain,
  { agreed, mx }: { readonly agreed: Asked; readonly mx: MxAnswer | undefined },
  budget: Budget,
): Promise<Asked> {
  if (!mx) return agreed
  const mail = await mailOf(ctx, host, mx, budget)
  // A name that does not exist cannot authorize anything.
  const isGone = !(mx instanceof DnsError) && mx.kind === 'nxdomain' && mx.cname.length === 0
  if (isGone && agreed.authorization === 'unauthorized')
    return { ...agreed, takesMail: false, reason: destinationProblem('no_name') }
  return { ...mail, ...agreed, ...(agreed.reason === undefined && mail.reason ? { reason: mail.reason } : {}) }
}

type Mail = Pick<Asked, 'takesMail' | 'reason'>

/** Number of mail hosts whose addresses may still be queried. */
type Budget = { hosts: number }
/** Maximum number of hosts of report addresses whose MX is queried; further ones are taken for reachable. */
const MAX_REACHED = 4
/**
 * Maximum number of mail hosts of report addresses whose addresses are queried per domain; further ones are taken for
 * reachable.
 */
const MAX_MAIL_HOSTS = 4

/**
 * Whether a host accepts mail: by its MX hosts, or without an MX by its own address (RFC 5321 §5.1). One of them needs
 * a public address.
 */
async function mailOf(ctx: Asking, host: Domain, mx: MxAnswer, budget: Budget): Promise<Mail> {
  if (mx instanceof DnsError) return { takesMail: null, reason: mx.problem }
  if (mx.kind === 'nxdomain' && mx.cname.length === 0)
    return { takesMail: false, reason: destinationProblem('no_name') }
  const names = [...mx.records].sort((a, b) => a.preference - b.preference).map(({ exchange }) => exchange)
  const hosts = names.filter((name) => name !== '')
  // RFC 7505 §3
  if (names.length > 0 && hosts.length === 0) return { takesMail: false, reason: destinationProblem('null_mx') }
  const without = destinationProblem(hosts.length > 0 ? 'no_mail_host' : 'no_host')
  let failed: DnsError | undefined
  let isUnfit = false
  for (const name of hosts.length > 0 ? hosts : [host]) {
    if (looksLikeIp(name)) continue // RFC 5321 §5.1: a host has a name
    if (budget.hosts-- <= 0) return { takesMail: true }
    for (const type of ['A', 'AAAA'] as const) {
      const answer = await ask(ctx, name, type)
      if (answer instanceof DnsError) failed ??= answer
      else if (
        answer.records.some((address) => isPublic(address) && !(hosts.length > 0 && isProxied(address, name, answer)))
      )
        return { takesMail: true }
      else isUnfit ||= answer.records.length > 0
    }
  }
  if (failed) return { takesMail: null, reason: failed.problem }
  return { takesMail: false, reason: isUnfit ? destinationProblem('not_public') : without }
}

const isProxied = (address: Ip, name: string, { cname }: Answer): boolean =>
  webProxyOf([address], [name, ...cname]) !== undefined

/** RFC 9990 §4: queried only if the organizational domains differ. */
async function lookupAuthorization(
  ctx: Asking,
  discovery: Discovery,
  host: Domain,
): Promise<Pick<Destination, 'authorization' | 'reason'>> {
  const policyDomain = discovery.applied!.domain
  // If the walk has a gap, the registrable domain replaces the organizational domain (RFC 7489 §3.2).
  const organizational = discovery.walk.organizationalDomain ?? registrableDomain(policyDomain) ?? policyDomain
  const relation = relationOf(host, policyDomain, organizational)
  if (relation.kind === 'internal') return { authorization: 'internal' }
  if (relation.kind === 'below') {
    const boundary = await atMost(8, relation.domains, (at) => ask(ctx, `_dmarc.${at}`, 'TXT'))
    const failed = boundary.find((answer) => answer instanceof DnsError)
    if (failed) return { authorization: 'unknown', reason: failed.problem }
    if (!boundary.some((answer) => isBoundary(answer as Answer<'TXT'>))) return { authorization: 'internal' }
  }
  const answer = await ask(ctx, authorizationName(policyDomain, host), 'TXT')
  if (!(answer instanceof DnsError)) return judgeAuthorization(answer.records, host)
  // RFC 9990 §4 step 4: a name longer than the DNS permits can never be confirmed.
  const authorization = answer.reason === 'invalid_name' ? 'unauthorized' : 'unknown'
  return { authorization, reason: answer.problem }
}

function isBoundary(answer: Answer<'TXT'>): boolean {
  const records = answer.records.map(parseDmarc).filter((parsed) => parsed.ok)
  return records.length === 1 && records[0]!.value.record.psd !== 'u'
}

const ask = <T extends RecordType>(ctx: Asking, name: string, type: T): Promise<Answer<T> | DnsError> =>
  settled(ctx.resolve(name, type, ctx.signal))
