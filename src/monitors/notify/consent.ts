import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Database } from '../../store/postgres/connect.ts'
import type { Deliveries } from '../../store/postgres/deliveries.ts'
import type { MailConsents } from '../../store/postgres/mail-consents.ts'
import type { ConsentState } from '../../store/postgres/schema.ts'

export type MailRules = {
  /** Domains whose addresses need not consent, with their subdomains (`--mail-recipients`). */
  readonly recipients: readonly string[]
  /** Questions for consent and test messages that a key may cause by mail in 24 hours (`--mail-rate`). */
  readonly perDay: number
}

/**
 * The stored body of a question for consent. It has nothing that a key could word: a domain or an address, and the id
 * of the link.
 */
export const consentQuestion = z.strictObject({
  type: z.literal('mail.consent'),
  timestamp: z.iso.datetime(),
  data: z.strictObject({ consent: z.string(), about: z.string() }),
})
export type ConsentQuestion = z.output<typeof consentQuestion>

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

/** Whether an address gets mail without having consented: the operator answers for its domain. */
export const needsNoConsent = ({ recipients }: MailRules, address: string): boolean =>
  recipients.some((domain) => domainOf(address) === domain || domainOf(address).endsWith(`.${domain}`))

/** The addresses of a key that have to consent, and what they said so far. */
export async function consentsOf(
  consents: MailConsents,
  rules: MailRules,
  owner: string,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, ConsentState>> {
  const wanted = [...new Set(addresses.map((one) => one.toLowerCase()))].filter((one) => !needsNoConsent(rules, one))
  const known = await consents.states(owner, wanted)
  return new Map(wanted.map((address) => [address, known.get(address) ?? 'asked']))
}

type Asking = { readonly database: Database; readonly consents: MailConsents; readonly deliveries: Deliveries }

/**
 * Asks addresses (lower case) whether they want mail about a domain or IP address: one message each, unless they were
 * asked recently.
 */
export async function askForConsent(
  { database, consents, deliveries }: Asking,
  owner: string,
  addresses: readonly string[],
  about: string,
  makeMessageId: () => string,
  now: Date,
): Promise<void> {
  for (const to of addresses)
    await database.db.transaction().execute(async (tx) => {
      const id = `con_${randomBytes(16).toString('base64url')}`
      if (!(await consents.ask(tx, owner, to, id, now))) return
      const question: ConsentQuestion = {
        type: 'mail.consent',
        timestamp: now.toISOString(),
        data: { consent: id, about },
      }
      await deliveries.add(tx, [
        {
          id: makeMessageId(),
          webhook: null,
          monitor: null,
          channel: JSON.stringify({ type: 'mail', to }),
          type: question.type,
          body: JSON.stringify(question),
          createdAt: now,
        },
      ])
    })
}
