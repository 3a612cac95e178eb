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
