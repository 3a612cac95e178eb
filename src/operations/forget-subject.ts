import type { Domain } from '../names/domain.ts'
import { type Email, formatEmail, parseEmail } from '../names/email.ts'
import { domainParam, optional, textParam } from './params.ts'
import { inputError } from './problems.ts'

/** The subject to forget, and its names in the places that store it. */
export type ForgetSubject = {
  readonly named: { readonly name: 'email' | 'domain'; readonly value: string }
  readonly subject: { readonly email: Email } | { readonly domain: Domain }
}

const emailParam = textParam<Email>('invalid_parameter', parseEmail, {
  description: 'mailbox to forget',
  example: 'joe@example.org',
})
export const forgetParams = {
  email: optional(emailParam),
  domain: optional(domainParam('domain to forget, including its mailboxes')),
}

/** The one of the two that was given. Throws AppError if none or both were. */
export function forgetSubject(input: {
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
