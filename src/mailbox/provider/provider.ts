import * as shared from '../../mailhosts/providers/index.ts'
import { DEFAULT_LIMITS, SMTP_LIMITS, type SmtpLimits } from './limits.ts'

/** A mail provider, recognized by its mail host, with its limits. */
export type Provider = SmtpLimits & { readonly id: string; readonly name: string }

/** The provider of a mail host, by its name (any case, one final dot allowed); undefined if it is not known. */
export const providerOf = (mxHost: string): Provider | undefined => withLimits(shared.providerOfHost(mxHost))

/** The provider with this id. */
export const providerById = (id: string): Provider | undefined => withLimits(shared.providerById(id))

/** The limits toward a host of the provider, or of an unknown one. */
export const limitsFor = (provider: Provider | undefined): SmtpLimits => provider ?? DEFAULT_LIMITS

/** Whether more than one recipient may be asked about in one session. */
export const allowsSecondRcpt = (provider: Provider | undefined): boolean => {
  const { probe } = limitsFor(provider)
  return probe === 'batch' || probe === 'same_session'
}

/** The known providers; each is made once. */
const made = new Map<string, Provider>()

function withLimits(known: shared.Provider | undefined): Provider | undefined {
  if (!known) return undefined
  const { id, name } = known
  const provider = made.get(id) ?? { id, name, ...(SMTP_LIMITS[id] ?? DEFAULT_LIMITS) }
  made.set(id, provider)
  return provider
}
