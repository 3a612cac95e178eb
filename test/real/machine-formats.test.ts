import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startProgram } from './program.ts'

const MAIN = join(import.meta.dirname, '../../src/main.js')
const SCHEMA = join(import.meta.dirname, 'junit.xsd')

let program: Awaited<ReturnType<typeof startProgram>>
beforeAll(async () => {
  program = await startProgram()
})
afterAll(() => program.stop())

it.each<[words: string, suites: number]>([
  ['check healthy.test neglected.test missing.test servfail.test', 4],
  ['verify user@accept.test nobody@accept.test user@grey.test joe@@x', 4],
])('libxml2 takes the JUnit XML of %s by its schema', (words, suites) => {
  const args = [MAIN, ...words.split(' '), '--format', 'junit', '--server', program.url]
  const { stdout: xml } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 16 << 20 })
  expect(xml.match(/<testsuite /g)).toHaveLength(suites)
  execFileSync('xmllint', ['--noout', '--nonet', '--schema', SCHEMA, '-'], {
    input: xml,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
})
