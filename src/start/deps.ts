import { accessSync, constants } from 'node:fs'
import { AppError } from '../base/errors.ts'
import { once } from '../base/once.ts'
import type { Config } from '../config.ts'
import type { SourcePool } from '../mailbox/source/pool.ts'
import type { VerifySettings } from '../mailbox/verify.ts'
import { parseEmail } from '../names/email.ts'
import { formatServer, isPublicResolver } from '../net/dns/system.ts'
import type { Deps } from '../operations/deps.ts'
import type { Outside } from './world.ts'

/** Dependencies of the operations, and a hook that saves their state before shutdown. */
export type Dependencies = { readonly deps: Deps; readonly settle: () => Promise<void> }

/** How long running self-tests may delay the end of the program, ms: two round trips to most lists. */
const SETTLE_MS = 300

type Makers = { readonly [Name in keyof Deps]: () => Deps[Name] | Promise<Deps[Name]> }

/**
 * Creates the dependencies of the operations, once per process. With `needs` only those are created, and the code of the others is not loaded: reading one of them
 * throws. Throws AppError for an option whose file cannot be used.
 */
export async function createDeps(
  config: Config,
  outside: Outside,
  needs?: readonly (keyof Deps)[],
): Promise<Dependencies> {
  const made: Partial<Deps> = {}
  const isMade = (name: keyof Deps): boolean => needs === undefined || needs.includes(name)
  const makers = makersOf(config, outside)
  for (const name of Object.keys(makers) as (keyof Deps)[]) {
    if (isMade(name)) Object.assign(made, { [name]: await makers[name]() })
    else Object.defineProperty(made, name, { get: () => notNamed(name) })
  }
  async function settle(): Promise<void> {
    if (isMade('blacklists')) await shortly(made.blacklists!.settled())
    if (isMade('verifier')) await made.verifier!.close()
  }
  return { deps: made as Deps, settle }
}

function makersOf(config: Config, outside: Outside): Makers {
  const { world, version, probes, servers } = outside
  const blacklists = once(async () => (await import('./lists.ts')).openLists(config, outside))
  const sourcePool = once(async () => {
    const { createSourcePool } = await import('./pool.ts')
    return createSourcePool(config, world, await blacklists())
  })
  const nodes = once(async () => {
    const { createPeers } = await import('./peers.ts')
    return createPeers(config, world, version, (await sourcePool()).addresses)
  })
  return {
    blacklists,
    sourcePool,
    geo: async () => {
      const [{ createGeo }, { geoSources }] = await Promise.all([import('../geo/geo.ts'), import('../geo/sources.ts')])
      config.geoDbs.forEach(mustBeReadable)
      const { warn } = world.log
      return createGeo({ sources: geoSources(config.geoDbs, { now: world.now, warn }), warn })
    },
    verifier: async () => {
      const { createVerifier } = await import('../mailbox/verify.ts')
      return createVerifier(world, verifySettings(config, await sourcePool()))
    },
    heloName: async () => {
      const { identity } = await import('../mailbox/source/helo.ts')
      return identity(world.now, config.helo ? { helo: config.helo } : {}).heloName
    },
    peers: async () => (await nodes()).peers,
    mayCall: async () => (await nodes()).mayCall,
    publicResolvers: () => servers.filter(({ ip }) => isPublicResolver(ip)).map(formatServer),
    probes: () => probes,
    canBind: async () => (await import('../net/local-addresses.ts')).canBind,
    smtpPort: () => config.smtpPort,
  }
}

/** Checks the file of an option that is read later: a wrong name would otherwise go unnoticed. */
function mustBeReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK)
  } catch (cause) {
    throw new AppError('invalid_parameter', `--geo-db: ${(cause as Error).message}`, { cause })
  }
}

function notNamed(name: string): never {
  throw new Error(`the operation uses ${name} and does not name it among its needs`)
}

const shortly = (work: Promise<void>): Promise<void> =>
  Promise.race([work, new Promise<void>((resolve) => setTimeout(resolve, SETTLE_MS).unref())])

function verifySettings(config: Config, pool: SourcePool): VerifySettings {
  return {
    ...(config.helo ? { helo: config.helo } : {}),
    ...mailFrom(config.mailFrom),
    port: config.smtpPort,
    pool: pool.addresses,
    listed: pool.refusedBy,
    deny: config.deny,
    poolAttempts: config.poolAttempts,
    noCourtesy: config.noCourtesy,
  }
}

/** The reverse-path of the operator: an address, `<>` for none, or nothing to have one made. */
function mailFrom(text: string | undefined): Pick<VerifySettings, 'mailFrom'> {
  if (text === undefined) return {}
  if (text === '<>') return { mailFrom: null }
  const email = parseEmail(text.replace(/^<(.*)>$/, '$1'))
  if (!email.ok) throw new AppError('invalid_parameter', `--mail-from: ${email.problem}`)
  return { mailFrom: email.value }
}
