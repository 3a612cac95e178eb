import { readFileSync } from 'node:fs'
import { AppError } from '../base/errors.ts'
import type { Config } from '../config.ts'
import { createBlacklists } from '../dnsbl/blacklists.ts'
import { parseLists } from '../dnsbl/parse-lists.ts'
import type { ListSet } from '../dnsbl/zone-type.ts'
import { BUILT_IN } from '../dnsbl/zones.ts'
import { createGeo } from '../geo/geo.ts'
import { geoSources } from '../geo/sources.ts'
import { createVerifier, type VerifySettings } from '../mailbox/verify.ts'
import { parseEmail } from '../names/email.ts'
import { canBind, ownPublicAddresses } from '../net/local-addresses.ts'
import type { Deps } from '../operations/deps.ts'
import type { Outside } from './world.ts'

/** The rooms that keep state, made once for the life of the process. Throws AppError on an option whose file cannot be used. */
export async function createDeps(config: Config, { world }: Outside): Promise<Deps> {
  const keys = {
    ...(config.dqsKey ? { dqs: config.dqsKey } : {}),
    ...(config.spamratsKey ? { spamrats: config.spamratsKey } : {}),
  }
  const blacklists = createBlacklists({ now: world.now, set: listSet(config), keys, noCourtesy: config.noCourtesy })
  const verifier = createVerifier(world, verifySettings(config))
  const geo = createGeo({
    sources: geoSources(config.geoDbs, { now: world.now, warn: world.log.warn }),
    warn: world.log.warn,
  })
  return { blacklists, geo, verifier, canBind, smtpPort: config.smtpPort }
}

function verifySettings(config: Config): VerifySettings {
  return {
    ...(config.helo ? { helo: config.helo } : {}),
    ...mailFrom(config.mailFrom),
    port: config.smtpPort,
    pool: () => (config.pool.length > 0 ? config.pool : ownPublicAddresses()),
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
