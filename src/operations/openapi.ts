import { z } from 'zod'
import { ERRORS, type ErrorCode } from '../base/errors.ts'
import type { Operation } from './operation.ts'

type Schema = Record<string, unknown>

/** The OpenAPI 3.1 document, made from the very schemas that read the input. */
export function openApiDocument(operations: readonly Operation[], version: string): Schema {
  const paths: Record<string, Record<string, Schema>> = {}
  const shapes: Record<string, Schema> = {}
  for (const operation of operations) {
    const described = describe(operation, shapes)
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: described }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'mailsonde',
      version,
      description:
        'Says truthfully how the mail of a domain stands, whether a mailbox exists and whether an address is on any of 29 blacklists.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKey: [] }, {}],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
      schemas: { Problem: PROBLEM, ...shapes },
    },
  }
}

const PROBLEM: Schema = {
  type: 'object',
  description: 'A problem detail (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code'],
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string' },
    code: { type: 'string', enum: Object.keys(ERRORS) },
    parameter: { type: 'string' },
  },
}

const PROBLEMS: Schema = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }

/** One operation; the shapes that have a name go into `shapes`. */
function describe(operation: Operation, shapes: Record<string, Schema>): Schema {
  const input = jsonSchema(operation.input)
  const properties = (input.properties ?? {}) as Record<string, Schema>
  const required = (input.required ?? []) as string[]
  const content = {
    [operation.stream ? 'application/x-ndjson' : 'application/json']: {
      schema: answerSchema(operation.output, shapes),
      example: operation.example.output,
    },
  }
  const documents = Object.fromEntries(
    Object.values(operation.documents ?? {}).map(({ contentType }) => [
      contentType.split(';')[0]!,
      { schema: { type: 'string' } },
    ]),
  )
  return {
    operationId: operation.name,
    summary: operation.summary,
    ...(operation.scope ? { 'x-scope': operation.scope } : { security: [{}] }),
    ...(operation.method === 'GET'
      ? {
          parameters: Object.entries(properties).map(([name, schema]) =>
            parameter(name, schema, required.includes(name), operation.example.input[name]),
          ),
        }
      : {
          requestBody: {
            required: required.length > 0,
            content: { 'application/json': { schema: input, example: operation.example.input } },
          },
        }),
    responses: {
      200: { description: 'The answer', content: { ...content, ...documents } },
      ...Object.fromEntries(
        Object.entries(operation.statuses ?? {}).map(([status, description]) => [status, { description, content }]),
      ),
      ...problems(operation),
    },
  }
}

function parameter(name: string, schema: Schema, required: boolean, example: unknown): Schema {
  const { description, examples: _examples, ...rest } = schema
  return {
    name,
    in: 'query',
    required,
    ...(description ? { description } : {}),
    schema: rest,
    ...(example === undefined ? {} : { example }),
  }
}

function problems(operation: Operation): Record<string, Schema> {
  if (operation.scope === undefined) return {}
  const codes: readonly ErrorCode[] = [
    'invalid_parameter',
    'unauthorized',
    'forbidden',
    'rate_limited',
    'internal',
    'overloaded',
  ]
  const bodies: readonly ErrorCode[] =
    operation.method === 'POST' ? ['payload_too_large', 'unsupported_media_type'] : []
  return {
    ...Object.fromEntries(
      [...codes, ...bodies].map((code) => [
        ERRORS[code].status,
        { description: ERRORS[code].title, content: PROBLEMS },
      ]),
    ),
    default: { description: 'Another problem; `code` tells which', content: PROBLEMS },
  }
}

/** JSON Schema of a parameter's zod schema without the parts that OpenAPI keeps elsewhere. */
function jsonSchema(schema: z.ZodType): Schema {
  const { $schema: _version, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema
  return rest
}

/** JSON Schema of an answer: open, since a later version may add fields; named shapes stand in the components of the document. */
function answerSchema(schema: z.ZodType, shapes: Record<string, Schema>): Schema {
  const { $schema: _version, $defs = {}, ...rest } = z.toJSONSchema(schema, { io: 'output' }) as Schema
  const open = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(open)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).filter(([key, item]) => key !== 'additionalProperties' || item !== false)
    return Object.fromEntries(
      entries.map(([key, item]) => [key, key === '$ref' ? componentOf(String(item)) : open(item)]),
    )
  }
  for (const [name, shape] of Object.entries($defs as Record<string, Schema>)) {
    const { id: _id, ...own } = shape
    shapes[name] = open(own) as Schema
  }
  return open(rest) as Schema
}

const componentOf = (ref: string): string => ref.replace(/^#\/\$defs\//, '#/components/schemas/')
