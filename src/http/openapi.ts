import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { openApiDocument } from '../operations/openapi.ts'
import type { Operation } from '../operations/operation.ts'

/** `GET /openapi.json` and the page that shows it at `/docs`. */
export async function documentApi(
  app: FastifyInstance,
  options: { readonly operations: readonly Operation[]; readonly version: string },
): Promise<void> {
  const document = openApiDocument(options.operations, options.version)
  await app.register(swagger, { mode: 'static', specification: { document: document as never } })
  // The page keeps the policy of every answer: its own would ask browsers for HTTPS, which this port does not speak.
  await app.register(swaggerUi, { routePrefix: '/docs' })
  app.get('/openapi.json', async (_request, reply) => reply.send(document))
}
