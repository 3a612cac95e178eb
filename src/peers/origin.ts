import { type Parsed, parsed, problem } from '../base/parsed.ts'
import { originProblem } from './problems.ts'

/** Maximum number of characters of a node's URL. */
const MAX_URL = 256

/**
 * Reads the URL of a node: an http or https origin, returned without a final slash. User name, password, path, query
 * and fragment are refused, because calls are signed for this origin and sent to it.
 */
export function parseOrigin(text: string): Parsed<string> {
  const url = text.length <= MAX_URL ? URL.parse(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) return problem(originProblem('invalid', { text }))
  if (url.username || url.password) return problem(originProblem('login', { text }))
  if (url.pathname !== '/' || url.search || url.hash) return problem(originProblem('path', { text }))
  return parsed(url.origin)
}
