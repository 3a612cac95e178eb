import { outcomeOf, type Reason } from './reasons.ts'

/** What the confidence rests on. */
export type Evidence = {
  readonly reason: Reason
  readonly code: number
  readonly catchAll: boolean | null
  /** What the verdict rests on: the words of the reply, its codes alone, or the stage alone. */
  readonly by: 'text' | 'code' | 'stage'
  /** What an accepted RCPT tells with this provider. */
  readonly tells: 'existence' | 'nothing' | 'depends'
}

const KNOWN: Partial<Record<Reason, number>> = {
  bad_syntax: 100,
  domain_not_found: 100,
  null_mx: 100,
  no_mail_host: 98,
  smtputf8_required: 95,
  recipient_restricted: 95,
  mailbox_disabled: 95,
  recipient_throttled: 85,
  mailbox_full: 90,
  accept_all: 90,
  relay_denied: 75, // the domain's own server may be set up wrongly
}

/**
 * How sure the deliverability is, 0 to 100 (the rule is docs/verification.md, "Confidence"). 0 where the deliverability is unknown: nothing was found out.
 */
export function confidence({ reason, code, catchAll, by, tells }: Evidence): number {
  if (outcomeOf(reason, code).deliverability === 'unknown') return 0
  if (reason === 'mailbox_exists') return catchAll === false ? 97 : tells === 'existence' ? 80 : 60
  if (reason === 'mailbox_not_found') return by === 'text' ? 97 : 85
  return KNOWN[reason] ?? 50
}
