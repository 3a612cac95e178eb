import { createRequire } from 'node:module'
import { once } from '../../base/once.ts'

/** The shipped lists of domains, read at first use and not at startup. */
const require = createRequire(import.meta.url)

/** Disposable domains: a curated list (disposable-email-domains) and a large one (mailchecker). */
export const disposableLists: () => readonly ReadonlySet<string>[] = once(() => {
  const careful = require('disposable-email-domains-js') as { disposableEmailBlocklist: () => readonly string[] }
  const large = require('mailchecker') as { blacklist: () => ReadonlySet<string> }
  return [new Set(careful.disposableEmailBlocklist()), large.blacklist()]
})

/** Every domain of a provider of mailboxes for anyone (email-providers). */
export const freeDomains: () => ReadonlySet<string> = once(
  () => new Set(require('email-providers/all.json') as readonly string[]),
)

/** The well-known ones of them. */
export const commonDomains: () => ReadonlySet<string> = once(
  () => new Set(require('email-providers/common.json') as readonly string[]),
)
