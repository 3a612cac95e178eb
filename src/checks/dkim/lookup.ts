import type { Domain } from '../../names/domain.ts'
import { type Answer, DnsError, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { isSpf } from '../spf/index.ts'
import { type KeyState, readKey } from './key.ts'
import { parseKeyRecord, resemblesKey } from './parse.ts'
import { generalSelectors, inferSelectors } from './selectors.ts'

/** Questions below `_domainkey` in all, itself and the made-up selector among them. */
export const MAX_QUESTIONS = 24
/** The same where little speaks for a key: `_domainkey` does not exist (those that are left guard against servers that answer so for names with others below), or the domain has no mail host. */
export const FEW_QUESTIONS = 18

/** One selector that has something to say. */
export type FoundKey = {
  readonly selector: string
  /** The name that was asked: `<selector>._domainkey.<domain>`. */
  readonly name: string
  /** TXT records that are meant to be keys, as published; at most 10. */
  readonly records: readonly string[]
  /** TXT records that are none, for example an SPF record copied here. */
  readonly others: number
  readonly key: KeyState
  readonly notes: { readonly services: readonly string[]; readonly hashes: readonly string[] }
  /** The chain that leads to the record. */
  readonly cname: readonly string[]
}

export type DkimFacts = {
  readonly domain: string
  readonly keys: readonly FoundKey[]
  /** Selectors that were asked, the random one not counted. */
  readonly tried: number
  /** A made-up selector has a record too, so that nothing can be told from one that is found with the same record. Null: could not be asked. */
  readonly wildcard: boolean | null
  /** The wildcard revokes every selector that is not published by itself. */
  readonly wildcardRevokes: boolean
  /** Selectors of the caller that answered and have no key. */
  readonly keyless: readonly string[]
  /** Selectors whose CNAME leads to where there is no key. */
  readonly dangling: readonly { readonly selector: string; readonly target: string }[]
  readonly discovery: 'found' | 'none_found' | 'proven_absent' | 'unknown'
  /** Signers that MX and SPF speak of. */
  readonly signers: readonly string[]
  /** Those of them whose selectors cannot be guessed. */
  readonly unguessable: readonly string[]
  /** Questions that stayed unanswered, the first of them. */
  readonly error?: DnsError
  readonly unanswered: number
}

type Asker = Pick<Ctx, 'resolve' | 'signal' | 'now' | 'random'>
type Asked = { readonly selector: string; readonly answer: Answer<'TXT'> | DnsError }

/**
 * Looks for the keys of `domain` in two waves and at most 24 questions: first a made-up selector, `_domainkey` itself and what the caller named; then
 * the selectors of the signers that MX and SPF speak of, and a general list. Never rejects for a question that stays unanswered: that is data.
 */
export async function lookupDkim(ctx: Asker, domain: Domain, wanted: readonly string[] = []): Promise<DkimFacts> {
  const named = [...new Set(wanted)]
  const ask = (selector: string): Promise<Asked> => askTxt(ctx, selector, `${selector}._domainkey.${domain}`)
  const [made, base, inferred, ...first] = await Promise.all([
    ask(madeUpSelector(ctx.random)),
    askTxt(ctx, '', `_domainkey.${domain}`),
    infer(ctx, domain),
    ...named.map(ask),
  ])
  const isUnlikely = inferred.exchanges === 0 || (!(base.answer instanceof DnsError) && base.answer.kind === 'nxdomain')
  const most = isUnlikely ? FEW_QUESTIONS : MAX_QUESTIONS
  const others = new Set([...inferred.selectors, ...generalSelectors(ctx.now())])
  const second = [...others].filter((selector) => !named.includes(selector))
  const asked = [...first, ...(await Promise.all(second.slice(0, most - 2 - named.length).map(ask)))]
  const keys = ownKeys(domain, made, asked)
  const errors = [made, base, ...asked].flatMap(({ answer }) => (answer instanceof DnsError ? [answer] : []))
  return {
    domain,
    keys,
    tried: asked.length,
    ...wildcardOf(made),
    keyless: first.flatMap(({ selector, answer }) =>
      answer instanceof DnsError || keys.some((key) => key.selector === selector) ? [] : [selector],
    ),
    dangling: danglingOf(made, asked),
    discovery: discoveryOf(keys, [made, base, ...asked], errors),
    signers: inferred.signers,
    unguessable: inferred.unguessable,
    ...(errors[0] ? { error: errors[0] } : {}),
    unanswered: errors.length,
  }
}

/** One selector, for `GET /v1/dkim`. Rejects with DnsError when it stays unanswered. */
export async function lookupSelector(
  ctx: Pick<Ctx, 'resolve' | 'signal'>,
  domain: Domain,
  selector: string,
): Promise<{ readonly answer: Answer<'TXT'>; readonly key: FoundKey | undefined }> {
  const name = `${selector}._domainkey.${domain}`
  const answer = await ctx.resolve(name, 'TXT', ctx.signal)
  return { answer, key: answer.kind === 'found' ? foundKey(selector, name, answer) : undefined }
}

/** Absence is proven by NXDOMAIN at `_domainkey` and at every selector asked (RFC 8020 §2). NODATA proves nothing: servers with compact denial answer it for names that do not exist (RFC 9824 §2). */
function discoveryOf(
  keys: readonly FoundKey[],
  asked: readonly Asked[],
  errors: readonly DnsError[],
): DkimFacts['discovery'] {
  if (keys.length > 0) return 'found'
  if (errors.length > 0) return 'unknown'
  return asked.every(
    ({ answer }) => !(answer instanceof DnsError) && answer.kind === 'nxdomain' && answer.cname.length === 0,
  )
    ? 'proven_absent'
    : 'none_found'
}

/** The keys that stand for themselves: one with the very records of the made-up selector is the wildcard's (RFC 4592 §2.2). */
function ownKeys(domain: Domain, made: Asked, asked: readonly Asked[]): FoundKey[] {
  const decoy = made.answer instanceof DnsError || made.answer.kind !== 'found' ? undefined : textOf(made.answer)
  return asked.flatMap(({ selector, answer }) => {
    if (answer instanceof DnsError || answer.kind !== 'found' || textOf(answer) === decoy) return []
    const key = foundKey(selector, `${selector}._domainkey.${domain}`, answer)
    return key ? [key] : []
  })
}

/** The records of an answer in an order of their own: servers rotate them. */
const textOf = ({ records }: Answer<'TXT'>): string => [...records].sort().join('\n')

function wildcardOf({ answer }: Asked): Pick<DkimFacts, 'wildcard' | 'wildcardRevokes'> {
  if (answer instanceof DnsError) return { wildcard: null, wildcardRevokes: false }
  const key = answer.kind === 'found' ? foundKey('', '', answer) : undefined
  return {
    wildcard: answer.kind === 'found',
    wildcardRevokes: key?.key.state === 'revoked' && key.records.length === 1,
  }
}

/** CNAMEs that lead to nothing. Where the made-up selector is an alias too, it is a wildcard's and says nothing. */
function danglingOf(made: Asked, asked: readonly Asked[]): DkimFacts['dangling'] {
  if (made.answer instanceof DnsError || made.answer.cname.length > 0) return []
  return asked.flatMap(({ selector, answer }) => {
    const target = answer instanceof DnsError || answer.kind === 'found' ? undefined : answer.cname.at(-1)
    return target === undefined ? [] : [{ selector, target }]
  })
}

function foundKey(selector: string, name: string, answer: Answer<'TXT'>): FoundKey | undefined {
  const records = answer.records.filter(resemblesKey).slice(0, 10)
  if (records.length === 0) return undefined
  const readings = records.map((text) => parseKeyRecord(text))
  const states = readings.map(
    (reading): KeyState => (reading.ok ? readKey(reading.value) : { state: 'broken', problem: reading.problem }),
  )
  const at = Math.max(
    0,
    states.findIndex((state) => state.state === 'usable'),
  )
  const reading = readings[at]!
  const { services, hashes } = reading.ok ? reading.value : { services: [], hashes: [] }
  return {
    selector,
    name,
    records,
    others: answer.records.length - records.length,
    key: states[at]!,
    notes: { services, hashes },
    cname: answer.cname,
  }
}

const askTxt = async (ctx: Pick<Ctx, 'resolve' | 'signal'>, selector: string, name: string): Promise<Asked> => ({
  selector,
  answer: await settled(ctx.resolve(name, 'TXT', ctx.signal)),
})

/** MX hosts and SPF record, as far as they answer: without them the general list has to do. */
async function infer(
  ctx: Asker,
  domain: Domain,
): Promise<ReturnType<typeof inferSelectors> & { readonly exchanges: number }> {
  const unanswered = (error: unknown): undefined => {
    if (!(error instanceof DnsError)) throw error
  }
  const [mx, txt] = await Promise.all([
    ctx.resolve(domain, 'MX', ctx.signal).catch(unanswered),
    ctx.resolve(domain, 'TXT', ctx.signal).catch(unanswered),
  ])
  const spf = txt?.records.find(isSpf) ?? ''
  const exchanges = mx?.records.map(({ exchange }) => exchange).filter((exchange) => exchange !== '') ?? []
  return { ...inferSelectors({ exchanges, spf }), exchanges: exchanges.length }
}

/** A selector that nobody has: 20 letters. */
function madeUpSelector(random: () => number): string {
  const letters = Array.from({ length: 20 }, () => String.fromCharCode(97 + Math.floor(random() * 26)))
  return letters.join('')
}
