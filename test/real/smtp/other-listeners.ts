import { type Listener, listeners } from './listeners.ts'

const EXISTS = { local: 'user', code: 250, result: 'accepted', reason: 'mailbox_exists' } as const
const UNKNOWN = { local: 'nobody', code: 550, result: 'rejected', reason: 'mailbox_not_found' } as const
const ANY = (local: string) => ({ local, code: 250, result: 'catch_all', reason: 'accept_all' }) as const

/** Mail hosts of Exim 4. `eximrelay.test` is not a domain of its. */
export const eximListeners: readonly Listener[] = [
  {
    domain: 'exim.test',
    address: '45.53.5.41',
    address6: '2a02:53:5::41',
    shows: 'Exim 4 that knows its users, with STARTTLS',
    mailboxes: [EXISTS, UNKNOWN],
    certificate: 'good',
  },
  {
    domain: 'eximall.test',
    address: '45.53.5.42',
    shows: 'Exim 4 that takes any mailbox',
    mailboxes: [ANY('user'), ANY('nobody')],
    certificate: 'good',
  },
  {
    domain: 'eximrelay.test',
    address: '45.53.5.43',
    shows: 'Exim 4 that does not serve the domain',
    mailboxes: [{ local: 'user', code: 550, result: 'rejected', reason: 'relay_denied' }],
    certificate: 'good',
  },
]

/** Mail hosts of OpenSMTPD; without STARTTLS, which fails in Debian 12. */
export const openSmtpdListeners: readonly Listener[] = [
  {
    domain: 'opensmtpd.test',
    address: '45.53.5.45',
    address6: '2a02:53:5::45',
    shows: 'OpenSMTPD that knows its users',
    mailboxes: [EXISTS, { ...UNKNOWN, code: 524 }],
  },
  {
    domain: 'opensmtpdall.test',
    address: '45.53.5.46',
    shows: 'OpenSMTPD that takes any mailbox',
    mailboxes: [ANY('user'), ANY('nobody')],
  },
]

/** Every mail host that is a real server. */
export const mailServers: readonly Listener[] = [...listeners, ...eximListeners, ...openSmtpdListeners]
