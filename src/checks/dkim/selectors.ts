/** Who signs with which selectors, and how it is recognised: by the MX hosts (`.host` matches what ends in it) or by an SPF include. */
type Signer = {
  readonly name: string
  readonly mx?: readonly string[]
  readonly includes?: readonly string[]
  readonly selectors: readonly string[]
  /** Its selectors are made of random characters, so that they cannot be guessed. */
  readonly unguessable?: boolean
}

/** Facts from the signers' own set-up pages. */
const SIGNERS: readonly Signer[] = [
  {
    name: 'Google Workspace',
    mx: ['.google.com', '.googlemail.com'],
    includes: ['_spf.google.com'],
    selectors: ['google', '20230601', '20221208', '20210112', '20161025'],
  },
  {
    name: 'Microsoft 365',
    mx: ['.mail.protection.outlook.com'],
    includes: ['spf.protection.outlook.com'],
    selectors: ['selector1', 'selector2'],
  },
  {
    name: 'Zoho',
    mx: ['.zoho.com', '.zoho.eu', '.zoho.in', '.zoho.com.au', '.zoho.com.cn', '.zoho.jp', '.zoho.sa', '.zohocloud.ca'],
    includes: ['zoho.com', 'zohomail.com', 'zoho.eu', 'zohomail.eu', 'zoho.in', 'zohomail.in'],
    selectors: ['zoho', 'zmail', 'zohomail'],
  },
  { name: 'Amazon SES', mx: ['.amazonaws.com'], includes: ['amazonses.com'], selectors: [], unguessable: true },
  { name: 'SendGrid', includes: ['sendgrid.net'], selectors: ['s1', 's2', 'smtpapi'] },
  { name: 'Mailchimp', includes: ['servers.mcsv.net'], selectors: ['k1', 'k2', 'k3'] },
  { name: 'Mandrill', includes: ['spf.mandrillapp.com'], selectors: ['mandrill', 'mte1', 'mte2'] },
  {
    name: 'Mailgun',
    mx: ['.mailgun.org'],
    includes: ['mailgun.org', 'eu.mailgun.org'],
    selectors: ['k1', 'mx', 'pic', 'smtp', 'mailo'],
  },
  {
    name: 'Fastmail',
    mx: ['.messagingengine.com'],
    includes: ['spf.messagingengine.com'],
    selectors: ['fm1', 'fm2', 'fm3', 'mesmtp'],
  },
  {
    name: 'Proton',
    mx: ['.protonmail.ch'],
    includes: ['_spf.protonmail.ch'],
    selectors: ['protonmail', 'protonmail2', 'protonmail3'],
  },
  {
    name: 'Proofpoint',
    mx: ['.pphosted.com', '.ppe-hosted.com'],
    includes: ['spf.protection.proofpoint.com'],
    selectors: ['selector1', 'selector2', 'pp', 'ppk1'],
  },
  {
    name: 'Mimecast',
    mx: ['.mimecast.com'],
    includes: ['_netblocks.mimecast.com', 'eu._netblocks.mimecast.com', 'us._netblocks.mimecast.com'],
    selectors: ['mimecast'],
    unguessable: true,
  },
  { name: 'iCloud', mx: ['.mail.icloud.com'], includes: ['icloud.com'], selectors: ['sig1'] },
  {
    name: 'Yandex',
    mx: ['mx.yandex.net', 'mx.yandex.ru', 'mx.yandex.com'],
    includes: ['_spf.yandex.net'],
    selectors: ['mail'],
  },
  { name: 'OVH', mx: ['.mail.ovh.net'], includes: ['mx.ovh.com'], selectors: ['ovhmo-selector-1', 'ovhmo-selector-2'] },
  { name: 'Postmark', includes: ['spf.mtasv.net'], selectors: ['pm'], unguessable: true },
  { name: 'Brevo', includes: ['spf.brevo.com', 'spf.sendinblue.com'], selectors: ['mail', 'brevo1', 'brevo2'] },
  { name: 'Klaviyo', includes: ['_spf.klaviyo.com', 'klaviyomail.com'], selectors: ['kl', 'kl2'] },
  { name: 'Zendesk', includes: ['mail.zendesk.com'], selectors: ['zendesk1', 'zendesk2'] },
  { name: 'HubSpot', includes: ['hubspotemail.net'], selectors: ['hs1', 'hs2'], unguessable: true },
  { name: 'Mailjet', includes: ['spf.mailjet.com'], selectors: ['mailjet'] },
  {
    name: 'SparkPost',
    includes: ['sparkpostmail.com', '_netblocks.sparkpostmail.com'],
    selectors: ['scph0920', 'scph1122', 'scph0819'],
    unguessable: true,
  },
  { name: 'Migadu', mx: ['.migadu.com'], includes: ['spf.migadu.com'], selectors: ['key1', 'key2', 'key3'] },
  { name: 'Salesforce', includes: ['_spf.salesforce.com'], selectors: ['sf1', 'sf2'] },
  {
    name: 'Hostinger',
    mx: ['.hostinger.com'],
    includes: ['_spf.mail.hostinger.com'],
    selectors: ['hostingermail-a', 'hostingermail-b', 'hostingermail-c'],
  },
  {
    name: 'IONOS',
    mx: ['.ionos.com', '.kundenserver.de', '.ionos.de', '.ionos.co.uk'],
    includes: ['_spf.perfora.net', '_spf.kundenserver.de'],
    selectors: ['s1-ionos', 's2-ionos', 's42582890'],
  },
  { name: 'Titan', mx: ['.titan.email'], includes: ['spf.titan.email'], selectors: ['titan1'] },
  { name: 'Tuta', mx: ['mail.tutanota.de'], includes: ['spf.tutanota.de'], selectors: ['s1', 's2'] },
  {
    name: 'Mailbox.org',
    mx: ['.mailbox.org'],
    includes: ['mailbox.org'],
    selectors: ['mbo0001', 'mbo0002', 'mbo0003', 'mbo0004'],
  },
]

/** Selectors that own servers and many set-up guides use, the most common first; dates come from the clock. */
const GENERAL = [
  'default',
  'mail',
  'dkim',
  'selector1',
  'selector2',
  'google',
  's1',
  's2',
  'k1',
  'k2',
  'key1',
  'mx',
  'smtp',
  'dkim1',
  'email',
  'sig1',
  'selector',
  'ed25519',
  'rsa',
  's2048',
  's1024',
  'main',
  'server',
  'm1',
  'modoboa',
  'mxvault',
  'stalwart',
  'beta',
] as const

export type Inferred = {
  readonly signers: readonly string[]
  readonly selectors: readonly string[]
  readonly unguessable: readonly string[]
}

/** The signers that the MX hosts and the SPF record speak of, and their selectors. */
export function inferSelectors(seen: { readonly exchanges: readonly string[]; readonly spf: string }): Inferred {
  const terms = seen.spf.toLowerCase().slice(0, 10_000).split(/\s+/)
  // A redirect hands the whole record over, so it names the signer as an include does (RFC 7208 §6.1).
  const includes = new Set(
    terms.flatMap((term) => /^(?:[+?~-]?include:|redirect=)(.+)$/.exec(term)?.[1]?.replace(/\.$/, '') ?? []),
  )
  const signers = SIGNERS.filter(
    (signer) =>
      signer.mx?.some((host) =>
        seen.exchanges.some((exchange) => (host.startsWith('.') ? exchange.endsWith(host) : exchange === host)),
      ) || signer.includes?.some((include) => includes.has(include)),
  )
  return {
    signers: signers.map(({ name }) => name),
    selectors: [...new Set(signers.flatMap(({ selectors }) => selectors))],
    unguessable: signers.filter(({ unguessable }) => unguessable).map(({ name }) => name),
  }
}

/** The general list with the dates that mail servers and guides make selectors of: this year and the last, by itself (mox: `2026a`, `2026b`) or as the first month. */
export function generalSelectors(nowMs: number): string[] {
  const year = new Date(nowMs).getUTCFullYear()
  const dated = [year, year - 1].flatMap((one) => [`${one}`, `${one}01`, `${one}a`, `${one}b`])
  return [...GENERAL.slice(0, 16), ...dated, ...GENERAL.slice(16)]
}
