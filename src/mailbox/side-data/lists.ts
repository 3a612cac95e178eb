import { loadPackage } from '../../base/packages.ts'
import { once } from '../../base/share-work.ts'

// The shipped lists of domains are read at first use and not at startup.
/** Disposable domains: a curated list (disposable-email-domains) and a large one (mailchecker). */
export const disposableLists: () => readonly ReadonlySet<string>[] = once(() => {
  const careful = loadPackage('disposable-email-domains-js') as { disposableEmailBlocklist: () => readonly string[] }
  const large = loadPackage('mailchecker') as { blacklist: () => ReadonlySet<string> }
  return [new Set(careful.disposableEmailBlocklist()), large.blacklist()]
})

/** Every domain of a provider that offers mailboxes to anyone (email-providers). */
export const freeDomains: () => ReadonlySet<string> = once(
  () => new Set(loadPackage('email-providers/all.json') as readonly string[]),
)

/** The well-known providers of these. */
export const commonDomains: () => ReadonlySet<string> = once(
  () => new Set(loadPackage('email-providers/common.json') as readonly string[]),
)
