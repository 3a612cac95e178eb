import { type Parsed, parsed, problem } from '../base/parsed.ts'

/** Maximum number of characters of a node's URL. */
const MAX_URL = 256

/**
 * Reads the URL of a node: an http or https origin, given without a trailing slash. User name, password, path, query and fragment are refused: calls are signed
 * and sent to what stands here.
 */
export function parseOrigin(text: string): Parsed<string> {
  const shown = JSON.stringify(text.slice(0, 100))
  const url = text.length <= MAX_URL ? URL.parse(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) return problem(`${shown} is not an http or https URL`)
  if (url.username || url.password) return problem(`${shown} contains a user name or password`)
  if (url.pathname !== '/' || url.search || url.hash) return problem(`${shown} has more than a scheme, host and port`)
  return parsed(url.origin)
}
