import type { Config } from '../config.ts'
import type { BlacklistAnswer } from '../dnsbl/blacklists.ts'

import type { Deps } from '../operations/deps.ts'
import { envelopeOf } from '../reports/envelope.ts'
import { type ReportService, reportService } from '../reports/service.ts'
import type { LazyDatabase } from '../store/postgres/connect.ts'
import type { StorageGuard } from '../store/postgres/storage.ts'
import type { World } from '../world.ts'
import { hasDatabase } from './data-folder.ts'
import { markReports } from './reports-here.ts'

/** Reports over a database that is opened when it is first needed. */
export const openReports = (
  config: Config,
  world: World,
  { open }: LazyDatabase,
  { geo, blacklists, storage }: Pick<Deps, 'geo' | 'blacklists'> & { readonly storage: StorageGuard },
): ReportService =>
  reportService({
    heavy: world.heavy,
    open,
    exists: () => hasDatabase(config),
    storage,
    listedOn: async (address, signal) => listedOn(await blacklists.lookup({ ...world, signal }, address)),
    envelopeOf: (message, ask) => envelopeOf(message, world, config.reportsTrust, ask),
    networkOf: async (address) => {
      const { asn, as_org: organization, country_name: country } = await geo(address)
      const name = [asn === null ? '' : `AS${asn}`, organization ?? ''].filter(Boolean).join(' ')
      return { ...(name !== '' && { name }), ...(country !== null && { country }) }
    },
    onStored: () => markReports(config),
    keepMs: config.reportsKeep,
    maxOctets: config.maxReport,
    now: world.now,
    monotonic: world.monotonic,
    log: world.log,
  })

/** Whether an address is on a list of tier A or B; undefined: none of them answered. */
function listedOn({ entries }: Pick<BlacklistAnswer, 'entries'>): boolean | undefined {
  const weighty = entries.filter(({ list, reading }) =>
    reading.status === 'listed' ? isWeighty(reading.tier) : reading.status === 'not_listed' && isWeighty(list.tier),
  )
  if (weighty.length === 0) return undefined
  return weighty.some(({ reading }) => reading.status === 'listed')
}

const isWeighty = (tier: string): boolean => tier === 'A' || tier === 'B'
