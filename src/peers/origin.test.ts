import { expect, it } from 'vitest'
import { parseOrigin } from './origin.ts'

it.each<[string, string | undefined]>([
  ['https://b.example', 'https://b.example'],
  ['https://b.example:8443/', 'https://b.example:8443'],
  ['https://user@b.example', undefined],
  ['https://:password@b.example', undefined],
  ['https://user:password@b.example', undefined],
  ['https://b.example/path', undefined],
  ['https://b.example/?query', undefined],
  ['ftp://b.example', undefined],
  ['b.example', undefined],
])('%s', (text, origin) => {
  const reading = parseOrigin(text)
  expect(reading.ok ? reading.value : undefined).toEqual(origin)
})
