import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { STATE } from '../test/real/addresses.ts'
import { listeners } from '../test/real/smtp/listeners.ts'
import { DOMAINS } from '../test/real/world.ts'
import { cpuMs, flags, machine, median, report, sleep } from './figures.ts'
import type { Figure } from './history.ts'
import { insideLab } from './inside-lab.ts'

/**
 * Beside what others would use, in the test network, each program in a process of its own, one question after the
 * other, in turns: `node bench/peers.ts [--rounds 3] [--parts spf,verify,zone]`.
 * - SPF: evaluations of all records of the test network, beside mailauth, python3-spf and Mail::SPF.
 * - Mailboxes: how many of the test network's are judged right, beside deep-email-validator and
 * @emailcheck/email-validator-js. Right is `valid` of one that exists, `invalid` of one that does not, and `unknown`
 * where the host defers, is full, accepts all or refuses the source.
 * - A domain: the whole command `check` beside zonemaster-cli, which tests the zone and nothing of its mail.
 */
const options = flags(process.argv.slice(2))
const rounds = Number(options.rounds ?? 3)
const parts = (options.parts ?? 'spf,verify,zone').split(',')
const PEERS = join(import.meta.dirname, '../node_modules/.cache/mailsonde-peers')
const NPM_PEERS = ['deep-email-validator@0.1.27', '@emailcheck/email-validator-js@3.4.4']
const DEBIAN_PEERS = ['zonemaster-cli']
const ANSWER_MS = 60_000

/** A program that answers lines by lines. */
type Peer = { readonly name: string; readonly command: readonly string[] }
const worker = (who: string): readonly string[] => [
  process.execPath,
  join(import.meta.dirname, 'peers-worker.ts'),
  who,
  PEERS,
]
const spfFile = (name: string): string => join(import.meta.dirname, '../test/real/spf', name)
const SPF: readonly Peer[] = [
  { name: 'mailsonde', command: worker('mailsonde spf') },
  { name: 'mailauth', command: worker('mailauth spf') },
  { name: 'python3-spf', command: ['/usr/bin/python3', spfFile('ask.py')] },
  { name: 'Mail::SPF', command: ['perl', spfFile('ask.pl')] },
]
const VERIFY: readonly Peer[] = ['mailsonde', 'deep-email-validator', '@emailcheck/email-validator-js'].map((name) => ({
  name,
  command: worker(`${name} verify`),
}))

type Answered = { readonly answers: readonly string[]; readonly ms: readonly number[]; readonly cpuMs: number }

/** Asks a program all questions, after a round of `warm` that is not counted. */
async function ask(peer: Peer, questions: readonly string[], warm: readonly string[]): Promise<Answered> {
  const [program, ...args] = peer.command
  const child = spawn(program!, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const one = async (question: string): Promise<string> => {
    child.stdin.write(`${question}\n`)
    const late = sleep(ANSWER_MS).then(() => ({ value: `fault no answer within ${ANSWER_MS} ms` }))
    return String((await Promise.race([lines.next(), late])).value)
  }
  for (const question of warm) await one(question)
  const before = cpuMs(child.pid!)
  const answers: string[] = []
  const ms: number[] = []
  for (const question of questions) {
    const begun = performance.now()
    answers.push(await one(question))
    ms.push(performance.now() - begun)
  }
  const used = cpuMs(child.pid!) - before
  child.kill()
  return { answers, ms, cpuMs: used }
}

const measured: Figure[] = []
if (await insideLab(DEBIAN_PEERS, installPeers)) {
  console.log(machine())
  if (parts.includes('spf')) await spf()
  if (parts.includes('verify')) await verify()
  if (parts.includes('zone')) await zone()
  report('peers', measured)
  process.exit()
}

function installPeers(): void {
  if (existsSync(join(PEERS, 'node_modules/deep-email-validator'))) return
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', PEERS, ...NPM_PEERS], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

async function spf(): Promise<void> {
  const clients = ['45.53.5.1', '45.53.8.1', '192.0.2.1']
  const questions = DOMAINS.filter(({ service }) => service === 'unsigned' || service === 'signed')
    .filter(({ zone: lines }) => lines.some((line) => line.includes('"v=spf1')))
    .flatMap(({ name }) => clients.map((ip) => `${ip}\tuser@${name}\tb.sonde.test`))
  const all = new Map<string, Answered[]>()
  for (let round = 0; round < rounds; round++)
    for (const peer of SPF)
      all.set(peer.name, [...(all.get(peer.name) ?? []), await ask(peer, questions, questions.slice(0, 100))])
  const [ours] = all.get('mailsonde')!
  const cpuOf = (name: string): number => median(all.get(name)!.map((run) => run.cpuMs / questions.length))
  const clockOf = (name: string): number => median(all.get(name)!.flatMap(({ ms }) => ms))
  console.log('\n| SPF | ms an evaluation, median | ms of processor time | same result as ours |\n|---|--:|--:|--:|')
  for (const { name } of SPF) {
    const same = all.get(name)![0]!.answers.filter((answer, n) => answer === ours!.answers[n]).length
    console.log(
      `| ${name} | ${clockOf(name).toFixed(2)} | ${cpuOf(name).toFixed(2)} | ${same} of ${questions.length} |`,
    )
    if (name === 'mailsonde') continue
    const beside = { who: name, value: cpuOf(name) }
    const what = 'SPF evaluation with its lookups, processor time'
    measured.push({ what, value: cpuOf('mailsonde'), unit: 'ms', isLessBetter: true, beside })
  }
}

/** What is right to say of a mailbox of the test network. */
function rightOf(result: string, reason: string): string {
  if (result === 'accepted') return 'valid'
  return result === 'rejected' && reason === 'mailbox_not_found' ? 'invalid' : 'unknown'
}

async function verify(): Promise<void> {
  const known = listeners.flatMap(({ domain, mailboxes }) =>
    mailboxes
      .filter(
        ({ local, result, reason }) => /^\w+$/.test(local) && (result !== 'rejected' || reason === 'mailbox_not_found'),
      )
      .map(({ local, result, reason }) => ({ email: `${local}@${domain}`, right: rightOf(result, reason) })),
  )
  const questions = known.map(({ email }) => email)
  console.log(
    '\n| mailboxes | right | exist, called invalid | do not exist, called valid | ms, median | slowest |\n|---|--:|--:|--:|--:|--:|',
  )
  let ours = 0
  for (const peer of VERIFY) {
    const { answers, ms } = await ask(peer, questions, [])
    const count = (isCounted: (right: string, said: string) => boolean): number =>
      known.filter(({ right }, n) => isCounted(right, answers[n]!)).length
    const right = (count((is, said) => is === said) * 100) / known.length
    const harmed = count((is, said) => is !== 'invalid' && said === 'invalid')
    const missed = count((is, said) => is === 'invalid' && said === 'valid')
    console.log(
      `| ${peer.name} | ${right.toFixed(0)} % of ${known.length} | ${harmed} | ${missed} | ${median(ms).toFixed(0)} | ${Math.max(...ms).toFixed(0)} |`,
    )
    if (options.all !== undefined)
      for (const [n, { email, right: is }] of known.entries())
        if (is !== answers[n]) console.log(`${email}: ${is}, ${answers[n]}`)
    if (peer.name === 'mailsonde') ours = right
    else {
      const what = `mailboxes of ${new Set(listeners.map(({ domain }) => domain)).size} mail hosts judged right`
      measured.push({ what, value: ours, unit: '%', beside: { who: peer.name, value: right } })
    }
  }
}

async function zone(): Promise<void> {
  const folder = mkdtempSync(`${STATE}/bench-`)
  const hints = `${STATE}/root.hints`
  const domains = ['accept.test', 'tls.test', 'utf8.test']
  const took = async (command: readonly string[]): Promise<number> => {
    const begun = performance.now()
    const child = spawn(command[0]!, command.slice(1), { stdio: 'ignore' })
    await new Promise((resolve) => child.once('exit', resolve))
    return performance.now() - begun
  }
  const ours = (name: string) => [process.execPath, 'src/main.js', 'check', name, '--no-courtesy', '--data-dir', folder]
  const theirs = (name: string) => ['zonemaster-cli', '--hints', hints, '--no-ipv6', '--no-progress', name]
  await took(ours('accept.test'))
  const [own, other]: [number[], number[]] = [[], []]
  for (const name of domains) {
    own.push(await took(ours(name)))
    other.push(await took(theirs(name)))
  }
  const beside = { who: 'zonemaster-cli', value: median(other) }
  console.log(`\n| whole command | ms, median |\n|---|--:|\n| mailsonde check | ${median(own).toFixed(0)} |`)
  console.log(`| zonemaster-cli | ${beside.value.toFixed(0)} |`)
  measured.push({
    what: 'command that checks a domain, from the sources',
    value: median(own),
    unit: 'ms',
    isLessBetter: true,
    beside,
  })
}
