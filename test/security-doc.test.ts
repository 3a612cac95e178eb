import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

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
