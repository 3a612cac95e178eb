import { expect, it } from 'vitest'
import { zoneCandidates } from './suffix.ts'

it.each<[name: string, limit: number, expected: string[]]>([
  ['a.example', 4, ['a.example']],
  ['b.a.example', 4, ['b.a.example', 'a.example']],
  ['a.co.uk', 4, ['a.co.uk']], // two labels of public suffix
  ['co.uk', 4, ['co.uk']], // a public suffix is asked itself
  ['e.d.c.b.a.example', 3, ['e.d.c.b.a.example', 'b.a.example', 'a.example']],
])('%s, at most %i', (name, limit, expected) => expect(zoneCandidates(name, limit)).toEqual(expected))
