import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync, mkdtempSync } from 'node:fs'
import { createBlacklists } from '../src/dnsbl/blacklists.ts'
import { BUILT_IN } from '../src/dnsbl/zones.ts'
import { ip } from '../src/names/ip.ts'
import { dnsClient } from '../src/net/dns/client.ts'
import { systemResolvers } from '../src/net/dns/system.ts'
import { labStore } from '../test/lab/world.ts'
import { STATE } from '../test/real/addresses.ts'
import { withDelay } from '../test/real/delay/delay.ts'
import type { ListBehaviour } from '../test/real/rbl/lists.ts'
import { withLists } from '../test/real/rbl/servers.ts'
import { flags, machine, median, report } from './figures.ts'
import type { Figure } from './history.ts'
import { insideLab } from './inside-lab.ts'

/**
 * The 29 lists, each `--rtt` milliseconds behind the resolver: whole commands compared with Debian's `check_rbl` and
 * `rblcheck`, and the lookup alone, in process.
 * `node bench/blacklist.ts [--rtt 20] [--rounds 7] [--parts commands,dead,process]`. The built program is measured too
 * if `npm run build` has created `dist`. Every address is looked up once, so that no answer is cached; the tools take
 * turns.
 */
const options = flags(process.argv.slice(2))
const rtt = Number(options.rtt ?? 20)
const rounds = Number(options.rounds ?? 7)
const parts = (options.parts ?? 'commands,dead,process').split(',')

/** Debian's packages of the programs to compare with, and the modules of Perl that check_rbl needs. */
const PEERS = [
  'rblcheck',
  'monitoring-plugins-contrib',
  'libcapture-tiny-perl',
  'libdata-validate-domain-perl',
  'libdata-validate-ip-perl',
  'libmonitoring-plugin-perl',
  'libnet-dns-perl',
  'libreadonly-perl',
]

const measured: Figure[] = []
const ZONES = BUILT_IN.lists.map(({ zone }) => zone)
const FAR = ['45.53.4.0/24']
const DEAD = ['psbl.surriel.com', 'bl.mailspike.net', 'all.s5h.net']
/** Addresses by their listings; each is used once. */
let next = 1
const fresh = (): string => `45.53.${200 + (next >> 8)}.${next++ & 255}`
const LISTED_NET = '45.53.190'
let nextListed = 1
const freshListed = (): string => `${LISTED_NET}.${nextListed++}`
const listedEntries: ListBehaviour = {
  kind: 'entries',
  entries: Array.from({ length: 250 }, (_, n) => ({ address: `${LISTED_NET}.${n + 1}`, codes: [2], text: 'listed' })),
}
const SOME_LISTED = { 'zen.spamhaus.org': listedEntries, 'bl.spamcop.net': listedEntries }
const dead = Object.fromEntries(DEAD.map((zone) => [zone, { kind: 'dead' } as const]))

type Tool = { readonly name: string; readonly command: readonly string[]; readonly needs?: string }
const each = (flag: string): string[] => ZONES.flatMap((zone) => [flag, zone])
const CHECK_RBL = '/usr/lib/nagios/plugins/check_rbl'

function tools(address: string, folder: string): readonly Tool[] {
  const checkRbl = [CHECK_RBL, '-H', address, '-w', '1', '-c', '1', '-t', '120', ...each('-s')]
  const ours = ['blacklist', address, '--data-dir', folder]
  return [
    { name: 'mailsonde blacklist', command: [process.execPath, 'src/main.js', ...ours] },
    { name: 'mailsonde blacklist, built', needs: 'dist/main.js', command: [process.execPath, 'dist/main.js', ...ours] },
    { name: 'check_rbl', needs: CHECK_RBL, command: checkRbl },
    { name: 'check_rbl --workers 29', needs: CHECK_RBL, command: [...checkRbl, '--workers', '29'] },
    { name: 'rblcheck', needs: '/usr/bin/rblcheck', command: ['rblcheck', '-c', ...each('-s'), address] },
  ]
}

const dataFolder = (): string => mkdtempSync(`${STATE}/bench-`)

const took = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

const ran = ([program, ...args]: readonly string[]): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(program!, args, { stdio: 'ignore' })
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })

async function commands(title: string, address: () => string, times: number): Promise<void> {
  const folder = dataFolder()
  await ran(tools(fresh(), folder)[0]!.command) // the data folder then has the lists' self-tests, like that of a user
  const all = new Map<string, number[]>()
  for (let round = 0; round < times; round++)
    for (const { name } of tools('', folder)) {
      const tool = tools(address(), folder).find((one) => one.name === name)!
      if (tool.needs && !existsSync(tool.needs)) continue
      all.set(name, [...(all.get(name) ?? []), await took(() => ran(tool.command))])
    }
  const value = median(all.get('mailsonde blacklist, built') ?? all.get('mailsonde blacklist')!)
  for (const [who, ms] of all)
    if (!who.startsWith('mailsonde'))
      measured.push({
        what: `29 lists ${rtt} ms away, address ${title}`,
        value,
        unit: 'ms',
        isLessBetter: true,
        beside: { who, value: median(ms) },
      })
  for (const [name, ms] of all)
    console.log(
      `| ${title} | ${name} | ${median(ms).toFixed(0)} | ${Math.min(...ms).toFixed(0)} | ${Math.max(...ms).toFixed(0)} |`,
    )
}

/** The lists of a program over its DNS client, and nothing else. */
async function inProcess(title: string, address: () => string, times: number, goal: string): Promise<void> {
  const { servers } = await systemResolvers()
  const client = dnsClient({ servers, trustAd: true, random: () => randomInt(2 ** 47) / 2 ** 47 })
  const now = (): number => Date.now()
  const lists = createBlacklists({ now, noCourtesy: true })
  const store = labStore()
  const quiet = (): void => undefined
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const lookup = (text: string) =>
    lists.lookup(
      {
        resolve: client.resolve,
        store,
        log,
        now,
        monotonic: now,
        random: Math.random,
        signal: AbortSignal.timeout(10_000),
      },
      ip(text),
    )
  for (let n = 0; n < 10; n++) await lookup(fresh())
  await lists.settled()
  const ms: number[] = []
  for (let n = 0; n < times; n++) ms.push(await took(() => lookup(address())))
  client.close()
  const sorted = ms.toSorted((a, b) => a - b)
  const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1]!
  console.log(
    `| ${title} | ${sorted[0]!.toFixed(1)} | ${median(ms).toFixed(1)} | ${p99.toFixed(0)} | ${goal} | ${times} |`,
  )
}

if (await insideLab(PEERS)) {
  console.log(`${machine()}; every list ${rtt} ms away`)
  if (parts.includes('commands') || parts.includes('dead'))
    console.log('\n| lists | command | ms, median | quickest | slowest |\n|---|---|--:|--:|--:|')
  if (parts.includes('commands'))
    await far(SOME_LISTED, async () => {
      await commands('on none', fresh, rounds)
      await commands('on two', freshListed, rounds)
    })
  if (parts.includes('dead')) await far(dead, () => commands('three lists dead', fresh, Math.min(rounds, 3)))
  if (parts.includes('process')) await questions()
  report('blacklist', measured)
}

async function questions(): Promise<void> {
  console.log('\n| in process | ms, quickest | p50 | p99 | goal | asked |\n|---|--:|--:|--:|---|--:|')
  await far(SOME_LISTED, async () => {
    await inProcess('on none', fresh, 100, `≤ ${(1.3 * rtt + 10).toFixed(0)} ms`)
    await inProcess('on two', freshListed, 100, 'two waits')
  })
  await far(dead, () => inProcess('three lists dead', fresh, 100, 'p50 as above; p99 ≤ 3,000'))
}

/** Distant lists with this behaviour; the resolver knows their servers, and every command has run before. */
function far(lists: Readonly<Record<string, ListBehaviour>>, work: () => Promise<void>): Promise<void> {
  return withLists(lists, async () => {
    const folder = dataFolder()
    const isDead = lists === dead
    for (const tool of tools(fresh(), folder))
      if ((!isDead || !tool.needs) && (!tool.needs || existsSync(tool.needs))) await ran(tool.command)
    await withDelay(rtt, FAR, work)
  })
}
