import { PROVIDERS, type Provider } from '../providers/index.ts'
import type { Texts } from './doc-search.ts'

/** A symptom: what people see, what is behind it, and where it is mended. */
type Symptom = {
  readonly title: string
  /** What people type who see it. */
  readonly also: string
  readonly why: string
  readonly steps: readonly string[]
}

const SYMPTOMS: Readonly<Record<string, Symptom>> = {
  spam: {
    title: 'My mail lands in spam',
    also: 'junk folder, not in the inbox',
    why: 'Receivers could not tie the mail to your domain, or distrust the address that sent it.',
    steps: [
      'Send a message to a [one-time address](../message.md#one-time-addresses), or paste one that was received: its first lines name the cause.',
      'Check the domain: [SPF](../checks/spf.md) must name who sends, [DKIM](../checks/dkim.md) must sign, [DMARC](../checks/dmarc.md) must align with one of them.',
      'Check the address that sends: its [PTR](../checks/ptr.md) name, and whether it is [on a blacklist](../blacklists.md).',
      'With all of this in order what is left is the content, the recipients and complaints, which nobody sees from outside.',
    ],
  },
  'mailing-list': {
    title: 'DKIM fails after a mailing list',
    also: 'forwarding through Mailman or Google Groups breaks the signature, dkim=fail body hash did not verify',
    why: 'A list that adds a footer or a subject prefix changes what was signed; SPF fails too, since the list sends from its own hosts.',
    steps: [
      'Paste the message: [the trial of the signature](../message.md#signatures) names what was added.',
      'The list rewrites From (Mailman: dmarc_moderation_action), or leaves messages as they are; ARC tells receivers what was true before.',
      'Stay at p=quarantine, or expect such mail to be refused at p=reject ([plan](../plan.md)).',
    ],
  },
  '550-5-7-515': {
    title: '550 5.7.515 Access denied (Outlook, Hotmail)',
    also: 'sending domain does not meet the required authentication level, Microsoft bulk sender rules',
    why: 'Microsoft asks large senders for SPF and DKIM that pass, and a DMARC record that aligns with one of them.',
    steps: [
      'Paste the reply at [the message page](../message.md): it says which of the three is missing.',
      'Follow the path of the domain; `profile=bulk-sender` lists [every rule](../message.md#rules-for-bulk-senders).',
    ],
  },
  '550-5-7-26': {
    title: '550 5.7.26 Unauthenticated mail (Gmail)',
    also: 'this mail is unauthenticated, Gmail requires all senders to authenticate with either SPF or DKIM',
    why: 'Neither SPF nor DKIM passed for the domain, or its DMARC policy asked for the refusal.',
    steps: [
      'Paste the reply or the bounce at [the message page](../message.md#why-did-it-come-back).',
      'Name the sending service in [SPF](../checks/spf.md), and sign with [DKIM](../checks/dkim.md) in the name of your domain.',
    ],
  },
  bounced: {
    title: 'A message came back',
    also: 'bounce, non-delivery report, NDR, DSN, undelivered mail returned to sender, why did this bounce',
    why: 'The reply of the receiving server says why: the mailbox, your address, or your domain.',
    steps: [
      'Paste the bounce, or its one line with the code, at [the message page](../message.md#why-did-it-come-back).',
      'What the codes mean, and what is temporary: [how a reply is read](../verification.md#how-a-reply-is-read).',
    ],
  },
  'too-many-lookups': {
    title: 'SPF: too many DNS lookups',
    also: 'permerror, more than 10 lookups, SPF limit, flattening',
    why: 'Receivers stop at ten lookups and then treat the record as absent (RFC 7208 §4.6.4).',
    steps: [
      'The path of the domain drops what is dead, empty or named twice ([SPF](../checks/spf.md)).',
      'What is left moves to a subdomain: a newsletter sends as news.example.org with a record of its own.',
      'Flattening to addresses breaks when the provider changes them.',
    ],
  },
  forwarding: {
    title: 'SPF fails after forwarding',
    also: 'softfail, forwarded mail, university alias, redirect',
    why: 'A forwarder sends from its own address, which your SPF record does not name.',
    steps: [
      'Sign with [DKIM](../checks/dkim.md): a signature survives forwarding, and [DMARC](../checks/dmarc.md) needs only one of the two.',
      '[Reports](../reports.md#senders) show forwarders apart from senders that need a word.',
    ],
  },
  spoofed: {
    title: 'Somebody sends spam as my domain',
    also: 'spoofing, forged mail, phishing in my name, backscatter',
    why: 'Without a DMARC policy that is enforced receivers deliver mail that fails.',
    steps: [
      'Start [DMARC](../checks/dmarc.md) with reports, name your senders, then raise the policy ([plan](../plan.md)).',
      'See [who sends as the domain](../reports.md), and [what a stricter policy would do](../reports.md#before-a-stricter-policy).',
    ],
  },
  'p-reject': {
    title: 'What happens at p=reject?',
    also: 'may I go to reject, quarantine, enforce DMARC, lose mail',
    why: 'Receivers refuse what passes neither SPF nor DKIM in the name of the domain; mail through some mailing lists is among it.',
    steps: [
      'From reports of a month: [what the policy would refuse](../reports.md#before-a-stricter-policy), by sender.',
      'Go up one step at a time ([plan](../plan.md#how-to-read-it)).',
    ],
  },
  listed: {
    title: 'My address is on a blacklist',
    also: 'blacklisted, delisting, removal from Spamhaus, blocked using zen.spamhaus.org, 554 5.7.1',
    why: 'Mail from it looked like spam to the list: a hacked account, a form, a purchased list, or the network around it.',
    steps: [
      'Enter the address: each listing has its meaning and [where to ask for removal](../blacklists.md).',
      'Find and stop the cause first; else it returns.',
      'An address of this service: [when one of your addresses is listed](../operations.md#when-one-of-your-addresses-is-listed).',
    ],
  },
  'no-mail': {
    title: 'Nobody can send mail to my domain',
    also: 'no mail arrives, MX, host not found, domain has no mail server',
    why: 'The MX record is missing, names a host without an address, or the host does not answer.',
    steps: [
      'Check the domain: [MX](../checks/mx.md) and the map "Where mail goes" show where it ends.',
      'Verify a mailbox of it: [the reply of its server](../verification.md).',
    ],
  },
  parked: {
    title: 'A domain that never sends mail',
    also: 'parked, unused, defensive registration, protect a domain without mail',
    why: 'Anybody can write as a domain that does not say that it sends nothing.',
    steps: [
      'Check the domain: its path has the three records for it: [SPF](../checks/spf.md) "v=spf1 -all", the null [MX](../checks/mx.md), and [DMARC](../checks/dmarc.md) with p=reject.',
      'Where it is not clear whether it has mail the [plan](../plan.md) asks, and shows both ways.',
    ],
  },
  'port-25': {
    title: 'Port 25 is blocked',
    also: 'cannot connect to mail servers, unreachable, connect_timeout, outbound SMTP blocked by the cloud provider',
    why: 'Many networks block outgoing connections to port 25; then no mailbox can be verified from there.',
    steps: [
      '`mailsonde doctor` tells whether it works ([before the first verification](../operations.md#before-the-first-verification)).',
      'Ask the provider to open it, use a [proxy](../operations.md#proxies) or [another node](../peers.md#verification-from-other-nodes).',
    ],
  },
  'newsletter-service': {
    title: 'May my newsletter service send as my domain?',
    also: 'Mailchimp, Brevo, Sendgrid, Hubspot authorised, add a sender',
    why: 'A service may send if it is named in SPF in the right place, or signs with a key of your domain.',
    steps: [
      'Its page under "Providers" has the records that it asks for; check the domain: "Who sends as this domain" shows what passes.',
      'Most services need DKIM alone, since their bounces go to a name of their own ([SPF](../checks/spf.md), [DKIM](../checks/dkim.md)).',
    ],
  },
  'watch-domains': {
    title: 'How do I watch 50 domains?',
    also: 'many domains, portfolio, monitoring, alerts, be told of changes',
    why: 'A monitor checks a domain regularly and tells whom you name.',
    steps: [
      'Import the list ([many domains](../monitors.md#many-domains)); filter by grade or finding.',
      'Name a receiver: [messages](../monitors.md#messages), [webhooks](../webhooks.md).',
    ],
  },
}

const ofSymptom = ({ title, also, why, steps }: Symptom): string =>
  `# ${title}\n\nAlso: ${also}.\n\n${why}\n\n${steps.map((step, i) => `${i + 1}. ${step}`).join('\n')}\n`

const KINDS: Readonly<Record<Provider['kind'], string>> = {
  mailbox: 'Hosts mailboxes and sends their mail.',
  gateway: 'Filters mail for mailboxes that are hosted elsewhere.',
  forwarder: 'Forwards mail to mailboxes elsewhere.',
  sender: 'Sends newsletters or mail of applications, and receives none.',
}

const names = (list: readonly string[]): string => list.map((one) => `\`${one.replace(/^\./, '*.')}\``).join(', ')
const filled = (text: string): string =>
  text.replaceAll('{domain}', 'example.org').replaceAll('{dashed}', 'example-org')

/** What a provider tells its customers to publish, and how it is recognized: a row of the table as a document. */
function ofProvider({ name, kind, mx, includes, spf, cnames, selectors, dkim, setup, seen }: Provider): string {
  const records = [
    ...(setup?.mx ?? []).map(([preference, host]) => `- MX at \`example.org\`: \`${preference} ${host}\``),
    ...(spf === undefined
      ? []
      : [`- SPF: \`include:${spf}\` in the one SPF record of the domain ([SPF](../checks/spf.md))`]),
    ...(setup?.ownReturnPath ? ['- SPF: nothing at the domain itself; its bounces go to another name'] : []),
    ...(setup?.cnames ?? []).map(([at, to]) => `- CNAME at \`${filled(at)}.example.org\`: \`${filled(to)}\``),
    ...(dkim === undefined ? [] : [`- DKIM: ${filled(dkim)} ([DKIM](../checks/dkim.md))`]),
  ]
  const known = [
    ...(mx.length === 0 ? [] : [`- MX hosts: ${names(mx)}`]),
    ...(includes.length === 0 ? [] : [`- includes of SPF: ${names(includes)}`]),
    ...(cnames.length === 0 ? [] : [`- aliases of DKIM keys: ${names(cnames)}`]),
    ...(selectors.length === 0 ? [] : [`- DKIM selectors: ${names(selectors)}`]),
  ]
  return `# ${name}

${KINDS[kind]}

## What to publish for ${name}

${records.length === 0 ? 'The portal of the provider shows the records of your domain.' : records.join('\n')}

Check the domain afterwards: its path has the records that are still missing, merged with those that are there.

## How ${name} is recognized

${known.length === 0 ? 'By its customers alone.' : known.join('\n')}

Source: ${setup?.source ?? seen}
`
}

/** The documents that are made of tables: a page a symptom, a page a provider. */
export const dataTexts: Texts = {
  ...Object.fromEntries(Object.entries(SYMPTOMS).map(([id, one]) => [`symptoms/${id}`, ofSymptom(one)])),
  ...Object.fromEntries(PROVIDERS.map((one) => [`providers/${one.id}`, ofProvider(one)])),
}
