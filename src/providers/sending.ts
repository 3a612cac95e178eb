import { PROVIDERS, type Provider } from './index.ts'
import { CONSUMER } from './mailboxes.ts'
import { rows } from './provider.ts'

/**
 * How mail that a service sends is recognized: domains of its signatures (DKIM `d=`), its hosts (PTR, forward-confirmed)
 * and its return paths. Each stands for itself and everything below it; with "=" in front for itself alone. The source
 * is what says so; all were looked at in 2026-11.
 */
type Sending = readonly [domains: string, source: string]

const REPORTS = 'auth_results of public DMARC reports'
/** Public lists, bug trackers and test data have whole messages. */
const MAIL = 'Received, Return-Path and DKIM-Signature of its mail in public archives and repositories'
const HOSTS = 'the names of its mail hosts'
const LINKS = 'the hosts of its return paths and links in mail, in public repositories'

/** By the ids of {@link PROVIDERS}; the MX hosts of those rows are known beside these. */
const OF_PROVIDERS: Readonly<Record<string, Sending>> = {
  google: ['gappssmtp.com google.com googlemail.com =gmail.com', REPORTS],
  microsoft365: ['onmicrosoft.com outlook.com =hotmail.com outbound.protection.outlook.com', REPORTS],
  icloud: ['icloud.com me.com apple.com', 'support.apple.com/102322 names icloud.com and me.com'],
  proton: ['protonmail.com protonmail.ch proton.ch proton.me pm.me', `its SPF record; ${HOSTS}`],
  zoho: ['zohomail.com zohomail.eu zohomail.in zoho.com zoho.eu zoho.in zcsend.net zeptomail.com', REPORTS],
  fastmail: ['messagingengine.com =fastmail.com', 'fastmail.help, sending domains'],
  yandex: ['yandex.net yandex.ru yandex.com', HOSTS],
  mailru: ['mail.ru smailru.net', REPORTS],
  qq: ['qq.com', HOSTS],
  netease: ['163.com 126.com netease.com', HOSTS],
  aliyun: ['aliyun.com aliyun-inc.com', HOSTS],
  mailboxorg: ['mailbox.org', HOSTS],
  posteo: ['posteo.de posteo.net', HOSTS],
  tuta: ['tutanota.de tutanota.com tuta.com', HOSTS],
  yahoo: ['yahoo.com ymail.com aol.com', REPORTS],
  yahoojp: ['yahoo.co.jp', HOSTS],
  gmx: ['gmx.net gmx.de gmx.com web.de mail.com', MAIL],
  't-online': ['t-online.de', MAIL],
  orange: ['orange.fr wanadoo.fr', MAIL],
  free: ['free.fr', MAIL],
  laposte: ['laposte.net', MAIL],
  sfr: ['sfr.fr neuf.fr', MAIL],
  libero: ['libero.it italiaonline.it', MAIL],
  seznam: ['seznam.cz', MAIL],
  naver: ['naver.com', MAIL],
  migadu: ['migadu.com', HOSTS],
  purelymail: ['purelymail.com', HOSTS],
  mxroute: ['mxrouting.net mxlogin.com', HOSTS],
  ionos: ['kundenserver.de perfora.net ionos.com 1and1.com', MAIL],
  strato: ['rzone.de', MAIL],
  ovh: ['mail-out.ovh.net mail.ovh.net', MAIL],
  gandi: ['mail.gandi.net gandi.net', MAIL],
  hetzner: ['your-server.de', MAIL],
  'all-inkl': ['kasserver.com', MAIL],
  infomaniak: ['infomaniak.ch infomaniak.com', HOSTS],
  hostpoint: ['hostpoint.ch', HOSTS],
  onecom: ['one.com', MAIL],
  loopia: ['loopia.se', HOSTS],
  transip: ['transip.email transip.nl', HOSTS],
  godaddy: ['secureserver.net', MAIL],
  rackspace: ['emailsrvr.com', MAIL],
  dreamhost: ['dreamhost.com', MAIL],
  privateemail: ['privateemail.com registrar-servers.com', HOSTS],
  siteground: ['mailspamprotection.com siteground.eu siteground.biz sgvps.net', HOSTS],
  intermedia: ['serverdata.net intermedia.net', HOSTS],
  mailchimp: [
    'mcsv.net rsgsv.net mcdlv.net mailchimpapp.net mailchimp.com',
    'mailchimp.com/help; reports of customers',
  ],
  odoo: ['odoo.com', HOSTS],
  mandrill: ['mandrillapp.com', 'mailchimp.com/developer/transactional, sending domains'],
  sendgrid: ['sendgrid.net sendgrid.info sendgrid.com', 'twilio.com/docs/sendgrid: signed so without an own domain'],
  mailgun: ['mailgun.org mailgun.net mailgun.co mailgun.info', 'documentation.mailgun.com, sandbox domains'],
  amazonses: ['amazonses.com', 'docs.aws.amazon.com/ses: every message has a signature of amazonses.com'],
  postmark: ['mtasv.net postmarkapp.com', 'postmarkapp.com/support, pm.mtasv.net'],
  brevo: ['sendinblue.com brevo.com brevosend.com mailin.fr sender-sib.com t-sender-sib.com', 'help.brevo.com'],
  klaviyo: ['klaviyomail.com', 'help.klaviyo.com, branded sending domain'],
  hubspot: [
    'hubspotemail.net hubspot.com hubspotstarter.net hubspotstarter-eu1.net hubspotfree.net',
    `knowledge.hubspot.com, email sending domain; ${LINKS}`,
  ],
  campaignmonitor: [
    `createsend.com createsend1.com ${numbered('cmail', 1, 20)}`,
    'help.campaignmonitor.com: bounce domains cmailN.com',
  ],
  constantcontact: ['constantcontact.com ccsend.com rs6.net', 'knowledgebase.constantcontact.com: From is rewritten'],
  mailerlite: ['mlsend.com mailerlite.com', 'mailerlite.com/help, authentication'],
  mailersend: ['mailersend.net mailersend.com', 'mailersend.com/help'],
  activecampaign: [
    `acemsrvc.com activehosted.com ${numbered('acems', 1, 5)} ${numbered('acemsa', 1, 5)} ${numbered('emsd', 1, 5)}`,
    `help.activecampaign.com: From is rewritten to acems domains; ${MAIL}`,
  ],
  mailjet: ['mailjet.com', 'documentation.mailjet.com, bnc3.mailjet.com'],
  sparkpost: ['sparkpostmail.com sparkpost.com spmailtechno.com spmailtechnol.com', `support.sparkpost.com; ${LINKS}`],
  elasticemail: ['elasticemail.com elasticemail.net', 'help.elasticemail.com'],
  smtp2go: ['smtp2go.com smtpcorp.com smtpservice.net', MAIL],
  sendpulse: ['sendpulse.com', 'sendpulse.com/knowledge-base'],
  getresponse: ['getresponse.com getresponse-mail.com', MAIL],
  aweber: ['aweber.com', HOSTS],
  kit: [`convertkit.com ${numbered('convertkit-mail', 2, 6)} convertkit-mail.com kit.com`, LINKS],
  cleverreach: ['cleverreach.com crsend.com', 'its SPF include; cleverreach.com'],
  mailup: ['mailup.com musvc.com', 'help.mailup.com'],
  emma: ['e2ma.net', LINKS],
  benchmark: ['benchmarkemail.com bmsend.com', HOSTS],
  campaigner: ['campaigner.com', HOSTS],
  omnisend: ['omnisend.com', 'support.omnisend.com'],
  customerio: ['customeriomail.com customer.io', LINKS],
  iterable: ['iterable.com', HOSTS],
  everlytic: ['everlytic.net everlytic.com', LINKS],
  marketo: ['mktomail.com mktdns.com marketo.org marketo.com', MAIL],
  pardot: ['pardot.com', HOSTS],
  marketingcloud: ['exacttarget.com exct.net', 'help.salesforce.com, email infrastructure'],
  salesforce: ['salesforce.com', 'help.salesforce.com, email infrastructure'],
  zendesk: ['zendesk.com zdsys.com', 'support.zendesk.com, sending domains'],
  freshdesk: ['freshdesk.com freshemail.io', 'support.freshdesk.com, DKIM'],
  intercom: ['intercom-mail.com intercom.io', LINKS],
  helpscout: ['helpscout.net', 'docs.helpscout.com'],
  atlassian: ['atlassian.net atlassian.com', HOSTS],
  shopify: ['shopifyemail.com shopify.com', 'help.shopify.com, email'],
  squarespace: ['squarespace.com squarespace-mail.com', 'support.squarespace.com'],
  wix: ['wixemails.com ascendbywix.com wix.com', LINKS],
  netsuite: ['netsuite.com', HOSTS],
  resend: ['resend.com resend.dev', 'resend.com/docs'],
  mailtrap: ['mailtrap.io mailtrap.live', 'docs.mailtrap.io'],
  mailchannels: ['mailchannels.net', MAIL],
  mimecast: ['mimecast.com mimecast.co.za', MAIL],
  proofpoint: ['pphosted.com ppe-hosted.com', MAIL],
  barracuda: [
    'barracuda.com barracudanetworks.com cudaops.com',
    'hosts below ess.aws.cudaops.com behind outbound-ip*.ess.barracuda.com, and in X-BESS fields, in headers of public mailing lists',
  ],
  cisco: ['iphmx.com', REPORTS],
  symantec: ['messagelabs.com', MAIL],
  sophos: ['hydra.sophos.com reflexion.net', MAIL],
  hornetsecurity: ['hornetsecurity.com antispameurope.com', MAIL],
  spamexperts: ['antispamcloud.com spamexperts.com', MAIL],
  trendmicro: ['trendmicro.com trendmicro.eu', HOSTS],
  forcepoint: ['mailcontrol.com', MAIL],
  improvmx: ['improvmx.com', 'improvmx.com/guides'],
  forwardemail: ['forwardemail.net', 'forwardemail.net/faq'],
  simplelogin: ['simplelogin.co', 'simplelogin.io/docs'],
  cloudflare: ['mx.cloudflare.net email.cloudflare.net', 'developers.cloudflare.com/email-routing/postmaster'],
}

type Other = readonly [id: string, name: string, domains: string, source: string]
/** Services that the table of providers does not have: nothing is known about how to set them up. */
const OTHERS: readonly Other[] = [
  // Newsletters and campaigns
  ['inxmail', 'Inxmail', 'inxmail.de inxmail.com inxserver.de inxserver.com', HOSTS],
  ['rapidmail', 'rapidmail', 'rapidmail.de emailsys.net emailsys1a.net emailsys2a.net', LINKS],
  ['mailingwork', 'Mailingwork', 'mailingwork.de', HOSTS],
  ['newsletter2go', 'Newsletter2Go', 'newsletter2go.com newsletter2go.de', LINKS],
  ['klicktipp', 'KlickTipp', 'klicktipp.com klick-tipp.com', LINKS],
  ['optimizely', 'Optimizely Campaign', 'broadmail.de optivo.net', LINKS],
  ['emarsys', 'Emarsys', 'emarsys.net emarsys.com', LINKS],
  ['dotdigital', 'Dotdigital', 'dotmailer.com dotdigital.com dmtrk.net trackedlink.net', LINKS],
  ['sarbacane', 'Sarbacane', 'sarbacane.com', HOSTS],
  ['tipimail', 'Tipimail', 'tipimail.com', HOSTS],
  ['copernica', 'Copernica', 'copernica.com copernica.net', HOSTS],
  ['spotler', 'Spotler', 'mailplus.nl spotler.com spotlermail.com', LINKS],
  ['tripolis', 'Tripolis', 'tripolis.com', HOSTS],
  ['laposta', 'Laposta', 'laposta.nl email-provider.nl email-provider.eu', LINKS],
  ['flowmailer', 'Flowmailer', 'flowmailer.net', LINKS],
  ['flexmail', 'Flexmail', 'flexmail.eu', HOSTS],
  ['mailcampaigns', 'MailCampaigns', 'mailcampaigns.nl', LINKS],
  ['apsis', 'Apsis', 'anpdm.com apsis1.com', MAIL],
  ['rule', 'Rule', 'rule.se rulemailer.com', HOSTS],
  ['getanewsletter', 'Get a Newsletter', 'getanewsletter.com', HOSTS],
  ['mailkit', 'Mailkit', 'mailkit.eu mailkit.com', HOSTS],
  ['ecomail', 'Ecomail', 'ecomail.cz ecomailapp.cz', HOSTS],
  ['smartemailing', 'SmartEmailing', 'smartemailing.cz', HOSTS],
  ['freshmail', 'FreshMail', 'freshmail.pl freshmail.com freshmail.io', HOSTS],
  ['salesmanago', 'SALESmanago', 'salesmanago.com salesmanago.pl', HOSTS],
  ['unisender', 'UniSender', `unisender.com usndr.com ${numbered('us', 1, 10, '-usndr.com')}`, MAIL],
  ['esputnik', 'eSputnik', 'esputnik.com', HOSTS],
  ['mailrelay', 'Mailrelay', 'ip-zone.com mailrelay.com', LINKS],
  ['egoi', 'E-goi', 'e-goi.com egoiapp.com', HOSTS],
  ['doppler', 'Doppler', 'fromdoppler.com', HOSTS],
  ['moosend', 'Moosend', 'moosend.com', HOSTS],
  ['drip', 'Drip', 'getdrip.com drip.com', LINKS],
  ['ontraport', 'Ontraport', 'ontraport.com', LINKS],
  ['keap', 'Keap', 'infusionmail.com infusionsoft.com keap.com', LINKS],
  ['eloqua', 'Oracle Eloqua', 'en25.com eloqua.com', LINKS],
  ['responsys', 'Oracle Responsys', 'responsys.net rsys.net', HOSTS],
  ['bronto', 'Bronto', 'bm23.com bronto.com', LINKS],
  ['adobe-campaign', 'Adobe Campaign', 'neolane.net campaign.adobe.com', HOSTS],
  ['silverpop', 'Acoustic Campaign', 'silverpop.com', HOSTS],
  ['blueshift', 'Blueshift', 'getblueshift.com', HOSTS],
  ['braze', 'Braze', 'braze.com appboy.com', HOSTS],
  ['sailthru', 'Sailthru', 'sailthru.com', HOSTS],
  ['beehiiv', 'beehiiv', 'beehiiv.com', LINKS],
  ['substack', 'Substack', 'substack.com', LINKS],
  ['buttondown', 'Buttondown', 'buttondown.email', LINKS],
  ['loops', 'Loops', 'loops.so', HOSTS],
  // Customers, tickets, forms
  ['pipedrive', 'Pipedrive', 'pipedrive.com pipedriveemail.com', HOSTS],
  ['gorgias', 'Gorgias', 'gorgias.com gorgias.io', LINKS],
  ['front', 'Front', 'frontapp.com', HOSTS],
  ['servicenow', 'ServiceNow', 'service-now.com', HOSTS],
  ['qualtrics', 'Qualtrics', 'qualtrics.com qualtrics-survey.com', LINKS],
  ['surveymonkey', 'SurveyMonkey', 'surveymonkey.com surveymonkeyuser.com', LINKS],
  ['eventbrite', 'Eventbrite', 'eventbrite.com eventbritemail.com', LINKS],
  ['cvent', 'Cvent', 'cvent.com cvent-planner.com', HOSTS],
  ['docusign', 'DocuSign', 'docusign.net docusign.com', HOSTS],
  ['workday', 'Workday', 'myworkday.com workday.com', HOSTS],
  ['successfactors', 'SAP SuccessFactors', 'successfactors.com successfactors.eu sapsf.com', HOSTS],
  ['greenhouse', 'Greenhouse', 'greenhouse.io greenhouse-mail.io', HOSTS],
  // Accounts and shops
  ['stripe', 'Stripe', 'stripe.com', HOSTS],
  ['intuit', 'Intuit QuickBooks', 'intuit.com', HOSTS],
  ['xero', 'Xero', 'xero.com', HOSTS],
  ['datev', 'DATEV', 'datev.de datevnet.de', HOSTS],
  ['trustpilot', 'Trustpilot', 'trustpilotmail.com trustpilot.com', HOSTS],
  ['bigcommerce', 'BigCommerce', 'bigcommerce.com', HOSTS],
  // What stands before or behind a mail server
  ['exclaimer', 'Exclaimer', 'exclaimer.net', HOSTS],
  ['codetwo', 'CodeTwo', 'codetwo.online', HOSTS],
  ['nospamproxy', 'NoSpamProxy', 'nospamproxy.com', HOSTS],
  ['retarus', 'Retarus', 'retarus.com', HOSTS],
  ['expurgate', 'eXpurgate', 'expurgate.de expurgate.net', HOSTS],
  ['mailinblack', 'Mailinblack', 'mailinblack.com', HOSTS],
  ['spamhero', 'SpamHero', 'mxthunder.net mxthunder.com', MAIL],
  ['zix', 'Zix', 'zixmail.net zixcorp.com appriver.com arsmtp.com', HOSTS],
]

type Rented = readonly [name: string, zones: string]
/** Servers that anybody rents: a name below such a zone says nothing about who sends. By {@link HOSTS}, 2026-11. */
const RENTED: readonly Rented[] = [
  ['Amazon EC2', 'compute.amazonaws.com compute-1.amazonaws.com'],
  ['Google Cloud', 'googleusercontent.com'],
  ['Microsoft Azure', 'cloudapp.azure.com cloudapp.net'],
  ['Oracle Cloud', 'oraclecloud.com'],
  ['Hetzner', 'clients.your-server.de'],
  ['Contabo', 'contaboserver.net contabo.host'],
  ['OVH', 'ovh.net ovh.ca'],
  ['Linode', 'members.linode.com ip.linodeusercontent.com'],
  ['Vultr', 'vultrusercontent.com vultr.com'],
  ['Scaleway', 'poneytelecom.eu scaleway.com instances.scw.cloud'],
  ['Strato', 'stratoserver.net'],
  ['IONOS', 'onlinehome-server.info onlinehome-server.com online-server.cloud'],
  ['netcup', 'yourvserver.net supersrv.de ultrasrv.de quicksrv.de hotsrv.de bestsrv.de happysrv.de megasrv.de'],
  ['GoDaddy', 'ip.secureserver.net host.secureserver.net'],
  ['Leaseweb', 'leaseweb.com leaseweb.net'],
  ['ColoCrossing', 'colocrossing.com'],
  ['Hostwinds', 'hostwindsdns.com'],
  ['Huawei Cloud', 'hwclouds-dns.com'],
]

/** `emsd1.com emsd2.com …` */
function numbered(name: string, from: number, to: number, end = '.com'): string {
  return Array.from({ length: to - from + 1 }, (_, i) => `${name}${from + i}${end}`).join(' ')
}

/** All services whose mail is recognized, and the domains by which. */
export const SENDERS: readonly (readonly [service: Provider, domains: string])[] = [
  ...PROVIDERS.map((one) => [one, OF_PROVIDERS[one.id]?.[0] ?? ''] as const),
  ...OTHERS.map(([id, name, domains, seen]) => [rows('sender', [{ id, name, seen }])[0]!, domains] as const),
]

const BY_DOMAIN = patternsOf(SENDERS)
type HostOf = { readonly service: Provider } | { readonly rentedFrom: string }
/** The MX hosts of most providers send, too. */
const BY_HOST = new Map<string, HostOf>([
  ...PROVIDERS.flatMap((service) => service.mx.map((pattern) => [pattern, { service }] as const)),
  ...[...BY_DOMAIN].map(([pattern, service]) => [pattern, { service }] as const),
  ...[...patternsOf(RENTED)].map(([pattern, name]) => [pattern, { rentedFrom: name }] as const),
])

function patternsOf<T>(list: readonly (readonly [T, string])[]): ReadonlyMap<string, T> {
  const patterns = list.flatMap(([one, domains]) =>
    domains
      .split(' ')
      .filter(Boolean)
      .map((domain) => [domain.startsWith('=') ? domain.slice(1) : `.${domain}`, one] as const),
  )
  return new Map(patterns)
}

/** The service that signs with this domain in its own name, or has this return path. */
export const providerOfSignature = (domain: string): Provider | undefined => find(BY_DOMAIN, domain)

/** The service that sends from a host of this name, or who rents the host to anybody. */
export const ownerOfHost = (host: string): HostOf | undefined => find(BY_HOST, host)

/** It has mailboxes for anybody, below its own domains: its mail as another domain is forwarded, or is not the domain's. */
export const isConsumer = (provider: Provider): boolean => CONSUMER.includes(provider)

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
function find<T>(patterns: ReadonlyMap<string, T>, name: string): T | undefined {
  if (name.length > 253) return undefined
  const exact = patterns.get(name) ?? patterns.get(`.${name}`)
  if (exact) return exact
  for (let at = name.indexOf('.'); at >= 0; at = name.indexOf('.', at + 1)) {
    const found = patterns.get(name.slice(at))
    if (found) return found
  }
  return undefined
}
