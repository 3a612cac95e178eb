import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { afterAll, expect, it } from 'vitest'
import { openApiDocument } from '../src/operations/openapi.ts'
import { allOperations } from '../src/operations/registry.ts'

const ROOT = resolve(import.meta.dirname, '..')
const FOLDER = mkdtempSync(join(tmpdir(), 'mailsonde-openapi-'))
const DOCUMENT = join(FOLDER, 'openapi.json')
const text = JSON.stringify(openApiDocument(await allOperations(), '0.0.0'))
writeFileSync(DOCUMENT, text)
afterAll(() => rmSync(FOLDER, { recursive: true }))
const BIN = `${ROOT}/node_modules/.bin`
/** The linters report nothing to anybody and look for no update. */
const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' }

const lint = (command: string, ...args: readonly string[]): Promise<string> =>
  new Promise((done) =>
    execFile(
      process.execPath,
      [`${BIN}/${command}`, 'lint', DOCUMENT, ...args],
      { cwd: ROOT, env: { PATH: process.env.PATH, ...QUIET }, maxBuffer: 1 << 26 },
      (_, stdout) => done(stdout),
    ),
  )

it('redocly: no problem by its recommended rules', async () => {
  const { problems } = JSON.parse(await lint('redocly', '--extends=recommended', '--format=json'))
  expect(problems.map(({ ruleId, message }: Record<string, string>) => `${ruleId}: ${message}`)).toEqual([])
}, 120_000)

it('spectral: no result by its recommended rules', async () => {
  const results: readonly Record<string, unknown>[] = JSON.parse(
    await lint('spectral', '-r', '.spectral.yaml', '-q', '-f', 'json'),
  )
  expect(results.map(({ code, path, message }) => `${code} ${path}: ${message}`)).toEqual([])
}, 120_000)

type Node = Readonly<Record<string, unknown>>
const document: Node = JSON.parse(text)
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null

/** Every example with the schema that it stands beside: of parameters, bodies, answers and problems. */
function* examples(value: unknown, at: string): Generator<readonly [at: string, schema: unknown, example: unknown]> {
  if (!isNode(value)) return
  if ('schema' in value && 'example' in value) yield [at, value.schema, value.example]
  // What is below an example is data.
  for (const [key, item] of Object.entries(value))
    if (key !== 'example') yield* examples(item, `${at}/${key.replaceAll('/', '~1')}`)
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema(document, 'openapi')
const all = [...examples(document.paths, '#/paths'), ...examples(document.webhooks, '#/webhooks')]

it('has an example for the answer and for the body of every operation', () => {
  const paths = new Map(all.map(([at]) => [at, true]))
  const missing = Object.entries(document.paths as Record<string, Node>).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const { requestBody, responses } = operation as { requestBody?: Node; responses: Node }
      const base = `#/paths/${path.replaceAll('/', '~1')}/${method}`
      const types = (where: string, one: unknown): readonly string[] =>
        Object.keys((one as { content: Node }).content).map(
          (type) => `${base}/${where}/content/${type.replaceAll('/', '~1')}`,
        )
      const answers = Object.entries(responses).map(([status, one]) => types(`responses/${status}`, one))
      const wanted = [...(requestBody ? [types('requestBody', requestBody)] : []), ...answers]
      return wanted.filter((some) => !some.some((at) => paths.has(at))).map(([first]) => first)
    }),
  )
  expect(missing).toEqual([])
})

it('every example is valid by its schema', () => {
  expect(all.length).toBeGreaterThan(150)
  const broken = all.flatMap(([at, schema, example]) => {
    // References of a schema are relative to the document.
    const whole = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/'))
    const validate = ajv.compile(whole)
    return validate(example) ? [] : [`${at}: ${ajv.errorsText(validate.errors).slice(0, 300)}`]
  })
  expect(broken).toEqual([])
})

/** Fields of objects in a schema without a description; one of a shape with a name is described by it. */
function* undescribed(value: unknown, at: string): Generator<string> {
  if (!isNode(value)) return
  if (isNode(value.properties) && (value.type === 'object' || value.type === undefined))
    for (const [name, field] of Object.entries(value.properties))
      if (isNode(field) && field.description === undefined && field.$ref === undefined) yield `${at}.${name}`
  for (const [key, item] of Object.entries(value)) if (key !== 'example') yield* undescribed(item, `${at}/${key}`)
}

it('every field of every answer, and of what is sent, has a description', () => {
  const responses = Object.values(document.paths as Record<string, Node>).flatMap((path) =>
    Object.values(path).flatMap((operation) => (isNode(operation) ? [operation.responses, operation.requestBody] : [])),
  )
  const found = [
    ...undescribed(responses, ''),
    ...undescribed(document.webhooks, ''),
    ...undescribed(Reflect.get(document.components as Node, 'schemas'), ''),
  ]
  expect([...new Set(found.map((one) => one.replace(/^.*\.(?=[^.]*$)/, '')))]).toEqual([])
})
