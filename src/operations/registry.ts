import type { Operation } from './operation.ts'

/**
 * Everything the product can do, by name: one line per operation, in the order of the OpenAPI document. HTTP, command
 * line and that document are generated from this table. A command loads only its own operation, because the others are
 * most of the code.
 */
export const OPERATIONS = {
  health: async () => (await import('./health.ts')).health,
  ready: async () => (await import('./health.ts')).ready,
  check: async () => (await import('./check.ts')).check,
  'what-if': async () => (await import('./what-if.ts')).whatIf,
  expect: async () => (await import('./expect.ts')).expectRecords,
  plan: async () => (await import('./plan.ts')).plan,
  'plan-setup': async () => (await import('./plan.ts')).planSetup,
  verify: async () => (await import('./verify.ts')).verify,
  blacklist: async () => (await import('./blacklist.ts')).blacklist,
  'blacklist-bulk': async () => (await import('./blacklist.ts')).blacklistBulk,
  'domain-blacklist': async () => (await import('./blacklist.ts')).domainBlacklist,
  'domain-blacklist-bulk': async () => (await import('./blacklist.ts')).domainBlacklistBulk,
  message: async () => (await import('./message/message.ts')).message,
  'message-address': async () => (await import('./message/received.ts')).messageAddress,
  'message-received': async () => (await import('./message/received.ts')).messageReceived,
  'message-events': async () => (await import('./message/received.ts')).messageEvents,
  report: async () => (await import('./report.ts')).report,
  'peer-register': async () => (await import('./peers.ts')).peerRegister,
  peers: async () => (await import('./peers.ts')).peers,
  'peer-heartbeat': async () => (await import('./peers.ts')).peerHeartbeat,
  'peer-forget': async () => (await import('./forget.ts')).peerForget,
  geo: async () => (await import('./peers.ts')).geo,
  spf: async () => (await import('./spf.ts')).spf,
  dkim: async () => (await import('./dkim.ts')).dkim,
  dmarc: async () => (await import('./dmarc.ts')).dmarc,
  blacklists: async () => (await import('./blacklist.ts')).blacklists,
  pool: async () => (await import('./pool.ts')).pool,
  'pool-reload': async () => (await import('./pool.ts')).poolReload,
  doctor: async () => (await import('./doctor.ts')).doctor,
  'saved show': async () => (await import('./stored.ts')).savedShow,
  'saved delete': async () => (await import('./stored.ts')).savedDelete,
  changes: async () => (await import('./stored.ts')).changes,
  history: async () => (await import('./stored.ts')).history,
  forget: async () => (await import('./forget.ts')).forget,
  probe: async () => (await import('./probe.ts')).probe,
  'monitors create': async () => (await import('./monitors/manage.ts')).monitorCreate,
  'monitors list': async () => (await import('./monitors/manage.ts')).monitorList,
  'monitors digest': async () => (await import('./monitors/digest.ts')).monitorsDigest,
  'monitors digest-set': async () => (await import('./monitors/digest.ts')).monitorsDigestSet,
  'monitors summary': async () => (await import('./monitors/portfolio.ts')).monitorSummary,
  'monitors import': async () => (await import('./monitors/portfolio.ts')).monitorsImport,
  'monitors change-many': async () => (await import('./monitors/portfolio.ts')).monitorsChange,
  'monitors pause-many': async () => (await import('./monitors/portfolio.ts')).monitorsPause,
  'monitors resume-many': async () => (await import('./monitors/portfolio.ts')).monitorsResume,
  'monitors run-many': async () => (await import('./monitors/portfolio.ts')).monitorsRun,
  'monitors show': async () => (await import('./monitors/manage.ts')).monitorShow,
  'monitors change': async () => (await import('./monitors/manage.ts')).monitorChange,
  'monitors pause': async () => (await import('./monitors/manage.ts')).monitorPause,
  'monitors resume': async () => (await import('./monitors/manage.ts')).monitorResume,
  'monitors delete': async () => (await import('./monitors/manage.ts')).monitorDelete,
  'monitors run': async () => (await import('./monitors/manage.ts')).monitorRun,
  'monitors test': async () => (await import('./monitors/manage.ts')).monitorTest,
  'monitors history': async () => (await import('./monitors/manage.ts')).monitorHistory,
  'monitors changes': async () => (await import('./monitors/manage.ts')).monitorChanges,
  'accepted create': async () => (await import('./monitors/accepted.ts')).acceptedCreate,
  'accepted list': async () => (await import('./monitors/accepted.ts')).acceptedList,
  'accepted delete': async () => (await import('./monitors/accepted.ts')).acceptedDelete,
  'webhooks create': async () => (await import('./monitors/webhooks.ts')).webhookCreate,
  'webhooks list': async () => (await import('./monitors/webhooks.ts')).webhookList,
  'webhooks show': async () => (await import('./monitors/webhooks.ts')).webhookShow,
  'webhooks pause': async () => (await import('./monitors/webhooks.ts')).webhookPause,
  'webhooks resume': async () => (await import('./monitors/webhooks.ts')).webhookResume,
  'webhooks rotate': async () => (await import('./monitors/webhooks.ts')).webhookRotate,
  'webhooks delete': async () => (await import('./monitors/webhooks.ts')).webhookDelete,
  'webhooks deliveries': async () => (await import('./monitors/webhooks.ts')).webhookDeliveries,
  'webhooks replay': async () => (await import('./monitors/webhooks.ts')).webhookReplay,
  badge: async () => (await import('./monitors/open.ts')).badge,
  unsubscribe: async () => (await import('./monitors/open.ts')).unsubscribe,
  'unsubscribe-page': async () => (await import('./monitors/open.ts')).unsubscribePage,
  consent: async () => (await import('./monitors/open.ts')).consent,
  'consent-page': async () => (await import('./monitors/open.ts')).consentPage,
  'reports import': async () => (await import('./reports/import.ts')).reportsImport,
  'reports show': async () => (await import('./reports/show.ts')).reportsShow,
  'reports domains': async () => (await import('./reports/show.ts')).reportsDomains,
  'reports senders': async () => (await import('./reports/senders.ts')).reportsSenders,
  'reports providers': async () => (await import('./reports/providers.ts')).reportsProviders,
  'reports mine': async () => (await import('./reports/senders.ts')).reportsMine,
  'reports tls': async () => (await import('./reports/tls.ts')).reportsTls,
  'reports policy': async () => (await import('./reports/policy.ts')).reportsPolicy,
  'reports rows': async () => (await import('./reports/rows.ts')).reportsRows,
  'jobs submit': async () => (await import('./jobs/submit.ts')).jobSubmit,
  'jobs upload': async () => (await import('./jobs/submit.ts')).jobUpload,
  'jobs list': async () => (await import('./jobs/show.ts')).jobList,
  'jobs show': async () => (await import('./jobs/show.ts')).jobShow,
  'jobs events': async () => (await import('./jobs/show.ts')).jobEvents,
  'jobs results': async () => (await import('./jobs/results.ts')).jobResults,
  'jobs bad-rows': async () => (await import('./jobs/results.ts')).jobBadRows,
  'jobs pause': async () => (await import('./jobs/show.ts')).jobPause,
  'jobs resume': async () => (await import('./jobs/show.ts')).jobResume,
  'jobs cancel': async () => (await import('./jobs/show.ts')).jobCancel,
  'jobs delete': async () => (await import('./jobs/show.ts')).jobDelete,
} as const satisfies Readonly<Record<string, () => Promise<Operation>>>

type OperationName = keyof typeof OPERATIONS

/** All of them, loaded. */
export const allOperations = (): Promise<readonly Operation[]> =>
  Promise.all(Object.values(OPERATIONS).map((load) => load()))

/** Operations without a command of their own, by the command that has their flags (their `partOf`). */
export const PARTS: Readonly<Partial<Record<OperationName, readonly OperationName[]>>> = {
  check: ['what-if', 'expect'],
  plan: ['plan-setup'],
  unsubscribe: ['unsubscribe-page'],
  consent: ['consent-page'],
}

/**
 * The operations that a command line needs: the one that its first word names and those of its flags, or all operations
 * that begin with the word. Undefined if there is no such command.
 */
export async function commandNamed(name: string): Promise<readonly Operation[] | undefined> {
  const below = Object.entries(OPERATIONS).filter(([one]) => one.startsWith(`${name} `))
  if (below.length > 0) return Promise.all(below.map(([, load]) => load()))
  if (!isOperationName(name) || Object.values(PARTS).some((parts) => parts.includes(name))) return undefined
  return Promise.all([name, ...(PARTS[name] ?? [])].map((one) => OPERATIONS[one]()))
}

const isOperationName = (name: string): name is OperationName => Object.hasOwn(OPERATIONS, name)
