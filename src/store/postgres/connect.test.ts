import { expect, it } from 'vitest'
import { isAway, throughOutage } from './connect.ts'

const coded = (code: string): Error => Object.assign(new Error('no'), { code })

it.each([
  ['a refused connection', coded('ECONNREFUSED'), true],
  ['a full disk', coded('53100'), true],
  ['a standby', coded('25006'), true],
  ['a connection that ended', new Error('Connection terminated unexpectedly'), true],
  ['a fault of the queue, which is a record', { code: 'ECONNREFUSED', message: 'no (Queue: a)', stack: '' }, true],
  ['a unique constraint', coded('23505'), false],
  ['nothing', undefined, false],
])('%s: away is told', (_, error, away) => expect(isAway(error)).toBe(away))

it('rejects with what the database said when patience is over, and with the reason of the signal', async () => {
  const away = (): Promise<never> => Promise.reject(coded('53100'))
  const { signal } = new AbortController()
  await expect(throughOutage(away, signal, 1)).rejects.toMatchObject({ code: '53100' })
  await expect(throughOutage(away, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
})
