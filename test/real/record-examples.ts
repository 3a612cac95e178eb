import { writeFileSync } from 'node:fs'
import { startProgram } from './program.ts'

/** Records the answers that the API's documents show, from the test network: `npm run examples`. */
const EXAMPLES = {
  check: '/v1/check?domain=neglected.test',
  plan: '/v1/plan?domain=neglected.test',
  verify: '/v1/verify?email=user@accept.test&free=true&role=true&suggestion=true',
  blacklist: '/v1/blacklist?ip=45.53.9.9',
  report: '/v1/report?domain=accept.test',
} as const
const WHAT_IF = {
  domain: 'neglected.test',
  records: [{ name: '_dmarc', type: 'TXT', value: 'v=DMARC1; p=reject; rua=mailto:dmarc@neglected.test' }],
}

const program = await startProgram()
const asked = Object.entries(EXAMPLES).map(([name, path]) => [name, path, () => program.get(path)] as const)
for (const [name, path, ask] of [
  ...asked,
  ['what-if', '/v1/check', () => program.post('/v1/check', WHAT_IF)] as const,
]) {
  const { status, body } = await ask()
  if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`)
  writeFileSync(`src/operations/examples/${name}.json`, `${JSON.stringify(body, null, 2)}\n`)
}
process.exitCode = await program.stop()
