import { type Answer, DnsError, settled } from '../../net/dns/resolver.ts'
import {
  type Provider,
  providerOfHost,
  providerOfInclude,
  providerOfVerification,
  spfIncludeOf,
} from '../../providers/index.ts'
import { type Passing, passingOf } from './passing/passing.ts'
import { nodesOf, type SpfNode } from './tree.ts'

/** The mailbox provider of all MX hosts, which the record does not name, and who passes by its include. */
export type UnnamedProvider = {
  readonly provider: Provider
  readonly include: string
  /** Absent: the include could not be read. */
  readonly passing?: Passing
}

/**
 * The provider of the MX hosts if it is one, hosts mailboxes, and is not named in the tree; its include is read.
 * Undefined if the MX records have no answer.
 */
export async function lookupProvider(
  mx: Answer<'MX'> | DnsError,
  root: SpfNode,
  readTree: (include: string) => Promise<SpfNode>,
): Promise<UnnamedProvider | undefined> {
  if (mx instanceof DnsError) return undefined
  const exchanges = mx.records.map(({ exchange }) => exchange).filter((exchange) => !providerOfVerification(exchange))
  const [provider, ...others] = new Set(exchanges.map(providerOfHost))
  const include = provider?.kind === 'mailbox' && others.length === 0 ? spfIncludeOf(provider, exchanges) : undefined
  if (!provider || include === undefined || provider.setup?.ownReturnPath || isNamed(root, provider)) return undefined
  const tree = await settled(readTree(include))
  if (tree instanceof DnsError || tree.state !== 'record') return { provider, include }
  const passing = passingOf(tree)
  return { provider, include, ...(!passing.open && { passing }) }
}

const isNamed = (root: SpfNode, provider: Provider): boolean =>
  nodesOf(root).some((node) => providerOfInclude(node.domain) === provider)
