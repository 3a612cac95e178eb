import type { BlacklistAnswer } from '../../answers/blacklist.ts'
import type { CheckAnswer } from '../../answers/check.ts'
import type { FindingAnswer } from '../../answers/finding.ts'
import type { MessageAnswer } from '../../answers/message.ts'
import { atMost } from '../../base/at-most.ts'
import type { Finding } from '../../checks/check.ts'
import { makeFinding } from '../../checks/finding.ts'
import { presentFinding } from '../../checks/present.ts'
import { remembering } from '../../checks/repeatable.ts'
import { checkHost } from '../../checks/spf/index.ts'
import { presentBlacklist, presentDomainBlacklist } from '../../dnsbl/present.ts'
import { readingError } from '../../lane/problems.ts'
import { parseAddresses } from '../../message/addresses.ts'
import { type AnalyseOptions, analyse } from '../../message/analyse.ts'
import type { Facts } from '../../message/facts.ts'
import { messageFindings } from '../../message/findings.ts'
import type { Form } from '../../message/form.ts'
import type { DomainState, RecordFault } from '../../message/host.ts'
import { judgeFormat, judgeMessage } from '../../message/judge.ts'
import { keyName } from '../../message/keys.ts'
import { fieldBody } from '../../message/parse.ts'
import { isSame, ourResult, presentFacts } from '../../message/present.ts'
import { type Domain, parseDomain } from '../../names/domain.ts'
import { type Ip, parseIp } from '../../names/ip.ts'
import { hasKnownSuffix } from '../../names/suffix.ts'
import { BULK_SENDER, type BulkSenderFacts } from '../../profiles/bulk-sender.ts'
import { type Judged, judgeProfile } from '../../profiles/profile.ts'
import type { Ctx } from '../../world.ts'
import { checkDomain } from '../check.ts'
import type { Deps } from '../deps.ts'

export const ANALYSIS_DEPS = ['blacklists', 'domainLists', 'heloName', 'messages', 'smtpPort'] as const
type Used = Pick<Deps, (typeof ANALYSIS_DEPS)[number]>

/**
 * Takes a message apart and judges it: its authentication, its way, the lists of its sender and links, the rules for
 * bulk senders, and the check of the author domain. Nothing of the message is kept but the answer. Rejects with AppError
 * `bad_message` (reading it was ended) or `overloaded`; never because of a remote server.
 */
export async function analyseMessage(
  ctx: Ctx,
  deps: Used,
  raw: Uint8Array,
  options: Omit<AnalyseOptions, 'selectorsOf' | 'headerOnly' | 'isCopied'>,
  form: Pick<Form, 'kind' | 'notes' | 'headerOnly' | 'isCopied'> = AS_SENT,
): Promise<MessageAnswer> {
  const { verified } = deps.messages
  const { kind, notes, headerOnly, isCopied } = form
  const shape = { ...(headerOnly && { headerOnly }), ...(isCopied && { isCopied }) }
  const about = { ...options, selectorsOf: verified.of, ...shape }
  const remembered = remembering(ctx)
  const facts = await analyse(raw, remembered, about).catch((error) => {
    throw readingError(error, 'bad_message')
  })
  for (const { result, domain, selector } of facts.dkim) if (result === 'pass') verified.remember(domain, selector)
  const { ip } = facts.envelope
  const [address, domains, checked] = await Promise.all([
    ip === undefined ? undefined : addressListings(ctx, deps, ip),
    domainListings(ctx, deps, facts),
    stateOf(remembered, deps, facts),
  ])
  const { domain, state } = checked
  const bulk = judgeProfile(BULK_SENDER, bulkFacts(facts))
  const findings = [
    ...judgeMessage(facts, state),
    ...oneClickFindings(facts, bulk),
    ...claimFindings(facts),
    ...listingFindings(address),
    ...domainFindings(domains),
  ]
  const presented = findings
    .map((one) => withFix(presentFinding(messageFindings, one), state))
    .sort((a, b) => RANK[a.severity] - RANK[b.severity])
  const verdict = verdictOf(facts, presented)
  return {
    verdict,
    summary: summaryOf(verdict, facts, presented),
    input: { kind, notes },
    ...presentFacts(facts),
    bulk_sender: bulk,
    links: facts.links.map(({ host, times }) => ({
      host,
      times,
      lists: domains.find((one) => one.domain === host)?.lists ?? null,
    })),
    blacklists: { address: address ?? null, domains: domains.map(({ lists: _, ...one }) => one) },
    domain,
    findings: presented,
    observed_at: new Date(ctx.now()).toISOString(),
  }
}

/** The form of a message that came from a server. */
const AS_SENT = { kind: 'message', notes: [] } as const

const RANK = { critical: 0, high: 1, medium: 2, low: 3, info: 4 } as const

type Address = NonNullable<MessageAnswer['blacklists']['address']>

async function addressListings(ctx: Ctx, { blacklists }: Used, ip: Ip): Promise<Address> {
  const answer: BlacklistAnswer = presentBlacklist(await blacklists.lookup(ctx, ip), ctx)
  const { verdict, answered, total, results } = answer
  return { ip, verdict, answered, total, listings: results.filter(({ listed }) => listed).map(withoutDuration) }
}

const MAX_LINKS = 20
const MAX_DOMAINS = 40
/** Maximum number of domains that are looked up at the same time. */
const AT_A_TIME = 8

type DomainRow = MessageAnswer['blacklists']['domains'][number] & { readonly lists: readonly string[] }

/**
 * The domains of author, envelope (sender and HELO name), signatures and links on the lists of domains, each once.
 * Addresses are no names and are not asked; the hosts of the path are not asked either: the sender does not answer for
 * them.
 */
async function domainListings(ctx: Ctx, { domainLists }: Used, facts: Facts): Promise<readonly DomainRow[]> {
  const uses = new Map<Domain, Set<DomainRow['as'][number]>>()
  const add = (name: string | undefined, use: DomainRow['as'][number]): void => {
    const domain = name === undefined ? undefined : parseDomain(name)
    if (!domain?.ok || (uses.size >= MAX_DOMAINS && !uses.has(domain.value))) return
    uses.set(domain.value, (uses.get(domain.value) ?? new Set()).add(use))
  }
  add(facts.author.domain, 'author')
  const { mailFrom = '', helo } = facts.envelope
  if (mailFrom !== '') add(mailFrom.slice(mailFrom.lastIndexOf('@') + 1), 'envelope')
  add(helo, 'envelope')
  for (const { domain } of facts.dkim) add(domain, 'signature')
  for (const { host } of facts.links.slice(0, MAX_LINKS)) add(host, 'link')
  return atMost(AT_A_TIME, [...uses], async ([domain, as]) => {
    const { verdict, answered, total, results } = presentDomainBlacklist(
      domain,
      await domainLists.lookup(ctx, domain),
      ctx,
    )
    const listings = results.filter(({ listed }) => listed)
    const lists = listings.filter(({ tier }) => tier !== 'D').map(({ blacklist }) => blacklist)
    return { domain, as: [...as], verdict, answered, total, listings: listings.map(withoutDuration), lists }
  })
}

/** One finding for each listed domain: of a sender, or of links alone. */
const domainFindings = (domains: readonly DomainRow[]): Finding[] =>
  domains
    .filter(({ verdict }) => verdict === 'listed')
    .map(({ domain, as, lists }) =>
      as.every((use) => use === 'link')
        ? makeFinding('message.link_listed', { host: domain, lists })
        : makeFinding('message.domain_listed', { domain, lists }),
    )

const withoutDuration = ({ duration_ms: _, ...entry }: BlacklistAnswer['results'][number]) => entry

async function checkOf(
  ctx: Ctx,
  deps: Used,
  domain: Domain,
  options: { readonly plan?: boolean; readonly selectors?: readonly string[] } = {},
): Promise<CheckAnswer> {
  const { plan = false, selectors = [] } = options
  return checkDomain(ctx, deps, domain, { plan, selectors: [...selectors, ...deps.messages.verified.of(domain)] })
}

const domainAnswer = (answer: CheckAnswer): NonNullable<MessageAnswer['domain']> => ({
  domain: answer.domain,
  role: answer.domain_role,
  score: answer.score,
  grade: answer.grade,
  first_finding: answer.findings.find(({ severity }) => severity !== 'info') ?? null,
})

type Fault = RecordFault & Pick<FindingAnswer, 'fix'> & { readonly step?: string }
type State = DomainState & { readonly spf?: Fault; readonly dmarc?: Fault }

/** Causes of a failed signature that lie in the key record. */
const OF_KEY: ReadonlySet<string> = new Set([
  'signature.key_gone',
  'signature.key_dangling',
  'signature.key_revoked',
  'signature.key_unusable',
  'signature.key_short',
])
/** What the check of a domain finds about such a key. */
const KEY_FAULTS = /^dkim\.(?:no_key|doubled_name|dangling|broken_key|short_key|only_revoked)$/

/**
 * What the checks of the author domain, and of the envelope domain of the same organization, find about records that
 * make the message fail; with their plans, which alone say what to publish. Messages without such a fault need no plan.
 */
async function stateOf(
  ctx: Ctx,
  deps: Used,
  { author, spf, dmarc, dkim, envelope: { mailFrom = '' } }: Facts,
): Promise<{ readonly domain: MessageAnswer['domain']; readonly state?: State }> {
  if (author.domain === undefined) return { domain: null }
  const isDmarcAtFault = dmarc.result === 'none' || dmarc.result === 'permerror'
  // The name of HELO is that of a host: the plan of such a name is one of a name that sends no mail.
  const isSender = mailFrom !== '' && dmarc.alignment.spf === true
  const isSpfAtFault = spf?.result === 'permerror' || (spf?.result === 'none' && isSender)
  const envelope = isSpfAtFault && spf.domain !== author.domain ? parseDomain(spf.domain) : undefined
  const isSigned = dkim.some(({ result }, i) => result === 'pass' && dmarc.alignment.dkim[i])
  const keyAtFault = isSigned
    ? undefined
    : dkim.find(({ because }, i) => because && OF_KEY.has(because.id) && dmarc.alignment.dkim[i])
  const signer = keyAtFault && parseDomain(keyAtFault.domain)
  const selectors = keyAtFault ? [keyAtFault.selector] : []
  const isOwnKey = signer?.ok === true && signer.value === author.domain
  const [own, other, signing] = await Promise.all([
    checkOf(ctx, deps, author.domain, {
      plan: isDmarcAtFault || isOwnKey || (isSpfAtFault && !envelope),
      ...(isOwnKey && { selectors }),
    }),
    envelope?.ok ? checkOf(ctx, deps, envelope.value, { plan: true }) : undefined,
    signer?.ok && !isOwnKey ? checkOf(ctx, deps, signer.value, { plan: true, selectors }) : undefined,
  ])
  const keyFault = keyAtFault && faultOf(signing ?? own, KEY_FAULTS, keyAtFault.selector)
  const spfFault = isSpfAtFault ? faultOf(other ?? own, /^spf\./) : undefined
  const dmarcFault = isDmarcAtFault ? faultOf(own, /^dmarc\./) : undefined
  return {
    domain: domainAnswer(own),
    state: {
      mailHosts: own.mx.map(({ host }) => host),
      isMissing: own.domain_role.name === 'no_such_domain',
      sendsNone: ['parked', 'accepts_mail_only'].includes(own.domain_role.name),
      ...(spfFault && { spf: spfFault }),
      ...(dmarcFault && { dmarc: dmarcFault }),
      ...(keyAtFault && keyFault?.step !== undefined && { key: { name: keyName(keyAtFault), step: keyFault.step } }),
    },
  }
}

/** The first finding about a record whose words hold a name, with the step of the plan that resolves it. */
function faultOf({ findings, plan, domain }: CheckAnswer, ids: RegExp, name = ''): Fault | undefined {
  const first = findings.find(
    ({ id, severity, detail, repair = '' }) =>
      ids.test(id) && severity !== 'info' && `${detail} ${repair}`.includes(name),
  )
  if (!first) return undefined
  const { title, detail, repair, fix, steps } = first
  const [number] = steps ?? []
  const step = number === undefined ? undefined : plan?.steps[number - 1]
  const place = step && `Step ${number} of the plan of ${domain}: ${step.title}.`
  const told = new Set([place, repair, step?.instructions])
  const words = [...told].filter((one) => one !== undefined).join(' ')
  return {
    detail: `${title}. ${detail}`,
    ...(words !== '' && { repair: words }),
    // The step names the record; only the finding says that its name is wrong.
    ...(place !== undefined && { step: first.id === 'dkim.doubled_name' ? `${place} ${detail}` : place }),
    ...(fix && { fix }),
  }
}

/** The records of the plan for findings about records. */
function withFix(finding: FindingAnswer, state: State | undefined): FindingAnswer {
  const isSpf = finding.id === 'message.spf_failed'
  const fix = isSpf ? state?.spf?.fix : finding.id === 'message.no_dmarc_record' ? state?.dmarc?.fix : undefined
  return fix ? { ...finding, fix } : finding
}

/**
 * What a domain publishes today about its authentication, for a refusal for want of it: the fault that its check finds
 * with the step of its plan, otherwise whether SPF passes for the address that the reply names. The domain is that of
 * the From field of what came back, otherwise the one that the reply names; empty if there is none.
 */
export async function todayOf(ctx: Ctx, deps: Used, from = '', reply = ''): Promise<string> {
  const author = parseAddresses(from, 1)[0]?.address ?? ''
  const domain = parseDomain(author.slice(author.lastIndexOf('@') + 1) || (NAMED_DOMAIN.exec(reply)?.[1] ?? ''))
  if (!domain.ok || !hasKnownSuffix(domain.value)) return ''
  const asking = remembering(ctx)
  const answer = await checkOf(asking, deps, domain.value, { plan: true })
  const findings = answer.findings.filter(({ severity }) => severity !== 'low')
  const fault = faultOf({ ...answer, findings }, DECIDES)
  if (fault) return [`The check of ${domain.value} finds today: ${fault.detail}`, fault.repair ?? ''].join(' ').trim()
  return (await spfToday(asking, domain.value, reply)) ?? nothingFound(answer)
}
/** Records without which nothing is authenticated; a policy and the reports are another matter. */
const DECIDES =
  /^(?:spf|dkim)\.|^dmarc\.(?:no_record|several_records|malformed|syntax|missing_policy|invalid_policy|misplaced|quotes|doubled_name)$/
const NAMED_DOMAIN =
  /(?:\b(?:sending|from|sender) domain|\bdomain of|header\.from=|\bid=|\bspf|\b(?:mail|messages?|e-?mails?) from|\bon behalf of)[\s:=<'"[(]{0,4}(?:[\w.+-]{1,64}@)?([\w-]{1,63}(?:\.[\w-]{1,63}){0,7}\.[a-z][a-z\d-]{1,62})/i

/** Whether the SPF record of a domain names the address that a reply names; undefined where that is not known. */
async function spfToday(ctx: Ctx, domain: Domain, reply: string): Promise<string | undefined> {
  const ip = parseIp(
    /(?<![\w.:])\d{1,3}(?:\.\d{1,3}){3}(?![\w.:]\w)|(?<![\w:])[\da-f]{1,4}:[\da-f:]{3,35}(?![\w:])/i.exec(reply)?.[0] ??
      '',
  )
  if (!ip.ok) return undefined
  const { result } = await checkHost(ctx, { ip: ip.value, sender: `postmaster@${domain}`, helo: domain })
  if (result === 'pass') return `The SPF record of ${domain} names ${ip.value} today: SPF passes now.`
  if (result !== 'fail' && result !== 'softfail' && result !== 'neutral') return undefined
  return `The SPF record of ${domain} does not name ${ip.value}: add that host if it sends for you, otherwise send through one that the record names.`
}

/** That a check has no fault is told of what it could ask. */
function nothingFound({ domain, spf, dkim, dmarc }: CheckAnswer): string {
  const open = [spf, dmarc].find(({ status }) => status === 'unknown')
  if (open) return `The check of ${domain} could not be made today: ${open.reason ?? 'a lookup had no answer'}.`
  return dkim.status === 'unknown'
    ? `The check of ${domain} finds nothing to repair in SPF and DMARC today; of its DKIM key it knows nothing.`
    : `The check of ${domain} finds nothing to repair in its records today: see whether the SPF record names the host that sent this message, or that host signs it.`
}

/** Fields that show that a message is bulk mail. */
const BULK_SIGNS = ['list-unsubscribe', 'list-id', 'feedback-id', 'precedence']
/** Findings on the format that RFC 5322 asks for. */
const FORMAT = [
  'message.field_missing',
  'message.field_doubled',
  'message.several_authors',
  'message.no_author',
  'message.raw_octets',
  'message.long_lines',
  'message.bare_lf',
  'message.bare_cr',
  'message.nul',
  'message.date_invalid',
  'message.stray_lines',
]

function bulkFacts(facts: Facts): BulkSenderFacts {
  const { author, spf, dkim, dmarc, connection, mail } = facts
  const values = (name: string): readonly string[] => mail.fields.filter((field) => field.name === name).map(fieldBody)
  const format = judgeFormat(facts)
    .map(({ id }) => id)
    .filter((id) => FORMAT.includes(id))
  const isBulk = (name: string): boolean =>
    values(name).some((value) => name !== 'precedence' || /^(?:bulk|list|junk)\b/i.test(value))
  return {
    ...(author.domain === undefined ? {} : { domain: author.domain }),
    ...(spf ? { spf: spf.result } : {}),
    dkim: dkim.map(({ domain, result, key, signature }, i) => ({
      domain,
      result,
      aligned: dmarc.alignment.dkim[i] ?? null,
      ...(key ? { keyBits: key.bits, keyType: key.type } : {}),
      signedFields: signature?.names ?? [],
    })),
    dmarc: { result: dmarc.result, ...(dmarc.policy === undefined ? {} : { policy: dmarc.policy }) },
    forwardConfirmed: connection.forwardConfirmed,
    tls: connection.tls,
    formatFindings: format,
    bulkSigns: BULK_SIGNS.filter(isBulk),
    listUnsubscribe: values('list-unsubscribe'),
    listUnsubscribePost: values('list-unsubscribe-post'),
    fromGmail: author.domain === 'gmail.com' || author.domain === 'googlemail.com',
  }
}

/** The signs of bulk mail other than List-Id, which posts of discussion lists have. */
const isMarketing = ({ mail }: Facts): boolean =>
  mail.fields.some(
    (field) =>
      ['list-unsubscribe', 'feedback-id'].includes(field.name) ||
      (field.name === 'precedence' && /^bulk\b/i.test(fieldBody(field))),
  )

function oneClickFindings(facts: Facts, { rules }: Judged): Finding[] {
  const rule = rules.find(({ id }) => id === 'one_click')
  return rule?.status === 'not_met' && isMarketing(facts)
    ? [makeFinding('message.one_click', { reason: rule.because })]
    : []
}

/** Where a receiver that can be believed came to another result than we do, at most one finding for each method. */
function claimFindings(facts: Facts): Finding[] {
  const told = new Set<string>()
  return facts.results
    .filter(({ trusted }) => trusted)
    .flatMap(({ host, claims }) =>
      claims.flatMap((claim) => {
        const ours = ourResult(facts, claim)
        if (ours === undefined || isSame(claim, ours) || told.has(claim.method)) return []
        told.add(claim.method)
        const { method, result } = claim
        return [makeFinding('message.claims_differ', { host, method, claimed: result, ours })]
      }),
    )
}

function listingFindings(address: Address | undefined): Finding[] {
  if (address?.verdict !== 'listed') return []
  const lists = address.listings.filter(({ tier }) => tier !== 'D').map(({ blacklist }) => blacklist)
  return [makeFinding('message.address_listed', { address: address.ip, lists })]
}

/** Severities of findings that need a repair. */
const NEEDS_REPAIR: readonly FindingAnswer['severity'][] = ['critical', 'high', 'medium']

function verdictOf({ dmarc, dkim, headerOnly }: Facts, findings: readonly FindingAnswer[]): MessageAnswer['verdict'] {
  const isOpen = dmarc.result === 'unknown' && (headerOnly || dkim.some(({ result }) => result === 'unknown'))
  if (isOpen || (headerOnly && dmarc.domain === undefined)) return 'unknown'
  if (findings.some(({ id }) => id === 'message.looks_forged')) return 'unknown'
  if (findings.some(({ severity }) => NEEDS_REPAIR.includes(severity))) return 'needs_repair'
  return dmarc.result === 'pass' ? 'passes' : 'unknown'
}

function summaryOf(
  verdict: MessageAnswer['verdict'],
  { dmarc, author, headerOnly }: Facts,
  findings: readonly FindingAnswer[],
): string {
  const who = author.domain ?? 'the author'
  const by = dmarc.alignedBy.map((one) => (one === 'spf' ? 'SPF' : 'DKIM')).join(' and ')
  const authentication: Record<Facts['dmarc']['result'], string> = {
    pass: `DMARC passes for ${who} by ${by}`,
    fail: `DMARC fails for ${who}${dmarc.because ? `: ${dmarc.because.text}` : ''}`,
    none: `there is no DMARC record for ${who}`,
    permerror: `DMARC cannot be applied${dmarc.domain === undefined && dmarc.because ? `: ${dmarc.because.text}` : ''}`,
    temperror: 'DMARC could not be evaluated, because a lookup had no answer',
    unknown: `whether DMARC passes is not known: ${dmarc.because?.text ?? 'the address of the connection is missing'}`,
  }
  const isPart = headerOnly && author.mailboxes.length === 0
  const said = isPart ? 'DMARC is not judged: the field From is not here' : authentication[dmarc.result]
  const sentence = `${said.charAt(0).toUpperCase()}${said.slice(1)}`
  const forged = findings.find(({ id }) => id === 'message.looks_forged')
  if (forged) return `${sentence}. It looks forged: ${forged.detail}`
  const forwarded = findings.some(({ id }) => FORWARDED.includes(id)) ? ' The message was forwarded.' : ''
  if (verdict !== 'needs_repair') return `${sentence}.${forwarded}`
  // That DMARC fails is said; what made it fail is what the reader needs, and what to do about it.
  const repairs = findings.filter(({ severity, follows }) => NEEDS_REPAIR.includes(severity) && follows === undefined)
  const first = repairs[0] ?? findings[0]!
  const count = repairs.length <= 1 ? 'One thing needs' : `${repairs.length} things need`
  const step = first.repair?.startsWith('Step ') ? ` ${first.repair}` : ''
  return `${sentence}.${forwarded} ${count} repair: ${first.detail}${step}`
}

const FORWARDED = ['message.spf_forwarded', 'message.forwarded']
