import { registrableDomain } from '../names/suffix.ts'

/**
 * A receiver that is known to send reports. A report proves who wrote it and not that it is so: verdicts need at least
 * one of these. `domains` are organizational domains that write for each other: From of the message, and `email` or
 * `contact-info` of the report.
 */
export type Reporter = { readonly name: string; readonly domains: readonly string[]; readonly seen: string }

const CORPUS = 'From, DKIM d= and email of reports in public test data of open report parsers, 2026-11'
const OWN = 'email of its reports in public test data of open report parsers, 2026-11'

export const REPORTERS: readonly Reporter[] = [
  { name: 'Google', domains: ['google.com'], seen: CORPUS },
  { name: 'Microsoft', domains: ['microsoft.com', 'hotmail.com', 'outlook.com'], seen: CORPUS },
  { name: 'Yahoo', domains: ['yahoo.com', 'yahooinc.com', 'yahoo-inc.com', 'aol.com'], seen: CORPUS },
  { name: 'Mail.ru', domains: ['mail.ru'], seen: CORPUS },
  { name: 'Amazon SES', domains: ['amazonses.com', 'amazon.com'], seen: CORPUS },
  { name: 'Fastmail', domains: ['fastmaildmarc.com', 'fastmail.com', 'fastmailteam.com'], seen: OWN },
  { name: 'GMX', domains: ['gmx.net', 'gmx.de', 'gmx.com'], seen: OWN },
  { name: 'WEB.DE', domains: ['web.de'], seen: OWN },
  { name: 'Orange', domains: ['orange.com', 'orange.fr'], seen: OWN },
  { name: 'Zoho', domains: ['zoho.com', 'zohocorp.com'], seen: OWN },
  { name: 'Mimecast', domains: ['mimecastreport.com', 'mimecast.com', 'mimecast.org'], seen: OWN },
  { name: 'Cisco', domains: ['iphmx.com', 'cisco.com'], seen: OWN },
  { name: 'XS4ALL', domains: ['xs4all.net', 'xs4all.nl'], seen: CORPUS },
  {
    name: 'Comcast',
    domains: ['comcast.net'],
    seen: 'the operator signs and sends its reports with this domain; its postmaster pages, 2026-11',
  },
  {
    name: 'Proton',
    domains: ['proton.me', 'protonmail.com'],
    seen: "the provider's support page about DMARC, 2026-11",
  },
  { name: 'Seznam', domains: ['seznam.cz'], seen: "the provider's help page about DMARC, 2026-11" },
]

const BY_DOMAIN: ReadonlyMap<string, Reporter> = new Map(
  REPORTERS.flatMap((reporter) => reporter.domains.map((domain) => [domain, reporter] as const)),
)

/**
 * The organization behind a report: the organizational domain of `email` or `contact-info`, else the organization as
 * written, in lower case.
 */
export function reporterOf(
  contact: string | null,
  organization: string | null,
): { readonly name: string; readonly isKnown: boolean } {
  const name = organizationalDomainOf(contact) ?? (organization ?? '').toLowerCase().slice(0, 253)
  return { name, isKnown: BY_DOMAIN.has(name) }
}

/**
 * The organizational domain of a mail address as people write it: `<a@b>`, `mailto:a@b`, with words around it.
 * Undefined without an address.
 */
export function organizationalDomainOf(address: string | null): string | undefined {
  const host = /@([a-z0-9][a-z0-9.-]{0,252})/i
    .exec(address ?? '')?.[1]
    ?.toLowerCase()
    .replace(/\.+$/, '')
  return host === undefined ? undefined : (registrableDomain(host) ?? host)
}

/** Whether mail from `from` may bring reports of `author`: both are organizational domains of one organization. */
export const writesFor = (from: string, author: string): boolean =>
  from === author || (BY_DOMAIN.get(from)?.domains.includes(author) ?? false)
