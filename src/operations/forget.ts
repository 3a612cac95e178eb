import { forgetAnswer } from '../answers/forget.ts'
import { AppError } from '../base/errors.ts'
import type { Domain } from '../names/domain.ts'
import { type Email, formatEmail, parseEmail } from '../names/email.ts'
import type { DepName, Deps } from './deps.ts'
import { defineOperation, ok } from './operation.ts'
import { domainParam, optional, textParam } from './params.ts'

const USES = ['jobs', 'verifier', 'stored', 'monitors'] as const satisfies readonly DepName[]
type Used = Pick<Deps, (typeof USES)[number]>
type Subject = { readonly email: Email } | { readonly domain: Domain }
type Named = { readonly name: 'email' | 'domain'; readonly value: string }

/** Every place that keeps mailboxes or domains. What is made to keep them has a row here; it gives how many entries were removed, by the names that the answer shows. */
const PLACES: readonly ((used: Used, named: Named, subject: Subject) => Promise<Readonly<Record<string, number>>>)[] = [
  async ({ jobs }, named) => ({ ...(await jobs.forget(named)) }),
  async ({ stored }, { name, value }) => ({ stored_answers: await (await stored()).forget(name, value) }),
  async ({ monitors }, { name, value }) => ({ ...(await (await monitors()).forget(name, value)) }),
  async ({ verifier }, { name, value }, subject) => {
    const { answers, catch_all } = verifier.forget(subject)
    const shared = await verifier.forgetShared(name, value)
    const known = { remembered_answers: answers, remembered_domains: catch_all }
    return shared === undefined ? known : { ...known, shared_memories: shared }
  },
]

const emailParam = textParam<Email>('invalid_parameter', parseEmail, {
  description: 'mailbox to forget',
  example: 'joe@example.org',
})

/** Removes a mailbox or a domain from everything that is kept. */
export const forget = defineOperation({
  name: 'forget',
  method: 'POST',
  path: '/v1/forget',
  summary: 'Erase a mailbox or a domain from all stored data',
  scope: 'admin',
  params: { email: optional(emailParam), domain: optional(domainParam('domain to forget, with its mailboxes')) },
  answer: forgetAnswer,
  example: {
    input: { email: 'joe@example.org' },
    output: {
      subject: 'joe@example.org',
      total: 3,
      places: {
        ...{ rows: 2, results: 2, columns: 0, bad_rows: 0, stored_answers: 0, monitors: 0, receivers: 0 },
        ...{ remembered_answers: 1, remembered_domains: 0 },
      },
    },
  },
  deadlineMs: 300_000,
  uses: USES,
  run: async (_ctx, used, { email, domain }) => {
    if ((email === undefined) === (domain === undefined))
      throw new AppError(
        email === undefined ? 'missing_parameter' : 'invalid_parameter',
        'give either email or domain',
        {
          parameter: email === undefined ? 'email' : 'domain',
        },
      )
    const [named, subject] = email ? namedMailbox(email) : namedDomain(domain)
    const places: Record<string, number> = {}
    for (const place of PLACES) Object.assign(places, await place(used, named, subject))
    const { results: _ofRows, ...entries } = places
    const total = Object.values(entries).reduce((sum, n) => sum + n, 0)
    return ok({ subject: named.value, total, places })
  },
})

const namedMailbox = (email: Email): readonly [Named, Subject] => [
  { name: 'email', value: formatEmail(email) },
  { email },
]
const namedDomain = (domain: Domain | undefined): readonly [Named, Subject] => {
  if (domain === undefined) throw new Error('neither mailbox nor domain')
  return [{ name: 'domain', value: domain }, { domain }]
}
