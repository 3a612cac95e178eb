import { connect } from 'node:net'
import { FAR_RESOLVER, LEAF_SERVERS } from '../test/real/addresses.ts'
import { withDelay } from '../test/real/delay/delay.ts'
import { type Program, startProgram } from '../test/real/program.ts'
import { LISTED } from '../test/real/rbl/lists.ts'
import { listeners } from '../test/real/smtp/listeners.ts'
import { flags, machine, median, report } from './figures.ts'
import type { Figure } from './history.ts'
import { insideLab } from './inside-lab.ts'

/**
 * How often the program waits for the network: every server is `--rtt` milliseconds away, and the time of a question is
 * given in such round trips. `node bench/waits.ts [--rtt 20] [--rounds 3]`. Each question is new to the program, and
 * its resolver has the answer.
 */
type Kind = {
  readonly name: string
  /** Round trips at most, with our own work. */
  readonly goal: number
  /** Paths to request, all of one form. The first ones are the warm-up and are not counted. */
  readonly paths: readonly string[]
  readonly warm: number
  /** What an answer must contain to count. */
  readonly expect: (body: Record<string, unknown>) => boolean
}

const options = flags(process.argv.slice(2))
const rtt = Number(options.rtt ?? 20)
const rounds = Number(options.rounds ?? 3)
/**
 * Mail hosts, policy hosts, the resolver and the name servers that are queried directly. The lists are behind the
 * resolver.
 */
const FAR = ['45.53.5.0/24', '45.53.6.0/24', FAR_RESOLVER, ...LEAF_SERVERS]

/** Hosts that are slow, reached at the second attempt, or over IPv6, which has no delay. */
const SLOWER = ['slow', 'deadfirst', 'refusedfirst', 'busyfirst', 'implicit', 'six'].map((name) => `${name}.test`)
const accepting = listeners.filter(
  ({ domain, mailboxes, service }) =>
    mailboxes[0]?.result === 'accepted' && service === undefined && !SLOWER.includes(domain),
)
const verifying = (secured: boolean): string[] =>
  accepting
    .filter(({ certificate }) => (certificate !== undefined) === secured)
    .map(({ domain }) => `/v1/verify?email=user@${domain}`)
const accepted = ({ result }: Record<string, unknown>): boolean => result === 'accepted'
const checked = ({ complete }: Record<string, unknown>): boolean => complete === true

/** Our own work for a question, in round trips. */
const OWN = 0.5
const KINDS: readonly Kind[] = [
  {
    name: '29 lists, an address on none',
    goal: 1.3 + 10 / rtt, // one, and 10 ms
    paths: Array.from({ length: 25 }, (_, n) => `/v1/blacklist?ip=45.53.9.${n + 100}`),
    warm: 10,
    expect: ({ verdict }) => verdict !== 'listed' && verdict !== undefined,
  },
  {
    name: '29 lists, an address on some',
    goal: 2 + OWN,
    paths: Array.from({ length: 15 }, () => `/v1/blacklist?ip=${LISTED}&max_age=1ms`),
    warm: 5,
    expect: ({ verdict }) => verdict === 'listed',
  },
  {
    name: 'check, without MTA-STS',
    goal: 6 + OWN,
    paths: listeners.map(({ domain }) => `/v1/check?domain=${domain}`),
    warm: 12,
    expect: checked,
  },
  {
    name: 'check, with a policy of MTA-STS over HTTPS',
    goal: 6 + OWN,
    paths: ['stsother', 'ststesting', 'stsgood'].map((name) => `/v1/check?domain=${name}.test`),
    warm: 1,
    expect: checked,
  },
  { name: 'verify, without TLS', goal: 7 + OWN, paths: verifying(false), warm: 4, expect: accepted },
  { name: 'verify, with TLS 1.3', goal: 10 + OWN, paths: verifying(true), warm: 2, expect: accepted },
]

if (await insideLab()) {
  const all = await startProgram() // so that the resolver has all answers
  for (const kind of KINDS) await askAll(all, kind)
  await all.stop()
  const times = new Map<Kind, number[]>(KINDS.map((kind) => [kind, []]))
  for (let round = 0; round < rounds; round++) {
    for (const kind of KINDS) {
      const program = await startProgram(['--resolver', FAR_RESOLVER, '--trust-ad'])
      times.get(kind)!.push(...(await withDelay(rtt, FAR, () => askAll(program, kind, options.all !== undefined))))
      await program.stop()
    }
  }
  const real = await withDelay(rtt, FAR, () => roundTrip(listeners[0]!.address))
  console.log(`\n${machine()}; ${rounds} rounds; a connection takes ${real.toFixed(1)} ms\n`)
  console.log(
    '| question | ms, median | ms, quickest | quickest in round trips | median in round trips | goal | asked |\n|---|--:|--:|--:|--:|---|--:|',
  )
  const measured: Figure[] = []
  for (const [{ name, goal }, all] of times) {
    const quickest = Math.min(...all)
    const what = `round trips of ${rtt} ms: ${name}`
    measured.push({ what, value: quickest / real, unit: '', goal, isLessBetter: true })
    console.log(
      `| ${name} | ${median(all).toFixed(1)} | ${quickest.toFixed(1)} | **${(quickest / real).toFixed(2)}** | ${(median(all) / real).toFixed(2)} | ≤ ${goal} | ${all.length} |`,
    )
  }
  report('waits', measured)
}

/** Requests all paths of a kind, one after the other; returns the times of the counted ones, ms. */
async function askAll(program: Program, kind: Kind, tell = false): Promise<number[]> {
  const times: number[] = []
  for (const [index, path] of kind.paths.entries()) {
    const begun = performance.now()
    const { status, body } = await program.get(path)
    const took = performance.now() - begun
    const right = status === 200 && kind.expect(body as Record<string, unknown>)
    if (tell) console.log(`${path} ${took.toFixed(1)}`)
    if (right && index >= kind.warm) times.push(took)
    else if (!right) console.log(`not counted: ${path}: ${status} ${JSON.stringify(body).slice(0, 200)}`)
  }
  return times
}

/** The actual round-trip time: the fastest of ten connections, ms. */
async function roundTrip(host: string): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < 10; n++) {
    const begun = performance.now()
    await new Promise<void>((resolve, reject) => {
      const socket = connect({ host, port: 25 }, () => {
        times.push(performance.now() - begun)
        socket.destroy()
        resolve()
      }).once('error', reject)
    })
  }
  return Math.min(...times)
}
