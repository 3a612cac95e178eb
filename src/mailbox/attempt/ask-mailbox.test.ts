import { expect, it } from 'vitest'
import { ip } from '../../names/ip.ts'
import { ofBothFamilies } from './ask-mailbox.ts'

const [A, B, C, SIX] = ['45.53.1.1', '45.53.1.2', '45.53.1.3', '2a02:53:1::2'].map(ip) as [
  ReturnType<typeof ip>,
  ReturnType<typeof ip>,
  ReturnType<typeof ip>,
  ReturnType<typeof ip>,
]

it.each([
  ['as many as there are', [A, B], 3, [A, B]],
  ['the first ones', [A, B, C], 2, [A, B]],
  ['the other family keeps a place', [A, B, C, SIX], 3, [A, B, SIX]],
  ['it has one already', [A, SIX, B, C], 3, [A, SIX, B]],
  ['one place is the first', [A, SIX], 1, [A]],
  ["the system's choice", [undefined], 3, [undefined]],
])('%s', (_, from, most, chosen) => expect(ofBothFamilies(from, most)).toEqual(chosen))
