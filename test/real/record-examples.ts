import { writeFileSync } from 'node:fs'
import { startProgram } from './program.ts'

/** Records the answers that the API's documents show, from the mini internet: `npm run examples`. */
const EXAMPLES = {
  check: '/v1/check?domain=neglected.test',
  verify: '/v1/verify?email=user@accept.test&role=true&free=true',
  blacklist: '/v1/blacklist?ip=45.53.9.9',
  report: '/v1/report?domain=accept.test',
} as const

const program = await startProgram()
for (const [name, path] of Object.entries(EXAMPLES)) {
  const { status, body } = await program.get(path)
  if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`)
  writeFileSync(`src/operations/examples/${name}.json`, `${JSON.stringify(body, null, 2)}\n`)
}
process.exitCode = await program.stop()
