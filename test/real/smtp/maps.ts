import { DOMAINS, type Mailbox } from '../world.ts'
import { listeners } from './listeners.ts'

/** What Postfix says of a recipient whose mailbox is in a state; sent as it stands. */
const STATES: Readonly<Record<string, string>> = {
  'full.test': '452 4.2.2 Mailbox full: user is over quota',
  'overquota.test': '552 5.2.2 Mailbox full: user is over quota',
  'disabled.test': '550 5.2.1 The email account that you tried to reach is disabled',
  'throttled.test':
    '450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages',
  'tempfail.test': '451 4.3.0 Temporary lookup failure',
}
const EVERYBODY = ['0.0.0.0/0', '::/0'] as const
const REFUSED_SOURCES = ['45.53.1.1', '2a02:53:1::1'] as const
/** Sources of which there is more than one. */
const REFUSED_NETWORKS = ['45.53.1.240/29', '2a02:53:1:240::/64'] as const
const toEverybody = (reply: string) => EVERYBODY.map((network) => `${network} ${reply}`)

/** The lookup tables of Postfix: file name to lines. */
export const maps: Readonly<Record<string, readonly string[]>> = {
  domains: listeners.filter((row) => row.domain !== 'relay.test').map((row) => `${row.domain} lab`),
  mailboxes: [
    '@catchall.test any',
    ...listeners.filter((row) => row.domain !== 'catchall.test').flatMap((row) => users(row.domain)),
  ],
  recipients: Object.entries(STATES).map(([domain, reply]) => `user@${domain} ${reply}`),
  'refused-sources': [...REFUSED_SOURCES, ...REFUSED_NETWORKS].map(
    (source) => `${source} 554 5.7.1 Service unavailable; your address in ${source} has a poor reputation`,
  ),
  overloaded: toEverybody('421 4.3.2 Service busy'),
  blocked: toEverybody('554 5.7.1 Service unavailable; Client host blocked using zen.spamhaus.org'),
  senders: ['/./ 550 5.7.1 Sender address rejected: not welcome here'],
}

function users(domain: string): string[] {
  const mailboxes: readonly Mailbox[] = DOMAINS.find((row) => row.name === domain)?.mailboxes ?? []
  const known = mailboxes.filter((row) => row.reason !== 'mailbox_not_found').map((row) => row.local)
  // The value is the path of the Maildir, where mail is kept.
  return [...new Set([...known, 'user', 'postmaster'])].map((local) => `${local}@${domain} ${local}/`)
}
