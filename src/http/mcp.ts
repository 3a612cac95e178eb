import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Authorize } from './authorize.ts'
import type { Gate } from './gate.ts'
import { hangUp } from './handle.ts'
import type { HttpOptions } from './options.ts'
import { requestError } from './problems.ts'

const PATH = '/mcp'
/** Maximum size of a body: as large as the largest of an operation. */
const bodyLimitOf = (operations: HttpOptions['operations']): number =>
  Math.max(65_536, ...operations.map(({ bodyLimit = 0 }) => bodyLimit))
/** Header fields of an answer that are passed on. */
const FIELDS = ['content-type', 'allow', 'mcp-protocol-version']

/**
 * `POST /mcp`: the Model Context Protocol over streamable HTTP, without sessions. Each request has a protocol server of
 * its own, with the tools that its key may use. Keys, rates, bounds and the refusal of other sites are those of the
 * API. The SDK is loaded with the first request.
 */
export function serveMcp(
  app: FastifyInstance,
  options: HttpOptions,
  { gate, authorize }: { readonly gate: Gate; readonly authorize: Authorize },
): void {
  app.post(
    PATH,
    {
      bodyLimit: bodyLimitOf(options.operations),
      config: { limit: 'gate' },
      ...gate.hooks({ scope: 'read', path: PATH }),
    },
    (request, reply) => answer(request, reply, options, authorize),
  )
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { operations, execute, version, origin }: HttpOptions,
  authorize: Authorize,
): Promise<FastifyReply> {
  // The protocol has no batches since 2025-06-18; one would be counted as one request, whatever its calls cost.
  if (Array.isArray(request.body)) throw requestError('batch')
  const { mcpHandler } = await import('../mcp/server.ts')
  const handler = mcpHandler({
    operations: operations,
    execute,
    version,
    ...(request.auth && { caller: request.auth }),
    mayUse: (operation) => authorize(operation, request).refused === undefined,
    boundary: randomUUID,
  })
  try {
    const asked = new Request(new URL(PATH, origin), {
      method: 'POST',
      headers: Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
        typeof value === 'string' ? [[name, value]] : [],
      ),
      body: request.rawBody,
      signal: hangUp(reply),
    })
    const given = await handler.fetch(asked, { parsedBody: request.body })
    for (const name of FIELDS) {
      const value = given.headers.get(name)
      if (value !== null) void reply.header(name, value)
    }
    return reply.code(given.status).send(await given.text())
  } finally {
    await handler.close()
  }
}
