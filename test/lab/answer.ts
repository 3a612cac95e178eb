import type { z } from 'zod'
import type { AnswerOf } from '../../src/answers/answer.ts'
import { readStrict } from '../../src/answers/read-answer.ts'
import type { DepName, Deps } from '../../src/operations/deps.ts'
import type { Call, Defined, Raw } from '../../src/operations/operation.ts'
import type { Params } from '../../src/operations/params.ts'

/** What an operation answers, held against its schema, strictly. */
export async function answerTo<P extends Params, S extends z.ZodType, D extends DepName>(
  operation: Defined<P, S, D>,
  ctx: Call,
  deps: Pick<Deps, D>,
  raw: Raw,
): Promise<AnswerOf<S>> {
  const reply = await operation.run(ctx, deps, operation.read(raw))
  if (!('answer' in reply)) throw new Error(`${operation.name} answers with a stream`)
  const { answer } = reply
  const read = readStrict(operation.answer, JSON.parse(JSON.stringify(answer)))
  if (!read.ok) throw new Error(`the answer of ${operation.name} does not match its schema: ${read.problem.text}`)
  return answer
}

/** The answer of an operation's example, held against its schema. */
export function exampleOf<P extends Params, S extends z.ZodType, D extends DepName>(
  operation: Defined<P, S, D>,
): AnswerOf<S> {
  const read = readStrict(operation.answer, operation.example.output)
  if (!read.ok) throw new Error(read.problem.text)
  return read.value
}
