import { blacklistAnswer, blacklistBulkAnswer } from './blacklist.ts'
import { blacklistsAnswer } from './blacklists.ts'
import { changesAnswer } from './changes.ts'
import { checkAnswer } from './check.ts'
import { doctorAnswer } from './doctor.ts'
import { domainBlacklistAnswer, domainBlacklistBulkAnswer } from './domain-blacklist.ts'
import { expectAnswer } from './expect.ts'
import { forgetAnswer } from './forget.ts'
import { geoAnswer } from './geo.ts'
import { healthAnswer } from './health.ts'
import { jobAnswer, jobBadRowsAnswer, jobListAnswer, jobResultsAnswer } from './jobs.ts'
import { messageAddressAnswer, messageAnswer, receivedMessageAnswer } from './message.ts'
import {
  badgeAnswer,
  consentAnswer,
  consentQuestionAnswer,
  monitorAnswer,
  monitorChangesAnswer,
  monitorHistoryAnswer,
  monitorListAnswer,
  monitorRunAnswer,
  monitorTestAnswer,
  unsubscribeAnswer,
  unsubscribeQuestion,
} from './monitors.ts'
import { heartbeatAnswer, peerAnswer, peerForgetAnswer, peersAnswer } from './peers.ts'
import { planAnswer } from './plan.ts'
import { poolAnswer } from './pool.ts'
import { probeAnswer } from './probe.ts'
import { dkimAnswer, dmarcAnswer, spfAnswer } from './questions.ts'
import { readyAnswer } from './ready.ts'
import { reportAnswer } from './report.ts'
import {
  reportRowsAnswer,
  reportSendersAnswer,
  reportsAnswer,
  reportsDomainsAnswer,
  reportsImportAnswer,
  reportsPolicyAnswer,
  reportsTlsAnswer,
} from './reports.ts'
import { historyAnswer, storedAnswer, storedEntry } from './stored.ts'
import { verifyAnswer } from './verify.ts'
import { deliveryAnswer, deliveryListAnswer, webhookAnswer, webhookListAnswer } from './webhooks.ts'
import { whatIfAnswer } from './what-if.ts'

/**
 * The schema of every answer by the name of its operation, without the operations themselves: for clients and pages,
 * which read the answers of a service with `readOpen` (read-answer.ts).
 */
export const ANSWERS = {
  health: healthAnswer,
  ready: readyAnswer,
  check: checkAnswer,
  'what-if': whatIfAnswer,
  plan: planAnswer,
  'plan-setup': planAnswer,
  expect: expectAnswer,
  message: messageAnswer,
  'message-address': messageAddressAnswer,
  'message-received': receivedMessageAnswer,
  'message-events': receivedMessageAnswer,
  probe: probeAnswer,
  verify: verifyAnswer,
  blacklist: blacklistAnswer,
  'blacklist-bulk': blacklistBulkAnswer,
  'domain-blacklist': domainBlacklistAnswer,
  'domain-blacklist-bulk': domainBlacklistBulkAnswer,
  report: reportAnswer,
  'peer-register': peerAnswer,
  peers: peersAnswer,
  'peer-heartbeat': heartbeatAnswer,
  'peer-forget': peerForgetAnswer,
  geo: geoAnswer,
  spf: spfAnswer,
  dkim: dkimAnswer,
  dmarc: dmarcAnswer,
  blacklists: blacklistsAnswer,
  pool: poolAnswer,
  'pool-reload': poolAnswer,
  doctor: doctorAnswer,
  'saved show': storedAnswer,
  'saved delete': storedEntry,
  changes: changesAnswer,
  history: historyAnswer,
  forget: forgetAnswer,
  'monitors create': monitorAnswer,
  'monitors list': monitorListAnswer,
  'monitors show': monitorAnswer,
  'monitors change': monitorAnswer,
  'monitors pause': monitorAnswer,
  'monitors resume': monitorAnswer,
  'monitors delete': monitorAnswer,
  'monitors run': monitorRunAnswer,
  'monitors test': monitorTestAnswer,
  'monitors history': monitorHistoryAnswer,
  'monitors changes': monitorChangesAnswer,
  'webhooks create': webhookAnswer,
  'webhooks list': webhookListAnswer,
  'webhooks show': webhookAnswer,
  'webhooks pause': webhookAnswer,
  'webhooks resume': webhookAnswer,
  'webhooks rotate': webhookAnswer,
  'webhooks delete': webhookAnswer,
  'webhooks deliveries': deliveryListAnswer,
  'webhooks replay': deliveryAnswer,
  badge: badgeAnswer,
  unsubscribe: unsubscribeAnswer,
  'unsubscribe-page': unsubscribeQuestion,
  consent: consentAnswer,
  'consent-page': consentQuestionAnswer,
  'reports import': reportsImportAnswer,
  'reports show': reportsAnswer,
  'reports domains': reportsDomainsAnswer,
  'reports senders': reportSendersAnswer,
  'reports tls': reportsTlsAnswer,
  'reports policy': reportsPolicyAnswer,
  'reports rows': reportRowsAnswer,
  'jobs submit': jobAnswer,
  'jobs upload': jobAnswer,
  'jobs list': jobListAnswer,
  'jobs show': jobAnswer,
  'jobs events': jobAnswer,
  'jobs results': jobResultsAnswer,
  'jobs bad-rows': jobBadRowsAnswer,
  'jobs pause': jobAnswer,
  'jobs resume': jobAnswer,
  'jobs cancel': jobAnswer,
  'jobs delete': jobAnswer,
} as const
