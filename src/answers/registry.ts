import { blacklistAnswer, blacklistBulkAnswer } from './blacklist.ts'
import { blacklistsAnswer } from './blacklists.ts'
import { changesAnswer } from './changes.ts'
import { checkAnswer } from './check.ts'
import { doctorAnswer } from './doctor.ts'
import { expectAnswer } from './expect.ts'
import { forgetAnswer } from './forget.ts'
import { geoAnswer } from './geo.ts'
import { healthAnswer } from './health.ts'
import { jobAnswer, jobBadRowsAnswer, jobListAnswer, jobResultsAnswer } from './jobs.ts'
import {
  badgeAnswer,
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
import { poolAnswer } from './pool.ts'
import { probeAnswer } from './probe.ts'
import { dkimAnswer, dmarcAnswer, spfAnswer } from './questions.ts'
import { readyAnswer } from './ready.ts'
import { reportAnswer } from './report.ts'
import { historyAnswer, storedAnswer, storedEntry } from './stored.ts'
import { verifyAnswer } from './verify.ts'
import { deliveryAnswer, deliveryListAnswer, webhookAnswer, webhookListAnswer } from './webhooks.ts'
import { whatIfAnswer } from './what-if.ts'

/**
 * The schema of every answer by the name of its operation, without the operations themselves: for clients and pages, which read the answers of a service with
 * `readOpen` (read-answer.ts).
 */
export const ANSWERS = {
  health: healthAnswer,
  ready: readyAnswer,
  check: checkAnswer,
  'what-if': whatIfAnswer,
  expect: expectAnswer,
  probe: probeAnswer,
  verify: verifyAnswer,
  blacklist: blacklistAnswer,
  'blacklist-bulk': blacklistBulkAnswer,
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
  'monitors delete': monitorAnswer,
  'monitors run': monitorRunAnswer,
  'monitors test': monitorTestAnswer,
  'monitors history': monitorHistoryAnswer,
  'monitors changes': monitorChangesAnswer,
  'webhooks create': webhookAnswer,
  'webhooks list': webhookListAnswer,
  'webhooks show': webhookAnswer,
  'webhooks change': webhookAnswer,
  'webhooks rotate': webhookAnswer,
  'webhooks delete': webhookAnswer,
  'webhooks deliveries': deliveryListAnswer,
  'webhooks replay': deliveryAnswer,
  badge: badgeAnswer,
  unsubscribe: unsubscribeAnswer,
  'unsubscribe-page': unsubscribeQuestion,
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
