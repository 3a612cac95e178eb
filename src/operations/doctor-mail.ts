import type { DoctorAnswer } from '../answers/pool.ts'
import { within } from '../base/deadline.ts'
import { messageOf } from '../base/errors.ts'
import { LIFE } from '../message/inbox.ts'
import { digestMailOf } from '../monitors/notify/templates.ts'
import type { Ctx } from '../world.ts'
import type { Deps } from './deps.ts'

const CONNECT_MS = 10_000
/** How long the digest that is sent to this service may take, with its analysis, ms. */
const ARRIVES_MS = 15_000
const OPERATOR = { id: '', isAdmin: true } as const

/**
 * Whether mail to owners can be sent: the submission server is connected and logged in to. Where this service receives
 * messages, a digest is sent to a one-time address of its own, and `one_click` is whether a valid signature covers both
 * fields of RFC 8058 §4. Null: no submission server is set. Never rejects.
 */
export async function mailState(
  { signal }: Pick<Ctx, 'signal'>,
  { submission, messages }: Pick<Deps, 'submission' | 'messages'>,
): Promise<DoctorAnswer['mail']> {
  const server = await submission()
  if (server === undefined) return null
  const about = { server: server.server, from: server.from }
  try {
    await server.check(within(CONNECT_MS, signal))
  } catch (error) {
    return { ...about, ready: false, detail: messageOf(error), one_click: null }
  }
  const { publicUrl } = server
  if (publicUrl === undefined)
    return { ...about, ready: true, detail: 'digests have no one-click link without --public-url', one_click: false }
  if (!messages.inbox.isOpen())
    return { ...about, ready: true, detail: 'no digest was tried: it needs --messages-listen', one_click: null }
  try {
    const tried = await sendToItself(server, publicUrl, messages.inbox, within(ARRIVES_MS, signal))
    return { ...about, ready: true, ...tried }
  } catch (error) {
    return { ...about, ready: false, detail: `a digest could not be sent: ${messageOf(error)}`, one_click: null }
  } finally {
    server.close()
  }
}

type Server = NonNullable<Awaited<ReturnType<Deps['submission']>>>

async function sendToItself(
  { send }: Pick<Server, 'send'>,
  publicUrl: string,
  inbox: Deps['messages']['inbox'],
  signal: AbortSignal,
): Promise<{ readonly detail: string; readonly one_click: boolean | null }> {
  const { id, address } = inbox.create(OPERATOR, LIFE.least)
  const token = 'dig_test'
  const empty = { token, targets: 0, changed: 0, changes: [], worst: [] }
  await send(digestMailOf(empty, address, { publicUrl, unsubscribe: `${publicUrl}/u/${token}` }), signal)
  try {
    for await (const { answer } of inbox.watch(id, OPERATOR, signal)) {
      if (answer === undefined) continue
      const covers = ({ result, signed_headers: names }: (typeof answer.dkim)[number]): boolean =>
        result === 'pass' && ['list-unsubscribe', 'list-unsubscribe-post'].every((name) => names.includes(name))
      return answer.dkim.some(covers)
        ? { detail: 'a digest to this service arrived, and its signature covers the one-click link', one_click: true }
        : { detail: 'a digest to this service arrived; no valid signature covers the one-click link', one_click: false }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return { detail: 'a digest to this service was sent and has not arrived yet', one_click: null }
}
