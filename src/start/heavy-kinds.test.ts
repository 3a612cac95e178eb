import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { KINDS } from './heavy-kinds.ts'

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
