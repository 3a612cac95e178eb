import { expect, it } from 'vitest'
import check from '../../src/operations/examples/check.json' with { type: 'json' }
import whatIf from '../../src/operations/examples/what-if.json' with { type: 'json' }
import { mustBeDeclared, mustBePrinted } from './declared.ts'

const MORE = { ...check, more: 1 }
it.each<[string, () => void, boolean]>([
  ['an answer', () => mustBeDeclared('GET', '/v1/check?domain=a.example', 200, check), true],
  ['an undeclared field', () => mustBeDeclared('GET', '/v1/check?domain=a.example', 200, MORE), false],
  ['a problem', () => mustBeDeclared('GET', '/v1/check', 400, { code: 'missing_parameter' }), true],
  ['a document', () => mustBeDeclared('GET', '/v1/check?format=html', 200, '<!doctype html>'), true],
  ['no operation', () => mustBeDeclared('GET', '/metrics', 200, 'up 1'), true],
  ['a command', () => mustBePrinted('check', check), true],
  ['a command with --with', () => mustBePrinted('check', whatIf), true],
  ['a command, an undeclared field', () => mustBePrinted('check', MORE), false],
])('%s', (_, hold, holds) => {
  if (holds) expect(hold).not.toThrow()
  else expect(hold).toThrow(/does not match its schema: it: "more" is not a known field/)
})
