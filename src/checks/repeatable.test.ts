import { expect, it } from 'vitest'
import { labProblem } from '../../test/lab/problem.ts'
import { labCtx } from '../../test/lab/world.ts'
import { domain } from '../names/domain.ts'
import { ip } from '../names/ip.ts'
import { type Answer, type AskServer, DnsError, type RecordType, type Resolve } from '../net/dns/resolver.ts'
import { FetchError } from '../net/fetch.ts'
import { lookUp, subjectOf } from '../plan/snapshot.ts'
import { repeatable } from './repeatable.ts'

/** A zone whose every answer leads to many more questions. */
const GREEDY: { readonly [T in RecordType]?: (name: string) => readonly unknown[] } = {
  MX: (name) => Array.from({ length: 20 }, (_, i) => ({ preference: i, exchange: `m${i}.${name}`.slice(0, 200) })),
  A: (name) => Array.from({ length: 8 }, (_, i) => ip(`45.${name.length % 250}.${name.charCodeAt(1) % 250}.${i}`)),
  PTR: (name) => Array.from({ length: 10 }, (_, i) => `p${i}.${name}`),
  NS: (name) => Array.from({ length: 13 }, (_, i) => `ns${i}.${name}`),
  TXT: (name) =>
    name.startsWith('_dmarc')
      ? [`v=DMARC1; p=none; rua=${Array.from({ length: 20 }, (_, i) => `mailto:a@r${i}.example`).join()}`]
      : [`v=spf1 ${Array.from({ length: 10 }, (_, i) => `mx:s${i}.${name.slice(0, 60)} ptr`).join(' ')} ~all`],
}

// Bound: src/checks/questions.ts MOST; one is kept for the plan
it('asks at most 120 questions for one check, of the resolver and of name servers, and says what it left out', async () => {
  const asked: string[] = []
  const resolve: Resolve = async <T extends RecordType>(name: string, type: T) => {
    asked.push(`${name} ${type}`)
    const records = (GREEDY[type]?.(name) ?? []) as Answer<T>['records']
    const kind = records.length > 0 ? 'found' : 'nodata'
    return { kind, name, type, records, ttlSeconds: 0, cname: [], secure: false, ede: [] }
  }
  const fetch = async () => Promise.reject(new FetchError('timeout', labProblem('no answer in time')))
  const askServer: AskServer = async (_server, name, type) => {
    asked.push(`${name} ${type}`)
    throw new DnsError('timeout', { name, type })
  }
  const ctx = labCtx({}, { resolve, fetch, askServer })
  const { outcomes } = await lookUp(subjectOf(repeatable(ctx, 'greedy.example'), domain('greedy.example'), {}))
  expect(asked).toHaveLength(119)
  expect(JSON.stringify(outcomes)).toContain('too_many_questions')
})

it('a caller who disconnects leaves no rejection that nobody handles', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', note)
  const leaving = new AbortController()
  const resolve: Resolve = (_name, _type, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  const ctx = repeatable({ ...labCtx({}, { resolve }), signal: leaving.signal }, 'a.example')
  const judged = lookUp(subjectOf(ctx, domain('a.example'), {}))
  leaving.abort(new DOMException('the client disconnected', 'AbortError'))
  await expect(judged).rejects.toThrow('the client disconnected')
  await new Promise((resolve) => setTimeout(resolve, 20))
  process.off('unhandledRejection', note)
  for (const other of others) process.on('unhandledRejection', other)
  expect(unhandled).toEqual([])
})
