import { readStrict } from '../../src/answers/read-answer.ts'
import type { Operation } from '../../src/operations/operation.ts'

/** Operations whose answers are held against their schemas: one undeclared field in a live answer fails the test. */
export const strict = (operations: readonly Operation[]): readonly Operation[] => operations.map(strictOne)

const strictOne = (operation: Operation): Operation => ({
  ...operation,
  run: async (...given) => {
    const answer = await operation.run(...given)
    if (!operation.stream) check(operation, answer)
    return answer
  },
})

function check({ name, output }: Operation, answer: unknown): void {
  const read = readStrict(output, JSON.parse(JSON.stringify(answer)))
  if (!read.ok) throw new Error(`the answer of ${name} is not as its schema: ${read.problem}`)
}
