import { expect, it } from 'vitest'
import { parseHostField } from './caller.ts'

it.each<[field: string, host: string | undefined]>([
  ['A.example', 'a.example'],
  ['a.example:', 'a.example'],
  ['a.example:65535', 'a.example'],
  ['a.example:65536', undefined],
  ['a.example:-1', undefined],
  ['[::1]', '::1'],
  ['[::1]:65535', '::1'],
  ['[::1]:65536', undefined],
  ['[127.0.0.1]', undefined], // a literal in brackets is IPv6 (RFC 3986 §3.2.2)
  ['127.0.0.1', '127.0.0.1'],
  ['a@b.example', undefined],
  ['', undefined],
])('%s', (field, host) => expect(parseHostField(field)).toBe(host))
