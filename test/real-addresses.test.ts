import { expect, it } from 'vitest'
import { listeners } from './real/smtp/listeners.ts'

it('each mail host of the test network has addresses of its own', () => {
  const addresses = listeners.flatMap(({ address, address6 }) => [address, ...(address6 ? [address6] : [])])
  expect(addresses.filter((address, at) => addresses.indexOf(address) !== at)).toEqual([])
})
