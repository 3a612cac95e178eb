import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { analyse } from '../src/message/analyse.ts'
import { judgeMessage } from '../src/message/judge.ts'
import { presentFacts } from '../src/message/present.ts'
import { labDns } from '../test/lab/dns.ts'
import { LAB_KEY, signed } from '../test/lab/messages.ts'
import { machine } from './figures.ts'

/**
 * What the analysis of a message costs, without the DNS, beside mailauth verifying its signatures alone, in turns in
 * one run: 100 kB with two signatures, and 10 MiB. `node bench/message.ts`.
 */
const HEAD =
  'From: a@a.example\nTo: b@b.example\nSubject: x\nDate: Mon, 23 Nov 2026 09:00:00 +0000\nMessage-ID: <1@a.example>\n\n'
const LINE = 'a line of text with a link https://www.example.com/ and some more words to come\n'
const ZONE = { 'a._domainkey.a.example': { TXT: [LAB_KEY] }, 'a._domainkey.b.example': { TXT: [LAB_KEY] } }
const SIZES = [
  ['100 kB, two signatures', 100_000, 300],
  ['10 MiB, two signatures', 10_485_760, 8],
] as const

console.log(machine())
for (const [name, size, times] of SIZES) {
  const text = HEAD + LINE.repeat(Math.ceil(size / LINE.length))
  const raw = Buffer.from(signed(signed(text, { domain: 'a.example' }), { domain: 'b.example' }), 'latin1')
  const { resolve } = labDns(ZONE)
  const ours = async (): Promise<void> => {
    const facts = await analyse(raw, { resolve, signal: new AbortController().signal, now: Date.now })
    if (facts.dkim.some(({ result }) => result !== 'pass')) throw new Error('a signature does not hold')
    judgeMessage(facts)
    presentFacts(facts)
  }
  const theirs = async (): Promise<void> => {
    await dkimVerify(raw, { resolver: async () => [[LAB_KEY]] })
  }
  for (const one of [ours, theirs]) await cpu(one, Math.ceil(times / 4))
  const rss = process.memoryUsage().rss
  let [a, b] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < 3; round++) {
    a = Math.min(a, await cpu(ours, times))
    b = Math.min(b, await cpu(theirs, times))
  }
  const grown = (process.memoryUsage().rss - rss) / 2 ** 20
  console.log(
    `${name}: ${a.toFixed(2)} ms of CPU; mailauth alone ${b.toFixed(2)} ms; ${(a / b).toFixed(2)} ×; +${grown.toFixed(0)} MiB`,
  )
}

/** CPU time of one run, ms. */
async function cpu(work: () => Promise<void>, times: number): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / times
}
