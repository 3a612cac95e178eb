import { registrableDomain } from '../names/suffix.ts'
import type { Facts } from './facts.ts'

/** What the records of a domain lack: the first finding of their check, and what its plan does about it. */
export type RecordFault = {
  readonly detail: string
  readonly repair?: string
}

/** What is known of the domains of a message besides it: their records as the checks found them. */
export type DomainState = {
  /** The SPF record of the envelope domain, and the DMARC record of the author domain. */
  readonly spf?: RecordFault
  readonly dmarc?: RecordFault
  /** A key record of the author's organization that is at fault, and the step of the plan for it. */
  readonly key?: { readonly name: string; readonly step: string }
  /** Names of its mail hosts. */
  readonly mailHosts: readonly string[]
  /** The author domain does not exist. */
  readonly isMissing: boolean
  /** Its records say that it sends no mail. */
  readonly sendsNone: boolean
}

/**
 * Whose host delivered a message: one of the author domain (`own`) or of its mail provider (`provider`), one of a
 * service that signed it (`service`), any other one with a name (`foreign`), one without a confirmed name (`nameless`),
 * or not known. `name` is the name of its address that resolves back.
 */
export type SendingHost = {
  readonly kind: 'own' | 'provider' | 'service' | 'foreign' | 'nameless' | 'unknown'
  readonly name?: string
}

export function sendingHost({ connection, names, author, dkim }: Facts, state?: DomainState): SendingHost {
  const { address } = connection
  const known = address === undefined ? undefined : names.get(address)
  if (!known || known.confirmed === null) return { kind: 'unknown' }
  const [name] = known.names
  if (!known.confirmed || name === undefined) return { kind: 'nameless' }
  const organization = organizationOf(name)
  const ownName =
    author.domain === undefined
      ? undefined
      : known.names.find((one) => organizationOf(one) === organizationOf(author.domain!))
  if (ownName !== undefined) return { kind: 'own', name: ownName }
  if (state?.mailHosts.some((host) => organizationOf(host) === organization)) return { kind: 'provider', name }
  const signers = dkim.filter(({ result }) => result === 'pass').map(({ domain }) => organizationOf(domain))
  return { kind: signers.includes(organization) ? 'service' : 'foreign', name }
}

const organizationOf = (name: string): string => registrableDomain(name) ?? name

/**
 * What shows that a message is most likely not of its author domain, in words; undefined if it may be. Nothing of the
 * domain is in it: no signature of it, no host of it, and no host whose mail anybody would have forwarded.
 */
export function forgeryOf(facts: Facts, host: SendingHost, state?: DomainState): string | undefined {
  const { dmarc, dkim, spf, connection, forwarding } = facts
  if ((dmarc.result !== 'fail' && dmarc.result !== 'none') || forwarding !== undefined || facts.headerOnly)
    return undefined
  if (!spf || spf.result === 'temperror' || spf.result === 'permerror') return undefined
  const isSigned = dkim.some(({ result }, i) => result === 'pass' || dmarc.alignment.dkim[i] !== false)
  if (isSigned || host.kind === 'own' || host.kind === 'provider' || host.kind === 'unknown') return undefined
  const address = host.name === undefined ? `${connection.address}` : `${connection.address} (${host.name})`
  const isOwnEnvelope = dmarc.alignment.spf === true
  if (state?.sendsNone)
    return `the records of ${dmarc.domain} say that it sends no mail, and ${address} is no host of it`
  if (isOwnEnvelope && spf.result === 'none') return undefined
  if (host.kind === 'nameless' && spf.result !== 'pass')
    return `${address} is no host of ${dmarc.domain}: SPF does not name it, it has no name that resolves back, and the message has no signature of ${dmarc.domain}`
  if (!isOwnEnvelope && spf.result !== 'pass')
    return `${address} is no host of ${dmarc.domain}, and neither the envelope sender (${spf.domain || 'none'}) nor a signature is of ${dmarc.domain}`
  return undefined
}
