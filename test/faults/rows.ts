import type { OPERATIONS } from '../../src/operations/registry.ts'
import {
  blacklistJudge,
  checkJudge,
  doctorJudge,
  type Judge,
  listOf,
  sameJudge,
  sectionJudge,
  spfJudge,
  verifyJudge,
} from './honest.ts'
import { CLEAN, LISTED } from './setting.ts'

/** One question, and what may be said of it while something fails. */
export type Row = {
  readonly operation: keyof typeof OPERATIONS
  readonly input: Readonly<Record<string, unknown>>
  readonly judge: Judge
  /** Asks a great deal: `npm test` tries fewer calls of it. */
  readonly isHeavy?: true
  /** Asked before, without a fault. */
  readonly before?: Pick<Row, 'operation' | 'input'>
}

const row = (operation: Row['operation'], input: Row['input'], judge: Judge): Row => ({ operation, input, judge })

const heavy = (one: Row): Row => ({ ...one, isHeavy: true })

/** Findings that tell what could not be determined. */
export const TOLD: ReadonlySet<string> = new Set([
  'dane.unanswered',
  'dkim.none_found',
  'dkim.not_asked',
  'dmarc.report_unknown',
  'dmarc.walk_gap',
  'mta_sts.mx_unknown',
  'mta_sts.policy_unknown',
  'mx.family_unknown',
  'mx.host_unknown',
  'ns.no_tcp',
  'ns.silent',
  'ptr.confirmation_unknown',
  'ptr.not_asked',
  'spf.part_unknown',
  'starttls.not_heard',
])
const check = checkJudge((id) => TOLD.has(id))

const WHAT_IF = { domain: 'accept.test', records: [{ name: '_dmarc', type: 'TXT', value: 'v=DMARC1; p=reject' }] }
const NODE = { id: 'node-1', url: 'https://node-1.example', addresses: ['203.0.113.7'] }
const REGISTERED = { operation: 'peer-register', input: NODE } as const

/** Every operation that asks somebody else or keeps something, with an answer of each kind. */
export const ROWS: readonly Row[] = [
  row('check', { domain: 'healthy.test', starttls: 'true' }, check),
  row('check', { domain: 'neglected.test' }, check),
  row('check', { domain: 'parked.test' }, check),
  row('check', { domain: 'abandoned.test' }, check),
  heavy(row('report', { domain: 'listed.test' }, check)),
  row('what-if', WHAT_IF, check),
  row('verify', { email: 'user@accept.test' }, verifyJudge),
  row('verify', { email: 'nobody@accept.test' }, verifyJudge),
  row('verify', { email: 'anybody@catchall.test' }, verifyJudge),
  row('verify', { email: 'user@healthy.test', pool: 'true', trace: 'true' }, verifyJudge),
  row('verify', { email: 'user@parked.test' }, verifyJudge),
  row('verify', { email: 'user@missing.test' }, verifyJudge),
  row('verify', { email: 'user@nodata.test' }, verifyJudge),
  row('blacklist', { ip: CLEAN }, blacklistJudge),
  row('blacklist', { ip: LISTED }, blacklistJudge),
  row('blacklist-bulk', { ips: [CLEAN, LISTED] }, (plain, seen, lasting) =>
    listOf(seen.data).flatMap((one) =>
      blacklistJudge(listOf(plain.data).find(({ ip }) => ip === one.ip) ?? {}, one, lasting),
    ),
  ),
  row('spf', { ip: '45.53.8.1', sender: 'joe@healthy.test' }, spfJudge),
  row('spf', { ip: '45.53.5.27', sender: 'joe@healthy.test' }, spfJudge),
  row('spf', { ip: '45.53.8.1', sender: 'joe@manylookups.test' }, spfJudge),
  row('spf', { ip: '45.53.8.1', sender: 'joe@abandoned.test' }, spfJudge),
  row('dkim', { domain: 'healthy.test', selector: 's1' }, sectionJudge),
  row('dkim', { domain: 'healthy.test', selector: 'none' }, sectionJudge),
  row('dmarc', { domain: 'healthy.test' }, sectionJudge),
  row('dmarc', { domain: 'abandoned.test' }, sectionJudge),
  row('dmarc', { domain: 'mail.accept.test' }, sectionJudge),
  heavy(row('doctor', {}, doctorJudge)),
  heavy(row('pool', {}, () => [])),
  heavy(row('pool-reload', {}, () => [])),
  heavy(row('blacklists', {}, () => [])),
  row('geo', { ip: '8.8.8.8' }, sameJudge),
  { ...REGISTERED, judge: sameJudge },
  { ...row('peer-heartbeat', { id: 'node-1' }, sameJudge), before: REGISTERED },
  { ...row('peers', {}, sameJudge), before: REGISTERED },
  row('ready', {}, () => []),
  row('health', {}, sameJudge),
]
