import { PROVIDERS, type Provider } from './index.ts'

/** How mail that a provider sends is recognized, by the id of its row: patterns as in {@link Provider.mx}. */
type Sending = {
  /** Domains with which it signs in its own name (DKIM `d=`). */
  readonly signs?: readonly string[]
  /** Names of the hosts from which it sends (PTR, forward-confirmed). */
  readonly hosts?: readonly string[]
  /** What says so. */
  readonly source: string
  /** When it was looked at. */
  readonly seen: Month
}
type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
type Month = `20${Digit}${Digit}-${0 | 1}${Digit}`

const REPORTS = 'auth_results and PTR names in public DMARC reports'
/** Registrable domains of PTR names, and who sends there. */
const POINTERS = 'base_reverse_dns_map.csv of parsedmarc'

const SENDING: Readonly<Record<string, Sending>> = {
  google: {
    signs: ['.gappssmtp.com', '.google.com', '.googlemail.com', 'gmail.com'],
    hosts: ['.google.com', '.googlemail.com'],
    source: `${REPORTS}; ${POINTERS}`,
    seen: '2026-11',
  },
  microsoft365: {
    signs: ['.onmicrosoft.com', 'outlook.com', 'hotmail.com'],
    hosts: ['.outbound.protection.outlook.com', '.protection.outlook.com', '.outlook.com'],
    source: `${REPORTS}; ${POINTERS}`,
    seen: '2026-11',
  },
  icloud: {
    signs: ['.icloud.com', 'me.com'],
    hosts: ['.mail.icloud.com', '.me.com', '.apple.com'],
    source: `support.apple.com/102322 names icloud.com and me.com; ${POINTERS}`,
    seen: '2026-11',
  },
  proton: {
    signs: ['.protonmail.com', 'proton.me', 'pm.me'],
    hosts: ['.protonmail.ch', '.proton.ch', '.protonmail.com'],
    source: `its SPF record and the names of its hosts; ${POINTERS}`,
    seen: '2026-11',
  },
  zoho: {
    signs: ['.zohomail.com', '.zoho.com', '.zoho.eu', '.zoho.in'],
    hosts: ['.zoho.com', '.zohomail.com', '.zoho.eu', '.zoho.in'],
    source: `${REPORTS}; ${POINTERS}`,
    seen: '2026-11',
  },
  fastmail: {
    signs: ['.messagingengine.com', 'fastmail.com'],
    hosts: ['.messagingengine.com'],
    source: `fastmail.help, sending domains; it signs with messagingengine.com too; ${POINTERS}`,
    seen: '2026-11',
  },
  mailchimp: {
    signs: ['.mcsv.net', '.mailchimpapp.net', '.rsgsv.net', '.mcdlv.net'],
    hosts: ['.mcsv.net', '.rsgsv.net', '.mcdlv.net'],
    source: `mailchimp.com/help, delivery IP names; reports of its customers; ${POINTERS}`,
    seen: '2026-11',
  },
  mandrill: {
    signs: ['.mandrillapp.com'],
    hosts: ['.mandrillapp.com'],
    source: `mailchimp.com/developer/transactional, sending domains; ${POINTERS}`,
    seen: '2026-11',
  },
  sendgrid: {
    signs: ['.sendgrid.net', 'sendgrid.info'],
    hosts: ['.sendgrid.net'],
    source: `twilio.com/docs/sendgrid: mail without an authenticated domain is signed by sendgrid.net; ${POINTERS}`,
    seen: '2026-11',
  },
  mailgun: {
    signs: ['.mailgun.org', '.mailgun.net'],
    hosts: ['.mailgun.net', '.mailgun.org', '.mailgun.co'],
    source: `documentation.mailgun.com, sandbox domains; ${POINTERS}`,
    seen: '2026-11',
  },
  amazonses: {
    signs: ['.amazonses.com'],
    hosts: ['.amazonses.com'],
    source: `docs.aws.amazon.com/ses, manual DKIM signing: every message has a signature of amazonses.com; ${POINTERS}`,
    seen: '2026-11',
  },
  postmark: {
    signs: ['.mtasv.net', 'postmarkapp.com'],
    hosts: ['.mtasv.net'],
    source: `postmarkapp.com/support, pm.mtasv.net; ${POINTERS}`,
    seen: '2026-11',
  },
  brevo: {
    signs: ['.sendinblue.com', '.brevo.com', '.brevosend.com', '.mailin.fr'],
    hosts: ['.mailin.fr', '.sender-sib.com', '.brevosend.com'],
    source: `help.brevo.com: mail without an authenticated domain is rewritten to brevosend.com; ${POINTERS}`,
    seen: '2026-11',
  },
  klaviyo: {
    signs: ['.klaviyomail.com'],
    hosts: ['.klaviyomail.com'],
    source: `help.klaviyo.com, branded sending domain; ${POINTERS}`,
    seen: '2026-11',
  },
  hubspot: {
    signs: ['.hubspotemail.net', '.hubspot.com'],
    hosts: ['.hubspotemail.net', '.hubspot.com'],
    source: `knowledge.hubspot.com, email sending domain; ${POINTERS}`,
    seen: '2026-11',
  },
  campaignmonitor: {
    signs: ['.createsend.com', '.cmail19.com', '.cmail20.com'],
    hosts: ['.createsend.com', '.cmail19.com', '.cmail20.com'],
    source: 'help.campaignmonitor.com: bounce domains cmailN.com',
    seen: '2026-11',
  },
  constantcontact: {
    signs: ['.constantcontact.com', '.ccsend.com'],
    hosts: ['.constantcontact.com', '.ccsend.com'],
    source: `knowledgebase.constantcontact.com: From is rewritten to ccsend.com; ${POINTERS}`,
    seen: '2026-11',
  },
  mailerlite: {
    signs: ['.mlsend.com', '.mailerlite.com'],
    hosts: ['.mlsend.com'],
    source: 'mailerlite.com/help, authentication',
    seen: '2026-11',
  },
  activecampaign: {
    signs: ['.emsd1.com', '.acems1.com', '.activehosted.com'],
    hosts: ['.acems1.com', '.acems2.com', '.acemsa1.com', '.emsd1.com'],
    source: `help.activecampaign.com: From is rewritten to acems domains; ${POINTERS}`,
    seen: '2026-11',
  },
  mailjet: {
    signs: ['.mailjet.com'],
    hosts: ['.mailjet.com'],
    source: `documentation.mailjet.com, bnc3.mailjet.com; ${POINTERS}`,
    seen: '2026-11',
  },
  sparkpost: {
    signs: ['.sparkpostmail.com', '.sparkpost.com'],
    hosts: ['.sparkpostmail.com', '.sparkpost.com'],
    source: `support.sparkpost.com, sparkpostmail.com; ${POINTERS}`,
    seen: '2026-11',
  },
  zendesk: {
    signs: ['.zendesk.com'],
    hosts: ['.zendesk.com', '.zdsys.com'],
    source: `support.zendesk.com, sending domains; ${POINTERS}`,
    seen: '2026-11',
  },
  salesforce: {
    signs: ['.salesforce.com', '.exacttarget.com'],
    hosts: ['.salesforce.com', '.exacttarget.com'],
    source: `help.salesforce.com, email infrastructure; ${POINTERS}`,
    seen: '2026-11',
  },
  freshdesk: {
    signs: ['.freshdesk.com', '.freshemail.io'],
    hosts: ['.freshdesk.com', '.freshemail.io'],
    source: 'support.freshdesk.com, DKIM',
    seen: '2026-11',
  },
  improvmx: { hosts: ['.improvmx.com'], source: `improvmx.com/guides; ${POINTERS}`, seen: '2026-11' },
  forwardemail: { hosts: ['.forwardemail.net'], source: `forwardemail.net/faq; ${POINTERS}`, seen: '2026-11' },
  simplelogin: { hosts: ['.simplelogin.co'], source: 'simplelogin.io/docs', seen: '2026-11' },
  cloudflare: {
    hosts: ['.mx.cloudflare.net', '.email.cloudflare.net'],
    source: `developers.cloudflare.com/email-routing/postmaster; ${POINTERS}`,
    seen: '2026-11',
  },
}

type Pick = 'signs' | 'hosts'
const patternsOf = (pick: Pick): ReadonlyMap<string, Provider> =>
  new Map(
    PROVIDERS.flatMap((provider) =>
      (SENDING[provider.id]?.[pick] ?? []).map((pattern) => [pattern, provider] as const),
    ),
  )
const BY_SIGNATURE = patternsOf('signs')
const BY_HOST = patternsOf('hosts')

/** The provider that signs with this domain in its own name. */
export const providerOfSignature = (domain: string): Provider | undefined => find(BY_SIGNATURE, domain)

/** The provider that sends from a host of this name. */
export const providerOfSendingHost = (host: string): Provider | undefined => find(BY_HOST, host)

/** The one provider that tells its customers to publish this selector; undefined if none does, or several. */
export const providerOfSelector = (selector: string): Provider | undefined => BY_SELECTOR.get(selector)

const BY_SELECTOR: ReadonlyMap<string, Provider> = new Map(
  PROVIDERS.flatMap((provider) =>
    provider.selectors
      .filter((selector) => !PROVIDERS.some((other) => other !== provider && other.selectors.includes(selector)))
      .map((selector) => [selector, provider] as const),
  ),
)

/** Looks a name up, then each of its parents, so that the longest pattern wins. */
function find(patterns: ReadonlyMap<string, Provider>, name: string): Provider | undefined {
  if (name.length > 253) return undefined
  const exact = patterns.get(name) ?? patterns.get(`.${name}`)
  if (exact) return exact
  for (let at = name.indexOf('.'); at >= 0; at = name.indexOf('.', at + 1)) {
    const found = patterns.get(name.slice(at))
    if (found) return found
  }
  return undefined
}
