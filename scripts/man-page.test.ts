import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { commandOf } from '../src/operations/path.ts'
import { allOperations } from '../src/operations/registry.ts'

const page = readFileSync('docs/mailsonde.1', 'utf8')
const has = (command: string): boolean => spawnSync(command, ['--version']).error === undefined

it.skipIf(!has('groff'))('groff formats it without a warning', () => {
  const { status, stderr } = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-z'], { input: page, encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
})

it.skipIf(!has('mandoc'))('mandoc finds no error in it', () => {
  const { status, stdout } = spawnSync('mandoc', ['-Tlint', '-Werror'], { input: page, encoding: 'utf8' })
  expect([status, stdout]).toEqual([0, ''])
})

it('has every command', async () => {
  const operations = (await allOperations()).filter(({ partOf }) => partOf === undefined)
  for (const { name } of operations) expect(page).toContain(`.SS "mailsonde ${commandOf(name).replaceAll('-', '\\-')}`)
})

it('has one line for each request, and none that begins in external text', () => {
  const requests = page.split('\n').flatMap((line) => /^[.'](\S{1,3})/.exec(line)?.[1] ?? [])
  expect([...new Set(requests)].sort()).toEqual([
    'B',
    'BR',
    'I',
    'PP',
    'RE',
    'RI',
    'RS',
    'SH',
    'SS',
    'TH',
    'TP',
    '\\"',
    'fi',
    'nf',
  ])
})
