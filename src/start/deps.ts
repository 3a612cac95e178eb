import { readFileSync } from 'node:fs'
import { AppError } from '../base/errors.ts'
import type { Config } from '../config.ts'
import { type Blacklists, createBlacklists } from '../dnsbl/blacklists.ts'
import { parseLists } from '../dnsbl/parse-lists.ts'
import { parseListKey } from '../dnsbl/query.ts'
import type { ListKeys, ListSet } from '../dnsbl/zone-type.ts'
import { BUILT_IN } from '../dnsbl/zones.ts'
import { createGeo } from '../geo/geo.ts'
import { geoSources } from '../geo/sources.ts'
import { identity } from '../mailbox/identity.ts'
import { createVerifier, type VerifySettings } from '../mailbox/verify.ts'
import { parseEmail } from '../names/email.ts'
import type { Resolve } from '../net/dns/resolver.ts'
import { formatServer, isPublicResolver } from '../net/dns/system.ts'
import { canBind } from '../net/local-addresses.ts'
import type { Deps, SourcePool } from '../operations/deps.ts'
import { createPeers } from './peers.ts'
import { createSourcePool } from './source-pool.ts'
import type { Outside } from './world.ts'

/** What operations are given, and how the rooms write down what they remember before the store is closed. */
export type Rooms = { readonly deps: Deps; readonly settle: () => Promise<void> }

/** How long self-tests under way may hold up the end of the program, ms. */
const SETTLE_MS = 1_000

/** The rooms that keep state, made once for the life of the process. Throws AppError on an option whose file cannot be used. */
export async function createDeps(
  config: Config,
  { world, uncached, version, probes, servers }: Outside,
): Promise<Rooms> {
  const blacklists = createBlacklists({
    now: world.now,
    set: listSet(config),
    keys: listKeys(config),
    noCourtesy: config.noCourtesy,
  })
  const geo = createGeo({
    sources: geoSources(config.geoDbs, { now: world.now, warn: world.log.warn }),
    warn: world.log.warn,
  })
  const asked = askingWith(uncached, blacklists)
  const sourcePool = createSourcePool(config, world, asked)
  const verifier = createVerifier(world, verifySettings(config, sourcePool))
  const deps: Deps = {
    blacklists: asked,
    sourcePool,
    geo,
    verifier,
    heloName: identity(world.now, config.helo ? { helo: config.helo } : {}).heloName,
    ...(await createPeers(config, world, version, sourcePool.addresses)),
    publicResolvers: servers.filter(({ ip }) => isPublicResolver(ip)).map(formatServer),
    probes,
    canBind,
    smtpPort: config.smtpPort,
  }
  async function settle(): Promise<void> {
    await Promise.race([blacklists.settled(), new Promise((resolve) => setTimeout(resolve, SETTLE_MS).unref())])
    await verifier.close()
  }
  return { deps, settle }
}

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

/** Lists are remembered by rules of their own (docs/blacklists.md), so that no other cache may stand between. */
const askingWith = (resolve: Resolve, blacklists: Blacklists): Blacklists => ({
  ...blacklists,
  lookup: (ctx, address, options) => blacklists.lookup({ ...ctx, resolve }, address, options),
  test: (ctx) => blacklists.test({ ...ctx, resolve }),
})

function listKeys(config: Config): ListKeys {
  const key = (text: string | undefined, option: string): string | undefined => {
    if (text === undefined) return undefined
    const parsed = parseListKey(text, option)
    if (!parsed.ok) throw new AppError('invalid_parameter', parsed.problem)
    return parsed.value
  }
  const [dqs, spamrats] = [key(config.dqsKey, '--dqs-key'), key(config.spamratsKey, '--spamrats-key')]
  return { ...(dqs ? { dqs } : {}), ...(spamrats ? { spamrats } : {}) }
}

function listSet(config: Config): ListSet {
  if (config.dnsblLists === undefined) return BUILT_IN
  let text: string
  try {
    text = readFileSync(config.dnsblLists, 'utf8')
  } catch (cause) {
    throw new AppError(
      'invalid_parameter',
      `--dnsbl-lists: ${config.dnsblLists} could not be read: ${(cause as Error).message}`,
      { cause },
    )
  }
  const lists = parseLists(text)
  if (!lists.ok) throw new AppError('invalid_parameter', `--dnsbl-lists: ${config.dnsblLists}: ${lists.problem}`)
  return lists.value
}
