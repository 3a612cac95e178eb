import { acceptedAnswer } from '../../src/answers/accepted.ts'
import {
  badgeAnswer,
  monitorAnswer,
  monitorChangesAnswer,
  monitorDigestAnswer,
  monitorRunAnswer,
  monitorSummaryAnswer,
  monitorTestAnswer,
} from '../../src/answers/monitors.ts'
import { webhookAnswer } from '../../src/answers/webhooks.ts'
import type { AcceptedService } from '../../src/monitors/accepted.ts'
import type { MonitorService } from '../../src/monitors/service.ts'
import type { WebhookService } from '../../src/monitors/webhooks.ts'
import { acceptedCreate } from '../../src/operations/monitors/accepted.ts'
import { monitorsDigest } from '../../src/operations/monitors/digest.ts'
import { monitorChanges, monitorRun, monitorShow, monitorTest } from '../../src/operations/monitors/manage.ts'
import { badge } from '../../src/operations/monitors/open.ts'
import { monitorSummary } from '../../src/operations/monitors/portfolio.ts'
import { delivery, webhookCreate } from '../../src/operations/monitors/webhooks.ts'

const monitor = monitorAnswer.parse(monitorShow.example.output)
const webhook = webhookAnswer.parse(webhookCreate.example.output)

/**
 * Monitors without a database: the one of the examples, whatever is asked. A test of monitors themselves brings the
 * real service, over labDatabase.
 */
export const labMonitors: MonitorService = {
  create: async () => monitor,
  list: async () => [{ monitor, place: [-1, 1] }],
  summary: async () => monitorSummaryAnswer.parse(monitorSummary.example.output),
  changeMany: async () => 1,
  runMany: async () => 1,
  importRows: async (rows) => ({ created: rows.length, updated: 0, unchanged: 0 }),
  show: async () => monitor,
  change: async () => monitor,
  remove: async () => monitor,
  run: async () => monitorRunAnswer.parse(monitorRun.example.output),
  test: async () => monitorTestAnswer.parse(monitorTest.example.output),
  history: async () => (monitor.last ? [monitor.last] : []),
  changes: async () => monitorChangesAnswer.parse(monitorChanges.example.output).data,
  digests: {
    show: async () => monitorDigestAnswer.parse(monitorsDigest.example.output),
    set: async () => {},
  },
  badge: async () => badgeAnswer.parse(badge.example.output),
  unsubscribe: async () => {},
  forget: async () => ({ monitors: 0, receivers: 0 }),
  consent: async () => {},
  mailFault: async () => undefined,
  start: async () => {},
}

const row = {
  number: 1,
  id: webhook.id,
  owner: '',
  url: webhook.url,
  secret: '',
  old_secret: null,
  old_secret_until: null,
  state: 'on',
  reason: null,
  created_at: new Date(webhook.created_at),
}
export const labWebhooks: WebhookService = {
  ensure: async () => ({ webhook: row, secret: undefined }),
  create: async () => webhook,
  list: async () => [{ ...webhook, number: 1 }],
  show: async () => webhook,
  turn: async () => webhook,
  remove: async () => webhook,
  rotate: async () => webhook,
  deliveries: async () => [{ ...delivery, number: 1 }],
  replay: async () => delivery,
  callback: async () => ({ id: webhook.id, secret: webhook.secret }),
}

const accepted = acceptedAnswer.parse(acceptedCreate.example.output)
export const labAccepted: AcceptedService = {
  create: async () => ({ answer: accepted, isNew: true }),
  list: async () => [{ number: 1, answer: accepted }],
  remove: async () => accepted,
  ofDomain: async () => new Map(),
}
