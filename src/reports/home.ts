import type { PassingAddresses } from '../checks/spf/index.ts'
import { networkOf } from '../names/cidr.ts'
import { isWithin } from '../names/domain.ts'
import { familyOf, parseIp } from '../names/ip.ts'
import { type Provider, providerOfInclude } from '../providers/index.ts'
import { isConsumer, ownerOfHost, providerOfSelector, providerOfSignature } from '../providers/sending.ts'
import type { SenderWord } from '../store/postgres/report-notes.ts'
import type { SourceSum } from '../store/postgres/report-sums.ts'
import { organizationOf } from './report.ts'

/** The term of an SPF record that contains an address. */
export type SpfMatch = Pick<PassingAddresses, 'text' | 'include'> & { readonly domain: string }

/** The network of an address, as far as a database has it: number and name, and the country. */
export type Network = { readonly name?: string; readonly country?: string }

/** What is known beside the reports. Each function answers at once; undefined: not known. */
export type SenderFacts = {
  readonly domain: string
  /** The term that lets the address pass, of the domain's record or of the envelope's. */
  readonly spfOf: (address: string, envelope: string) => SpfMatch | undefined
  /** The forward-confirmed name of an address. */
  readonly hostOf: (address: string) => string | undefined
  /** The MX host of the domain that has the address; none of a provider. */
  readonly mailHostOf: (address: string) => string | undefined
  /** The providers of the domain's MX hosts. */
  readonly mailProviders: ReadonlySet<Provider>
  /** The provider whose published ranges contain the address. */
  readonly rangeOf: (address: string) => Provider | undefined
  readonly networkOf: (address: string) => Network | undefined
  /** Listed on a list of tier A or B. */
  readonly isListed: (address: string) => boolean
  /** False: the DNS did not answer for a part of the SPF record; then only `authorized` is certain. */
  readonly isSpfKnown: boolean
  /** The domain's SPF record lets nobody pass: it says that the domain sends no mail. */
  readonly sendsNothing: boolean
  /** Whether the domain's zone has a key for this selector; undefined: it was not asked, or did not answer. */
  readonly hasKey: (domain: string, selector: string) => boolean | undefined
  /** What the domain's owner said about its senders. */
  readonly words: readonly SenderWord[]
}

/** Why a source has the sender that it has. */
export type Home = {
  readonly id: string
  readonly name: string
  readonly because: string
  readonly provider?: Provider
  /** In the domain's SPF record, a provider, a key in its zone, or a name below its organizational domain. */
  readonly related: boolean
  /** A name that strangers could have too: by the host's name, the network, or nothing. */
  readonly weak: boolean
  /** What it has in common with others that are one line with it: a zone of own hosts, a term of the SPF record. */
  readonly line?: { readonly key: string; readonly many: string; readonly because: string }
  /** None of its addresses was seen on more days than a forger's, or they are listed. */
  readonly isBrief?: true
  readonly word?: SenderWord
}

/**
 * The evidence, strongest first: a provider's own signature, the include that contains the address, a return path of a
 * provider that passes SPF, the host's name, the selector, ranges; the domain's own host or record; the domain of
 * another verified signature, another return path that passes SPF, the host's name, the network.
 */
export function homeOf(source: SourceSum, spf: SpfMatch | undefined, facts: SenderFacts, organization: string): Home {
  const { address } = source
  const signers = signersOf(source)
  const foreign = signers.find(({ domain }) => organizationOf(domain) !== organization)
  for (const { domain, selector } of signers) {
    const provider = organizationOf(domain) === organization ? undefined : serviceOf(domain)
    if (provider)
      return ofProvider(provider, `a verified signature of ${domain}${selector && ` (selector ${selector})`}`)
  }
  const host = facts.hostOf(address)
  const owner = host === undefined ? undefined : ownerOfHost(host)
  const hostService = owner && 'service' in owner ? owner.service : undefined
  const hostProvider = hostService && mayBeSetUp(hostService, facts) ? hostService : undefined
  if (spf?.include) {
    const target = spf.text.replace(/^[+?~-]?include:/i, '')
    const because = `its address is in ${spf.text} of the SPF record of ${spf.domain}`
    const provider = providerOfInclude(target) ?? hostProvider
    if (provider) return ofProvider(provider, because)
    if (organizationOf(target.toLowerCase()) !== organization)
      return { id: `include:${target.toLowerCase()}`, name: target, because, related: true, weak: false }
  }
  const path = source.spf_result === 'pass' ? source.spf_domain || source.envelope_from : ''
  const isForeignPath = path !== '' && organizationOf(path) !== organization
  const byPath = isForeignPath ? serviceOf(path) : undefined
  if (byPath && mayBeSetUp(byPath, facts)) return ofProvider(byPath, `its return path at ${path} passes SPF`)
  if (hostProvider) return ofProvider(hostProvider, `its host is ${host}`)
  const own = signers.find(({ domain }) => organizationOf(domain) === organization)
  const bySelector = own && providerOfSelector(own.selector)
  if (bySelector && (host === undefined || isWithin(host, organization)))
    return ofProvider(bySelector, `a verified signature of ${own.domain} with its selector ${own.selector}`)
  const byRange = facts.rangeOf(address)
  if (byRange && mayBeSetUp(byRange, facts))
    return ofProvider(byRange, 'its address is in the published ranges of the provider')
  if (host !== undefined && isWithin(host, organization))
    return {
      id: `host:${host}`,
      name: `${host} (your own server)`,
      because: `its host is ${host}`,
      related: true,
      weak: false,
      line: ownHosts(host === organization ? host : host.slice(host.indexOf('.') + 1)),
    }
  const mailHost = facts.mailHostOf(address)
  if (mailHost !== undefined)
    return {
      ...{ id: `host:${mailHost}`, name: `${mailHost} (your mail host)`, related: true, weak: false },
      because: `its address is that of the MX host ${mailHost}`,
    }
  if (spf)
    return {
      ...{ id: `address:${address}`, name: `${host ?? address} (in your SPF record)`, related: true, weak: false },
      because: `its address is in ${spf.text} of the SPF record of ${spf.domain}`,
      line: {
        key: spf.text.toLowerCase().replaceAll('/', '-'),
        many: `addresses in ${spf.text} of your SPF record`,
        because: `their addresses are in ${spf.text} of the SPF record of ${spf.domain}`,
      },
    }
  const stranger = { related: isRelated(source, facts, organization), weak: true }
  if (foreign) {
    const name = organizationOf(foreign.domain)
    return { ...stranger, id: `signer:${name}`, name, because: `a verified signature of ${foreign.domain}` }
  }
  if (isForeignPath) {
    const zone = organizationOf(path)
    const name = byPath ? `${byPath.name} (${zone})` : zone
    return { ...stranger, id: `path:${zone}`, name, because: `its return path at ${path} passes SPF` }
  }
  if (host !== undefined && !(owner && 'rentedFrom' in owner)) {
    const zone = organizationOf(host)
    const name = hostService ? `${hostService.name} (${zone})` : zone
    return { ...stranger, id: `host:${zone}`, name, because: `its host is ${host}` }
  }
  const { name: network = blockOf(address), country } = facts.networkOf(address) ?? {}
  const rented = owner && 'rentedFrom' in owner ? ` (servers of ${owner.rentedFrom})` : ''
  return {
    ...stranger,
    id: `network:${network.replaceAll('/', '-')}`,
    name: `unknown senders in ${network}${rented}`,
    because: `its network is ${network}${country === undefined ? '' : `, in ${country}`}${rented && `, its host is ${host}`}`,
  }
}

const ownHosts = (zone: string): NonNullable<Home['line']> => ({
  ...{ key: zone, many: `servers of ${zone} (your own)`, because: `their hosts are below ${zone}` },
})

/**
 * Whether a host or return path of a service says that the domain is set up with it. Mailboxes and gateways forward and
 * deliver the mail of everybody: only where the domain's own mail is there, and for those with which most domains send.
 */
const mayBeSetUp = (service: Provider, { mailProviders }: SenderFacts): boolean =>
  (service.kind !== 'mailbox' && service.kind !== 'gateway') ||
  ['google', 'microsoft365', 'amazonses', 'zoho'].includes(service.id) ||
  mailProviders.has(service)

/** A service with which a domain may be set up. */
function serviceOf(domain: string): Provider | undefined {
  const provider = providerOfSignature(domain)
  return provider && isConsumer(provider) ? undefined : provider
}

/** The /24 or /48 of an address. */
export function blockOf(address: string): string {
  const ip = parseIp(address)
  return ip.ok ? networkOf(ip.value, familyOf(ip.value) === 4 ? 24 : 48) : address
}

const ofProvider = (provider: Provider, because: string): Home => ({
  ...{ id: `provider:${provider.id}`, name: provider.name, because, provider, related: true, weak: false },
})

/**
 * A signature that verifies by a key in the domain's zone, or a return path below (not at) the organizational domain
 * that passes SPF. What fails is what a forger writes.
 */
function isRelated(source: SourceSum, facts: SenderFacts, organization: string): boolean {
  const { dkim_domain, dkim_selector, dkim_result, envelope_from, spf_result } = source
  if (dkim_result === 'pass' && isWithin(dkim_domain, organization) && facts.hasKey(dkim_domain, dkim_selector))
    return true
  return spf_result === 'pass' && envelope_from.endsWith(`.${organization}`)
}

/** The verified signatures of a source. */
function signersOf({ signers }: SourceSum): readonly { readonly domain: string; readonly selector: string }[] {
  if (signers === '') return []
  return signers.split(' ').map((one) => {
    const at = one.indexOf(':')
    return { domain: one.slice(0, at), selector: one.slice(at + 1) }
  })
}

/**
 * Puts a source to the sender about which the owner said something: that of its key, else that of its address. What is
 * left of a network about which something was said is another sender of it.
 */
export function saidHomes(words: readonly SenderWord[]): (home: Home, address: string) => Home {
  const byKey = new Map(words.filter(({ addresses }) => addresses.length === 0).map((one) => [one.sender, one]))
  const byAddress = new Map(words.flatMap((one) => one.addresses.map((address) => [address, one] as const)))
  const keys = new Set(words.map(({ sender }) => sender))
  return (home, address) => {
    const key = keyOf(home.id)
    const byName = byKey.get(key)
    if (byName) return { ...home, id: key, word: byName }
    const word = byAddress.get(address)
    const name = home.line?.many ?? home.name.replace(/^unknown /, '')
    if (word) return { ...home, id: word.sender, name, word }
    if (!keys.has(home.id)) return home
    let n = 2
    while (keys.has(`${home.id}:${n}`)) n++
    return { ...home, id: `${home.id}:${n}` }
  }
}

/** The key of a sender: that of a stranger's host is the same however its addresses are judged. */
export const keyOf = (id: string): string => id.replace(/^((?:host|signer|path):.*):(?:related|brief)$/, '$1')

/** Nothing but its addresses names it, or what names it depends on the verdict. */
export const isByAddresses = (key: string): boolean => /^(?:network|unknown|hosts):|^forward:[\da-f.:]+-\d+$/.test(key)
