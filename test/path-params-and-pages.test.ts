import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { listOf } from '../src/answers/answer.ts'
import { AppError } from '../src/base/errors.ts'
import { askService } from '../src/cli/ask-service.ts'
import { operate } from '../src/cli/operate.ts'
import { runCommandLine } from '../src/cli/program.ts'
import { openApiDocument } from '../src/operations/openapi.ts'
import { defineOperation, ok } from '../src/operations/operation.ts'
import { cursorParam, flagParam, limitParam, pageOf, wholeParam } from '../src/operations/params.ts'
import { labActions } from './lab/actions.ts'
import { labApp, labDeps, labExecutor } from './lab/app.ts'
import { labProblem } from './lab/problem.ts'
import { labSetting } from './lab/setting.ts'
import { labWorld } from './lab/world.ts'

/** Operations with a path parameter and with pages, through every adapter: `things` are the numbers from 1 to 25. */
const MOST = 25
const thingAnswer = z.strictObject({ id: z.int(), even: z.boolean().optional() })
const id = wholeParam('number of the thing', { min: 1, max: 1_000 })
const common = { scope: 'read', deadlineMs: 1_000, uses: [] } as const

const thing = defineOperation({
  ...common,
  name: 'thing',
  method: 'GET',
  path: '/v1/things/{id}',
  summary: 'one thing',
  params: { id, even: flagParam('tell whether it is even') },
  answer: thingAnswer,
  example: { input: { id: '7' }, output: { id: 7 } },
  run: async (_ctx, _deps, input) => {
    if (input.id > MOST) throw new AppError('not_found', labProblem(`there is no thing ${input.id}`))
    return ok({ id: input.id, ...(input.even && { even: input.id % 2 === 0 }) })
  },
})
const renumber = defineOperation({
  ...common,
  name: 'renumber',
  method: 'POST',
  path: '/v1/things/{id}/number',
  summary: 'gives a thing another number',
  params: { id, to: id },
  answer: thingAnswer,
  example: { input: { id: '7', to: '8' }, output: { id: 8 } },
  run: async (_ctx, _deps, { to }) => ({ status: 201, answer: { id: to } }),
  statuses: { 201: 'it has its number' },
})
const things = defineOperation({
  ...common,
  name: 'things',
  method: 'GET',
  path: '/v1/things',
  summary: 'all things',
  params: { cursor: cursorParam(z.strictObject({ after: z.int() })), limit: limitParam({ max: 10, fallback: 10 }) },
  answer: listOf(thingAnswer),
  example: { input: {}, output: { data: [{ id: 1 }], has_more: false, next_cursor: null } },
  run: async (_ctx, _deps, { cursor, limit }) => {
    const first = (cursor?.after ?? 0) + 1
    const rows = Array.from({ length: limit + 1 }, (_, i) => first + i).filter((one) => one <= MOST)
    return ok(
      pageOf(
        rows,
        limit,
        (last) => ({ after: last }),
        (one) => ({ id: one }),
      ),
    )
  },
})
const operations = [things, thing, renumber]

let app: FastifyInstance
const open = async () => {
  app = await labApp(labWorld(), { operations })
  return app
}
afterEach(() => app?.close())

describe('over HTTP', () => {
  it.each<['GET' | 'POST', string, object | undefined, number, unknown]>([
    ['GET', '/v1/things/7', undefined, 200, { id: 7 }],
    ['GET', '/v1/things/7?even=true', undefined, 200, { id: 7, even: false }],
    ['GET', '/v1/things/%37', undefined, 200, { id: 7 }],
    ['POST', '/v1/things/7/number', { to: '8' }, 201, { id: 8 }],
    ['GET', '/v1/things/seven', undefined, 400, { code: 'invalid_parameter', parameter: 'id' }],
    ['GET', '/v1/things/26', undefined, 404, { code: 'not_found', detail: 'there is no thing 26' }],
    ['GET', '/v1/things/7?id=8', undefined, 400, { code: 'invalid_parameter', parameter: 'id' }],
    ['POST', '/v1/things/7/number', { id: '9', to: '8' }, 400, { code: 'invalid_parameter', parameter: 'id' }],
    ['GET', '/v1/things/7/8', undefined, 404, { code: 'not_found' }],
    ['POST', '/v1/things/7', {}, 405, { code: 'method_not_allowed' }],
  ])('%s %s with %j: %i', async (method, url, payload, status, answer) => {
    const response = await (await open()).inject({ method, url, ...(payload && { payload }) })
    expect([response.statusCode, response.json()]).toEqual([status, expect.objectContaining(answer)])
  })

  it('goes through all pages, each thing once', async () => {
    const server = await open()
    const sizes: number[] = []
    const seen: number[] = []
    let cursor: string | null = null
    do {
      const page: z.output<typeof things.answer> = (
        await server.inject({ url: `/v1/things${cursor === null ? '' : `?cursor=${cursor}`}` })
      ).json()
      sizes.push(page.data.length)
      seen.push(...page.data.map((one) => one.id))
      expect(page.has_more).toBe(page.next_cursor !== null)
      cursor = page.next_cursor
    } while (cursor !== null)
    expect([sizes, seen]).toEqual([[10, 10, 5], Array.from({ length: MOST }, (_, i) => i + 1)])
  })

  it.each([
    ['limit=0', 'limit'],
    ['limit=11', 'limit'],
    ['cursor=x', 'cursor'],
    [`cursor=${Buffer.from('{"after":"1"}').toString('base64url')}`, 'cursor'],
    [`cursor=${'a'.repeat(600)}`, 'cursor'],
  ])('refuses %s', async (query, parameter) => {
    const response = await (await open()).inject({ url: `/v1/things?${query}` })
    expect([response.statusCode, response.json().parameter]).toEqual([400, parameter])
  })
})

it('in the document of the API', () => {
  const { paths } = openApiDocument(operations, '0') as { paths: Record<string, Record<string, object>> }
  expect(paths['/v1/things/{id}']!.get).toMatchObject({
    parameters: [
      { name: 'id', in: 'path', required: true, description: 'number of the thing (1 to 1000)' },
      { name: 'even', in: 'query', required: false },
    ],
  })
  expect(paths['/v1/things/{id}/number']!.post).toMatchObject({
    parameters: [{ name: 'id', in: 'path', required: true }],
    requestBody: { content: { 'application/json': { schema: { required: ['to'], properties: { to: {} } } } } },
  })
  expect(paths['/v1/things']!.get).toMatchObject({
    parameters: [{ name: 'cursor' }, { name: 'limit', schema: { default: '10' } }],
  })
})

/** What a command prints, in process or asked of a service. */
async function run(words: readonly string[], server?: string): Promise<unknown> {
  let printed = ''
  const world = labWorld()
  const execute = labExecutor(world, labDeps(world))
  const service = server && { server, key: undefined, peerSecret: undefined, nodeId: undefined, now: () => 0 }
  const setting = {
    version: '0',
    ...labSetting,
    onTerminal: false,
    write: async (text: string): Promise<void> => void (printed += text),
    open: async () => ({ execute, close: async () => {} }),
    service: service || undefined,
  }
  const code = await runCommandLine(words, {
    operations,
    configFlags: [],
    version: '0',
    actions: labActions({ operate: (asked) => operate(asked, setting) }),
    complain: (text) => void (printed += text),
    readFile: () => '',
  })
  return code === 0 ? JSON.parse(printed) : [code, printed]
}

it.each<[readonly string[], unknown]>([
  [['thing', '7'], { id: 7 }],
  [['thing', '7', '--even'], { id: 7, even: false }],
  [['renumber', '7', '--to', '8'], { id: 8 }],
  [['things', '--limit', '1'], { data: [{ id: 1 }], has_more: true, next_cursor: expect.any(String) }],
  [
    ['thing', '26'],
    [2, 'mailsonde: there is no thing 26'],
  ],
])('%j on the command line, and asked of a service', async (words, answer) => {
  expect(await run(words)).toEqual(answer)
  const url = await (await open()).listen({ host: '127.0.0.1', port: 0 })
  expect(await run(words, url)).toEqual(answer)
})

it('a path parameter stays one, whatever it is', async () => {
  const url = await (await open()).listen({ host: '127.0.0.1', port: 0 })
  const at = { server: url, key: undefined, peerSecret: undefined, nodeId: undefined, now: () => 0 }
  await expect(askService(thing, { id: '7/../8' }, at, new AbortController().signal)).rejects.toMatchObject({
    code: 'invalid_parameter',
  })
})
