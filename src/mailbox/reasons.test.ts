import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { outcomeOf, REASONS, type Reason, reasonRow } from './reasons.ts'

/** The table of docs/verification.md, written a second time. */
it.each<[Reason, number, string]>([
  ['mailbox_exists', 250, 'accepted deliverable'],
  ['accept_all', 250, 'catch_all risky'],
  ['unverifiable_provider', 250, 'accepted unknown'],
  ['mailbox_not_found', 550, 'rejected undeliverable'],
  ['mailbox_disabled', 550, 'rejected undeliverable'],
  ['domain_not_found', 0, 'rejected undeliverable'],
  ['no_mail_host', 0, 'rejected undeliverable'],
  ['null_mx', 0, 'rejected undeliverable'],
  ['relay_denied', 554, 'rejected undeliverable'],
  ['recipient_restricted', 550, 'rejected undeliverable'],
  ['mailbox_full', 452, 'deferred risky'],
  ['mailbox_full', 552, 'rejected risky'],
  ['greylisted', 450, 'deferred unknown'],
  ['temporary_failure', 451, 'deferred unknown'],
  ['temporary_failure', 550, 'blocked unknown'], // a permanent code is never deferred
  ['greylisted', 550, 'blocked unknown'],
  ['verification_in_progress', 550, 'blocked unknown'],
  ['own_limit', 0, 'deferred unknown'],
  ['verification_in_progress', 450, 'deferred unknown'],
  ['recipient_throttled', 450, 'deferred deliverable'],
  ['recipient_throttled', 550, 'deferred deliverable'],
  ['source_blocked', 550, 'blocked unknown'],
  ['reverse_dns_required', 550, 'blocked unknown'],
  ['helo_refused', 550, 'blocked unknown'],
  ['sender_refused', 550, 'blocked unknown'],
  ['policy', 550, 'blocked unknown'],
  ['unclear_refusal', 550, 'blocked unknown'],
  ['tls_required', 530, 'blocked unknown'],
  ['rate_limited', 421, 'blocked unknown'],
  ['too_many_recipients', 452, 'blocked unknown'],
  ['connect_timeout', 0, 'unreachable unknown'],
  ['connect_refused', 0, 'unreachable unknown'],
  ['network_unreachable', 0, 'unreachable unknown'],
  ['port25_blocked', 0, 'unreachable unknown'],
  ['dns_failure', 0, 'unreachable unknown'],
  ['tls_failure', 0, 'unreachable unknown'],
  ['protocol_error', 0, 'unreachable unknown'],
  ['connection_lost', 0, 'unreachable unknown'],
  ['timeout', 0, 'unreachable unknown'],
  ['internal_error', 0, 'unreachable unknown'],
  ['unsafe_address', 0, 'unreachable unknown'],
  ['bad_syntax', 0, 'invalid undeliverable'],
  ['smtputf8_required', 0, 'rejected undeliverable'],
])('%s with code %i is %s', (reason, code, words) => {
  const { result, deliverability } = outcomeOf(reason, code)
  expect(`${result} ${deliverability}`).toBe(words)
})

it('after these a time to ask again is told', () =>
  expect(REASONS.filter((reason) => reasonRow(reason).temporary)).toEqual([
    'mailbox_full',
    'greylisted',
    'recipient_throttled',
    'temporary_failure',
    'own_limit',
    'verification_in_progress',
    'rate_limited',
  ]))

it('is closed', () => expect(REASONS).toHaveLength(38))

it('docs/verification.md has every reason once in its table, as outcomeOf has it, and once among the terms of other services', () => {
  const page = readFileSync(new URL('../../docs/verification.md', import.meta.url), 'utf8')
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  const [ours, others] = [
    rows.filter((line) => line.split('|').length === 6),
    rows.filter((line) => line.split('|').length === 8),
  ]
  for (const reason of REASONS) {
    const named = ours!.filter((line) => line.split('|')[1]!.includes(`\`${reason}\``))
    expect(named, reason).toHaveLength(1)
    const [result, deliverability] = named[0]!
      .split('|')
      .slice(2, 4)
      .map((cell) => cell.trim())
    const [temporary, permanent] = [outcomeOf(reason, 450), outcomeOf(reason, 550)]
    const both = `${temporary.result} (4xx), ${permanent.result} (5xx)`
    expect(deliverability, reason).toBe(temporary.deliverability)
    expect(result, reason).toBe(temporary.result === permanent.result ? temporary.result : both)
    expect(
      others!.filter((line) => line.split('|')[1]!.includes(`\`${reason}\``)),
      reason,
    ).toHaveLength(1)
  }
})

it('nothing is certain of what is unknown, in either direction', () => {
  for (const reason of REASONS) {
    const { deliverability, confidence } = reasonRow(reason)
    if (deliverability === 'unknown') expect([reason, confidence]).toEqual([reason, 0])
  }
})
