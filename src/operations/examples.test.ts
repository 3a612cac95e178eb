import { describe, expect, it } from 'vitest'
import { allOperations } from './registry.ts'

const operations = await allOperations()

describe.each(operations.map((operation) => [operation.name, operation] as const))(
  'the example of %s',
  (_, operation) => {
    it('has an input that is read', () => expect(() => operation.ask(operation.example.input)).not.toThrow())
    it('has an answer of the documented shape', () =>
      expect(operation.answer.safeParse(operation.example.output).error?.issues ?? []).toEqual([]))
  },
)
