import { readStrict } from '../../src/answers/read-answer.ts'
import type { Operation } from '../../src/operations/operation.ts'
import { matchesPath } from '../../src/operations/path.ts'
import { allOperations } from '../../src/operations/registry.ts'

const operations = await allOperations()

/**
 * Throws where a JSON answer of the running program, asked for by method and path, does not match its schema, strictly.
 * Other texts and problems pass.
 */
export function mustBeDeclared(method: string, path: string, status: number, body: unknown): void {
  const at = path.split('?')[0]!
  const operation = operations.find((one) => one.method === method && matchesPath(one.path, at))
  if (operation && status < 300 && !operation.line) mustBe(operation, body)
}

/** The same for what a command printed as JSON. */
export function mustBePrinted(command: string, body: unknown): void {
  const operation = operations.find(({ name }) => name === command)
  if (operation && !operation.line) mustBe(operation, body)
}

/** A check with `--with` or `--zone` is answered by the part that these flags lead to. */
function mustBe(operation: Operation, body: unknown): void {
  if (typeof body !== 'object' || body === null) return
  const meant = [operation, ...operations.filter(({ partOf }) => partOf === operation.name)]
  const read = meant.map(({ answer }) => readStrict(answer, body))
  const [first] = read
  if (first && !first.ok && !read.some(({ ok }) => ok))
    throw new Error(`the answer of ${operation.name} does not match its schema: ${first.problem.text}`)
}
