import { type Parsed, parsed, problem } from '../base/parsed.ts'
import { paramProblem } from './problems.ts'

/** Maximum number of selectors that a caller may give. */
export const MAX_SELECTORS = 10
const SELECTOR = /^[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*$/

/** Reads a DKIM selector: one or more labels, at most 120 characters, in lower case (RFC 6376 §3.1). */
export function parseSelector(text: string): Parsed<string> {
  const selector = text.toLowerCase()
  return selector.length <= 120 && SELECTOR.test(selector)
    ? parsed(selector)
    : problem(paramProblem('selector', { text }))
}

/** Reads selectors separated by commas, at most 10, each once. */
export function parseSelectors(text: string): Parsed<readonly string[]> {
  const items = text.split(',').map((item) => item.trim())
  if (items.length > MAX_SELECTORS)
    return problem(paramProblem('selectors', { count: items.length, max: MAX_SELECTORS }))
  const read = items.map(parseSelector)
  const wrong = read.find((one) => !one.ok)
  if (wrong && !wrong.ok) return wrong
  return parsed([...new Set(read.flatMap((one) => (one.ok ? [one.value] : [])))])
}
