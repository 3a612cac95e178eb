import { formatStsPolicy, MAX_AGE_SECONDS, policyUrl, type StsFacts } from '../checks/mta-sts/index.ts'
import type { Ip } from '../names/ip.ts'
import type { OverlayRecord } from '../net/dns/overlay.ts'

/**
 * A public RSA key of 2048 bits, which stands for the key that the mail provider will create. Its private half was not
 * kept.
 */
const KEY =
  'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAooHZL9lrX3CN7HM82gM2zsIyIshmbFTHMJKKIyruWCDeVWnyon/qURfK9A1Y+/+qdH37zjHimYfZVJigz0hUlR+UnFk4OGS7yaZOMNXOayVWO+tlTZ0m+S7mJdXXHx23bpxoffxCJcx17aTRnL6prcrodF8pOM7rhx9EW5UeRJT4kiWLjgNKBhBTYZa69PA0QdfY/V2SydPWjSx090ofN57Id87MdgD03AIqMF0RtCyaiMREd5MQx2IFYHr2S0XUTPQPJL5oJ1ryQzaN8wsPhgOlNhy1Di96X8/RZ/2/O5Z+u4CW1GT82vvKV7u4GDKm/Y2E5XqibOH/0T60QGwFvwIDAQAB'

/** A usable DKIM key at a selector. */
export const assumedKey = (domain: string, selector: string): OverlayRecord => ({
  name: `${selector}._domainkey.${domain}`,
  type: 'TXT',
  data: `v=DKIM1; k=rsa; p=${KEY}`,
})

/** The DKIM record of a target that the mail provider will fill. */
export const assumedTarget = (name: string): OverlayRecord => ({ name, type: 'TXT', data: `v=DKIM1; k=rsa; p=${KEY}` })

/**
 * An MTA-STS policy (RFC 8461 §3.2) that names all mail hosts, with the lifetime of the published one and its mode, if no
 * other is `wanted`.
 */
export function correctedPolicy(
  { domain, policy }: Pick<StsFacts, 'domain' | 'policy'>,
  mx: readonly string[],
  wanted?: 'testing',
): { readonly url: string; readonly text: string } {
  const read = policy?.kind === 'read' ? policy.policy : undefined
  const mode = wanted ?? read?.mode ?? 'testing'
  const maxAgeSeconds = Math.min(Math.max(read?.maxAgeSeconds ?? 86_400, 86_400), MAX_AGE_SECONDS)
  return { url: policyUrl(domain), text: formatStsPolicy({ mode, maxAgeSeconds, mx }) }
}

/** An address that stands for the host that only its owner or a provider knows. */
export const ASSUMED_ADDRESS = '52.101.40.1' as Ip
