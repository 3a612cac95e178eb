/** The names in braces of a path: `/v1/jobs/{id}` has `id`. */
export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParams<Rest>
  : never

const NAME = /\{(\w+)\}/g

/**
 * The parameters of a path, in its order. It is called for every request, so the pattern is searched only if there is a
 * brace.
 */
export const pathNames = (path: string): readonly string[] =>
  path.includes('{') ? [...path.matchAll(NAME)].map(([, name]) => name!) : []

/** The path with its parameters inserted and escaped, and the remaining parameters. */
export function fillPath(
  path: string,
  raw: Readonly<Record<string, unknown>>,
): { readonly path: string; readonly rest: Readonly<Record<string, unknown>> } {
  const names = pathNames(path)
  return {
    path: path.replace(NAME, (_, name: string) => encodeURIComponent(String(raw[name] ?? ''))),
    rest: Object.fromEntries(Object.entries(raw).filter(([name]) => !names.includes(name))),
  }
}

/** The path as a router writes it: `/v1/jobs/:id`. */
export const routeOf = (path: string): string => path.replace(NAME, ':$1')

/** Whether a requested path matches `template`. */
export function matchesPath(template: string, path: string): boolean {
  const [wanted, given] = [template.split('/'), path.split('/')]
  return (
    wanted.length === given.length &&
    wanted.every((part, i) => part === given[i] || (/^\{\w+\}$/.test(part) && given[i] !== ''))
  )
}

/** Operations that programs need and people rarely type: their commands are below `mailsonde api`. */
const FOR_PROGRAMS: readonly string[] = [
  'health',
  'ready',
  'probe',
  'peer-register',
  'peer-heartbeat',
  'peer-forget',
  'badge',
  'unsubscribe',
  'consent',
  'blacklist-bulk',
  'domain-blacklist-bulk',
  'message-events',
]

/** The words of the command of an operation: `jobs submit`, `api health`. */
export const commandOf = (operation: string): string =>
  FOR_PROGRAMS.includes(operation) ? `api ${operation}` : operation
