import { describe, expect, it } from 'vitest'
import { labDeps, labExecutor } from '../../test/lab/app.ts'
import { labProblem } from '../../test/lab/problem.ts'
import { labWorld } from '../../test/lab/world.ts'
import { mergeGeo } from '../geo/record.ts'
import { domain } from '../names/domain.ts'
import { ip } from '../names/ip.ts'
import { FetchError } from '../net/fetch.ts'
import { DialError } from '../net/smtp/dial.ts'
import { allOperations, OPERATIONS, PARTS } from './registry.ts'

const operations = await allOperations()
const byName = operations.map((operation) => [operation.name, operation] as const)

describe.each(byName)('the example of %s', (_, operation) => {
  it('has an input that is read', () => expect(() => operation.ask(operation.example.input)).not.toThrow())
  it('has an answer of the documented shape', () =>
    expect(operation.answer.safeParse(operation.example.output).error?.issues ?? []).toEqual([]))
})

/** Mail hosts and pages of the examples: nobody is there. */
const parts = {
  dial: () => Promise.reject(new DialError('connect_refused', labProblem('nobody is there'))),
  fetch: () => Promise.reject(new FetchError('connect', labProblem('nobody is there'))),
}
const world = labWorld({ 'neglected.test': { MX: [[10, 'mx.test']] }, 'mx.test': { A: ['45.53.5.1'] } }, parts)
const deps = labDeps(world)
const execute = labExecutor(world, deps)
deps.messages.inbox.open(domain('test.example.org'))

/**
 * The executor of the lab holds every answer against its schema, strictly: here are all operations, so that none
 * escapes.
 */
it.each(byName)('%s answers as its schema says', async (name, operation) => {
  if (name === 'peer-heartbeat') {
    const register = await OPERATIONS['peer-register']()
    await execute(register, register.example.input, {})
  }
  const upload =
    operation.uploads === 'message'
      ? {
          octets: (async function* () {
            yield Buffer.from('From: joe@example.org\r\n\r\n')
          })(),
          contentType: 'message/rfc822',
        }
      : { octets: (async function* () {})(), contentType: 'text/csv' }
  const waiting = await deps.messages.inbox.create({ id: '', isAdmin: true }, 60_000)
  const named = /^message-(?:received|events)$/.test(name) ? { id: waiting.id } : {}
  // The node that registered is not there to be told.
  const run = name === 'forget' ? labExecutor(world, labDeps(world)) : execute
  const { answer, status } = await run(
    operation,
    { ...operation.example.input, ...named },
    operation.uploads ? { upload } : {},
  )
  expect([status < 300, typeof answer]).toEqual([true, 'object'])
})

it('the executor of the lab refuses an answer that is not as its schema says', async () => {
  const geo = async () => ({ ...mergeGeo(ip('192.0.2.1'), []), asn: 'AS1' as never })
  const asked = labExecutor(world, { ...deps, geo })(await OPERATIONS.geo(), { ip: '192.0.2.1' }, {})
  await expect(asked).rejects.toThrow(/does not match its schema: asn/)
})

it('operations without a command are named beside the command that leads to them', () => {
  const named = Object.entries(PARTS).flatMap(([command, names]) => names.map((name) => [name, command]))
  expect(named).toEqual(operations.flatMap(({ name, partOf }) => (partOf === undefined ? [] : [[name, partOf]])))
})
