import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { type Program, startProgram } from '../../test/lab/program.ts'
import { KINDS } from './heavy-kinds.ts'

let program: Program | undefined
afterAll(() => program?.stop())

it('the program reads a message in a process of its own', async () => {
  program = await startProgram()
  const body = 'From: a@a.example\r\nSubject: b\r\n\r\nc'
  const sent = { method: 'POST', headers: { 'content-type': 'message/rfc822' }, body }
  const answer = await fetch(`${program.url}/v1/message`, sent)
  expect([answer.status, await answer.json()]).toMatchObject([200, { headers: { subject: 'b' } }])
  const text = await (await fetch(`${program.url}/metrics`)).text()
  expect(Number(/^mailsonde_heavy_jobs\{outcome="done"\} (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0)
}, 60_000) // its resolver does not answer

it('every kind of heavy work is in the list, by its name', () => {
  const root = join(import.meta.dirname, '..')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /(?<!\.test)\.ts$/.test(file))
  const names = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/: HeavyKind<[^=]*= \{\s*name: '([^']+)'/g)].map(
      ([, name]) => name,
    ),
  )
  expect(names.toSorted()).toEqual(KINDS.map(({ name }) => name).toSorted())
})
