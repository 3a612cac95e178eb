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

/** The groups of operations, in the order in which they are shown. */
export const TAGS = [
  { name: 'domains', description: 'Checks of a domain and its records' },
  { name: 'mailboxes', description: 'Verification of addresses over SMTP, and the source addresses for it' },
  { name: 'blacklists', description: 'DNS blacklists' },
  { name: 'messages', description: 'Analysis of messages, and one-time addresses that receive them' },
  { name: 'answers', description: 'Stored answers, their history and changes' },
  { name: 'reports', description: 'Reports of receivers: who sends as a domain' },
  { name: 'jobs', description: 'Bulk jobs on lists' },
  { name: 'monitors', description: 'Scheduled runs and their notifications' },
  { name: 'nodes', description: 'Nodes of a cluster' },
  { name: 'service', description: 'The service itself' },
] as const

type Tag = (typeof TAGS)[number]['name']

/** The first prefix that matches a path decides its group. */
const PATHS: readonly (readonly [start: string, tag: Tag])[] = [
  ['/v1/check', 'domains'],
  ['/v1/reports', 'reports'],
  ['/v1/report', 'domains'],
  ['/v1/expect', 'domains'],
  ['/v1/spf', 'domains'],
  ['/v1/dkim', 'domains'],
  ['/v1/dmarc', 'domains'],
  ['/v1/verify', 'mailboxes'],
  ['/v1/pool', 'mailboxes'],
  ['/v1/forget', 'mailboxes'],
  ['/v1/blacklist', 'blacklists'],
  ['/v1/message', 'messages'],
  ['/v1/domain-blacklist', 'blacklists'],
  ['/r/', 'answers'],
  ['/v1/history', 'answers'],
  ['/v1/changes', 'answers'],
  ['/v1/jobs', 'jobs'],
  ['/v1/monitors', 'monitors'],
  ['/v1/webhooks', 'monitors'],
  ['/v1/badge', 'monitors'],
  ['/v1/peer', 'nodes'],
]

/** The tag of an operation, by its path. */
export const tagOf = (path: string): Tag => PATHS.find(([start]) => path.startsWith(start))?.[1] ?? 'service'
