import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { DEAD_HOST } from '../addresses.ts'
import { dig } from '../ask.ts'
import { withDelay, withDrop } from './delay.ts'

const took = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await work()
  return performance.now() - began
}
const connected = (host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port: 25, timeout: 700 })
    const end = (yes: boolean) => () => {
      socket.destroy()
      resolve(yes)
    }
    socket.once('connect', end(true)).once('timeout', end(false)).once('error', end(false))
  })

/** Of ten connections: a busy machine may hold some of them up. */
const quickest = async (host: string): Promise<number> => {
  const times: number[] = []
  for (let n = 0; n < 10; n++) times.push(await took(() => connected(host)))
  return Math.min(...times)
}

it('40 ms there and back: a connection and a question take one of them', async () => {
  await withDelay(40, ['45.53.5.0/24', '45.53.0.0/28'], async () => {
    const times = [
      await took(() => connected('45.53.5.1')),
      await took(() => dig('@45.53.0.1', '+norecurse', 'accept.test')),
    ]
    for (const ms of times) {
      expect(ms).toBeGreaterThan(39)
    }
    expect(await quickest('2a02:53:5::17')).toBeLessThan(39)
  })
  expect(await quickest('45.53.5.1')).toBeLessThan(39)
})

it('IPv6 can be far away too', async () => {
  await withDelay(40, ['2a02:53:5::/48'], async () => {
    expect(await took(() => connected('2a02:53:5::17'))).toBeGreaterThan(39)
  })
})

it('an address can be cut off', async () => {
  expect(await connected(DEAD_HOST)).toBe(false)
  await withDrop(['45.53.5.1'], async () => expect(await connected('45.53.5.1')).toBe(false))
  expect(await connected('45.53.5.1')).toBe(true)
})
