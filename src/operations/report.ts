import { type ReportAnswer, reportAnswer } from '../answers/report.ts'
import { atMost } from '../base/at-most.ts'
import { type Parsed, parsed } from '../base/problem.ts'
import type { CheckInput } from '../checks/check.ts'
import { remembering } from '../checks/repeatable.ts'
import { presentBlacklist } from '../dnsbl/present.ts'
import { briefDocument, checkDocument } from '../documents/check/check-document.ts'
import { roleOf } from '../mailbox/side-data/role.ts'
import { suggestionFor } from '../mailbox/side-data/side-data.ts'
import { hostError, lookupMailHosts, type MailHost } from '../mailhosts/mailhosts.ts'
import type { Domain } from '../names/domain.ts'
import type { Ip } from '../names/ip.ts'
import { readAddress, readDomain } from '../names/pasted.ts'
import type { Pasted } from '../names/pasted-steps.ts'
import { DnsError } from '../net/dns/resolver.ts'
import { withRemoval } from '../plan/removal.ts'
import { withAccepted } from '../score/accepted.ts'
import { composeReport, type ReportedAddresses } from '../score/report.ts'
import type { Ctx } from '../world.ts'
import { acceptancesFor, acceptParam } from './accept.ts'
import { checkDomain, checkVerdict, planParam, reportScore } from './check.ts'
import type { Deps } from './deps.ts'
import { formatParam } from './documents.ts'
import { reportExample } from './examples.ts'
import { type Call, defineOperation, ok } from './operation.ts'
import { optional, pastedParam, positional, selectorsParam, timeoutParam, vantageParam } from './params.ts'
import { domainProfileParam, profileOf, withProfile } from './profile.ts'
import { joinedReports } from './reports/joined.ts'
import { saveParams } from './saving.ts'

const DEADLINE_MS = 30_000
/** Maximum number of MX addresses looked up on the blacklists, the best first; the others are counted. */
const MAX_ADDRESSES = 20
/** Maximum number of addresses looked up at the same time: 29 queries each. */
const AT_A_TIME = 5

type Subject = { readonly domain: Domain; readonly local: string | undefined }

/** Everything about a domain in one document: the check, and the blacklists of every MX address. */
export const report = defineOperation({
  name: 'report',
  method: 'GET',
  path: '/v1/report',
  summary: 'Check a domain and the blacklists of its mail hosts',
  scope: 'read',
  live: true,
  params: {
    domain: positional(
      pastedParam<Subject>('invalid_domain', readSubject, {
        description: 'domain to report on, or an e-mail address of the domain',
        example: 'example.org',
      }),
    ),
    selector: selectorsParam,
    plan: planParam,
    profile: domainProfileParam,
    accept: acceptParam,
    timeout: timeoutParam('time limit of the report', DEADLINE_MS),
    vantage: optional(vantageParam),
    format: formatParam,
    ...saveParams,
  },
  answer: reportAnswer,
  example: reportExample,
  deadlineMs: DEADLINE_MS,
  uses: [
    'blacklists',
    'domainLists',
    'geo',
    'heloName',
    'smtpPort',
    'sourcePool',
    'reportsHere',
    'verifiedSelectors',
    'acceptedHere',
    'ownProfiles',
  ],
  run: async (ctx, deps, { domain, selector, plan, profile, accept, save, vantage }) => {
    const rules = profileOf(profile, deps)
    const accepted = acceptancesFor(ctx, deps, domain.domain, accept)
    accepted.catch(() => {}) // it is awaited below
    const joined = await joinedReports(ctx, deps, domain.domain, { save, vantage })
    const learned = [...(joined?.input.learned ?? []), ...deps.verifiedSelectors.of(domain.domain)]
    const wanted = { selectors: selector ?? [], plan, ...joined?.input, learned }
    const answer = withAccepted(await reportOn(ctx, deps, domain, wanted), await accepted)
    return ok({ ...withProfile(answer, rules), ...(joined && { reports: await joined.answer() }) })
  },
  vantage: {
    node: ({ vantage }) => vantage,
    needs: ['check', 'blacklist'],
    question: ({ domain: { domain }, selector, timeout }) => ({
      query: {
        domain,
        selector: selector?.join(),
        plan: 'false',
        timeout: timeout === undefined ? undefined : `${timeout}ms`,
      },
      timeoutMs: timeout ?? DEADLINE_MS,
    }),
    subject: ({ domain }) => domain,
    verdict: (answer) => `${answer.status}, ${listedOf(answer)}`,
    add: (answer, fields) => ({ ...answer, ...fields }),
  },
  saves: {
    kind: 'report',
    about: ({ domain, status, report_score, report_grade }) => ({
      subject: domain,
      names: { domain },
      status,
      score: report_grade === null ? null : report_score,
    }),
    add: (answer, fields) => ({ ...answer, ...fields }),
  },
  verdict: checkVerdict,
  score: reportScore,
  document: checkDocument,
  brief: briefDocument,
})

/**
 * Whether any address is listed. An address for which no list answered is not "not listed", and neither is one that
 * could not be looked up.
 */
function listedOf({
  domain_blacklists: domain,
  blacklists: addresses,
  blacklist_summary: { unknown_hosts: unknownHosts = [] },
}: ReportAnswer): string {
  if (domain?.verdict === 'listed' || addresses.some(({ verdict }) => verdict === 'listed')) return 'listed'
  if (unknownHosts.length > 0 || addresses.some(({ answered }) => answered === 0)) return 'listings unknown'
  return addresses.length === 0 ? 'no addresses' : 'not listed'
}

type Used = Pick<Deps, 'blacklists' | 'domainLists' | 'geo' | 'heloName' | 'smtpPort' | 'sourcePool'>

async function reportOn(
  ctx: Call,
  deps: Used,
  { domain, local }: Subject,
  wanted: Pick<CheckInput, 'selectors' | 'learned' | 'seen'> & { readonly plan?: boolean },
): Promise<ReportAnswer> {
  const shared = remembering(ctx)
  const [checked, addresses, pool, suggestion, lists] = await Promise.all([
    checkDomain(shared, deps, domain, { ...wanted, starttls: true }),
    lookUpAddresses(shared, deps, domain),
    lookUpPool(shared, deps),
    suggestionFor(shared, domain),
    deps.domainLists.lookup(shared, domain),
  ])
  const answer = composeReport(
    checked,
    { ...addresses, ...(pool && { pool }), domain: { name: domain, lists } },
    {
      role: local === undefined ? '' : roleOf(local),
      suggestion,
      clocks: ctx,
    },
  )
  return withRemoval(answer)
}

/**
 * The blacklists of every MX address, each address queried once, in MX order; none if the mail hosts could not be
 * determined (the check says so).
 */
async function lookUpAddresses(
  ctx: Call,
  deps: Used,
  domain: Domain,
): Promise<Omit<ReportedAddresses, 'pool' | 'domain'>> {
  const { addresses, unknownHosts } = await mxAddresses(ctx, domain)
  const answers = await atMost(AT_A_TIME, addresses.slice(0, MAX_ADDRESSES), async (address) => {
    const [blacklists, geo] = await Promise.all([deps.blacklists.lookup(ctx, address.ip), deps.geo(address.ip)])
    const { verdict, answered, total } = presentBlacklist(blacklists, ctx)
    ctx.onPart?.({ check: 'blacklists', ip: address.ip, mx_hosts: address.hosts, verdict, answered, total })
    return { ...address, blacklists, geo }
  })
  return { answers, leftOut: Math.max(0, addresses.length - MAX_ADDRESSES), unknownHosts }
}

/** The listings of the pool's own addresses, if the operator has configured a pool. */
async function lookUpPool(ctx: Ctx, { sourcePool, blacklists }: Used): Promise<ReportedAddresses['pool']> {
  if (!sourcePool.isConfigured) return undefined
  const addresses = sourcePool.addresses().slice(0, MAX_ADDRESSES)
  return atMost(AT_A_TIME, addresses, (address) => blacklists.lookup(ctx, address))
}

type MxAddresses = {
  readonly addresses: readonly { readonly ip: Ip; readonly hosts: readonly string[] }[]
  /** Hosts for which the A or AAAA lookup failed. */
  readonly unknownHosts: readonly string[]
}

async function mxAddresses(ctx: Ctx, domain: Domain): Promise<MxAddresses> {
  try {
    const { hosts } = await lookupMailHosts(ctx, domain)
    const named = new Map<Ip, string[]>()
    for (const host of hosts) for (const ip of host.addresses) named.set(ip, [...(named.get(ip) ?? []), host.exchange])
    const isOpen = (host: MailHost): boolean => hostError(host) !== undefined
    return {
      addresses: [...named].map(([ip, names]) => ({ ip, hosts: names })),
      unknownHosts: hosts.filter(isOpen).map(({ exchange }) => exchange),
    }
  } catch (error) {
    // which hosts there are is not known
    if (error instanceof DnsError) return { addresses: [], unknownHosts: [domain] }
    throw error
  }
}

function readSubject(text: string): Parsed<Pasted<Subject>> {
  const email = text.includes('@') ? readAddress(text) : undefined
  if (email && (email.ok || !/^@/.test(text)))
    return email.ok
      ? parsed({
          value: { domain: email.value.value.domain, local: email.value.value.local },
          taken: email.value.taken,
        })
      : email
  const read = readDomain(text)
  return read.ok
    ? parsed({ value: { domain: read.value.value.domain, local: undefined }, taken: read.value.taken })
    : read
}
