import { describe, expect, it } from 'vitest'
import { readInput } from './read-input.ts'
import { allOperations } from './registry.ts'

const operations = await allOperations()

describe.each(operations.map((operation) => [operation.name, operation] as const))(
  'the example of %s',
  (_, operation) => {
    it('has an input that is read', () =>
      expect(() => readInput(operation.input, operation.example.input)).not.toThrow())
    it('has an answer of the documented shape', () =>
      expect(operation.output.safeParse(operation.example.output).error?.issues ?? []).toEqual([]))
  },
)
