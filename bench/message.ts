import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { analyse } from '../src/message/analyse.ts'
import { judgeMessage } from '../src/message/judge.ts'
import { presentFacts } from '../src/message/present.ts'
import { labDns } from '../test/lab/dns.ts'
import { heavyHere } from '../test/lab/heavy.ts'
import { LAB_KEY, signed } from '../test/lab/messages.ts'
import { figures, machine, residentMiB, sleep, table, V8_FLAGS } from './figures.ts'

/**
 * What the analysis of a message costs, without the DNS, beside mailauth verifying its signatures alone, in turns in
 * one run: 100 kB with two signatures, and 10 MiB. `node bench/message.ts [--write yes]`.
 */
const HEAD =
  'From: a@a.example\nTo: b@b.example\nSubject: x\nDate: Mon, 23 Nov 2026 09:00:00 +0000\nMessage-ID: <1@a.example>\n\n'
const LINE = 'a line of text with a link https://www.example.com/ and some more words to come\n'
const ZONE = { 'a._domainkey.a.example': { TXT: [LAB_KEY] }, 'a._domainkey.b.example': { TXT: [LAB_KEY] } }
const SIZES = [
  ['100 kB, two signatures', 100_000, 300],
  ['10 MiB, two signatures', 10_485_760, 8],
] as const

const BY = { by: { caller: 'bench' } }

type Work = () => Promise<void>

function messageOf(size: number): Buffer {
  const text = HEAD + LINE.repeat(Math.ceil(size / LINE.length))
  return Buffer.from(signed(signed(text, { domain: 'a.example' }), { domain: 'b.example' }), 'latin1')
}

function worksOn(raw: Buffer): { readonly ours: Work; readonly theirs: Work } {
  const { resolve } = labDns(ZONE)
  return {
    ours: async () => {
      const facts = await analyse(
        raw,
        { resolve, heavy: heavyHere, signal: new AbortController().signal, now: Date.now },
        BY,
      )
      if (facts.dkim.some(({ result }) => result !== 'pass')) throw new Error('a signature does not hold')
      judgeMessage(facts)
      presentFacts(facts)
    },
    theirs: async () => {
      await dkimVerify(raw, { resolver: async () => [[LAB_KEY]] })
    },
  }
}

async function main(): Promise<void> {
  const rows: string[][] = []
  for (const [name, size, times] of SIZES) {
    const { ours, theirs } = worksOn(messageOf(size))
    for (const one of [ours, theirs]) await cpu(one, Math.ceil(times / 4))
    let [a, b] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (let round = 0; round < 5; round++) {
      a = Math.min(a, await cpu(ours, times))
      b = Math.min(b, await cpu(theirs, times))
    }
    rows.push([name, a.toFixed(1), b.toFixed(1), (a / b).toFixed(2)])
  }
  const folder = mkdtempSync(join(tmpdir(), 'mailsonde-bench-'))
  const file = join(folder, 'message.eml')
  writeFileSync(file, messageOf(10_485_760))
  const measured = execFileSync(process.execPath, [import.meta.filename, 'memory', file], { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  const grown = measured.trim().split(' ')
  const [small, large] = rows as [string[], string[]]
  figures('message', [
    `A message of 100 kB with two signatures is analysed in ${small[1]} ms of processor time (goal 5), ${small[3]} × mailauth verifying them alone (goal 1.5); one of 10 MiB in ${large[1]} ms (goal 200), with ${grown[0]} MiB more resident memory (goal 40).`,
    table(['message', 'ms of processor time', 'mailauth alone, ms', 'ratio'], rows),
    `10 MiB: ${grown[0]} MiB more resident memory, ${grown[1]} MiB more heap and buffers, both at their highest, beside the message itself. The least of 5 rounds; ${machine()}.`,
  ])
}

/**
 * Memory that one analysis of 10 MiB adds, in a process that has analysed small ones: resident, and heap with buffers,
 * MiB.
 */
async function memory(file: string): Promise<void> {
  for (const flag of V8_FLAGS) setFlagsFromString(flag)
  const small = worksOn(messageOf(100_000)).ours
  for (let n = 0; n < 50; n++) await small()
  const { ours } = worksOn(readFileSync(file))
  await sleep(200)
  const held = (): number => {
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const before = held()
  writeFileSync('/proc/self/clear_refs', '5') // the peak begins anew
  const { now } = residentMiB(process.pid)
  let most = before
  const watching = setInterval(() => {
    most = Math.max(most, held())
  }, 1)
  await ours()
  clearInterval(watching)
  most = Math.max(most, held())
  console.log(`${(residentMiB(process.pid).highest - now).toFixed(0)} ${((most - before) / 2 ** 20).toFixed(0)}`)
}

/** CPU time of one run, ms. */
async function cpu(work: () => Promise<void>, times: number): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / times
}

const [only, file = ''] = process.argv.slice(2)
if (only === 'memory') await memory(file)
else await main()
