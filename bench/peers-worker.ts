import { randomInt } from 'node:crypto'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

/**
 * A library of Node in a process of its own: `node bench/peers-worker.ts WHO [FOLDER]`. Answers a line of standard
 * input by a line: "ip TAB sender TAB helo" by a result of SPF, an address by `valid`, `invalid` or `unknown`. FOLDER
 * is where the packages of others are installed.
 */
type Answer = (line: string) => Promise<string>

const [who = '', folder = import.meta.dirname] = process.argv.slice(2)
const required = createRequire(`${folder}/`)

const LIBRARIES: Readonly<Record<string, () => Promise<Answer>>> = {
  async 'mailsonde spf'() {
    const { checkHost } = await import('../src/checks/spf/index.ts')
    const { ip: addressOf } = await import('../src/names/ip.ts')
    const { dnsClient } = await import('../src/net/dns/client.ts')
    const { systemResolvers } = await import('../src/net/dns/system.ts')
    const { servers } = await systemResolvers()
    const { resolve } = dnsClient({ servers, trustAd: true, random: () => randomInt(2 ** 47) / 2 ** 47 })
    return async (line) => {
      const [ip = '', sender = '', helo = ''] = line.split('\t')
      const signal = AbortSignal.timeout(20_000)
      return (await checkHost({ resolve, signal, now: Date.now }, { ip: addressOf(ip), sender, helo })).result
    }
  },
  async 'mailauth spf'() {
    const { spf } = await import('mailauth')
    return async (line) => {
      const [ip = '', sender = '', helo = ''] = line.split('\t')
      return (await spf({ ip, sender, helo, mta: 'bench.example' })).status.result
    }
  },
  async 'mailsonde verify'() {
    const { openWorld, verifyMailbox } = await import('../src/library.ts')
    const world = await openWorld({ noCourtesy: true, helo: 'b.sonde.test', mailFrom: 'check@b.sonde.test' })
    return async (email) => {
      const { result } = await verifyMailbox(email, { world })
      return result === 'accepted' ? 'valid' : result === 'rejected' || result === 'invalid' ? 'invalid' : 'unknown'
    }
  },
  async 'deep-email-validator verify'() {
    const { validate } = required('deep-email-validator')
    const options = { sender: 'check@b.sonde.test', validateTypo: false }
    return async (email) => ((await validate({ ...options, email })).valid ? 'valid' : 'invalid')
  },
  async '@emailcheck/email-validator-js verify'() {
    required('psl').isValid = () => true // it refuses the reserved .test before it asks anybody
    const { verifyEmail } = required('@emailcheck/email-validator-js')
    return async (emailAddress) => {
      const { validSmtp } = await verifyEmail({ emailAddress, verifyMx: true, verifySmtp: true, timeout: 10_000 })
      return validSmtp === null ? 'unknown' : validSmtp ? 'valid' : 'invalid'
    }
  },
}

const load = LIBRARIES[who]
if (load === undefined) throw new Error(`no library ${who}`)
const answer = await load()
for await (const line of createInterface({ input: process.stdin }))
  console.log(await answer(line).catch((error: unknown) => `fault ${String(error).replaceAll('\n', ' ')}`))
process.exit()
