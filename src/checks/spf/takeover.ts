import type { Problem } from '../../base/problem.ts'
import { hasKnownSuffix, registrableDomain } from '../../names/suffix.ts'
import { type Answer, DnsError, settled } from '../../net/dns/resolver.ts'
import { providerOfInclude } from '../../providers/index.ts'
import type { Ask } from './ask.ts'
import { type SpfNode, type SpfTerm, termsOf } from './tree.ts'

/** Maximum number of registrable domains that are queried per tree. */
const MAX_ASKED = 5

/** A term that lets the owner of a name pass, below a domain that nobody has registered. */
export type FreeTerm = { readonly term: string; readonly name: string; readonly free: string }

/**
 * The terms of a tree whose names anybody could register: the name does not exist (NXDOMAIN) or depends on the message,
 * and its registrable domain by the public suffix list does not exist. At most 5 domains are queried, in one round; one
 * without an answer is left out, and `unknown` says why.
 */
export async function lookupFree(
  ask: Ask,
  root: SpfNode,
): Promise<{ readonly free: readonly FreeTerm[]; readonly unknown?: Problem }> {
  const found = termsOf(root).flatMap((term): FreeTerm[] => {
    const name = term.gone ?? constantEnd(term)
    const free = name === undefined || !letsPass(term) ? undefined : registrable(name)
    return free === undefined || isBelow(root.domain, free) ? [] : [{ term: term.text, name: name!, free }]
  })
  const domains = [...new Set(found.map(({ free }) => free))].slice(0, MAX_ASKED)
  const answers = await Promise.all(domains.map((name) => settled(ask(name, 'NS'))))
  const gone = domains.filter((_, i) => isGone(answers[i]!))
  const failed = answers.find((answer) => answer instanceof DnsError)
  return { free: found.filter(({ free }) => gone.includes(free)), ...(failed && { unknown: failed.problem }) }
}

const letsPass = ({ directive }: SpfTerm): boolean => directive === undefined || directive.qualifier === '+'

/**
 * The labels after the last macro of a name that depends on the message (RFC 7208 §7): their owner answers for every
 * such name.
 */
function constantEnd({ state, text }: SpfTerm): string | undefined {
  const end = state === 'macro' ? /\}[^.%}]*\.([^%}/]+)(?:\/[\d/]*)?$/.exec(text)?.[1]?.replace(/\.$/, '') : undefined
  return end === undefined || providerOfInclude(end) ? undefined : end
}

/** A name that can be registered: not a URL or a list of names. */
const HOST_NAME = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/

/** A name below an unknown suffix cannot be registered either. */
function registrable(name: string): string | undefined {
  const lower = name.toLowerCase()
  const free = registrableDomain(lower)
  return free !== undefined && HOST_NAME.test(free) && hasKnownSuffix(lower) ? free : undefined
}

const isBelow = (name: string, domain: string): boolean =>
  name.toLowerCase() === domain || name.toLowerCase().endsWith(`.${domain}`)

const isGone = (answer: Answer | DnsError): boolean =>
  !(answer instanceof DnsError) && answer.kind === 'nxdomain' && answer.cname.length === 0
