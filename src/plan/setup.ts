import type { Domain } from '../names/domain.ts'
import type { Ip } from '../names/ip.ts'
import type { OverlayRecord } from '../net/dns/overlay.ts'
import { dkimStepsOf, PROVIDERS, type Provider, spfIncludeOf } from '../providers/index.ts'
import { ASSUMED_ADDRESS, assumedKey, assumedTarget } from './assumed.ts'
import type { Draft } from './draft.ts'

/** A host of one's own for the mail of a domain. */
export type MailHost = { readonly host: string; readonly addresses: readonly Ip[] }
/** What a domain is to be set up for. */
export type Setup = {
  /** Undefined: mailboxes on hosts of one's own. */
  readonly mailboxes?: Provider
  readonly senders: readonly Provider[]
  readonly mailHosts: readonly MailHost[]
  /** The destination of DMARC reports: a mailto URI. */
  readonly reports?: string
}

const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '')

/** The provider with this id or name, in any spelling (`google-workspace`, `Google Workspace`, `google`). */
export const providerNamed = (text: string): Provider | undefined =>
  PROVIDERS.find(({ id, name }) => [id, plain(name), plain(name.replace(/ \(.*$/, ''))].includes(plain(text)))

/** The ids that {@link providerNamed} takes, of one kind. */
export const knownProviders = (isMailbox: boolean): readonly string[] =>
  PROVIDERS.filter(({ kind }) => (kind === 'mailbox') === isMailbox).map(({ id }) => id)

/**
 * The steps of a setup, before the checks have anything to say; `spf` is the published SPF record, whose senders stay.
 */
export function setupSteps(domain: Domain, setup: Setup, spf: string | undefined): readonly Draft[] {
  const { mailboxes, senders, reports } = setup
  const start = txt(`_dmarc.${domain}`, `v=DMARC1; p=none; rua=${reports}`)
  return [
    mailStep(domain, setup),
    spfStep(domain, setup, spf),
    ...(reports === undefined ? [] : [{ ...dns('Start DMARC with reports'), changes: [start] }]),
    ...[...(mailboxes ? [mailboxes] : []), ...senders].map((provider) => keyStep(domain, provider)),
    ...(mailboxes ? [] : [ownKeyStep(domain)]),
  ]
}

const dns = (title: string) => ({ title, by: 'dns', findings: [] }) as const
const txt = (name: string, data: string): OverlayRecord => ({ name, type: 'TXT', data })
const mx = (name: string, preference: number, exchange: string): OverlayRecord => ({
  name,
  type: 'MX',
  data: { preference, exchange },
})
const addressRecord = (name: string, ip: Ip): OverlayRecord =>
  ip.includes(':') ? { name, type: 'AAAA', data: ip } : { name, type: 'A', data: ip }

function mailStep(domain: Domain, { mailboxes, mailHosts }: Setup): Draft {
  if (!mailboxes) {
    const own = mailHosts.filter(({ host }) => host === domain || host.endsWith(`.${domain}`))
    const addresses = own.flatMap(({ host, addresses: ips }) => ips.map((ip) => addressRecord(host, ip)))
    return {
      ...dns('Publish the mail hosts'),
      changes: [...mailHosts.map(({ host }, i) => mx(domain, 10 * (i + 1), host)), ...addresses],
    }
  }
  const published = mailboxes.setup?.mx
  if (published) {
    const changes = published.map(([preference, host]) => mx(domain, preference, host))
    return { ...dns(`Publish the MX records of ${mailboxes.name}`), changes }
  }
  const pattern = mailboxes.mx[0] ?? domain
  const host = `assumed${pattern.startsWith('.') ? '' : '.'}${pattern}`
  return {
    title: `Publish the MX records that ${mailboxes.name} shows`,
    by: 'mail provider',
    findings: [],
    assumed: true,
    instructions: `${mailboxes.name} gives each domain its own MX hosts: add ${domain} in its administration and publish the records that it shows.`,
    changes: [],
    facts: { records: [mx(domain, 10, host), addressRecord(host, ASSUMED_ADDRESS)] },
  }
}

function spfStep(domain: Domain, { mailboxes, senders }: Setup, published: string | undefined): Draft {
  const exchanges = mailboxes?.setup?.mx?.map(([, host]) => host) ?? []
  const includes = [...(mailboxes ? [mailboxes] : []), ...senders].flatMap((provider) => {
    const include = provider.setup?.ownReturnPath ? undefined : spfIncludeOf(provider, exchanges)
    return include === undefined ? [] : [`include:${include}`]
  })
  const terms = (published ?? '')
    .split(' ')
    .slice(1)
    .filter((term) => term !== '' && !/^[-+?~]?all$/i.test(term))
  const kept = terms.some((term) => /^redirect=/i.test(term)) ? [] : terms
  const value = ['v=spf1', ...new Set([...(mailboxes ? [] : ['mx']), ...includes, ...kept]), '~all'].join(' ')
  return { ...dns('Publish the SPF record'), changes: [txt(domain, value)] }
}

function keyStep(domain: Domain, provider: Provider): Draft {
  const named = (text: string): string =>
    text.replaceAll('{domain}', domain).replaceAll('{dashed}', domain.replaceAll('.', '-'))
  const steps = dkimStepsOf(provider, domain)
  const step = {
    title: `Sign with DKIM at ${provider.name}`,
    findings: [],
    assumed: true,
    ...(steps === undefined ? {} : { instructions: steps }),
  } as const
  const cnames = provider.setup?.cnames
  if (!cnames) {
    const facts = { records: [assumedKey(domain, provider.selectors[0] ?? 'default')] }
    return { ...step, by: 'mail provider', changes: [], facts }
  }
  const changes = cnames.map(
    ([name, target]): OverlayRecord => ({ name: `${name}.${domain}`, type: 'CNAME', data: named(target) }),
  )
  return { ...step, by: 'dns', changes, facts: { records: changes.map(({ data }) => assumedTarget(String(data))) } }
}

const ownKeyStep = (domain: Domain): Draft => ({
  title: 'Sign with DKIM',
  by: 'mail provider',
  findings: [],
  assumed: true,
  instructions:
    'Create a key of 2048 bits in the mail server, publish its record under a selector, and turn on signing.',
  changes: [],
  facts: { records: [assumedKey(domain, 'default')] },
})
