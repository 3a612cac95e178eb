/** The groups of commands in `mailsonde --help`, the most used first and those for other programs last. */
export const COMMAND_GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Check and verify': [
    'check',
    'plan',
    'report',
    'verify',
    'message',
    'message-address',
    'message-received',
    'blacklist',
  ],
  'Single lookups': ['spf', 'dkim', 'dmarc', 'geo', 'blacklists', 'domain-blacklist'],
  'Reports, jobs, monitors, stored answers': [
    'reports',
    'jobs',
    'monitors',
    'webhooks',
    'saved',
    'history',
    'changes',
    'forget',
  ],
  'The service and this machine': ['serve', 'config', 'keys', 'db', 'doctor', 'pool', 'pool-reload', 'peers'],
  'For programs': ['mcp', 'api'],
  Help: ['completion', 'help'],
}

const ORDER = Object.values(COMMAND_GROUPS).flat()

/** The heading of a command. */
export const commandGroupOf = (name: string): string | undefined =>
  Object.entries(COMMAND_GROUPS).find(([, names]) => names.includes(name))?.[0]

/** Sorts commands in the order of the groups; commands without a group come last. */
export const byGroup = (a: string, b: string): number => placeIn(a) - placeIn(b)
const placeIn = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length)
