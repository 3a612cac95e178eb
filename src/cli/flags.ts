import { invalidFlag } from '../base/errors.ts'
import type { Parsed } from '../base/problem.ts'
import type { OptionKey } from '../config-options.ts'
import type { DepName } from '../operations/deps.ts'
import type { Operation, Raw } from '../operations/operation.ts'
import type { Flag, Group } from '../operations/params.ts'
import { commandError } from './problems.ts'

/** A configuration option as a flag of the command line. */
export type ConfigFlag = {
  readonly flag: string
  readonly argument?: string
  readonly repeatable: boolean
  readonly meaning: string
  /** Its key in the configuration. */
  readonly key: string
}

/** Flags as commander returns them, by name in camel case. */
export type FlagValues = Partial<Record<string, string | readonly string[] | boolean>>

/** The values of the given flags, by configuration key. */
export function byKey(
  options: readonly ConfigFlag[],
  typed: FlagValues,
): Readonly<Record<string, string | readonly string[] | boolean>> {
  const config = { key: 'config', value: typed.config }
  const named = [...options.map(({ key, flag }) => ({ key, value: typedFor(typed, flag) })), config]
  return Object.fromEntries(named.flatMap(({ key, value }) => (value === undefined ? [] : [[key, value]])))
}

/** Commander reads `--no-courtesy` as `courtesy: false`, and returns `courtesy: true` if the flag was not given. */
function typedFor(typed: FlagValues, flag: string): FlagValues[string] {
  if (!flag.startsWith('no-')) return typed[camel(flag)]
  return typed[camel(flag.slice(3))] === false ? true : undefined
}

/** The name of a flag in commander: `data-dir` is `dataDir`. */
export const camel = (name: string): string =>
  name.replaceAll(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Reads the local file that a flag names, up to a maximum size. Throws AppError. */
export type ReadFile = (path: string, maxBytes: number) => string

/** A flag of a command that selects another operation, its part. */
type Extra = { readonly part: Operation; readonly name: string; readonly flag: Flag; readonly group: Group }

/** The flags that select a part: parameters that the command itself does not have. */
export const extraFlags = (operation: Operation, part: Operation): readonly Extra[] =>
  Object.entries(part.params).flatMap(([name, { flag, group }]) =>
    flag && !(name in operation.params) ? [{ part, name, flag, group }] : [],
  )

type Chosen = { readonly operation: Operation; readonly raw: Raw; readonly file?: string }

/**
 * The command's own operation, or the part that one of its flags selects. Throws AppError for a flag that the part does
 * not accept, or for a value that cannot be read.
 */
export function choose(
  operation: Operation,
  extra: readonly Extra[],
  raw: Raw,
  flags: FlagValues,
  readFile: ReadFile,
): Chosen {
  const given = extra.filter(({ flag }) => flags[camel(flag.name)] !== undefined)
  const [first] = given
  if (!first) return { operation, raw }
  const { part } = first
  const other = given.find((one) => one.part !== part)?.flag.name
  const stray = other ?? Object.keys(raw).find((name) => !(name in part.params))
  if (stray !== undefined) throw commandError('exclusive', { flag: stray, other: first.flag.name })
  const values = given.map(({ name, flag }) => readValue(name, flag, flags[camel(flag.name)], readFile))
  const file = given.find(({ flag }) => flag.kind === 'file')
  return {
    operation: part,
    raw: Object.assign({ ...raw }, ...values),
    ...(file && { file: String(flags[camel(file.flag.name)]) }),
  }
}

function readValue(name: string, flag: Flag, typed: FlagValues[string], readFile: ReadFile): Raw {
  if (flag.kind === 'file') {
    const text = readFile(String(typed), flag.maxBytes)
    return flag.fields ? orRefuse(flag.name, flag.fields(text)) : { [name]: text }
  }
  if (flag.kind === 'text') {
    const text = String(typed)
    return { [name]: flag.isList ? text.split(',').map((one) => one.trim()) : text }
  }
  const lines = (Array.isArray(typed) ? typed : [typed]).map((line) => orRefuse(flag.name, flag.read(String(line))))
  return { [name]: lines }
}

function orRefuse<T>(flag: string, read: Parsed<T>): T {
  if (read.ok) return read.value
  throw invalidFlag(flag, read.problem)
}

/** Headings of options, in order. */
export const OPTION_GROUPS = {
  listening: 'Listening',
  access: 'Access and limits',
  network: 'DNS and networks',
  mailbox: 'Verification',
  lists: 'Blacklists and location data',
  nodes: 'Nodes',
  data: 'Storage',
  messages: 'Notifications',
  analysis: 'Messages to analyse',
  reports: 'DMARC and TLS reports',
  log: 'Log',
} as const
type OptionGroup = keyof typeof OPTION_GROUPS

/**
 * Where an option applies: to the service only, or also to commands whose operation uses one of these; undefined:
 * everywhere.
 */
type Place = { readonly group: OptionGroup; readonly usedBy?: 'serve' | readonly DepName[] }

/** The options by their places; those that are not named apply everywhere. */
const PLACES: readonly (Place & { readonly options: readonly OptionKey[] })[] = [
  {
    group: 'listening',
    usedBy: 'serve',
    options: ['port', 'host', 'listen', 'trustedProxies', 'hostNames', 'corsOrigins'],
  },
  {
    group: 'access',
    usedBy: 'serve',
    options: ['apiKeys', 'apiKeysFile', 'insecureNoAuth', 'rate', 'maxConcurrency', 'maxConnections'],
  },
  { group: 'mailbox', usedBy: ['verifier', 'sourcePool', 'heloName', 'jobs', 'smtpPort'], options: ['smtpPort'] },
  { group: 'mailbox', usedBy: ['verifier', 'sourcePool', 'heloName', 'jobs'], options: ['helo'] },
  { group: 'mailbox', usedBy: ['verifier', 'sourcePool', 'jobs'], options: ['pool', 'addressEcho'] },
  { group: 'mailbox', usedBy: ['verifier', 'jobs'], options: ['mailFrom', 'poolAttempts', 'deny'] },
  {
    group: 'lists',
    usedBy: ['blacklists', 'verifier', 'sourcePool', 'jobs'],
    options: ['dnsblLists', 'dqsKey', 'spamratsKey'],
  },
  { group: 'lists', usedBy: ['acceptedHere'], options: ['accept'] },
  { group: 'lists', usedBy: ['geo', 'peers'], options: ['geoDbs'] },
  { group: 'nodes', usedBy: 'serve', options: ['join', 'region', 'peerTtl'] },
  { group: 'nodes', usedBy: ['peers'], options: ['peerSecret', 'nodeId', 'nodeUrl'] },
  {
    group: 'data',
    usedBy: ['jobs', 'stored', 'monitors', 'webhooks', 'accepted', 'reports'],
    options: ['databaseUrl', 'dbUser', 'postgresBin'],
  },
  {
    group: 'data',
    usedBy: ['jobs'],
    options: ['maxUpload', 'maxRows', 'maxOpenRows', 'maxKeyStorage', 'maxStorage', 'minFreeDisk'],
  },
  { group: 'data', options: ['dataDir'] },
  { group: 'messages', usedBy: 'serve', options: ['profiles'] },
  { group: 'messages', usedBy: ['monitors', 'submission'], options: ['smtpUrl', 'notifyFrom', 'publicUrl'] },
  { group: 'messages', usedBy: ['monitors'], options: ['mailRecipients', 'mailRate'] },
  {
    group: 'analysis',
    usedBy: 'serve',
    options: ['messagesListen', 'messagesDomain', 'messagesCert', 'messagesKey'],
  },
  { group: 'analysis', usedBy: ['messages'], options: ['maxMessage'] },
  {
    group: 'reports',
    usedBy: ['reports'],
    options: ['maxReport', 'reportsKeep', 'reportsDomains', 'reportsTrust'],
  },
  {
    group: 'reports',
    usedBy: 'serve',
    options: ['reportsLmtp', 'reportsImap', 'reportsImapPassword', 'reportsImapPasswordFile'],
  },
  { group: 'reports', usedBy: ['reportsHere'], options: ['reportsRua'] },
  { group: 'log', options: ['logLevel', 'logFormat', 'logAddresses'] },
]
const PLACE_OF = new Map<string, Place>(PLACES.flatMap((place) => place.options.map((key) => [key, place] as const)))

/** Where an option applies, by its key in the configuration. */
export const placeOf = (key: string): Place => PLACE_OF.get(key) ?? { group: 'network' }

/** Whether an option applies to an operation. */
export function concerns(key: string, uses: readonly DepName[]): boolean {
  const { usedBy } = placeOf(key)
  return usedBy === undefined || (usedBy !== 'serve' && usedBy.some((name) => uses.includes(name)))
}
