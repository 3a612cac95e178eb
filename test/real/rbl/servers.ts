import type { ChildProcess } from 'node:child_process'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { STATE } from '../addresses.ts'
import { untilAnswers } from '../dns/servers.ts'
import { runTool, startServer } from '../processes.ts'
import { ALL_LISTS, defaultBehaviour, type LabList, type ListBehaviour } from './lists.ts'

const FOLDER = `${STATE}/rbl`
/** rbldnsd binds few addresses a process. */
const A_PROCESS = 15

/** Starts rbldnsd with the 29 lists and those of domains, each at its own address, in the default world. */
export async function startRbl(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  for (const list of ALL_LISTS) writeList(list, defaultBehaviour(list.zone))
  const started: ChildProcess[] = []
  for (let at = 0; at < ALL_LISTS.length; at += A_PROCESS)
    started.push(startProcess(ALL_LISTS.slice(at, at + A_PROCESS)))
  writeFileSync(`${FOLDER}/pids`, started.map((child) => child.pid).join(' '))
  await Promise.all(
    ALL_LISTS.filter((_, n) => n % A_PROCESS === 0).map((list) => untilAnswers('rbldnsd', list.server, list.zone)),
  )
}

/**
 * Runs `fn` in a world where some lists behave otherwise, then puts the default back. The resolver forgets what it
 * knew, both times. Only one such world at a time.
 */
export async function withLists<T>(changed: Readonly<Record<string, ListBehaviour>>, fn: () => Promise<T>): Promise<T> {
  const lists = ALL_LISTS.filter((list) => changed[list.zone])
  const dead = lists.filter((list) => changed[list.zone]!.kind === 'dead')
  const rule = (flag: string) => async (list: LabList) =>
    void (await runTool('iptables', ['-w', flag, 'INPUT', '-d', list.server, '-j', 'DROP']))
  for (const list of lists) writeList(list, changed[list.zone]!)
  await reread()
  await Promise.all(dead.map(rule('-I')))
  try {
    return await fn()
  } finally {
    for (const list of lists) writeList(list, defaultBehaviour(list.zone))
    await Promise.all(dead.map(rule('-D')))
    await reread()
  }
}

/** Empties the resolver's cache, of what it knows about servers too. */
export async function forgetAnswers(): Promise<void> {
  const control = (...args: string[]) =>
    runTool('unbound-control', ['-s', `${STATE}/unbound.control`, '-c', `${STATE}/unbound.conf`, ...args])
  await control('flush_zone', '.')
  await control('flush_infra', 'all')
}

async function reread(): Promise<void> {
  await runTool('sh', ['-c', `kill -HUP $(cat ${FOLDER}/pids)`])
  await Promise.all(ALL_LISTS.map((list) => untilAnswers('rbldnsd', list.server, list.zone)))
  await forgetAnswers()
}

function startProcess(lists: readonly LabList[]): ChildProcess {
  const binds = lists.flatMap((list) => ['-b', `${list.server}/53`])
  const sets = lists.flatMap((list) => [
    `${list.zone}:${list.names ? 'dnset' : 'ip4set'}:${list.zone}.4`,
    ...(list.ipv6 ? [`${list.zone6 ?? list.zone}:ip6trie:${list.zone}.6`] : []),
  ])
  return startServer('rbldnsd', 'rbldnsd', [
    '-n',
    '-u',
    'rbldns',
    '-c',
    '0',
    '-w',
    FOLDER,
    '-t',
    '300',
    ...binds,
    ...sets,
  ])
}

function writeList(list: LabList, behaviour: ListBehaviour): void {
  write(`${list.zone}.4`, [
    '$NS 300 ns.lab.test',
    '$SOA 300 ns.lab.test hostmaster.lab.test 1 600 300 86400 300',
    ...lines(list, behaviour, 4),
  ])
  if (list.ipv6) write(`${list.zone}.6`, lines(list, behaviour, 6))
}

/** Put in place whole, so that rbldnsd never reads half a list. */
function write(name: string, all: readonly string[]): void {
  writeFileSync(`${FOLDER}/${name}.new`, `${all.join('\n')}\n`)
  renameSync(`${FOLDER}/${name}.new`, `${FOLDER}/${name}`)
}

/** Every address; an ip4set does not take a network of all. */
const ALL = { 4: ['0.0.0.0/1', '128.0.0.0/1'], 6: ['0::/0'] } as const

/** Every name that a test asks for; a dnset takes no root. */
const ALL_NAMES = ['.test', '.com', '.org', '.net', '.invalid'] as const

function nameLines(
  { code, names: { point, network } }: Required<Pick<LabList, 'code' | 'names'>>,
  behaviour: ListBehaviour,
): string[] {
  if (behaviour.kind === 'refuses')
    return ALL_NAMES.map((name) => `${name} :127.255.255.${behaviour.code}:Error: your resolver may not ask`)
  if (behaviour.kind === 'everything') return [point, ...ALL_NAMES].map((name) => `${name} :${network}.${code}:Listed`)
  const entries = behaviour.kind === 'entries' ? behaviour.entries : []
  return [
    `${point} :${network}.${code}:Test point`,
    ...entries.flatMap(({ address, codes, text }) => codes.map((one) => `.${address} :${network}.${one}:${text}`)),
  ]
}

function lines(list: LabList, behaviour: ListBehaviour, family: 4 | 6): string[] {
  if (list.names) return nameLines({ code: list.code, names: list.names }, behaviour)
  const toAll = (value: string) => ALL[family].map((network) => `${network} ${value}`)
  if (behaviour.kind === 'refuses') return toAll(`:127.255.255.${behaviour.code}:Error: your resolver may not ask`)
  if (behaviour.kind === 'everything') return toAll(`:127.0.0.${list.code}:Listed`)
  const entries = behaviour.kind === 'entries' ? behaviour.entries : []
  const ours = entries.filter((entry) => entry.address.includes(':') === (family === 6))
  return [
    ...testPoint(list, family),
    ...ours.flatMap((entry) =>
      codesFor(entry.codes, family).map((code) => `${entry.address} :127.0.0.${code}:${entry.text}`),
    ),
  ]
}

/** An ip6trie holds one value an address. */
const codesFor = (codes: readonly number[], family: 4 | 6): readonly number[] =>
  family === 4 ? codes : codes.slice(0, 1)

/** RFC 5782 §5: 127.0.0.2 is listed and 127.0.0.1 is not; some lists have their own ways. */
function testPoint(list: LabList, family: 4 | 6): string[] {
  const value = `:127.0.0.${list.code}:Test point`
  if (family === 6) return [`0:0:0:0:0:ffff:7f00:2 ${value}`]
  if (list.zone === 'dnsbl.dronebl.org') return [`127.0.0.0/8 ${value}`, '!127.0.0.1']
  if (list.zone === 'hostkarma.junkemailfilter.com') return [`127.0.0.2 ${value}`, '127.0.0.1 :127.0.0.1:White']
  if (list.zone === 'bl.blocklist.de') return ['127.0.0.2 :127.0.0.15:Test point']
  return [`127.0.0.2 ${value}`]
}
