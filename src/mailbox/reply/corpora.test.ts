import { expect, it } from 'vitest'
import { corpus } from '../../../test/lab/corpora.ts'
import type { Reason } from '../reasons.ts'
import { classify } from './classify.ts'

type Case = {
  readonly id: string
  readonly text: string
  readonly code: number | null
  readonly enhanced?: string | null
  readonly reason?: string
  readonly expect_any?: readonly string[]
  readonly disputed?: readonly string[]
}

/** The coarse classes of unified.json that each reason stands for. */
const COARSE: Partial<Record<Reason, readonly string[]>> = {
  mailbox_not_found: ['no_such_user', 'moved'],
  mailbox_full: ['mailbox_full'],
  mailbox_disabled: ['disabled'],
  recipient_restricted: ['sender_auth'],
  domain_not_found: ['bad_domain'],
  no_mail_host: ['no_mail_service'],
  null_mx: ['no_mail_service'],
  relay_denied: ['relay_denied'],
  source_blocked: ['sender_blocked'],
  reverse_dns_required: ['sender_blocked'],
  helo_refused: ['sender_blocked'],
  sender_refused: ['sender_blocked', 'sender_auth'],
  policy: ['content_or_policy', 'message_size', 'sender_auth'],
  rate_limited: ['rate_limited'],
  greylisted: ['rate_limited'],
  recipient_throttled: ['rate_limited'],
  too_many_recipients: ['rate_limited'],
  temporary_failure: ['system', 'rate_limited'],
  protocol_error: ['system'],
  unclear_refusal: ['system'], // a permanent code with a temporary text
}

/** Cases that we read otherwise, by the beginning of their text. */
const DIFFERENCES: Readonly<Record<string, string>> = {
  '553 5.1.0 neko22nyaan neko.example.com does not exist E2110':
    'does not say whose address is meant (RFC 3463: X.1.0): policy',
  '554 neko-22.nyaan.r.example.net': 'a host name and nothing else: policy',
  '554 Message rejected: Email address is not verified':
    'about the sender’s identity, and no relaying by RFC 5321 §3.6.2: sender_refused',
  'Name service error for name=libsisimai.org type=MX: Malformed':
    'their DNS failed; that the domain takes no mail was not said: temporary_failure (another case of the same text is labelled so)',
  '550 5.1.1 <pseudo-local-part-of-icloud@icloud.com>: inactive':
    'verification.md: iCloud’s "inactive email address" is mailbox_disabled',
  '554 Host network not allowed': 'Mimecast speaks of our network: source_blocked',
  '554 <kijitora@example.net>... Service unavailable': 'names no mailbox cause: temporary_failure',
  "DNS Error: 39857475 DNS type 'mx' lookup of example.comn responded with code NXDOMAIN":
    'the domain does not exist, and the text says so: domain_not_found',
}

/**
 * Labels of Sisimai for which "no such mailbox" is a right reading: the user is unknown, has moved or was closed, or
 * the label leaves it open.
 */
const MAY_BE_ABSENT = ['userunknown', 'hasmoved', 'suspend', 'filtered', 'mailererror']

/** A case as a reply to RCPT. Bounces that were not replies (no code) count as permanent ones. */
function read({ text, code, enhanced }: Case): Reason {
  const guess = Number(/^([45]\d\d)\b/.exec(text)?.[1] ?? (enhanced?.startsWith('4') ? 450 : 550))
  const given = code !== null && code >= 400 && code < 600 ? code : guess
  return classify({ stage: 'rcpt', reply: { code: given, lines: [text.replace(/^\d{3}(?:[ -]|$)/, '')] } }).reason
}

const unified: readonly Case[] | undefined = corpus('smtp/unified.json')?.cases
it.skipIf(!unified)('reads at least 97 % of the undisputed replies as their class, and the rest as listed', () => {
  const judged = unified!.filter(({ disputed }) => !disputed)
  // A temporary reply is never final: relaying that is denied for now is a temporary failure.
  const classOf = (one: Case) =>
    read(one) === 'temporary_failure' && one.code === 450 ? ['system', 'relay_denied'] : COARSE[read(one)]
  const differ = judged.filter((one) => !one.expect_any!.some((name) => classOf(one)?.includes(name)))
  const unlisted = differ.filter(({ text }) => !Object.keys(DIFFERENCES).some((start) => text.startsWith(start)))
  expect(unlisted.map((one) => `${one.expect_any} but ${read(one)}: ${one.text}`)).toEqual([])
  expect(differ.length / judged.length).toBeLessThanOrEqual(0.03)
})

it.skipIf(!unified)(
  'never reads a reply about us, a temporary one or a full mailbox as no such mailbox (unified)',
  () => {
    const blamed = unified!
      .filter((one) => !one.disputed && read(one) === 'mailbox_not_found')
      .filter(
        (one) => !one.expect_any!.some((name) => ['no_such_user', 'moved'].includes(name)) || (one.code ?? 550) < 500,
      )
    expect(blamed.map(({ text }) => text)).toEqual([])
  },
)

const sisimai: readonly Case[] | undefined = corpus('smtp/sisimai.json')?.cases
it.skipIf(!sisimai)('never blames the mailbox (sisimai)', () => {
  const disputed = new Set(unified?.filter((one) => one.disputed).map(({ id }) => id))
  const blamed = sisimai!
    .filter((one) => !disputed.has(one.id) && read(one) === 'mailbox_not_found')
    .filter((one) => !MAY_BE_ABSENT.includes(one.reason!) || (one.code ?? 550) < 500)
  expect(blamed.map((one) => `${one.reason}: ${one.text}`)).toEqual([])
})

const manual: readonly Case[] | undefined = corpus('smtp/smtp-field-manual.json')?.cases
it.skipIf(!manual)('says no such mailbox of the field manual’s replies only where they name one', () => {
  const blamed = manual!.filter((one) => read(one) === 'mailbox_not_found')
  const names = /user|exist|customer|unknown|invalid|mailbox unavailable|found|account|recipient list|not a valid/i
  expect(blamed.filter((one) => one.code! < 500 || !names.test(one.text)).map(({ text }) => text)).toEqual([])
  expect(blamed.length).toBeGreaterThan(15)
})

const aftership: readonly Case[] | undefined = corpus('smtp/aftership.json')?.cases
it.skipIf(!aftership)('says no such mailbox of no bare code (AfterShip)', () =>
  expect(aftership!.map(read)).not.toContain('mailbox_not_found'),
)
