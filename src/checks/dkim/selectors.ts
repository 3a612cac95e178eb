import { type Provider, providerOfHost, providerOfInclude } from '../../providers/index.ts'

/** General selectors that are queried at once; the rest of the list is queried while queries are left. */
export const FIRST_GENERAL = 20

/** Selectors that mail servers and many guides use, the most common first; dates come from the clock. */
const GENERAL = [
  'default',
  'mail',
  'dkim',
  'selector1',
  'selector2',
  'google',
  's1',
  's2',
  'k1',
  'k2',
  'k3',
  'resend',
  'x', // DirectAdmin
  'key1',
  'dkim1',
  'mx',
  'smtp',
  's2048',
  'selector1-azurecomm-prod-net', // Azure Communication Services
  'sig1',
] as const
const RARER = ['email', 'rsa', 'ed25519', 'stalwart', 'intercom', 'strong1', 'modoboa', 'mxvault'] as const

/**
 * The general list with the dates that mail servers and guides use as selectors: the year alone (mox: `2026a`, `2026b`)
 * or with its first month. Each selector once.
 */
export function generalSelectors(nowMs: number): readonly string[] {
  const year = new Date(nowMs).getUTCFullYear()
  const first = [`${year}`, `${year}01`, `${year}a`, `${year}b`, `${year - 1}01`, `${year - 1}a`]
  return [...GENERAL, ...first, ...RARER]
}

/** The providers of MX hosts, each once. */
export const providersOfHosts = (exchanges: readonly string[]): readonly Provider[] =>
  known(exchanges.map((exchange) => providerOfHost(exchange)))

/** The providers of SPF targets, each once; selectors that carry the customer's number have it from the target. */
export const providersOfIncludes = (targets: readonly string[]): readonly Provider[] =>
  known(targets.map((target) => numbered(providerOfInclude(target), target)))

function numbered(provider: Provider | undefined, target: string): Provider | undefined {
  const { numberIn, numbered: patterns } = provider?.byNumber ?? {}
  const number = numberIn?.exec(target)?.[1]
  if (!provider || !patterns || number === undefined) return provider
  return { ...provider, selectors: patterns.map((one) => one.replace('#', number)), guessable: true }
}

const known = (found: readonly (Provider | undefined)[]): readonly Provider[] => [
  ...new Set(found.filter((provider) => provider !== undefined)),
]

/**
 * The selectors of several providers, the first of each before the second of any, so that a limit does not exclude a
 * provider.
 */
export function selectorsOf(providers: readonly Provider[]): readonly string[] {
  const longest = Math.max(0, ...providers.map(({ selectors }) => selectors.length))
  const ranks = Array.from({ length: longest }, (_, rank) =>
    providers.flatMap(({ selectors }) => selectors[rank] ?? []),
  )
  return [...new Set(ranks.flat())]
}

const MAX_TERMS = 200
/** Maximum number of characters of a record. */
const MAX_LENGTH = 10_000

/**
 * The include and redirect targets in the texts of a domain, as far as they were meant to be SPF records: a faulty
 * record names its senders too. Lower case, without the final dot.
 */
export function spfTargets(texts: readonly string[]): readonly string[] {
  const terms = texts
    .filter((text) => /^[\s"'\ufeff]{0,4}v=spf1/i.test(text))
    .flatMap((text) =>
      text
        .slice(0, MAX_LENGTH)
        .toLowerCase()
        .split(/[\s"]+/, MAX_TERMS),
    )
  // A redirect delegates the whole record, so it names the sender like an include (RFC 7208 §6.1).
  const targets = terms.flatMap(
    (term) => /^(?:[+?~-]?include:|redirect=)(.{1,253})$/.exec(term)?.[1]?.replace(/\.$/, '') ?? [],
  )
  return [...new Set(targets)]
}
