import type { FastifyInstance } from 'fastify'
import { openApiDocument } from '../operations/openapi.ts'
import type { Operation } from '../operations/operation.ts'
import { serveDocs } from './docs.ts'

/** `GET /openapi.json` and the page that shows it at `/docs/api`. */
export const documentApi = (
  app: FastifyInstance,
  options: { readonly operations: readonly Operation[]; readonly version: string },
): void => serveDocs(app, () => openApiDocument(options.operations, options.version))
