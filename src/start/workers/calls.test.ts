import { expect, it } from 'vitest'
import { AppError } from '../../base/errors.ts'
import { valueProblem } from '../../base/value-problems.ts'
import { type Port, remote } from './calls.ts'

type Own = { readonly add: (a: number, b: number) => number; readonly fail: (how: 'known' | 'other') => void }

/** Two ends of a channel that carries JSON, and the number of messages. */
function channel() {
  let messages = 0
  const listeners: ((message: unknown) => void)[] = []
  const port = (own: number): Port => ({
    send: (message) => {
      messages++
      const text = JSON.stringify(message)
      setImmediate(() => listeners[1 - own]!(JSON.parse(text)))
    },
    onMessage: (listener) => (listeners[own] = listener),
  })
  const answering = remote(port(1), {
    add: (a: number, b: number) => a + b,
    fail: async (how: 'known' | 'other') => {
      throw how === 'known' ? new AppError('not_found', valueProblem('empty')) : new Error('of no use')
    },
  })
  return { asking: remote<Own>(port(0), {}), answering, messages: () => messages }
}

it('calls of one turn are one message, and so are their answers', async () => {
  const { asking, messages } = channel()
  expect(await Promise.all([1, 2, 3].map((n) => asking.call('add', n, 10)))).toEqual([11, 12, 13])
  expect(messages()).toBe(2)
})

it('errors come back as what they are', async () => {
  const { asking } = channel()
  await expect(asking.call('fail', 'known')).rejects.toMatchObject({ name: 'AppError', code: 'not_found' })
  await expect(asking.call('fail', 'other')).rejects.toThrow('of no use')
})

it('a closed channel rejects what waits, and all that comes', async () => {
  const { asking } = channel()
  const waiting = asking.call('add', 1, 1)
  asking.close()
  await expect(waiting).rejects.toThrow('has ended')
  await expect(asking.call('add', 1, 1)).rejects.toThrow('has ended')
  asking.tell('add', 1, 1)
})
