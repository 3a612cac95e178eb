import type { Outcome } from '../checks/check.ts'
import { type DaneFacts, judgedWithTls } from '../checks/dane/index.ts'
import type { StarttlsFacts } from '../checks/starttls/index.ts'

type Judged = { readonly dane: Outcome<DaneFacts>; readonly starttls?: Outcome<StarttlsFacts> }

/** DANE judged again with the certificates that the mail hosts showed, where STARTTLS was looked at: one connection to a host serves both. */
export const judgedWithCertificates = <T extends Judged>(outcomes: T): T => ({
  ...outcomes,
  dane: judgedWithTls(outcomes.dane, outcomes.starttls?.facts),
})
