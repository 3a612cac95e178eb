import { spawn } from 'node:child_process'
import { cpSync } from 'node:fs'
import { CA_FILE, STATE } from './addresses.ts'
import { makeCertificates } from './certificates.ts'
import { startDns } from './dns/servers.ts'
import { startHttps } from './https/server.ts'
import { makeNetwork } from './network.ts'
import { startRbl } from './rbl/servers.ts'
import { startExim } from './smtp/exim.ts'
import { startOpenSmtpd } from './smtp/opensmtpd.ts'
import { startPostfix } from './smtp/postfix.ts'
import { startScripted } from './smtp/scripted.ts'
import { addUsers } from './users.ts'

/**
 * The first process of the private network: starts everything, then runs the command it was given, or stays. When it
 * ends, all ends.
 */
const [program, ...args] = process.argv.slice(2)

const began = performance.now()
makeNetwork()
addUsers()
await makeCertificates()
await Promise.all([
  startDns(),
  startRbl(),
  startPostfix(),
  startExim(),
  startOpenSmtpd(),
  startScripted(),
  startHttps(),
])
console.log(`the test network is up (${((performance.now() - began) / 1_000).toFixed(1)} s)`)

if (program === undefined) {
  process.on('SIGINT', () => process.exit(0))
  process.on('SIGTERM', () => process.exit(0))
} else {
  const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, NODE_EXTRA_CA_CERTS: CA_FILE } })
  child.on('error', (error) => {
    console.error(`${program}: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code) => {
    // The servers' words, for a run that ended badly: LAB_LOGS=folder npm run test:real
    if (process.env.LAB_LOGS) cpSync(`${STATE}/log`, process.env.LAB_LOGS, { recursive: true })
    process.exit(code ?? 1)
  })
}
