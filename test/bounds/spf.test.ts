import { runInContext } from '../../src/checks/run.ts'
import { type CheckHostAnswer, checkHost } from '../../src/checks/spf/check-host.ts'
import { lookupSpf } from '../../src/checks/spf/lookup.ts'
import { passingOf } from '../../src/checks/spf/passing/passing.ts'
import { presentSpf } from '../../src/checks/spf/present.ts'
import type { SpfNode } from '../../src/checks/spf/tree.ts'
import { domain } from '../../src/names/domain.ts'
import { ip } from '../../src/names/ip.ts'
import type { LabNode, LabZone } from '../lab/dns.ts'
import { labCtx } from '../lab/world.ts'
import { testBounds, times } from './table.ts'

const A = domain('a.example')
const spf = (...terms: readonly string[]): LabNode => ({ TXT: [`v=spf1 ${terms.join(' ')}`] })
/** `n` names below `.example` with the same node each. */
const names = (n: number, node: LabNode, of = 'i'): LabZone =>
  Object.fromEntries(times(n, (i) => [`${of}${i}.example`, node]))
const includes = (n: number): string[] => times(n, (i) => `include:i${i}.example`)

/** What is asked, and what follows for the domain. */
async function check(zone: LabZone) {
  const ctx = labCtx(zone)
  const outcome = await runInContext('spf', ctx, A)
  return { outcome, asked: [...new Set(ctx.asked)], shown: presentSpf(outcome), findings: outcome.findings }
}
const asksOf = async (zone: LabZone, question: RegExp): Promise<number> =>
  (await check(zone)).asked.filter((asked) => question.test(asked)).length
/**
 * Seven includes with so many networks each, which take 49 steps a network and 8 more; own networks before them take 12
 * and 11, behind them 3.
 */
function networks(each: number, before: number, behind: number): LabZone {
  const own = (n: number, of: number): string[] => times(n, (i) => `ip4:${of}.1.${2 * i}.1`)
  const included = (of: number): LabNode => spf(...times(each, (i) => `ip4:${of}.${i >> 7}.${(i & 127) * 2}.1`))
  return {
    'a.example': spf(...own(before, 8), ...includes(7), ...own(behind, 9), '-all'),
    ...Object.fromEntries(times(7, (i) => [`i${i}.example`, included(11 + i)])),
  }
}
const treeOf = async (zone: LabZone): Promise<SpfNode> => (await lookupSpf(labCtx(zone), A)).tree!

/** The evaluation for one client. */
async function evaluated(zone: LabZone): Promise<CheckHostAnswer & { readonly asked: readonly string[] }> {
  const ctx = labCtx(zone)
  const answer = await checkHost(ctx, { ip: ip('192.0.2.3'), sender: 'a@a.example', helo: '' })
  return { ...answer, asked: ctx.asked }
}
const isPermerror = async (zone: LabZone): Promise<boolean> => (await evaluated(zone)).result === 'permerror'

testBounds([
  [
    'src/checks/spf/evaluate.ts MAX_AHEAD',
    20,
    async (n) =>
      (await evaluated({ 'a.example': spf(...times(n, (i) => `exists:e${i}.example`)) })).asked.length === n + 1,
  ],
  [
    'src/checks/spf/lookup.ts MAX_HOST_QUESTIONS',
    30,
    async (n) =>
      (await asksOf({ 'a.example': spf(...times(n, (i) => `exists:e${i}.example`)) }, /^e\d+\.example A$/)) === n,
  ],
  [
    'src/checks/spf/passing/passing.ts MAX_INTERVALS',
    20_000,
    async (n) => !passingOf(await treeOf(n === 20_000 ? networks(408, 0, 0) : networks(407, 2, 9))).tooWide,
  ],
  [
    'src/checks/spf/pointers.ts MAX_PTR_NAMES',
    10,
    async (n) => {
      const PTR = [...times(n - 1, (i) => `p${i}.example`), 'm.a.example']
      const zone = { '3.2.0.192.in-addr.arpa': { PTR }, 'm.a.example': { A: ['192.0.2.3'] } }
      return (await evaluated({ 'a.example': spf('ptr', '-all'), ...zone })).result === 'pass'
    },
  ],
  [
    'src/checks/spf/tree.ts MAX_LOOKUPS',
    10,
    async (n) => !(await isPermerror({ 'a.example': spf(...includes(n), '-all'), ...names(n, spf('-all')) })),
  ],
  [
    'src/checks/spf/tree.ts MAX_VOID_LOOKUPS',
    2,
    async (n) => !(await isPermerror({ 'a.example': spf(...times(n, (i) => `exists:e${i}.example`), '-all') })),
  ],
  [
    'src/checks/spf/tree.ts MAX_MX_NAMES',
    10,
    async (n) => {
      const MX = times(n, (i) => [i, `h${i}.example`] as const)
      return !(await isPermerror({ 'a.example': { ...spf('mx', '-all'), MX }, ...names(n, { A: ['192.0.2.9'] }, 'h') }))
    },
  ],
  [
    'src/checks/spf/takeover.ts MAX_ASKED',
    5,
    async (n) =>
      (await lookupSpf(labCtx({ 'a.example': spf(...times(n, (i) => `include:gone${i}.com`)) }), A)).free?.length === n,
  ],
])
