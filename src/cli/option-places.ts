import type { OptionKey } from '../config-options.ts'
import type { DepName } from '../operations/deps.ts'

/** Headings of options, in order. */
export const OPTION_GROUPS = {
  listening: 'Listening',
  access: 'Access and limits',
  network: 'DNS and networks',
  mailbox: 'Verification',
  lists: 'Blacklists and location data',
  nodes: 'Nodes',
  data: 'Storage',
  messages: 'Notifications',
  analysis: 'Messages to analyse',
  reports: 'DMARC and TLS reports',
  log: 'Log',
} as const
type OptionGroup = keyof typeof OPTION_GROUPS

/**
 * Where an option applies: to the service only, or also to commands whose operation uses one of these; undefined:
 * everywhere.
 */
type Place = { readonly group: OptionGroup; readonly usedBy?: 'serve' | readonly DepName[] }

const MAIL: readonly DepName[] = ['verifier', 'sourcePool', 'heloName', 'jobs']
const SOURCES: readonly DepName[] = ['verifier', 'sourcePool', 'jobs']
const LISTS: readonly DepName[] = ['blacklists', 'verifier', 'sourcePool', 'jobs']

const DATABASE: readonly DepName[] = ['jobs', 'stored', 'monitors', 'webhooks']

const PLACES: Readonly<Partial<Record<OptionKey, Place>>> = {
  port: { group: 'listening', usedBy: 'serve' },
  host: { group: 'listening', usedBy: 'serve' },
  hostNames: { group: 'listening', usedBy: 'serve' },
  corsOrigins: { group: 'listening', usedBy: 'serve' },
  apiKeys: { group: 'access', usedBy: 'serve' },
  apiKeysFile: { group: 'access', usedBy: 'serve' },
  insecureNoAuth: { group: 'access', usedBy: 'serve' },
  rate: { group: 'access', usedBy: 'serve' },
  maxConcurrency: { group: 'access', usedBy: 'serve' },
  maxConnections: { group: 'access', usedBy: 'serve' },
  resolvers: { group: 'network' },
  trustAd: { group: 'network' },
  allowNetworks: { group: 'network' },
  noCourtesy: { group: 'network' },
  smtpPort: { group: 'mailbox', usedBy: [...MAIL, 'smtpPort'] },
  helo: { group: 'mailbox', usedBy: MAIL },
  mailFrom: { group: 'mailbox', usedBy: ['verifier', 'jobs'] },
  pool: { group: 'mailbox', usedBy: SOURCES },
  poolAttempts: { group: 'mailbox', usedBy: ['verifier', 'jobs'] },
  deny: { group: 'mailbox', usedBy: ['verifier', 'jobs'] },
  dnsblLists: { group: 'lists', usedBy: LISTS },
  dqsKey: { group: 'lists', usedBy: LISTS },
  spamratsKey: { group: 'lists', usedBy: LISTS },
  geoDbs: { group: 'lists', usedBy: ['geo', 'peers'] },
  join: { group: 'nodes', usedBy: 'serve' },
  peerSecret: { group: 'nodes', usedBy: ['peers'] },
  nodeId: { group: 'nodes', usedBy: ['peers'] },
  nodeUrl: { group: 'nodes', usedBy: ['peers'] },
  region: { group: 'nodes', usedBy: 'serve' },
  peerTtl: { group: 'nodes', usedBy: 'serve' },
  databaseUrl: { group: 'data', usedBy: DATABASE },
  dbUser: { group: 'data', usedBy: DATABASE },
  smtpUrl: { group: 'messages', usedBy: ['monitors'] },
  notifyFrom: { group: 'messages', usedBy: ['monitors'] },
  mailRecipients: { group: 'messages', usedBy: ['monitors'] },
  mailRate: { group: 'messages', usedBy: ['monitors'] },
  publicUrl: { group: 'messages', usedBy: ['monitors'] },
  maxUpload: { group: 'data', usedBy: ['jobs'] },
  minUploadRate: { group: 'access', usedBy: 'serve' },
  maxRows: { group: 'data', usedBy: ['jobs'] },
  maxOpenRows: { group: 'data', usedBy: ['jobs'] },
  maxKeyStorage: { group: 'data', usedBy: ['jobs'] },
  maxStorage: { group: 'data', usedBy: ['jobs'] },
  minFreeDisk: { group: 'data', usedBy: ['jobs'] },
  messagesListen: { group: 'analysis', usedBy: 'serve' },
  messagesDomain: { group: 'analysis', usedBy: 'serve' },
  messagesCert: { group: 'analysis', usedBy: 'serve' },
  messagesKey: { group: 'analysis', usedBy: 'serve' },
  maxMessage: { group: 'analysis', usedBy: ['messages'] },
  maxReport: { group: 'reports', usedBy: ['reports'] },
  reportsKeep: { group: 'reports', usedBy: ['reports'] },
  reportsDomains: { group: 'reports', usedBy: ['reports'] },
  reportsTrust: { group: 'reports', usedBy: ['reports'] },
  reportsLmtp: { group: 'reports', usedBy: 'serve' },
  reportsImap: { group: 'reports', usedBy: 'serve' },
  reportsImapPassword: { group: 'reports', usedBy: 'serve' },
  reportsImapPasswordFile: { group: 'reports', usedBy: 'serve' },
  dataDir: { group: 'data' },
  logLevel: { group: 'log' },
  logFormat: { group: 'log' },
  logAddresses: { group: 'log' },
}

const isPlaced = (key: string): key is keyof typeof PLACES => Object.hasOwn(PLACES, key)

/** Where an option applies, by its key in the configuration; options that are not listed apply everywhere. */
export const placeOf = (key: string): Place => (isPlaced(key) && PLACES[key]) || { group: 'network' }

/** Whether an option applies to an operation. */
export function concerns(key: string, uses: readonly DepName[]): boolean {
  const { usedBy } = placeOf(key)
  return usedBy === undefined || (usedBy !== 'serve' && usedBy.some((name) => uses.includes(name)))
}
