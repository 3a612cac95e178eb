import type { Domain } from '../../names/domain.ts'
import { type Answer, DnsError } from '../../net/dns/resolver.ts'
import type { Provider } from '../../providers/index.ts'
import { type KeyState, readKey } from './key.ts'
import { parseKeyRecord, resemblesKey } from './parse.ts'

export type FoundKey = {
  readonly selector: string
  /** The queried name: `<selector>._domainkey.<domain>`. */
  readonly name: string
  /** TXT records that are meant as keys, as published; at most 10. */
  readonly records: readonly string[]
  /** TXT records that are not keys, for example a copied SPF record. */
  readonly others: number
  readonly key: KeyState
  readonly notes: { readonly services: readonly string[]; readonly hashes: readonly string[] }
  /** The CNAME chain to the record. */
  readonly cname: readonly string[]
}

export type DkimFacts = {
  readonly domain: string
  readonly keys: readonly FoundKey[]
  /** The queried selectors, without the made-up one. */
  readonly tried: number
  /** A made-up selector has a record too, so a selector with the same record proves nothing. Null: no answer. */
  readonly wildcard: boolean | null
  /** The wildcard's record is a key record; any other text (an SPF record for every name) is not about keys. */
  readonly wildcardIsKey: boolean
  /**
   * The wildcard revokes every selector that is not published separately: its owner declares that there are no other
   * keys.
   */
  readonly wildcardRevokes: boolean
  /** Selectors of the caller and of reports at which the wildcard's key answers, and the record. */
  readonly covered?: { readonly selectors: readonly string[]; readonly text: string }
  /** Selectors of the caller with an answer and without a key. */
  readonly keyless: readonly string[]
  /** Selectors that reports named and that were queried. */
  readonly learned?: readonly string[]
  /** Selectors whose CNAME leads to a name without a key. */
  readonly dangling: readonly { readonly selector: string; readonly target: string }[]
  /** Something exists below `_domainkey`, by servers that deny names that do not (RFC 8020 §2), with unknown selectors. */
  readonly hidden: boolean
  readonly discovery: 'found' | 'none_found' | 'proven_absent' | 'unknown'
  /** A key below {@link doubledBase}, where verifiers do not look for it. */
  readonly doubled?: { readonly selector: string; readonly text: string }
  /**
   * For a name with mail of its own and no key, below its registrable domain: the selector of a usable key there; absent
   * without one, and `isOpen` if a query had no answer.
   */
  readonly parent?: { readonly domain: string; readonly selector?: string; readonly isOpen: boolean }
  /** The providers that MX and SPF name. */
  readonly providers: readonly Provider[]
  /** Queries without an answer: the first of them. */
  readonly error?: DnsError
  readonly unanswered: number
}

/**
 * The place of keys whose names were written without the final dot: the name server appends the domain again (RFC 1035
 * §5.1).
 */
export const doubledBase = (domain: string): string => `_domainkey.${domain}.${domain}`

export type Asked = { readonly selector: string; readonly answer: Answer<'TXT'> | DnsError }

type Seen = {
  readonly named: readonly string[]
  readonly learned: readonly string[]
  readonly made: Asked
  readonly base: Asked
  readonly asked: readonly Asked[]
  readonly providers: readonly Provider[]
}

/**
 * Reads the answers of one lookup. `asked` is in the order of preference: the first usable key stands for the domain.
 */
export function factsOf(domain: Domain, { named, learned, made, base, asked, providers }: Seen): DkimFacts {
  const keys = ownKeys(domain, made, asked)
  const covered = coveredBy(made, asked, [...named, ...learned])
  const errors = [made, base, ...asked].flatMap(({ answer }) => (answer instanceof DnsError ? [answer] : []))
  return {
    domain,
    keys,
    tried: asked.length,
    ...wildcardOf(made),
    ...(covered && { covered }),
    keyless: asked.flatMap(({ selector, answer }) =>
      !named.includes(selector) ||
      answer instanceof DnsError ||
      covered?.selectors.includes(selector) ||
      keys.some((key) => key.selector === selector)
        ? []
        : [selector],
    ),
    ...(learned.length > 0 && { learned }),
    dangling: danglingOf(made, asked),
    hidden: kindOf(base) === 'nodata' && kindOf(made) === 'nxdomain',
    discovery: discoveryOf(keys.filter(isForMail), [made, base, ...asked], errors),
    providers,
    ...(errors[0] ? { error: errors[0] } : {}),
    unanswered: errors.length,
  }
}

/**
 * Absence is proven by NXDOMAIN at `_domainkey` and at every selector asked (RFC 8020 §2). NODATA proves nothing:
 * servers with compact denial answer it for names that do not exist (RFC 9824 §2).
 */
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

const kindOf = ({ answer }: Asked): string | undefined =>
  answer instanceof DnsError || answer.cname.length > 0 ? undefined : answer.kind

/** Keys of their own: one with exactly the records of the made-up selector is the wildcard's (RFC 4592 §2.2). */
function ownKeys(domain: Domain, made: Asked, asked: readonly Asked[]): FoundKey[] {
  const decoy = made.answer instanceof DnsError || made.answer.kind !== 'found' ? undefined : textOf(made.answer)
  return asked.flatMap(({ selector, answer }) => {
    if (answer instanceof DnsError || answer.kind !== 'found' || textOf(answer) === decoy) return []
    const key = foundKey(selector, `${selector}._domainkey.${domain}`, answer)
    return key ? [key] : []
  })
}

/** The records of an answer in a fixed order, because servers rotate them. */
const textOf = ({ records }: Answer<'TXT'>): string => [...records].sort().join('\n')

function wildcardOf({ answer }: Asked): Pick<DkimFacts, 'wildcard' | 'wildcardIsKey' | 'wildcardRevokes'> {
  if (answer instanceof DnsError) return { wildcard: null, wildcardIsKey: false, wildcardRevokes: false }
  const key = answer.kind === 'found' ? foundKey('', '', answer) : undefined
  return {
    wildcard: answer.kind === 'found',
    wildcardIsKey: key !== undefined && isForMail(key),
    wildcardRevokes: key?.key.state === 'revoked' && key.records.length === 1,
  }
}

/** The known selectors that have the wildcard's usable key. */
function coveredBy(made: Asked, asked: readonly Asked[], known: readonly string[]): DkimFacts['covered'] {
  const { answer } = made
  const key = answer instanceof DnsError || answer.kind !== 'found' ? undefined : foundKey('', '', answer)
  if (answer instanceof DnsError || key?.key.state !== 'usable' || key.records.length !== 1) return undefined
  const selectors = asked.flatMap((one) =>
    known.includes(one.selector) && !(one.answer instanceof DnsError) && textOf(one.answer) === textOf(answer)
      ? [one.selector]
      : [],
  )
  return selectors.length > 0 ? { selectors, text: key.records[0]! } : undefined
}

/** CNAMEs without a target record. If the made-up selector is an alias too, it comes from a wildcard and is ignored. */
function danglingOf(made: Asked, asked: readonly Asked[]): DkimFacts['dangling'] {
  if (made.answer instanceof DnsError || made.answer.cname.length > 0) return []
  return asked.flatMap(({ selector, answer }) => {
    const target = answer instanceof DnsError || answer.kind === 'found' ? undefined : answer.cname.at(-1)
    return target === undefined ? [] : [{ selector, target }]
  })
}

/** The key records among the texts at a selector; undefined if there are none. */
export function foundKey(selector: string, name: string, answer: Answer<'TXT'>): FoundKey | undefined {
  const read = READ.has(answer) ? READ.get(answer) : readAnswer(answer)
  READ.set(answer, read)
  return read && { selector, name, ...read }
}

type ReadAnswer = Omit<FoundKey, 'selector' | 'name'>
/**
 * What was read of an answer, as long as the answer is kept: a check looks at the same one again for each fix that it
 * tries.
 */
const READ = new WeakMap<Answer<'TXT'>, ReadAnswer | undefined>()

function readAnswer(answer: Answer<'TXT'>): ReadAnswer | undefined {
  // Servers rotate the records of an answer.
  const records = answer.records.filter(resemblesKey).sort().slice(0, 10)
  if (records.length === 0) return undefined
  const readings = records.map((text) => parseKeyRecord(text))
  const states = readings.map(
    (reading): KeyState => (reading.ok ? readKey(reading.value) : { state: 'broken', problem: reading.problem }),
  )
  const at = Math.max(0, states.indexOf(weakest(states)!))
  const reading = readings[at]!
  const { services, hashes } = reading.ok ? reading.value : { services: [], hashes: [] }
  return {
    records,
    others: answer.records.length - records.length,
    key: states[at]!,
    notes: { services, hashes },
    cname: answer.cname,
  }
}

/** Whether a key is meant for mail; one for TLS reports alone says nothing of the signing of mail (RFC 8460 §3). */
export const isForMail = ({ key }: Pick<FoundKey, 'key'>): boolean => key.state !== 'reports'

/** The rank of Ed25519 among the bits of RSA keys: above every possible size. */
const ED25519_RANK = 1_000_000

/**
 * The worst key that a receiver may choose, if there are several records at a name (RFC 6376 §3.6.2.2): the shortest
 * usable RSA key, otherwise one of Ed25519; without one, that for TLS reports, which must stay.
 */
function weakest(states: readonly KeyState[]): KeyState | undefined {
  const strength = (state: KeyState): number => {
    if (state.state === 'reports') return Number.MAX_SAFE_INTEGER - 1
    if (state.state !== 'usable') return Number.MAX_SAFE_INTEGER
    return state.type === 'rsa' ? state.bits : ED25519_RANK
  }
  return states.toSorted((a, b) => strength(a) - strength(b))[0]
}

/** Whether a wildcard gives every selector a key, which is nobody's; an empty one leaves others their own. */
export const isEverySelectors = ({ wildcardIsKey, wildcardRevokes }: Wildcard): boolean =>
  wildcardIsKey && !wildcardRevokes
type Wildcard = Pick<DkimFacts, 'wildcardIsKey' | 'wildcardRevokes'>

/** Whether a key of the domain verifies mail. */
export const hasUsableKey = (facts: Wildcard & Pick<DkimFacts, 'keys'>): boolean =>
  !isEverySelectors(facts) && facts.keys.some(({ key }) => key.state === 'usable')
