import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { startProgram } from './program.ts'

const run = promisify(execFile)
const program = await startProgram([])
afterAll(() => program.stop())

const RUNNERS: Readonly<Record<string, (code: string) => readonly [string, readonly string[]]>> = {
  sh: (code) => ['sh', ['-c', code]],
  ts: (code) => [process.execPath, ['--input-type=module', '-e', code]],
  python: (code) => ['python3', ['-c', code]],
}

/** The blocks of a document that ask the service. */
function examplesOf(document: string): readonly (readonly [language: string, code: string])[] {
  const text = readFileSync(resolve(import.meta.dirname, '../../docs', document), 'utf8')
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .map(([, language, code]) => [language!, code!] as const)
    .filter(([, code]) => code.includes('http://127.0.0.1:8080/v1/'))
}

describe.each(['quickstart.md'])('%s', (document) => {
  const examples = examplesOf(document)
  it('has examples for curl, TypeScript and Python', () => {
    expect(examples.map(([language]) => language).sort()).toEqual(['python', 'sh', 'ts'])
  })

  it.each(examples)('the example in %s asks the service and shows its answer', async (language, code) => {
    const [command, args] = RUNNERS[language]!(
      code.replaceAll('http://127.0.0.1:8080', program.url).replaceAll('example.org', 'healthy.test'),
    )
    const { stdout } = await run(command, [...args], { timeout: 30_000 })
    expect(stdout).toMatch(/\b100\b/) // the score of healthy.test
  })
})
