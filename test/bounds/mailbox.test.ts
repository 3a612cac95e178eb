import { answerCache } from '../../src/mailbox/answer-cache.ts'
import { planOf } from '../../src/mailbox/attempt/state.ts'
import { tryNode } from '../../src/mailbox/attempt/try-node.ts'
import { answerOf } from '../../src/mailbox/compose-answer.ts'
import { retryAfter } from '../../src/mailbox/reply/delay.ts'
import { markReply } from '../../src/mailbox/reply/marks.ts'
import { askOnce } from '../../src/mailbox/shared-question.ts'
import { roleOf } from '../../src/mailbox/side-data/role.ts'
import { applyEvent, newSourceState } from '../../src/mailbox/source/circuit-breaker.ts'
import { identity } from '../../src/mailbox/source/helo.ts'
import { sourcePool } from '../../src/mailbox/source/pool.ts'
import { port25Monitor } from '../../src/mailbox/source/port25.ts'
import { sources } from '../../src/mailbox/source/sources.ts'
import type { MailboxAnswer } from '../../src/mailbox/verification.ts'
import { ip } from '../../src/names/ip.ts'
import { nodeName } from '../../src/names/source.ts'
import type { Stage } from '../../src/net/smtp/reply.ts'
import { labProxies, labSource } from '../lab/app.ts'
import type { LabZone } from '../lab/dns.ts'
import { labCtx, labWorld } from '../lab/world.ts'
import { testBounds, text, times } from './table.ts'

const forever = new AbortController().signal
/** An answer that is kept, with one line of a transcript. */
const answer = (line: string): MailboxAnswer =>
  ({
    ...{ reason: 'mailbox_exists', result: 'deliverable', catchAll: false, attempts: [], observedAtMs: 0 },
    transcript: [{ atMs: 0, from: 'server', text: line }],
  }) as unknown as MailboxAnswer
/** The longest wait for one reply where there is all the time of the world, ms. */
const waitFor = (stage: Stage, isLast: boolean): number => {
  const pass = {
    ctx: { monotonic: () => 0 },
    state: { catchAll: new Map() },
    query: { email: {}, deadlineMs: () => 1e9 },
  }
  const ms = planOf(pass as never, { host: 'mx.a.example' } as never, { startTls: true, isLast }).stageMs(stage)
  return typeof ms === 'number' ? ms : ms()
}
/** The transcript lines of an answer after one session with `n` lines, including the line that names the host. */
function linesOf(n: number): number {
  const session = {
    ...{ plan: { host: 'mx.a.example', address: '45.53.5.1' }, stage: 'rcpt', message: '', answered: true },
    ...{ verdict: { reason: 'mailbox_exists', by: 'code' }, durationMs: 0 },
    transcript: times(n - 1, () => ({ atMs: 0, from: 'server', text: '' })),
  }
  return answerOf({ email: {}, shown: '', mxHosts: [], observedAtMs: 0 } as never, [session as never]).transcript.length
}
/** What other nodes are told of an answer. */
async function shared(
  line: string,
): Promise<{ readonly lines: number; readonly keptMs: number; readonly size: number }> {
  let told = { lines: 0, keptMs: 0, size: 0 }
  const put = async (_topic: string, _name: string, _key: string, value: string, keptMs: number): Promise<void> => {
    told = { lines: JSON.parse(value).transcript.length, keptMs, size: value.length }
  }
  const cluster = { claimQuestion: async () => true, releaseQuestion: () => {}, get: async () => undefined, put }
  await askOnce(cluster as never, 'k', async () => answer(line), { now: () => 0, signal: forever })
  return told
}
/** The longest rest of a source that is refused each time it comes back, ms. */
function longestPauseMs(): number {
  let state = newSourceState(10)
  for (let i = 0; i < 20; i++)
    state = applyEvent(state, { kind: 'refused', reason: 'source_blocked', text: '' }, state.pausedUntilMs)
  return state.coolDownMs
}

/** Whether the name of an address, or that it has none, is still known after so many ms less one. */
async function isNameKept(ms: number, zone: LabZone): Promise<boolean> {
  let nowMs = 0
  const ctx = labCtx(zone)
  const own = identity({ now: () => 0, monotonic: () => nowMs }, {})
  await own.heloName(ip('45.53.1.1'), ctx)
  const asked = ctx.asked.length
  nowMs = ms - 1
  await own.heloName(ip('45.53.1.1'), ctx)
  return ctx.asked.length === asked
}
/** The attempts that are kept of a node that tells of `n`. */
async function attemptsOf(n: number): Promise<number> {
  const told = { address: '45.53.5.1', stage: 'rcpt', reason: 'mailbox_exists', code: 250, message: '', duration_ms: 0 }
  const attempts = times(n, () => ({ ...told, mx_server: 'mx.a.example', ip_used: '45.53.1.1' }))
  const state = {
    sources: { begin: () => ({ ok: true, end: () => {} }), perMinute: () => 60 },
    limits: { acquire: async () => () => {}, waitForRate: async () => undefined },
    askNode: async () => ({ ok: true, value: { attempts, transcript: [], message: '', reason: 'mailbox_exists' } }),
  }
  const pass = {
    ...{ ctx: { monotonic: () => 0, signal: forever }, state, results: [], isLastSource: true, source: nodeName('n2') },
    ...{ destinations: [{ host: 'mx.a.example', address: ip('45.53.5.1') }] },
    query: { email: { local: 'a', domain: 'a.example' }, deadlineMs: () => 10_000 },
  }
  await tryNode(pass as never, nodeName('n2'))
  return pass.results.length
}

testBounds([
  [
    'src/mailbox/answer-cache.ts MAX_BYTES',
    32 * 1024 * 1024,
    (n) => {
      const cache = answerCache(() => 0)
      for (const [key, size] of [
        ['a', 20_000_000],
        ['b', n - 20_000_000],
      ] as const)
        cache.remember(key, answer(text(size - 1_100)), 0)
      return cache.recall('a', 1) !== undefined
    },
  ],
  ['src/mailbox/attempt/state.ts LONGEST_COMMAND_MS', 20_000, (n) => waitFor('rcpt', false) >= n],
  ['src/mailbox/attempt/state.ts LONGEST_LAST_CONNECT_MS', 20_000, (n) => waitFor('connect', true) >= n],
  ['src/mailbox/attempt/try-node.ts MAX_ATTEMPTS', 20, async (n) => (await attemptsOf(n)) === n],
  ['src/mailbox/compose-answer.ts MAX_TRANSCRIPT', 1_000, (n) => linesOf(n) === n],
  [
    'src/mailbox/reply/marks.ts MAX_READ',
    4_096,
    (n) => markReply('no such user'.padStart(n), {}).includes('no such user'),
  ],
  ['src/mailbox/reply/delay.ts LONGEST_RETRY_MS', 86_400_000, (n) => retryAfter('try again in 3 days')! >= n],
  ['src/mailbox/shared-question.ts KEPT_MS', 60_000, async (n) => (await shared('')).keptMs >= n],
  [
    'src/mailbox/shared-question.ts MAX_OCTETS',
    64 * 1024,
    async (n) => (await shared(text(n - (await shared('')).size))).lines === 1,
  ],
  ['src/mailbox/side-data/role.ts LONGEST', 64, (n) => roleOf(`support+${text(n - 8)}`) === 'support'],
  ['src/mailbox/source/circuit-breaker.ts LONGEST_PAUSE_MS', 6 * 3_600_000, (n) => longestPauseMs() >= n],
  [
    'src/mailbox/source/helo.ts KEPT_MS',
    3_600_000,
    (n) =>
      isNameKept(n, { '1.1.53.45.in-addr.arpa': { PTR: ['out.a.example'] }, 'out.a.example': { A: ['45.53.1.1'] } }),
  ],
  ['src/mailbox/source/helo.ts NONE_KEPT_MS', 60_000, (n) => isNameKept(n, {})],
  [
    'src/mailbox/source/pool.ts MAX_WATCHED',
    64,
    async (n) => {
      let looked = 0
      const pool = sourcePool({
        now: () => 0,
        read: () => times(n, (i) => labSource(ip(`45.53.1.${i}`))),
        ownAddresses: () => [],
        proxies: labProxies(),
        lookup: async () => {
          looked++
          return []
        },
      })
      await pool.refresh(forever)
      return looked === n
    },
  ],
  [
    'src/mailbox/source/port25.ts MAX_NETWORKS',
    100,
    (n) => {
      const monitor = port25Monitor(() => 1)
      for (let i = 0; i < n; i++) monitor.timedOut(ip(`45.${i}.0.1`))
      return monitor.blockedNetworks() === n
    },
  ],
  [
    'src/mailbox/source/sources.ts MAX_ROWS',
    5_000,
    (n) => {
      const known = sources(labWorld())
      for (let i = 0; i < n; i++) known.begin(undefined, { key: `mx${i}.example`, perMinute: 10 }, true)
      return known.rows().length === n
    },
  ],
])
