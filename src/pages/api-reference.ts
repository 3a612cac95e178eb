import { ERRORS } from '../base/errors.ts'
import { isJsonRecord, type JsonRecord } from '../base/json.ts'
import { once, onceUnlessFailed } from '../base/share-work.ts'
import { briefJson, curlOf } from '../operations/curl.ts'
import { openApiInTurns } from '../operations/openapi.ts'
import type { Operation } from '../operations/operation.ts'
import { TAGS, tagOf } from '../operations/path.ts'
import { type Html, html, verbatim } from './html.ts'
import { pageOf } from './layout.ts'
import type { Page, Visit } from './page.ts'
import type { Parts } from './parts.ts'
import { pageError } from './problems.ts'

/**
 * `/docs/api`: the reference of the HTTP API, from the same OpenAPI document as `/openapi.json`: an overview, and one
 * page for each group of operations. A page is rendered with its first request.
 */
export function apiPages(parts: Parts, operations: readonly Operation[]): readonly Page[] {
  const described = onceUnlessFailed(async () => {
    return readerOf(record(await openApiInTurns(operations, parts.version)))
  })
  const shown = TAGS.filter(({ name }) => operations.some(({ path }) => tagOf(path) === name))
  const overview = once(() => overviewOf(operations, shown))
  const groups = new Map(
    shown.map(
      (tag) =>
        [
          tag.name as string,
          onceUnlessFailed(async () => {
            return groupOf(tag, operations, await described())
          }),
        ] as const,
    ),
  )
  const page = (visit: Visit, title: string, main: Html) => pageOf(parts, visit, { title, islands: ['docs'], main })
  return [
    ...['/docs/api', '/docs/api/'].map(
      (path): Page => ({
        method: 'GET',
        path,
        scope: undefined,
        visit: async (visit) => page(visit, 'HTTP API', overview()),
      }),
    ),
    {
      method: 'GET',
      path: '/docs/api/:group',
      scope: undefined,
      visit: async (visit) => {
        const { group = '' } = visit.params
        const main = groups.get(group)
        if (!main) throw pageError('no_document', { name: `api/${group}` })
        return page(visit, `HTTP API: ${group}`, await main())
      },
    },
  ]
}

/** The place of an operation in the reference. */
const apiPath = ({ name, path }: Pick<Operation, 'name' | 'path'>): string => `/docs/api/${tagOf(path)}#${idOf(name)}`

const idOf = (name: string): string => name.replaceAll(' ', '-')

type Tag = (typeof TAGS)[number]

const of = <One extends Pick<Operation, 'path'>>({ name }: Tag, operations: readonly One[]): readonly One[] =>
  operations.filter(({ path }) => tagOf(path) === name)

const titled = (text: string): string => text.replace(/^./, (first) => first.toUpperCase())

function overviewOf(operations: readonly Operation[], tags: readonly Tag[]): Html {
  return html`<main id="main" tabindex="-1"><p class="back"><a href="/docs">← Documents</a></p>
<h1>HTTP API</h1>
<p class="lead">Every answer is JSON. Each path below has its parameters, a request and its answer, and its errors.</p>
<p>The machine-readable form is <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1). <a href="/docs/client">client</a> describes the client for TypeScript, <a href="/docs/automation">automation</a> the command line.</p>
<h2>Authentication</h2>
<p>While the service has keys, give one with each request: <code>Authorization: Bearer KEY</code> or <code>X-API-Key: KEY</code>. The key needs the scope that the operation names: <code>read</code>, <code>verify</code>, <code>jobs</code> or <code>admin</code>, which contains the others. Without keys, only this machine is served.</p>
<pre tabindex="0">curl -s -H "Authorization: Bearer $MAILSONDE_KEY" 'http://127.0.0.1:8080/v1/check?domain=example.org'</pre>
<h2>Operations</h2>
${tags.map(
  (
    tag,
  ) => html`<h3><a class="api-group" href="/docs/api/${tag.name}">${titled(tag.name)}</a></h3><p class="quiet">${tag.description}.</p>
<ul class="operations">${of(tag, operations).map(
    (operation) =>
      html`<li><a href="${apiPath(operation)}"><span class="method ${operation.method.toLowerCase()}">${operation.method}</span> <code>${operation.path}</code></a> <span>${operation.summary}</span></li>`,
  )}</ul>`,
)}
<h2 id="errors">Errors</h2>
<p>An error is a problem detail (RFC 9457) of the type <code>application/problem+json</code>. <code>code</code> is stable; <code>detail</code> says what was wrong, with which value, and what is accepted; <code>parameter</code> names the parameter, if one caused it. <code>Retry-After</code> says when to try again, with 429, 503 and 409.</p>
<div class="scroll" role="group" tabindex="0" aria-label="Errors"><table><thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Meaning</th></tr></thead><tbody>${Object.entries(
    ERRORS,
  ).map(
    ([code, { status, title }]) =>
      html`<tr><td><code>${code}</code></td><td class="number">${status}</td><td>${title}</td></tr>`,
  )}</tbody></table></div>
<h2>Limits and lists</h2>
<p>The header fields <code>RateLimit</code> and <code>RateLimit-Policy</code> say how many requests are left. Every answer has <code>X-Request-Id</code>, which the log has too. A list has <code>data</code>, <code>has_more</code> and <code>next_cursor</code>: repeat the request with <code>cursor=</code> for the next page.</p>
</main>`
}

function groupOf(tag: Tag, operations: readonly Operation[], read: Reader): Html {
  const some = of(tag, operations)
  return html`<main id="main" tabindex="-1" class="api"><p class="back"><a href="/docs/api">← HTTP API</a></p>
<h1>${titled(tag.name)}</h1><p class="lead">${tag.description}.</p>
<nav class="operations" aria-label="Operations"><ul>${some.map(
    ({ name, method, path }) =>
      html`<li><a href="#${idOf(name)}"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></a></li>`,
  )}</ul></nav>
${some.map((operation) => operationOf(operation, read))}</main>`
}

function operationOf(operation: Operation, read: Reader): Html {
  const { name, method, path, summary, example, line } = operation
  const described = read.operation(operation)
  const parameters = read.parameters(described)
  const data: unknown = line ? Reflect.get(example.output, 'data') : undefined
  const output = Array.isArray(data) ? data[0] : example.output
  return html`<section class="operation"><div>
<h2 id="${idOf(name)}"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></h2>
<p class="lead">${summary}.</p>
<p>${inCode(text(described.description))}</p>
${parameters.length > 0 && html`<h3>Parameters</h3><dl class="fields">${parameters.map((one) => field(one, read, 0))}</dl>`}
<h3>Answer</h3>
${answerOf(described, read)}
<details class="try"><summary>Errors of this operation</summary><ul class="plain">${errorsOf(described)}</ul></details>
</div><div class="sample">
<p class="label">Request</p><pre tabindex="0" aria-label="Request of ${name}">${verbatim(curlOf(operation))}</pre>
<p class="label">${line ? 'A line of the answer' : 'Answer'}${Object.keys(operation.statuses ?? {}).length > 0 && html` (${Object.keys(operation.statuses ?? {}).join(', ')})`}</p><pre tabindex="0" aria-label="Answer of ${name}">${verbatim(briefJson(output))}</pre>
</div></section>`
}

const inCode = (words: string): readonly Html[] =>
  words.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))

/** A named value of a request or an answer. */
type Field = {
  readonly name: string
  readonly schema: JsonRecord
  readonly description: string
  readonly isRequired: boolean
  /** `path`, `query`, `header` or `body`; empty in an answer. */
  readonly place: string
}

/** Levels of objects within objects that the reference shows; some shapes contain themselves. */
const DEPTH = 4

function field({ name, schema, description, isRequired, place }: Field, read: Reader, depth: number): Html {
  const { words, inner } = read.type(schema)
  const notes = [
    words,
    ...(place === '' || place === 'query' ? [] : [place]),
    ...(isRequired && place !== '' ? ['required'] : []),
  ]
  return html`<dt><code>${name}</code> <span class="quiet">${notes.join(', ')}</span></dt><dd>${description !== '' && html`<p>${inCode(description)}</p>`}${inner.length > 0 && depth < DEPTH && html`<details><summary>Fields of <code>${name}</code></summary><dl class="fields">${inner.map((one) => field(one, read, depth + 1))}</dl></details>`}</dd>`
}

function answerOf(described: JsonRecord, read: Reader): Html {
  const responses = record(described.responses)
  const success = record(responses[Object.keys(responses).find((status) => /^2/.test(status)) ?? '200'])
  const content = record(success.content)
  const json = Object.entries(content).find(([type]) => type.includes('json'))
  const others = Object.keys(content).filter((type) => type !== json?.[0])
  const { words, inner } = read.type(record(record(json?.[1]).schema))
  return html`${inner.length === 0 ? html`<p>${words === '' ? 'The answer has no fields.' : words}</p>` : html`<dl class="fields">${inner.map((one) => field(one, read, 0))}</dl>`}
${others.length > 0 && html`<p class="quiet">Also as ${others.map((type, i) => html`${i > 0 && ', '}<code>${type}</code>`)}.</p>`}`
}

function errorsOf(described: JsonRecord): readonly Html[] {
  return Object.entries(record(described.responses)).flatMap(([status, response]) => {
    const problem = record(record(record(response).content)['application/problem+json'])
    const { code, detail } = record(problem.example)
    return /^[45]/.test(status) && typeof code === 'string'
      ? [html`<li><strong>${status}</strong> <code>${code}</code>: ${text(detail)}</li>`]
      : []
  })
}

/** Reads the OpenAPI document: what it says about an operation, a parameter, a type. */
type Reader = {
  readonly operation: (operation: Operation) => JsonRecord
  readonly parameters: (described: JsonRecord) => readonly Field[]
  readonly type: (schema: JsonRecord) => { readonly words: string; readonly inner: readonly Field[] }
}

function readerOf(document: JsonRecord): Reader {
  const shapes = record(record(document.components).schemas)
  const resolved = (schema: JsonRecord): JsonRecord => {
    const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined
    return name === undefined ? schema : record(shapes[name])
  }
  const fieldsOf = (schema: JsonRecord, place: string): readonly Field[] => {
    const required = Array.isArray(schema.required) ? schema.required : []
    return Object.entries(record(schema.properties)).map(([name, value]) => ({
      name,
      schema: record(value),
      description: text(record(value).description) || text(resolved(record(value)).description),
      isRequired: required.includes(name),
      place,
    }))
  }
  const type: Reader['type'] = (given) => {
    const schema = resolved(given)
    const either = [schema.anyOf, schema.oneOf].flat().filter(isJsonRecord)
    if (either.length > 0) {
      const all = either.map((one) => type(one))
      return { words: all.map(({ words }) => words).join(' or '), inner: all.flatMap(({ inner }) => inner) }
    }
    if (schema.type === 'array') {
      const { words, inner } = type(record(schema.items))
      return { words: `list of ${words}`, inner }
    }
    const values = Array.isArray(schema.enum) ? schema.enum.map(String).join(' | ') : undefined
    const constant = schema.const === undefined ? undefined : String(schema.const)
    const plain = Array.isArray(schema.type) ? schema.type.map(String).join(' or ') : text(schema.type)
    return { words: constant ?? values ?? plain, inner: fieldsOf(schema, '') }
  }
  return {
    type,
    operation: ({ path, method }) => record(record(record(document.paths)[path])[method.toLowerCase()]),
    parameters: (described) => {
      const listed = Array.isArray(described.parameters) ? described.parameters.filter(isJsonRecord) : []
      const body = record(record(record(described.requestBody).content)['application/json'])
      const named = listed.map(({ name, schema, description, required, in: place }) => ({
        ...{ name: text(name), schema: record(schema), description: text(description), place: text(place) },
        isRequired: required === true,
      }))
      return [...named, ...fieldsOf(record(body.schema), 'body')]
    },
  }
}

const record = (value: unknown): JsonRecord => (isJsonRecord(value) ? value : {})
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
