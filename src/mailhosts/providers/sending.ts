import { PROVIDERS, type Provider } from './index.ts'

/** How mail that a provider sends is recognized, by the id of its row: patterns as in {@link Provider.mx}. */
type Sending = {
  /** Domains with which it signs in its own name (DKIM `d=`). */
  readonly signs?: readonly string[]
  /** Names of the hosts from which it sends (PTR, forward-confirmed). */
  readonly hosts?: readonly string[]
  readonly seen: string
}

const REPORTS = 'auth_results and PTR names in public DMARC reports, 2026-11'

const SENDING: Readonly<Record<string, Sending>> = {
  google: {
    signs: ['.gappssmtp.com', '.google.com', '.googlemail.com', 'gmail.com'],
    hosts: ['.google.com', '.googlemail.com'],
    seen: REPORTS,
  },
  microsoft365: {
    signs: ['.onmicrosoft.com', 'outlook.com', 'hotmail.com'],
    hosts: ['.outbound.protection.outlook.com', '.protection.outlook.com', '.outlook.com'],
    seen: REPORTS,
  },
  icloud: {
    signs: ['.icloud.com', 'me.com'],
    hosts: ['.mail.icloud.com', '.me.com', '.apple.com'],
    seen: 'support.apple.com/102322 names icloud.com and me.com',
  },
  proton: {
    signs: ['.protonmail.com', 'proton.me', 'pm.me'],
    hosts: ['.protonmail.ch', '.proton.ch', '.protonmail.com'],
    seen: 'its SPF record and the names of its hosts, 2026-11',
  },
  zoho: {
    signs: ['.zohomail.com', '.zoho.com', '.zoho.eu', '.zoho.in'],
    hosts: ['.zoho.com', '.zohomail.com', '.zoho.eu', '.zoho.in'],
    seen: REPORTS,
  },
  fastmail: {
    signs: ['.messagingengine.com', 'fastmail.com'],
    hosts: ['.messagingengine.com'],
    seen: 'fastmail.help, sending domains; it signs with messagingengine.com too',
  },
  mailchimp: {
    signs: ['.mcsv.net', '.mailchimpapp.net', '.rsgsv.net', '.mcdlv.net'],
    hosts: ['.mcsv.net', '.rsgsv.net', '.mcdlv.net'],
    seen: 'mailchimp.com/help, delivery IP names; reports of its customers',
  },
  mandrill: {
    signs: ['.mandrillapp.com'],
    hosts: ['.mandrillapp.com'],
    seen: 'mailchimp.com/developer/transactional, sending domains',
  },
  sendgrid: {
    signs: ['.sendgrid.net', 'sendgrid.info'],
    hosts: ['.sendgrid.net'],
    seen: 'twilio.com/docs/sendgrid: mail without an authenticated domain is signed by sendgrid.net',
  },
  mailgun: {
    signs: ['.mailgun.org', '.mailgun.net'],
    hosts: ['.mailgun.net', '.mailgun.org', '.mailgun.co'],
    seen: 'documentation.mailgun.com, sandbox domains',
  },
  amazonses: {
    signs: ['.amazonses.com'],
    hosts: ['.amazonses.com'],
    seen: 'docs.aws.amazon.com/ses: every message has a signature of amazonses.com',
  },
  postmark: {
    signs: ['.mtasv.net', 'postmarkapp.com'],
    hosts: ['.mtasv.net'],
    seen: 'postmarkapp.com/support, pm.mtasv.net',
  },
  brevo: {
    signs: ['.sendinblue.com', '.brevo.com', '.brevosend.com', '.mailin.fr'],
    hosts: ['.mailin.fr', '.sender-sib.com', '.brevosend.com'],
    seen: 'help.brevo.com: mail without an authenticated domain is rewritten to brevosend.com',
  },
  klaviyo: {
    signs: ['.klaviyomail.com'],
    hosts: ['.klaviyomail.com'],
    seen: 'help.klaviyo.com, branded sending domain',
  },
  hubspot: {
    signs: ['.hubspotemail.net', '.hubspot.com'],
    hosts: ['.hubspotemail.net', '.hubspot.com'],
    seen: 'knowledge.hubspot.com, email sending domain',
  },
  campaignmonitor: {
    signs: ['.createsend.com', '.cmail19.com', '.cmail20.com'],
    hosts: ['.createsend.com', '.cmail19.com', '.cmail20.com'],
    seen: 'help.campaignmonitor.com: bounce domains cmailN.com',
  },
  constantcontact: {
    signs: ['.constantcontact.com', '.ccsend.com'],
    hosts: ['.constantcontact.com', '.ccsend.com'],
    seen: 'knowledgebase.constantcontact.com: From is rewritten to ccsend.com',
  },
  mailerlite: {
    signs: ['.mlsend.com', '.mailerlite.com'],
    hosts: ['.mlsend.com'],
    seen: 'mailerlite.com/help, authentication',
  },
  activecampaign: {
    signs: ['.emsd1.com', '.acems1.com', '.activehosted.com'],
    hosts: ['.acems1.com', '.emsd1.com'],
    seen: 'help.activecampaign.com: From is rewritten to acems domains',
  },
  mailjet: { signs: ['.mailjet.com'], hosts: ['.mailjet.com'], seen: 'documentation.mailjet.com, bnc3.mailjet.com' },
  sparkpost: {
    signs: ['.sparkpostmail.com', '.sparkpost.com'],
    hosts: ['.sparkpostmail.com', '.sparkpost.com'],
    seen: 'support.sparkpost.com, sparkpostmail.com',
  },
  zendesk: {
    signs: ['.zendesk.com'],
    hosts: ['.zendesk.com', '.zdsys.com'],
    seen: 'support.zendesk.com, sending domains',
  },
  salesforce: {
    signs: ['.salesforce.com', '.exacttarget.com'],
    hosts: ['.salesforce.com', '.exacttarget.com'],
    seen: 'help.salesforce.com, email infrastructure',
  },
  freshdesk: {
    signs: ['.freshdesk.com', '.freshemail.io'],
    hosts: ['.freshdesk.com', '.freshemail.io'],
    seen: 'support.freshdesk.com, DKIM',
  },
  improvmx: { hosts: ['.improvmx.com'], seen: 'improvmx.com/guides' },
  forwardemail: { hosts: ['.forwardemail.net'], seen: 'forwardemail.net/faq' },
  simplelogin: { hosts: ['.simplelogin.co'], seen: 'simplelogin.io/docs' },
  cloudflare: {
    hosts: ['.mx.cloudflare.net', '.email.cloudflare.net'],
    seen: 'developers.cloudflare.com/email-routing/postmaster',
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
export function providerOfSelector(selector: string): Provider | undefined {
  const found = PROVIDERS.filter(({ selectors }) => selectors.includes(selector))
  return found.length === 1 ? found[0] : undefined
}

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
