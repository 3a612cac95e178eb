import type { FastifyInstance } from 'fastify'
import { openApiDocument } from '../operations/openapi.ts'
import type { Operation } from '../operations/operation.ts'
import { fromMemory } from './from-memory.ts'

/** `GET /openapi.json`, created with the first request and served from memory. */
export const documentApi = (
  app: FastifyInstance,
  { operations, version }: { readonly operations: readonly Operation[]; readonly version: string },
): void => {
  app.get(
    '/openapi.json',
    fromMemory(async () => ({
      type: 'application/json; charset=utf-8',
      body: Buffer.from(JSON.stringify(openApiDocument(operations, version))),
    })),
  )
}
