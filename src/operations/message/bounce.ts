import type { BounceAnswer, MessageAnswer } from '../../answers/message.ts'
import { counted, printable } from '../../base/text.ts'
import type { HeavyAsk } from '../../lane/heavy.ts'
import { readingError } from '../../lane/problems.ts'
import { type Bounce, mayBeNotice, notice, readPasted } from '../../message/bounce.ts'
import type { Ctx } from '../../world.ts'

/** Maximum size of a pasted text, octets. */
const MAX_PASTED = 64 * 1024

/** The bounce that the octets are; undefined for a message of another kind. */
export async function bounceOf(
  ctx: Ctx,
  raw: Uint8Array,
  by: Pick<HeavyAsk, 'caller' | 'isMail'>,
): Promise<Bounce | undefined> {
  if (!mayBeNotice(raw)) return undefined
  const found = await ctx.heavy(notice, raw, null, { ...by, signal: ctx.signal }).catch((error) => {
    throw readingError(error, 'bad_message')
  })
  return found ?? undefined
}

/** The bounce in a pasted text without a header: a notice, or a reply of a server; undefined for other octets. */
export const pastedBounce = (raw: Uint8Array): Bounce | undefined =>
  raw.length > MAX_PASTED ? undefined : readPasted(Buffer.from(raw).toString('utf8'))

/**
 * The answer about a bounce: what became of each recipient and why, and the analysis of the returned message. `today`:
 * what the check of the sender's domain finds, which is told with what refers to that domain.
 */
export function presentBounce(
  { recipients, returned }: Bounce,
  analysis: MessageAnswer | null,
  today: string,
  now: number,
): BounceAnswer {
  const told = recipients.map(
    ({ address, action, status, code, remoteMta, text, about, permanent, meaning, toDo }) => ({
      address: address === undefined ? null : printable(address, 320),
      action,
      status: status ?? null,
      code: code ?? null,
      remote_mta: remoteMta === undefined ? null : printable(remoteMta, 255),
      text: printable(text, 1_000),
      about,
      permanent,
      meaning,
      ...(toDo !== undefined && { to_do: about === 'sender_domain' ? `${toDo} ${today}`.trim() : toDo }),
    }),
  )
  return {
    verdict: 'unknown',
    summary: summaryOf(told),
    input: {
      kind: 'bounce',
      notes: returned
        ? ['a notice about another message; it is its sender’s word and proves nothing about a mailbox']
        : ['what a server said; nothing came back of the message'],
    },
    bounce: {
      recipients: told,
      ...(returned && {
        returned: {
          from: printable(returned.from, 320),
          to: printable(returned.to, 1_000),
          subject: printable(returned.subject, 1_000),
          date: printable(returned.date, 100),
          analysis,
        },
      }),
    },
    from: null,
    envelope: null,
    path: null,
    spf: null,
    dkim: null,
    dmarc: null,
    arc: null,
    authentication_results: null,
    headers: null,
    bulk_sender: null,
    links: null,
    blacklists: null,
    domain: null,
    findings: null,
    observed_at: new Date(now).toISOString(),
  }
}

type Told = BounceAnswer['bounce']['recipients'][number]

function summaryOf(recipients: readonly Told[]): string {
  const first = recipients.find(({ action }) => action === 'failed') ?? recipients[0]!
  const codes = [first.code, first.status].filter((one) => one !== null).join(' ')
  const said = `${first.meaning}${codes === '' ? '' : ` (${codes})`}`
  const others = recipients.length - 1
  return others === 0 ? said : `${said} There ${others === 1 ? 'is' : 'are'} ${counted(others, 'other recipient')}.`
}
