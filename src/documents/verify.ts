import type { VerifyAnswer } from '../answers/verify.ts'
import {
  type Attempt,
  type Block,
  code,
  codes,
  type Document,
  heading,
  type Inline,
  type Line,
  type Mark,
  text,
} from './block.ts'
import { footerOf } from './footer.ts'
import { duration } from './times.ts'
import { adviceFor, DELIVERABILITY, REASONS, STAGES } from './verify-words.ts'
import { wordsFor } from './words.ts'

/** A verification: the verdict as a sentence, what to do, the reply to each source address, and further facts about the address. */
export function verifyDocument(answer: VerifyAnswer, version: string): Document {
  const { email, deliverability, transcript = [] } = answer
  const [mark, badge] = DELIVERABILITY[deliverability]
  return {
    title: `Verification: ${email}`,
    blocks: [
      {
        kind: 'conclusion',
        conclusion: { subject: email, mark, badge, words: whyOf(answer.reason), notes: notesOf(answer) },
      },
      ...adviceBlocks(answer),
      ...replyBlocks(answer),
      heading(2, 'Evidence', 'evidence'),
      ...attemptBlocks(answer),
      ...(transcript.length === 0
        ? []
        : [
            {
              kind: 'conversation',
              conversation: {
                label: 'SMTP session',
                lines: transcript.map(({ at_ms, from, text: said }) => ({ from, atMs: at_ms, text: said })),
              },
            } as const,
          ]),
      { kind: 'facts', rows: factsOf(answer) },
    ],
    footer: footerOf(version, answer.observed_at),
  }
}

/** The sentence for a reason; an unknown reason of a newer service is shown by its name. */
export const whyOf = (reason: string): string =>
  wordsFor(REASONS, reason)?.why ?? `The verification ended with "${reason.replaceAll('_', ' ')}".`

function notesOf({ confidence, deliverability, remembered, peer, ...answer }: VerifyAnswer): Line[] {
  return [
    ...(deliverability === 'unknown' ? [] : [[`Confidence ${confidence} of 100.`]]),
    ...(remembered ? [['This is a cached answer; the mail server was not asked again.']] : []),
    ...(peer === undefined ? [] : [['Asked by the node ', code(peer), '.']]),
    ...(answer.suggestion === '' ? [] : [['Did you mean ', { strong: answer.suggestion }, '?']]),
  ]
}

function adviceBlocks({ reason, retry_after_ms }: VerifyAnswer): Block[] {
  const advice = adviceFor(reason, retry_after_ms === undefined ? undefined : duration(retry_after_ms))
  return advice === undefined ? [] : [text({ strong: 'What to do: ' }, advice)]
}

const replyBlocks = ({ message, code: reply, mx_server }: VerifyAnswer): Block[] =>
  message === ''
    ? []
    : [{ kind: 'seen', label: mx_server === '' ? 'Detail' : `Reply of ${mx_server}`, text: replyOf(reply, message) }]

/** A reply as received; 0 stands for none. */
const replyOf = (reply: number, message: string): string => (reply === 0 ? message : `${reply} ${message}`)

function attemptBlocks({ attempts, message, skipped_sources = [] }: VerifyAnswer): Block[] {
  return [
    ...(attempts.length === 0
      ? [text('No mail server was contacted.')]
      : [
          {
            kind: 'attempts',
            attempts: {
              label: attempts.length === 1 ? 'What the mail server said' : 'Replies to each source address',
              attempts: attempts.map((one) => attemptOf(one, attempts.length === 1 ? message : '')),
            },
          } as const,
        ]),
    ...(skipped_sources.length === 0
      ? []
      : [
          text('Source addresses that were not used:'),
          {
            kind: 'list',
            items: skipped_sources.map(
              ({ address, reason }): Line => [code(address), `: ${reason.replaceAll('_', ' ')}`],
            ),
          } as const,
        ]),
  ]
}

/** One attempt. A reply that is already `shown` above is not repeated. */
function attemptOf(one: VerifyAnswer['attempts'][number], shown: string): Attempt {
  const { ip_used, mx_server, address, stage, code: reply, message, reason, duration_ms, peer } = one
  return {
    from: ip_used === '' ? 'this machine' : ip_used,
    to: [code(mx_server), ...(address === '' || address === mx_server ? [] : [' (', code(address), ')'])],
    outcome: { mark: markOf(reason), text: whyOf(reason) },
    ...(message === '' || message === shown ? {} : { reply: replyOf(reply, message) }),
    notes: [
      [
        `At ${wordsFor(STAGES, stage) ?? stage}, after ${duration(duration_ms)}`,
        ...(peer === undefined ? [] : [', from the node ', code(peer)]),
        '.',
      ],
    ],
  }
}

const GOOD = new Set(['mailbox_exists'])
const BAD = new Set([
  'mailbox_not_found',
  'mailbox_disabled',
  'null_mx',
  'relay_denied',
  'recipient_restricted',
  'smtputf8_required',
])
const markOf = (reason: string): Mark => (GOOD.has(reason) ? 'good' : BAD.has(reason) ? 'bad' : 'open')

function factsOf(answer: VerifyAnswer): (readonly [string, Line])[] {
  const { result, reason, provider, catch_all, starttls, smtputf8, checked, mx_tried, duration_ms, remembered } = answer
  const looked = (
    what: (typeof checked)[number],
    label: string,
    yes: boolean,
    value: string,
  ): (readonly [string, Line])[] => (checked.includes(what) ? [[label, [yes ? value : 'no']]] : [])
  return [
    ['Result', [code(result), ' (', code(reason), ')']],
    ...(provider === undefined ? [] : [['Provider', [code(provider)]] as const]),
    ...(mx_tried.length === 0
      ? []
      : ([
          ['Catch-all', [knownOr(catch_all, 'yes: every address of the domain is accepted', 'no')]],
          ['STARTTLS', [knownOr(starttls, 'offered', 'not offered')]],
        ] as const)),
    ...(smtputf8 ? [['SMTPUTF8', ['needed for this address']] as const] : []),
    ...looked('disposable', 'Disposable', answer.disposable, 'yes: disposable-mail provider'),
    ...looked('free', 'Free mail', answer.free, 'yes: free-mail provider'),
    ...looked('role', 'Role address', answer.is_role, `yes: ${answer.role}`),
    ...(mx_tried.length === 0
      ? []
      : [[mx_tried.length === 1 ? 'Mail server' : 'Mail servers', codes(mx_tried)] as const]),
    ...(remembered ? [] : [['Time', [duration(duration_ms)]] as const]),
  ]
}

/** Yes, no, or unknown. */
export const knownOr = (value: boolean | null, yes: string, no: string): Inline =>
  value === null ? 'not known' : value ? yes : no
