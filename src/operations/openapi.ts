import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { formatDuration } from '../base/time.ts'
import { fieldWords } from './field-words.ts'
import { describeWebhooks, HEADERS, headersOf, PROBLEM, problems } from './openapi-parts.ts'
import { type Operation, readsQuery } from './operation.ts'
import { describeParam, type Param } from './params.ts'
import { commandOf, pathNames, TAGS, tagOf } from './path.ts'

type Schema = Record<string, unknown>

/** The OpenAPI 3.1 document, generated from the same schemas that read the input. */
export function openApiDocument(operations: readonly Operation[], version: string): Schema {
  const parts = partsOf(operations, version)
  for (;;) {
    const { done, value } = parts.next()
    if (done) return value
  }
}

/** The same, with a turn of the event loop after each operation: all of them take 0.3 s. */
export async function openApiInTurns(operations: readonly Operation[], version: string): Promise<Schema> {
  const parts = partsOf(operations, version)
  for (;;) {
    const { done, value } = parts.next()
    if (done) return value
    await setImmediate()
  }
}

/** Makes the document an operation at a time. */
function* partsOf(operations: readonly Operation[], version: string): Generator<void, Schema> {
  const paths: Record<string, Record<string, Schema>> = {}
  const shapes: Record<string, Schema> = {}
  for (const operation of operations) {
    const described = describe(operation, shapes)
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: described }
    yield
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'mailsonde',
      version,
      description:
        "Checks a domain's mail setup and tells you when it does not know; verifies mailboxes over SMTP; looks addresses up on 29 blacklists.",
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKey: [] }, {}],
    tags: TAGS.filter(({ name }) => operations.some(({ path }) => tagOf(path) === name)),
    paths,
    ...(operations.some(({ path }) => path.startsWith('/v1/webhooks')) && {
      webhooks: describeWebhooks(operations, (schema) => answerSchema(schema, shapes)),
    }),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
      headers: HEADERS,
      schemas: { Problem: PROBLEM, ...shapes },
    },
  }
}

/** The content types of streams, by the value of `format`. */
const STREAM_TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  events: 'text/event-stream',
}

/** One operation; named shapes are added to `shapes`. */
function describe(operation: Operation, shapes: Record<string, Schema>): Schema {
  const content = {
    [operation.line ? 'application/x-ndjson' : 'application/json']: {
      schema: answerSchema(operation.line ?? operation.answer, shapes),
      example: exampleOf(operation),
    },
  }
  const streams = [...(operation.streams ?? []), ...(operation.live ? ['events'] : [])].map(
    (format) => STREAM_TYPES[format] ?? 'text/plain',
  )
  const texts = [...operation.documentTypes.map((type) => type.split(';')[0]!), ...streams]
  const documents = texts.map((type) => [type, { schema: { type: 'string' } }])
  return {
    operationId: operation.name.replaceAll(' ', '-'),
    tags: [tagOf(operation.path)],
    summary: operation.summary,
    description: descriptionOf(operation),
    ...(operation.scope ? { 'x-scope': operation.scope } : { security: [{}] }),
    ...describeInput(operation),
    responses: {
      200: {
        description: 'The answer',
        headers: headersOf(operation),
        content: { ...content, ...Object.fromEntries(documents) },
      },
      ...Object.fromEntries(
        Object.entries(operation.statuses ?? {}).map(([status, description]) => [
          status,
          { description, headers: headersOf(operation), content },
        ]),
      ),
      ...problems(operation),
    },
  }
}

/** The answer of the example; if the answer consists of lines, one of them. */
function exampleOf({ line, example: { output } }: Operation): unknown {
  const data: unknown = line ? Reflect.get(output, 'data') : undefined
  return Array.isArray(data) ? data[0] : output
}

/** The scope, the time limit, and the equivalent command. */
function descriptionOf({
  name,
  scope,
  deadlineMs,
  graceMs = 0,
  params,
  partOf,
  forPeers,
  live,
  line,
}: Operation): string {
  const flags = Object.values(params).flatMap(({ flag }) => (flag ? [`--${flag.name}`] : []))
  return [
    scope === undefined
      ? 'Requires no key.'
      : `Requires a key with the scope \`${scope}\`, if the service has keys${forPeers ? ', or the proof of a node' : ''}.`,
    `Takes at most ${formatDuration(deadlineMs + graceMs)}${'timeout' in params ? ', or the given `timeout`' : ''}.`,
    ...(line ? ['Each line of the answer is one JSON object, sent as soon as it is known.'] : []),
    ...(live ? ['With `Accept: text/event-stream` the parts of the answer are sent as they become known.'] : []),
    `On the command line: \`mailsonde ${partOf === undefined ? commandOf(name) : `${commandOf(partOf)} ${flags.join('|')}`}\`.`,
  ].join(' ')
}

/** Parameters of the path, and the others in the query or as properties of the body. An upload is the body itself. */
function describeInput(operation: Operation): Schema {
  const { path, params, example, uploads, idempotent } = operation
  const inPath = pathNames(path)
  const named = Object.entries(params)
  const inQuery = readsQuery(operation)
  const parameters = [
    ...named
      .filter(([name]) => inQuery || inPath.includes(name) || operation.alsoInQuery?.includes(name))
      .map(([name, param]) => parameter(name, param, inPath.includes(name) ? 'path' : 'query', example.input[name])),
    ...(idempotent ? [IDEMPOTENCY_KEY] : []),
  ]
  const listed = parameters.length > 0 || inQuery ? { parameters } : {}
  if (uploads) return { ...listed, requestBody: uploads === 'message' ? MESSAGE_BODY : UPLOAD_BODY }
  return inQuery
    ? listed
    : {
        ...listed,
        requestBody: bodyOf(
          named.filter(([name]) => !inPath.includes(name)),
          Object.fromEntries(Object.entries(example.input).filter(([name]) => !inPath.includes(name))),
        ),
      }
}

const IDEMPOTENCY_KEY: Schema = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes the request safe to repeat. Within 24 hours, the same request with the same key gets the stored answer (with the header Idempotent-Replayed); a different request with this key gets 409; and a repeat while the first is still running gets 409 with Retry-After',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
}

/** A list, in one of the formats that are read as a stream (docs/jobs.md). */
const UPLOAD_BODY: Schema = {
  required: true,
  content: Object.fromEntries(
    Object.entries({
      'text/csv': 'email,name\njoe@example.org,Joe\n',
      'text/plain': 'joe@example.org\n',
      'application/x-ndjson': '{"email":"joe@example.org"}\n',
      'application/json': '{"items":["joe@example.org"]}',
    }).map(([type, example]) => [type, { schema: { type: 'string', format: 'binary' }, example }]),
  ),
}

const MESSAGE_BODY: Schema = {
  required: true,
  content: {
    'message/rfc822': {
      schema: { type: 'string', format: 'binary' },
      example: 'From: joe@example.org\r\nTo: eve@example.net\r\nSubject: Hello\r\n\r\nHello\r\n',
    },
  },
}

function bodyOf(named: readonly (readonly [string, Param])[], example: Readonly<Record<string, unknown>>): Schema {
  const schema = objectSchema(named)
  const isRequired = Object.hasOwn(schema, 'required')
  return { required: isRequired, content: { 'application/json': { schema, example } } }
}

/** JSON Schema of an object whose properties are parameters. */
export function objectSchema(named: readonly (readonly [string, Param])[]): Readonly<Record<string, unknown>> {
  const required = named.filter(([, param]) => param.required).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(
      named.map(([name, param]) => [name, { ...paramSchema(param), description: describeParam(param) }]),
    ),
    ...(required.length > 0 ? { required } : {}),
  }
}

const parameter = (name: string, param: Param, place: 'path' | 'query', example: unknown): Schema => ({
  name,
  in: place,
  required: param.required,
  description: [describeParam(param), ...(param.inUrl === undefined ? [] : [param.inUrl])].join('; '),
  'x-group': param.group,
  schema: paramSchema(param),
  ...(example === undefined ? {} : { example }),
})

/** JSON Schema of a parameter: its form from its schema, its description from its data. */
function paramSchema({ schema, kind, choices, fallback, example }: Param): Schema {
  const { $schema: _version, ...form } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema
  // A schema of several forms (true or "true") says by itself what it takes.
  const words = 'anyOf' in form ? undefined : choices
  const items = kind === 'list' ? words && { items: { type: 'string', enum: words } } : words && { enum: words }
  return {
    ...withWords(form),
    ...items,
    ...(fallback === undefined || kind === 'list' ? {} : { default: fallback }),
    ...(example === undefined ? {} : { examples: [kind === 'list' ? [example] : example] }),
  }
}

/**
 * JSON Schema of an answer: open, because a later version may add fields; named shapes are in the components of the
 * document.
 */
function answerSchema(schema: z.ZodType, shapes: Record<string, Schema>): Schema {
  const { $schema: _version, $defs = {}, ...rest } = z.toJSONSchema(schema, { io: 'output' }) as Schema
  const open = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(open)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).filter(([key, item]) => key !== 'additionalProperties' || item !== false)
    return Object.fromEntries(
      entries.map(([key, item]) => [
        key,
        key === '$ref' ? componentOf(String(item)) : key === 'properties' ? fields(item as Schema) : open(item),
      ]),
    )
  }
  const fields = (properties: Schema): Schema => describedAll(open(properties) as Schema)
  for (const [name, shape] of Object.entries($defs as Record<string, Schema>)) {
    const { id: _id, ...own } = shape
    shapes[name] = open(own) as Schema
  }
  return open(rest) as Schema
}

/** A schema in which the fields of objects have descriptions. */
function withWords<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withWords) as T
  const entries = Object.entries(value).map(([key, item]) => [
    key,
    key === 'properties' ? describedAll(withWords(item)) : withWords(item),
  ])
  return Object.fromEntries(entries)
}

/** Fields with their descriptions: each its own, else what a field of its name is. */
const describedAll = (properties: Schema): Schema =>
  Object.fromEntries(
    Object.entries(properties).map(([name, field]) => {
      const own = field as Schema
      const words = own.description === undefined && own.$ref === undefined ? fieldWords(name) : undefined
      return [name, words === undefined ? own : { ...own, description: words }]
    }),
  )

const componentOf = (ref: string): string => ref.replace(/^#\/\$defs\//, '#/components/schemas/')
