import { policyHosts } from './hosts.ts'
import { logoHosts, morePolicyHosts, type WebHost } from './policy-hosts.ts'

/** Every host of the lab that speaks HTTPS. */
export const webHosts: readonly WebHost[] = [
  ...[...policyHosts, ...morePolicyHosts].map((row) => ({ ...row, host: `mta-sts.${row.domain}` })),
  ...logoHosts,
]
