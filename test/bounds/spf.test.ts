import { runInContext } from '../../src/checks/run.ts'
import { type CheckHostAnswer, checkHost } from '../../src/checks/spf/check-host.ts'
import { expandName, expandText } from '../../src/checks/spf/expand.ts'
import { some } from '../../src/checks/spf/findings.ts'
import { shorter } from '../../src/checks/spf/fixes.ts'
import { lookupSpf } from '../../src/checks/spf/lookup.ts'
import { parseMacroString } from '../../src/checks/spf/macro.ts'
import { misread } from '../../src/checks/spf/mend.ts'
import { namedAddresses, passingOf } from '../../src/checks/spf/passing/passing.ts'
import { presentSpf } from '../../src/checks/spf/present.ts'
import type { MacroString } from '../../src/checks/spf/terms.ts'
import type { SpfNode } from '../../src/checks/spf/tree.ts'
import { domain } from '../../src/names/domain.ts'
import { ip } from '../../src/names/ip.ts'
import type { LabNode, LabZone } from '../lab/dns.ts'
import { labCtx } from '../lab/world.ts'
import { testBounds, text, times } from './table.ts'

const A = domain('a.example')
const spf = (...terms: readonly string[]): LabNode => ({ TXT: [`v=spf1 ${terms.join(' ')}`] })
/** `n` names below `.example` with the same node each. */
const names = (n: number, node: LabNode, of = 'i'): LabZone =>
  Object.fromEntries(times(n, (i) => [`${of}${i}.example`, node]))
const includes = (n: number): string[] => times(n, (i) => `include:i${i}.example`)
/** Records that redirect to the next of `n` names. */
const chain = (n: number): LabZone =>
  Object.fromEntries(times(n, (i) => [`i${i}.example`, spf(`redirect=i${i + 1}.example`)]))
/** A term of so many characters. */
const padded = (start: string, length: number): string =>
  start +
  times(8, () => text(60))
    .join('.')
    .slice(0, length - start.length)

/** What is asked, and what follows for the domain. */
async function check(zone: LabZone) {
  const ctx = labCtx(zone)
  const outcome = await runInContext('spf', ctx, A)
  return { outcome, asked: [...new Set(ctx.asked)], shown: presentSpf(outcome), findings: outcome.findings }
}
const asksOf = async (zone: LabZone, question: RegExp): Promise<number> =>
  (await check(zone)).asked.filter((asked) => question.test(asked)).length
const told = async (zone: LabZone, id: string): Promise<number> =>
  (await check(zone)).findings.filter((finding) => finding.id === id).length
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

function macro(written: string, use: 'domain' | 'explanation'): MacroString {
  const read = parseMacroString(written, use)
  if (!read.ok) throw new Error(read.problem.text)
  return read.value
}
const VALUES = { ip: ip('192.0.2.3'), local: 'a', senderDomain: 'a.example', domain: 'a.example', helo: '' }

testBounds([
  [
    'src/checks/spf/evaluate.ts MAX_AHEAD',
    20,
    async (n) =>
      (await evaluated({ 'a.example': spf(...times(n, (i) => `exists:e${i}.example`)) })).asked.length === n + 1,
  ],
  [
    'src/checks/spf/lookup.ts MAX_TERMS',
    64,
    async (n) => (await treeOf({ 'a.example': spf(...times(n, (i) => `ptr:p${i}.example`)) })).terms.length === n,
  ],
  [
    'src/checks/spf/evaluate.ts MAX_TRACE',
    100,
    async (n) =>
      (await evaluated({ 'a.example': spf(...times(n - 1, () => 'ip4:192.0.2.200'), '-all') })).trace.length === n,
  ],
  [
    'src/checks/spf/expand.ts MAX_EXPLANATION',
    2_000,
    (n) => expandText(macro(text(n), 'explanation'), VALUES).length === n,
  ],
  [
    'src/checks/spf/expand.ts MAX_NAME_TAIL',
    1_024,
    // What stands left of the tail is looked at, here a value that is not known, while the tail is shorter than the
    // bound.
    (n) => expandName(macro(`%{t}${'a.'.repeat(n)}`.slice(0, n + 3), 'explanation'), VALUES) === undefined,
  ],
  [
    'src/checks/spf/judge-record.ts MAX_MODIFIERS',
    5,
    async (n) =>
      (await told({ 'a.example': spf(...times(n, (i) => `m${i}=x`), '-all') }, 'spf.unknown_modifier')) === n,
  ],
  [
    'src/checks/spf/judge-permerror.ts MAX_TOLD',
    20,
    async (n) => {
      const { findings: all } = await check({ 'a.example': spf(...includes(n)), ...names(n, spf('moo')) })
      return all.filter(({ id }) => id === 'spf.include_broken').length === n
    },
  ],
  [
    'src/checks/spf/judge-permerror.ts MAX_NAMES',
    15,
    async (n) => {
      const { findings: all } = await check({ 'a.example': spf(...times(n, (i) => `exists:e${i}.example`)) })
      const { args } = all.find(({ id }) => id === 'spf.too_many_void_lookups')!
      return args!.count === (args!.names as readonly string[]).length
    },
  ],
  [
    'src/checks/spf/lookup.ts MAX_RECORDS',
    40,
    (n) =>
      asksOf(
        { 'a.example': spf(...includes(n - 1)), ...names(n, spf('ip4:192.0.2.1')) },
        /^(?:a|i\d+)\.example TXT/,
      ).then((asked) => asked === n),
  ],
  [
    'src/checks/spf/lookup.ts MAX_LEVELS',
    11,
    (n) =>
      asksOf({ 'a.example': spf('redirect=i0.example'), ...chain(n) }, /^(?:a|i\d+)\.example TXT/).then(
        (asked) => asked === n,
      ),
  ],
  [
    'src/checks/spf/lookup.ts MAX_HOST_QUESTIONS',
    30,
    async (n) =>
      (await asksOf({ 'a.example': spf(...times(n, (i) => `exists:e${i}.example`)) }, /^e\d+\.example A$/)) === n,
  ],
  [
    'src/checks/spf/lookup.ts MAX_EXCHANGES',
    12,
    async (n) => {
      const mx = times(n, (i) => [i, `h${i}.example`] as const)
      const zone = { 'b.example': { MX: mx.slice(0, 6) }, 'c.example': { MX: mx.slice(6) } }
      return (await asksOf({ 'a.example': spf('mx:b.example', 'mx:c.example'), ...zone }, /^h\d+\.example A$/)) === n
    },
  ],
  [
    'src/checks/spf/lookup.ts MAX_SIMILAR',
    5,
    async (n) =>
      (await check({ 'a.example': { TXT: times(n, (i) => `"v=spf1 ${i}`) } })).outcome.facts!.similar.length === n,
  ],
  ['src/checks/spf/mend.ts MAX_TERM', 300, (n) => misread(padded('include=', n)) !== undefined],
  [
    'src/checks/spf/parse.ts MAX_RECORD',
    8_192,
    async (n) => {
      const zone = { 'a.example': { TXT: ['v=spf1 -all'.padEnd(n)] } }
      return !(await isPermerror(zone)) && (await treeOf(zone)).state === 'record'
    },
  ],
  [
    'src/checks/spf/passing/passing.ts MAX_NAMED',
    10,
    async (n) => {
      const tree = await treeOf({ 'a.example': spf(...times(n, (i) => `ip4:192.0.2.${i}`)) })
      return namedAddresses(tree, passingOf(tree)).length === n
    },
  ],
  [
    'src/checks/spf/passing/passing.ts MAX_INTERVALS',
    20_000,
    async (n) => !passingOf(await treeOf(n === 20_000 ? networks(408, 0, 0) : networks(407, 2, 9))).tooWide,
  ],
  [
    'src/checks/spf/passing/passing.ts MAX_CONDITIONAL',
    20,
    async (n) =>
      passingOf(await treeOf({ 'a.example': spf(...times(n, (i) => `exists:%{i}.e${i}.example`)) })).conditional
        .length === n,
  ],
  [
    'src/checks/spf/match.ts MAX_PTR_NAMES',
    10,
    async (n) => {
      const PTR = [...times(n - 1, (i) => `p${i}.example`), 'm.a.example']
      const zone = { '3.2.0.192.in-addr.arpa': { PTR }, 'm.a.example': { A: ['192.0.2.3'] } }
      return (await evaluated({ 'a.example': spf('ptr', '-all'), ...zone })).result === 'pass'
    },
  ],
  [
    'src/checks/spf/present.ts MAX_OWN_RECORD',
    4_096,
    async (n) => (await check({ 'a.example': { TXT: ['v=spf1 -all'.padEnd(n, ' x')] } })).shown.record?.length === n,
  ],
  [
    'src/checks/spf/present.ts MAX_RECORDS',
    10,
    async (n) =>
      (await check({ 'a.example': { TXT: times(n, (i) => `v=spf1 ip4:192.0.2.${i}`) } })).shown.records.length === n,
  ],
  [
    'src/checks/spf/present.ts MAX_RECORD',
    2_048,
    async (n) => {
      const zone = { 'a.example': spf('include:i0.example'), 'i0.example': { TXT: ['v=spf1 -all'.padEnd(n, ' x')] } }
      return (await check(zone)).shown.includes[0]?.record?.length === n
    },
  ],
  [
    'src/checks/spf/present.ts MAX_INCLUDES',
    20,
    async (n) => (await check({ 'a.example': spf(...includes(n)) })).shown.includes.length === n,
  ],
  [
    'src/checks/spf/present.ts MAX_BY',
    20,
    async (n) =>
      (await check({ 'a.example': spf(...times(n, (i) => `ip4:192.0.${i}.0/24`), '-all') })).shown.passing?.by
        .length === n,
  ],
  [
    'src/checks/spf/run.ts MAX_LOOKUPS',
    10,
    async (n) => !(await isPermerror({ 'a.example': spf(...includes(n), '-all'), ...names(n, spf('-all')) })),
  ],
  [
    'src/checks/spf/run.ts MAX_VOID_LOOKUPS',
    2,
    async (n) => !(await isPermerror({ 'a.example': spf(...times(n, (i) => `exists:e${i}.example`), '-all') })),
  ],
  [
    'src/checks/spf/run.ts MAX_MX_NAMES',
    10,
    async (n) => {
      const MX = times(n, (i) => [i, `h${i}.example`] as const)
      return !(await isPermerror({ 'a.example': { ...spf('mx', '-all'), MX }, ...names(n, { A: ['192.0.2.9'] }, 'h') }))
    },
  ],
  [
    'src/checks/spf/fixes.ts MAX_COMPARED',
    200,
    async (n) =>
      shorter(await treeOf({ 'a.example': spf('ip4:10.0.0.0/24', ...times(n - 1, (i) => `ip4:10.0.${i}.1`)) })) !==
      undefined,
  ],
  [
    'src/checks/spf/takeover.ts MAX_ASKED',
    5,
    async (n) =>
      (await lookupSpf(labCtx({ 'a.example': spf(...times(n, (i) => `include:gone${i}.com`)) }), A)).free?.length === n,
  ],
  ['src/checks/spf/findings.ts MAX_SHOWN', 15, (n) => !some(times(n, (i) => `t${i}`)).includes('more')],
])
