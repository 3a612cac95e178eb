import { expect, it } from 'vitest'
import { providerOf } from '../provider.ts'
import { probeKeyOf } from './state.ts'

it.each([
  ['mx1.x.example', 'mx1.x.example'],
  ['aspmx.l.google.com', 'aspmx.l.google.com'],
  ['x-example.mail.protection.outlook.com', 'microsoft365'], // once a domain and day, whatever host is asked
])('whether a domain is a catch-all at %s is kept under %s', (host, key) =>
  expect(probeKeyOf({ host, provider: providerOf(host) })).toBe(key),
)
