import { z } from 'zod'
import { historyAnswer } from '../../answers/stored.ts'
import { parsed } from '../../base/parsed.ts'
import { historyDocument } from '../../documents/stored.ts'
import { parseEmail } from '../../names/email.ts'
import { ownerOf } from '../../names/owner.ts'
import { defineOperation, ok } from '../operation.ts'
import { cursorParam, limitParam, pageOf } from '../page.ts'
import { domainParam, ipParam, optional, textParam } from '../params.ts'
import { storedInputError } from './problems.ts'
import { storedEntryExample } from './show.ts'

const emailParam = textParam<string>(
  'invalid_parameter',
  (text) => {
    const email = parseEmail(text)
    return email.ok ? parsed(text.toLowerCase()) : email
  },
  { description: 'answers about this mailbox', example: 'joe@example.org' },
)

/** The stored answers about one name. */
export const history = defineOperation({
  name: 'history',
  method: 'GET',
  path: '/v1/history',
  summary: 'List the stored answers about a name, newest first',
  scope: 'read',
  params: {
    domain: optional(domainParam('answers about this domain and its mailboxes')),
    email: optional(emailParam),
    ip: optional(ipParam('answers about this address')),
    limit: limitParam({ max: 200, fallback: 50 }),
    cursor: cursorParam(z.int()),
  },
  answer: historyAnswer,
  document: historyDocument,
  example: {
    input: { domain: 'neglected.test' },
    output: { data: [storedEntryExample], has_more: false, next_cursor: null },
  },
  deadlineMs: 10_000,
  uses: ['stored'],
  run: async (ctx, { stored }, { limit, cursor, domain, email, ip }) => {
    const named = Object.entries({ domain, email, ip }).filter(([, value]) => value !== undefined)
    if (named.length > 1) throw storedInputError('one_name', undefined, { parameter: named[1]![0] })
    const page = { limit: limit + 1, ...(cursor !== undefined && { before: cursor }) }
    const [name, value] =
      domain !== undefined
        ? (['domain', domain] as const)
        : email !== undefined
          ? (['email', email] as const)
          : (['ip', ip] as const)
    if (value === undefined) throw storedInputError('no_name', undefined, { parameter: 'domain' })
    const rows = await (await stored()).history(name, value, page, ownerOf(ctx))
    return ok(
      pageOf(
        rows,
        limit,
        ({ number: _, ...entry }) => entry,
        ({ number }) => number,
      ),
    )
  },
})
