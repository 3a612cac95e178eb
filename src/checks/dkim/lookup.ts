import { madeUpName } from '../../base/text.ts'
import type { Domain } from '../../names/domain.ts'
import { registrableDomain } from '../../names/suffix.ts'
import { type Answer, DnsError, settled } from '../../net/dns/resolver.ts'
import type { Provider } from '../../providers/index.ts'
import type { Ctx } from '../../world.ts'
import { type CheckInput, mailHostsOf } from '../check.ts'
import { inPart } from '../questions.ts'
import { type Asked, type DkimFacts, doubledBase, type FoundKey, factsOf, foundKey } from './facts.ts'
import { stateOf } from './key.ts'
import { resemblesKey } from './parse.ts'
import {
  FIRST_GENERAL,
  generalSelectors,
  providersOfHosts,
  providersOfIncludes,
  selectorsOf,
  spfTargets,
} from './selectors.ts'

/** Maximum number of queries below `_domainkey`, including the name itself and the made-up selector. */
export const MAX_QUESTIONS = 36
/** Number of these queries that the general list reserves for the selectors of providers. */
const FOR_PROVIDERS = 10

type Asker = Pick<Ctx, 'resolve' | 'signal' | 'now' | 'random' | 'questions'>
/**
 * Looks for the keys of `domain` with at most {@link MAX_QUESTIONS} queries. At once: a made-up selector, `_domainkey`
 * itself, the caller's selectors, those that reports name, and the general list. As soon as MX and SPF are known, each
 * separately: the selectors of the providers that they name. Then, if no key was found, the rest of the general list;
 * if none can exist, names that contain the domain twice. Never rejects because of a query without an answer, which is
 * data.
 */
export async function lookupDkim(
  ctx: Asker,
  domain: Domain,
  input: Pick<CheckInput, 'selectors' | 'learned' | 'mailHosts'> = {},
): Promise<DkimFacts> {
  const { selectors: wanted = [], learned = [] } = input
  const named = [...new Set(wanted)]
  const first = [...new Set([...wanted, ...learned])]
  const general = generalSelectors(ctx.now())
  const guesses = general.slice(0, firstOf(first.length))
  const asking = new Asking(ctx, domain, MAX_QUESTIONS - 2)
  const mx = settled(ctx.resolve(domain, 'MX', ctx.signal))
  const ofMx = providersByMx(mx)
  const byMx = askProviders(asking, ofMx)
  // Those of the MX hosts before those of SPF: the order decides what is left out.
  const bySpf = askProviders(
    asking,
    Promise.all([providersBySpf(ctx, domain), ofMx]).then(([found]) => found),
  )
  const mxAbove = mailHostsAbove(inPart(ctx, 'guessed'), domain)
  const atFirst = [
    askTxt(ctx, '', `${madeUpName(ctx.random)}._domainkey.${domain}`),
    askTxt(ctx, '', `_domainkey.${domain}`),
    asking.ask(first),
  ] as const
  let later = 0
  const guessed = roomFor(ctx).then((room) => {
    later = Math.max(0, guesses.length - room)
    return asking.guess(guesses.slice(0, room))
  })
  guessed.catch(() => {}) // awaited when the other selectors are known
  const [made, base, , providersOfMx, providersOfSpf] = await Promise.all([...atFirst, byMx, bySpf])
  ctx.questions?.end('dkim')
  await guessed
  // The rarer selectors are queried only if no other was found, and not if none can exist (RFC 8020 §2) or nothing
  // answers.
  const isHopeless = base.answer instanceof DnsError || base.answer.kind === 'nxdomain'
  const isMore = !isHopeless && !asking.asked.some(hasRecord)
  const places = isMore ? await placesLeft(ctx, domain, input, asking.asked.length + later) : 0
  await asking.guess(general.slice(0, guesses.length + places))
  const providers = [...new Set([...providersOfMx, ...providersOfSpf])]
  const order = new Map([...new Set([...first, ...selectorsOf(providers), ...general])].map((one, i) => [one, i]))
  const asked = asking.asked.toSorted((a, b) => order.get(a.selector)! - order.get(b.selector)!)
  const own = factsOf(domain, { named, learned, made, base, asked, providers })
  const parent =
    own.discovery === 'found' ? {} : await lookupParent(inPart(ctx, 'guessed'), domain, [...order.keys()], mxAbove)
  const facts = { ...own, ...parent }
  if (facts.discovery !== 'proven_absent' || isGone(await mx)) return facts
  return {
    ...facts,
    ...(await lookupDoubled(inPart(ctx, 'guessed'), domain, [...order.keys()], MAX_QUESTIONS - 2 - asked.length)),
  }
}

/**
 * Maximum number of selectors that are queried at the registrable domain of a name without a key; half of them are those
 * of the provider of its mail hosts.
 */
const MAX_PARENT = 4

/** The mail hosts of the registrable domain above a name; empty if there is none, or no answer. */
async function mailHostsAbove({ resolve, signal }: Asker, domain: Domain): Promise<readonly string[]> {
  const above = registrableDomain(domain)
  if (above === undefined || above === domain) return []
  const answer = await settled(resolve(above, 'MX', signal))
  return answer instanceof DnsError ? [] : answer.records.map(({ exchange }) => exchange)
}

/** Whether the registrable domain above a name with mail of its own has a usable key (RFC 9989 §4.4.1). */
async function lookupParent(
  ctx: Asker,
  domain: Domain,
  selectors: readonly string[],
  hostsAbove: Promise<readonly string[]>,
): Promise<Pick<DkimFacts, 'parent'>> {
  const above = registrableDomain(domain)
  if (above === undefined || above === domain) return {}
  const [mx, txt, hosts] = await Promise.all([
    settled(ctx.resolve(domain, 'MX', ctx.signal)),
    settled(ctx.resolve(domain, 'TXT', ctx.signal)),
    hostsAbove,
  ])
  const hasMx = !(mx instanceof DnsError) && mx.records.some(({ exchange }) => exchange !== '')
  const hasSpf = !(txt instanceof DnsError) && txt.records.some((text) => /^v=spf1 (?!-all$)/i.test(text))
  // Without an answer the name may have mail: nothing firm is said of a key above it.
  const isMail = hasMx || hasSpf
  if (!isMail && !(mx instanceof DnsError) && !(txt instanceof DnsError)) return {}
  const ofAbove = selectorsOf(providersOfHosts(hosts)).slice(0, MAX_PARENT / 2)
  const tried = [...new Set([...ofAbove, ...selectors])].slice(0, MAX_PARENT)
  const asked = await Promise.all(tried.map((one) => askTxt(ctx, one, `${one}._domainkey.${above}`)))
  const usable = asked.find(({ answer }) => !(answer instanceof DnsError) && answer.records.some(isUsable))
  const found = isMail ? usable : undefined
  const isOpen =
    (!isMail && usable !== undefined) ||
    asked.some(({ answer }) => answer instanceof DnsError && answer.reason !== 'too_many_questions')
  return { parent: { domain: above, ...(found && { selector: found.selector }), isOpen } }
}

/** Maximum number of selectors that are queried below {@link doubledBase}. */
const MAX_DOUBLED = 10

/**
 * A usable key at a name that contains the domain twice, of the first of `selectors`; they are queried only if
 * something exists there. `places`: the remaining number of queries.
 */
async function lookupDoubled(
  ctx: Asker,
  domain: Domain,
  selectors: readonly string[],
  places: number,
): Promise<Pick<DkimFacts, 'doubled'>> {
  const at = doubledBase(domain)
  if (at.length > 190 || places < 2) return {}
  const { answer } = await askTxt(ctx, '', at)
  if (answer instanceof DnsError || answer.kind === 'nxdomain') return {}
  const tried = selectors.slice(0, Math.min(MAX_DOUBLED, places - 1))
  const asked = await Promise.all(tried.map((selector) => askTxt(ctx, selector, `${selector}.${at}`)))
  const found = asked.flatMap(({ selector, answer }) => {
    if (answer instanceof DnsError || answer.cname.length > 0) return []
    const text = answer.records.find((one) => isUsable(one))
    return text === undefined ? [] : [{ selector, text }]
  })
  return found[0] ? { doubled: found[0] } : {}
}

const isUsable = (text: string): boolean => stateOf(text).state === 'usable'

const hasRecord = ({ answer }: Asked): boolean =>
  !(answer instanceof DnsError) &&
  answer.records.some((text) => resemblesKey(text) && stateOf(text).state !== 'reports')

/** Maximum number of queries below `_domainkey` of a domain with up to {@link FEW_ADDRESSES} of mail hosts. */
const MAX_OF_SMALL = 32
const FEW_ADDRESSES = 4

/**
 * How many more selectors are queried: the queries of a check depend on the addresses of the mail hosts, and a domain
 * without any sends little.
 */
async function placesLeft(ctx: Asker, domain: Domain, input: CheckInput, asked: number): Promise<number> {
  const mail = await settled(mailHostsOf(ctx, domain, input))
  const addresses = mail instanceof DnsError ? 0 : mail.hosts.reduce((sum, host) => sum + host.addresses.length, 0)
  return addresses > FEW_ADDRESSES ? MAX_QUESTIONS : addresses > 0 ? Math.max(0, MAX_OF_SMALL - 2 - asked) : 0
}

/** How many guesses need not wait for the other checks, of the limited number of queries. */
const roomFor = async ({ questions }: Asker): Promise<number> => questions?.room('guessed') ?? MAX_QUESTIONS

/** Number of general selectors that are queried at once in addition to `named` ones. */
const firstOf = (named: number): number =>
  Math.max(0, Math.min(FIRST_GENERAL, MAX_QUESTIONS - 2 - named - FOR_PROVIDERS))

/** The selectors of one lookup, each queried once, and at most so many. */
class Asking {
  private readonly answers = new Map<string, Asked>()
  private readonly taken = new Set<string>()
  private readonly ctx: Asker
  private readonly domain: Domain
  private readonly most: number

  constructor(ctx: Asker, domain: Domain, most: number) {
    this.ctx = ctx
    this.domain = domain
    this.most = most
  }

  get asked(): readonly Asked[] {
    return [...this.answers.values()]
  }

  /** Selectors for which there is a reason, also those that were guessed and may not have been queried. */
  ask = (selectors: readonly string[]): Promise<void> => this.send(this.ctx, selectors)

  /** Selectors of the general list, as far as queries are left for them. */
  guess = (selectors: readonly string[]): Promise<void> =>
    this.send(
      inPart(this.ctx, 'guessed'),
      selectors.filter((selector) => !this.taken.has(selector)),
    )

  private async send(ctx: Asker, selectors: readonly string[]): Promise<void> {
    const fresh = selectors.filter((one) => this.taken.has(one) || (this.taken.size < this.most && this.taken.add(one)))
    const answers = await Promise.all(fresh.map((one) => askTxt(ctx, one, `${one}._domainkey.${this.domain}`)))
    for (const one of answers) if (ctx === this.ctx || !isLeftOut(one)) this.answers.set(one.selector, one)
  }
}

/** A guess that the limit of queries left out says nothing about the domain. */
const isLeftOut = ({ answer }: Asked): boolean => answer instanceof DnsError && answer.reason === 'too_many_questions'

async function askProviders(asking: Asking, found: Promise<readonly Provider[]>): Promise<readonly Provider[]> {
  const providers = await found
  await asking.ask(selectorsOf(providers))
  return providers
}

/** The providers of the MX hosts; none if MX has no answer. */
async function providersByMx(asked: Promise<Answer<'MX'> | DnsError>): Promise<readonly Provider[]> {
  const mx = await asked
  return mx instanceof DnsError ? [] : providersOfHosts(mx.records.map(({ exchange }) => exchange))
}

/** Whether the domain does not exist. */
const isGone = (mx: Answer<'MX'> | DnsError): boolean =>
  !(mx instanceof DnsError) && mx.kind === 'nxdomain' && mx.cname.length === 0

/** Maximum number of SPF includes of the same organization that are followed. */
const MAX_OWN_RECORDS = 5
/** Maximum nesting of SPF includes of the same organization that are followed. */
const MAX_DEPTH = 2

/**
 * The providers that the SPF record names, also through records below the same organization (`include:_spf.<domain>`);
 * none if it has no answer. The SPF check sends the same queries.
 */
async function providersBySpf(ctx: Asker, domain: Domain): Promise<readonly Provider[]> {
  const organization = registrableDomain(domain) ?? domain
  const targets = new Set<string>()
  let names: readonly string[] = [domain]
  for (let depth = 0; depth <= MAX_DEPTH && names.length > 0; depth++) {
    const answers = await Promise.all(names.map((name) => settled(ctx.resolve(name, 'TXT', ctx.signal))))
    const found = answers.flatMap((answer) => (answer instanceof DnsError ? [] : spfTargets(answer.records)))
    const own = found.filter((target) => target.endsWith(`.${organization}`) && !/[%\s]/.test(target))
    names = [...new Set(own)].filter((name) => !targets.has(name)).slice(0, MAX_OWN_RECORDS)
    for (const target of found) targets.add(target)
  }
  return providersOfIncludes([...targets])
}

/** One selector, for `GET /v1/dkim`. Rejects with DnsError if it has no answer. */
export async function lookupSelector(
  ctx: Pick<Ctx, 'resolve' | 'signal'>,
  domain: Domain,
  selector: string,
): Promise<{ readonly answer: Answer<'TXT'>; readonly key: FoundKey | undefined }> {
  const name = `${selector}._domainkey.${domain}`
  const answer = await ctx.resolve(name, 'TXT', ctx.signal)
  return { answer, key: answer.kind === 'found' ? foundKey(selector, name, answer) : undefined }
}

const askTxt = async (ctx: Pick<Ctx, 'resolve' | 'signal'>, selector: string, name: string): Promise<Asked> => ({
  selector,
  answer: await settled(ctx.resolve(name, 'TXT', ctx.signal)),
})
