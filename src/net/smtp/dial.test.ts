import { expect, it } from 'vitest'
import { connectError } from './dial.ts'

it.each<[code: string, syscall: string, bound: boolean, reason: string]>([
  ['EADDRNOTAVAIL', 'connect', true, 'address_not_local'],
  ['EINVAL', 'connect', true, 'address_not_local'],
  ['EACCES', 'bind', true, 'address_not_local'],
  ['EADDRNOTAVAIL', 'connect', false, 'network_unreachable'], // no source address was asked for
  ['EINVAL', 'connect', false, 'network_unreachable'],
  ['ECONNREFUSED', 'connect', true, 'connect_refused'],
  ['ETIMEDOUT', 'connect', true, 'connect_timeout'],
  ['ECONNRESET', 'connect', false, 'connection_lost'],
  ['EMFILE', 'connect', false, 'network_unreachable'],
])('%s of %s, with a source address %s: %s', (code, syscall, bound, reason) => {
  const error = Object.assign(new Error(code), { code, syscall })
  expect(connectError(error, bound).reason).toBe(reason)
})
