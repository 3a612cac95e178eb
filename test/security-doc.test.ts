import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { OPTIONS } from '../src/config-options.ts'

const ROOT = new URL('../', import.meta.url)
const text = readFileSync(new URL('contributing/threat-model.md', ROOT), 'utf8')

/** Every test that the threat model names: its file, then titles in quotes. */
function named(): [path: string, title: string][] {
  const found: [string, string][] = []
  let path = ''
  for (const [, file, title] of text.matchAll(/\]\(\.\.\/([^)]+\.test\.ts)\)|"([^"]+)"/g)) {
    if (file) path = file
    else found.push([path, title!])
  }
  return found
}

it('names tests', () => expect(named().length).toBeGreaterThan(50))

it.each(named())('the threat model names a test that is there: %s "%s"', (path, title) => {
  const file = new URL(path, ROOT)
  expect(existsSync(file)).toBe(true)
  expect(readFileSync(file, 'utf8')).toContain(title)
})

it('each threat and bound has a test', () => {
  const rows = text.split('\n').filter((line) => /^\| .* \| .* \| .* \|$/.test(line) && !line.startsWith('|---'))
  const bare = rows.filter((row) => !row.includes('.test.ts)') && !/\| tests \|$/.test(row))
  expect(bare).toEqual([])
})

/** The forms in which a number is written for people. */
const formsOf = (value: number): readonly string[] => [
  ...[String(value), value.toLocaleString('en-US'), `${value / 1_000_000} million`],
  ...[`${value / 1024} KiB`, `${value / 1024 ** 2} MiB`, `${value / 1024 ** 3} GiB`],
]

it('the costs of a key that docs/security.md names are the defaults of their options', () => {
  const costs = readFileSync(new URL('docs/security.md', ROOT), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| '))
  const wrong: string[] = []
  let compared = 0
  for (const { flag, fallback } of Object.values(OPTIONS)) {
    const row = costs.find((line) => line.includes(`\`--${flag}\``))
    if (row === undefined || typeof fallback !== 'number') continue
    compared++
    if (!formsOf(fallback).some((form) => new RegExp(`(?<![\\d,.])${form}(?![\\d,])`).test(row)))
      wrong.push(`--${flag}`)
  }
  expect(wrong).toEqual([])
  expect(compared).toBeGreaterThan(10)
})
