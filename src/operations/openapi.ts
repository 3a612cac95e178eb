import { z } from 'zod'
import { ERRORS, type ErrorCode } from '../base/errors.ts'
import type { Operation } from './operation.ts'
import { describeParam, type Param } from './param.ts'
import { pathNames } from './path.ts'

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
        "Checks a domain's mail setup and tells you when it does not know; verifies mailboxes over SMTP; looks addresses up on 29 blacklists.",
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

/** The content types of streams, by the value of `format`. */
const STREAM_TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  events: 'text/event-stream',
}

/** One operation; the shapes that have a name go into `shapes`. */
function describe(operation: Operation, shapes: Record<string, Schema>): Schema {
  const content = {
    [operation.line ? 'application/x-ndjson' : 'application/json']: {
      schema: answerSchema(operation.line ?? operation.answer, shapes),
      example: operation.example.output,
    },
  }
  const streams = [...(operation.streams ?? []), ...(operation.live ? ['events'] : [])].map(
    (format) => STREAM_TYPES[format] ?? 'text/plain',
  )
  const texts = [...operation.documentTypes.map((type) => type.split(';')[0]!), ...streams]
  const documents = texts.map((type) => [type, { schema: { type: 'string' } }])
  return {
    operationId: operation.name.replaceAll(' ', '-'),
    summary: operation.summary,
    ...(operation.scope ? { 'x-scope': operation.scope } : { security: [{}] }),
    ...describeInput(operation),
    responses: {
      200: { description: 'The answer', content: { ...content, ...Object.fromEntries(documents) } },
      ...Object.fromEntries(
        Object.entries(operation.statuses ?? {}).map(([status, description]) => [status, { description, content }]),
      ),
      ...problems(operation),
    },
  }
}

/** Parameters of the path, and the others in the query or as properties of the body. An upload is the body itself. */
function describeInput({ method, path, params, example, uploads, idempotent }: Operation): Schema {
  const inPath = pathNames(path)
  const named = Object.entries(params)
  const inQuery = method === 'GET' || method === 'DELETE' || uploads === true
  const parameters = [
    ...named
      .filter(([name]) => inQuery || inPath.includes(name))
      .map(([name, param]) => parameter(name, param, inPath.includes(name) ? 'path' : 'query', example.input[name])),
    ...(idempotent ? [IDEMPOTENCY_KEY] : []),
  ]
  const listed = parameters.length > 0 || inQuery ? { parameters } : {}
  if (uploads) return { ...listed, requestBody: UPLOAD_BODY }
  return inQuery
    ? listed
    : {
        ...listed,
        requestBody: bodyOf(
          named.filter(([name]) => !inPath.includes(name)),
          example,
        ),
      }
}

const IDEMPOTENCY_KEY: Schema = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Names the request, so that it can be repeated: within 24 hours the same key and request get the same answer (with the field Idempotent-Replayed), another request with the key 409, and one whose first call still runs 409 with Retry-After',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
}

/** A list, in one of the formats that are read as a stream (docs/jobs.md). */
const UPLOAD_BODY: Schema = {
  required: true,
  content: Object.fromEntries(
    ['text/csv', 'text/plain', 'application/x-ndjson', 'application/json'].map((type) => [
      type,
      { schema: { type: 'string', format: 'binary' } },
    ]),
  ),
}

function bodyOf(named: readonly (readonly [string, Param])[], example: Operation['example']): Schema {
  const required = named.filter(([, param]) => param.required).map(([name]) => name)
  const schema = {
    type: 'object',
    properties: Object.fromEntries(
      named.map(([name, param]) => [name, { ...paramSchema(param), description: describeParam(param) }]),
    ),
    ...(required.length > 0 ? { required } : {}),
  }
  return { required: required.length > 0, content: { 'application/json': { schema, example: example.input } } }
}

const parameter = (name: string, param: Param, place: 'path' | 'query', example: unknown): Schema => ({
  name,
  in: place,
  required: param.required,
  description: describeParam(param),
  'x-group': param.group,
  schema: paramSchema(param),
  ...(example === undefined ? {} : { example }),
})

/** JSON Schema of a parameter: its form by its schema, what is said of it by its data. */
function paramSchema({ schema, kind, choices, fallback, example }: Param): Schema {
  const { $schema: _version, ...form } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema
  const items = kind === 'list' ? choices && { items: { type: 'string', enum: choices } } : choices && { enum: choices }
  return {
    ...form,
    ...items,
    ...(fallback === undefined || kind === 'list' ? {} : { default: fallback }),
    ...(example === undefined ? {} : { examples: [kind === 'list' ? [example] : example] }),
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
    operation.method === 'GET' || operation.method === 'DELETE' ? [] : ['payload_too_large', 'unsupported_media_type']
  const repeated: readonly ErrorCode[] = operation.idempotent ? ['idempotency_key_in_use'] : []
  return {
    ...Object.fromEntries(
      [...codes, ...bodies, ...repeated].map((code) => [
        ERRORS[code].status,
        { description: ERRORS[code].title, content: PROBLEMS },
      ]),
    ),
    default: { description: 'Another problem; `code` tells which', content: PROBLEMS },
  }
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
