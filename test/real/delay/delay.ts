import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { STATE } from '../addresses.ts'
import { runTool } from '../processes.ts'

const PROGRAM = `${STATE}/hold`
let queues = process.pid % 30_000

/**
 * Runs `fn` while everything to and from `networks` (CIDR, IPv4 or IPv6) takes `roundTripMs` there and back: UDP, TCP
 * and its SYN. Done with NFQUEUE, which works where netem is not in the kernel. Only inside the test network.
 */
export async function withDelay<T>(roundTripMs: number, networks: readonly string[], fn: () => Promise<T>): Promise<T> {
  await compile()
  const queue = ++queues
  const holder = await hold(queue, (roundTripMs * 1_000) / 2)
  const rules = networks.flatMap((network) => ['-d', '-s'].map((side) => rule(network, side, queue)))
  try {
    for (const [program, args] of rules) await runTool(program, ['-w', '-A', ...args])
    return await fn()
  } finally {
    for (const [program, args] of rules) await runTool(program, ['-w', '-D', ...args]).catch(() => undefined)
    holder.kill('SIGKILL')
  }
}

/** Runs `fn` while nothing that is sent to these addresses arrives: a real connection time-out. */
export async function withDrop<T>(addresses: readonly string[], fn: () => Promise<T>): Promise<T> {
  const change = async (flag: string) => {
    for (const address of addresses)
      await runTool(programFor(address), ['-w', flag, 'INPUT', '-d', address, '-j', 'DROP'])
  }
  await change('-I')
  try {
    return await fn()
  } finally {
    await change('-D')
  }
}

const programFor = (network: string): string => (network.includes(':') ? 'ip6tables' : 'iptables')

/** `--queue-bypass`: without the program packets go on undelayed. */
const rule = (network: string, side: string, queue: number): readonly [string, readonly string[]] => [
  programFor(network),
  ['OUTPUT', side, network, '-j', 'NFQUEUE', '--queue-num', String(queue), '--queue-bypass'],
]

async function compile(): Promise<void> {
  if (existsSync(PROGRAM)) return
  const made = `${PROGRAM}.${process.pid}`
  await runTool('gcc', [
    '-O2',
    '-Wall',
    '-o',
    made,
    join(import.meta.dirname, 'hold.c'),
    '-lnetfilter_queue',
    '-lnfnetlink',
  ])
  await runTool('mv', [made, PROGRAM])
}

const hold = (queue: number, microseconds: number): Promise<ChildProcess> =>
  new Promise((resolve, reject) => {
    const child = spawn(PROGRAM, [String(queue), String(Math.round(microseconds))], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    child.once('error', reject).once('exit', (code) => reject(new Error(`the delay program ended with ${code}`)))
    child.stdout.once('data', () => resolve(child))
  })
