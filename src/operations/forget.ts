import { peerForgetAnswer } from '../answers/peers.ts'
import { readKnown } from '../answers/read-answer.ts'
import { forgetAnswer } from '../answers/service.ts'
import { atMost } from '../base/at-most.ts'
import { within } from '../base/deadline.ts'
import type { Domain } from '../names/domain.ts'
import { type Email, formatEmail } from '../names/email.ts'
import { FetchError } from '../net/fetch.ts'
import { statusOf } from '../peers/peer.ts'
import type { Ctx } from '../world.ts'
import type { DepName, Deps } from './deps.ts'
import { defineOperation, ok } from './operation.ts'
import { domainParam, emailParam, optional } from './params.ts'
import { inputError } from './problems.ts'

/** The subject to forget, and its names in the places that store it. */
type ForgetSubject = {
  readonly named: { readonly name: 'email' | 'domain'; readonly value: string }
  readonly subject: { readonly email: Email } | { readonly domain: Domain }
}

const forgetParams = {
  email: optional(emailParam('mailbox to forget')),
  domain: optional(domainParam('domain to forget, including its mailboxes')),
}

/** The one of the two that was given. Throws AppError if none or both were. */
function forgetSubject(input: {
  readonly email?: Email | undefined
  readonly domain?: Domain | undefined
}): ForgetSubject {
  const { email, domain } = input
  if (email !== undefined && domain === undefined)
    return { named: { name: 'email', value: formatEmail(email) }, subject: { email } }
  if (domain !== undefined && email === undefined)
    return { named: { name: 'domain', value: domain }, subject: { domain } }
  if (email === undefined) throw inputError('subject_missing', undefined, { parameter: 'email' })
  throw inputError('subjects', undefined, { parameter: 'domain' })
}

const USES = ['jobs', 'verifier', 'stored', 'monitors', 'reports', 'peers'] as const satisfies readonly DepName[]
type Used = Pick<Deps, (typeof USES)[number]>
type Subject = ForgetSubject['subject']
type Named = ForgetSubject['named']

/**
 * Every place that stores mailboxes or domains. A new place needs a row here; it returns the number of removed entries,
 * by their names in the answer.
 */
const PLACES: readonly ((used: Used, named: Named, subject: Subject) => Promise<Readonly<Record<string, number>>>)[] = [
  async ({ jobs }, named) => ({ ...(await jobs.forget(named)) }),
  async ({ stored }, { name, value }) => ({ stored_answers: await (await stored()).forget(name, value) }),
  async ({ monitors }, { name, value }) => ({ ...(await (await monitors()).forget(name, value)) }),
  // Reports name domains only.
  async ({ reports }, { name, value }) => (name === 'domain' ? { reports: await (await reports()).forget(value) } : {}),
  async ({ verifier }, { name, value }, subject) => {
    const { answers, catch_all } = verifier.forget(subject)
    const shared = await verifier.forgetShared(name, value)
    const known = { remembered_answers: answers, remembered_domains: catch_all }
    return shared === undefined ? known : { ...known, shared_memories: shared }
  },
]

/** Copies that are not in the store. */
const OUT_OF_REACH = [
  'backups made with `mailsonde db backup` or by PostgreSQL: delete them, or repeat this after a restore',
  'messages that were delivered, and results that were downloaded',
] as const

/** Time limit for one node, ms. */
const NODE_MS = 5_000
/** Maximum number of nodes that are called at the same time. */
const NODES_AT_A_TIME = 8

/**
 * Makes every other node clear its own caches; returns the number of removed entries, and the nodes that did not
 * confirm it.
 */
async function forgetElsewhere(ctx: Ctx, { peers }: Pick<Deps, 'peers'>, { name, value }: Named) {
  const others = [...(await peers.all()).values()].filter(
    (peer) => peer.id !== peers.self.id && statusOf(peer, ctx.now(), peers.ttlMs) !== 'dead',
  )
  const confirmed = await atMost(NODES_AT_A_TIME, others, async (peer) => {
    try {
      const body = { [name]: value }
      const reply = await peers.tell(peer, '/v1/peer/forget', body, within(NODE_MS, ctx.signal))
      const answer = readKnown(peerForgetAnswer, reply.body)
      return reply.status === 200 && answer.ok ? answer.value.removed : undefined
    } catch (error) {
      if (error instanceof FetchError) return undefined
      throw error
    }
  })
  const missing = others.filter((_, at) => confirmed[at] === undefined).map(({ id }) => id)
  return { removed: confirmed.reduce<number>((sum, one) => sum + (one ?? 0), 0), asked: others.length, missing }
}

/** Removes a mailbox or a domain from all stored data. */
export const forget = defineOperation({
  name: 'forget',
  method: 'POST',
  path: '/v1/forget',
  summary: 'Erase a mailbox or a domain from all stored data',
  scope: 'admin',
  params: forgetParams,
  answer: forgetAnswer,
  example: {
    input: { email: 'joe@example.org' },
    output: {
      subject: 'joe@example.org',
      total: 3,
      places: {
        ...{ rows: 2, results: 2, columns: 0, bad_rows: 0, stored_answers: 0, monitors: 0, receivers: 0 },
        ...{ job_texts: 0, monitor_texts: 0, webhooks: 0, deliveries: 0, idempotency_keys: 0, texts_of_others: 0 },
        ...{ remembered_answers: 1, remembered_domains: 0 },
      },
      out_of_reach: OUT_OF_REACH,
    },
  },
  deadlineMs: 300_000,
  uses: USES,
  run: async (ctx, used, input) => {
    const { named, subject } = forgetSubject(input)
    const places: Record<string, number> = {}
    for (const place of PLACES) Object.assign(places, await place(used, named, subject))
    const elsewhere = await forgetElsewhere(ctx, used, named)
    if (elsewhere.asked > 0) places.other_nodes = elsewhere.removed
    const { results: _ofRows, ...entries } = places
    const total = Object.values(entries).reduce((sum, n) => sum + n, 0)
    const missing = elsewhere.missing.length === 0 ? {} : { not_reached: elsewhere.missing }
    return ok({ subject: named.value, total, places, out_of_reach: OUT_OF_REACH, ...missing })
  },
})

/** The call of another node when something is to be forgotten: clears this node's caches, but no stored data. */
export const peerForget = defineOperation({
  name: 'peer-forget',
  method: 'POST',
  path: '/v1/peer/forget',
  summary: 'Remove a mailbox or a domain from the memory of this node',
  scope: 'admin',
  forPeers: true,
  params: forgetParams,
  answer: peerForgetAnswer,
  example: { input: { email: 'joe@example.org' }, output: { removed: 1 } },
  deadlineMs: 10_000,
  uses: ['verifier'],
  run: async (_ctx, { verifier }, input) => {
    const { answers, catch_all } = verifier.forget(forgetSubject(input).subject)
    return ok({ removed: answers + catch_all })
  },
})
