import { Reader, type Response } from 'mmdb-lib'
import { messageOf } from '../base/errors.ts'
import { type Family, familyOf, type Ip } from '../names/ip.ts'
import { shippedCountryFile, watchedFile } from '../store/mmdb-files.ts'
import { bogonOf, type Geo, type GeoRecord, mergeGeo, readGeoRecord } from './record.ts'

/** A database: its bytes, read on demand. The same buffer means the same content. */
export type GeoSource = {
  /** Shown in warnings. */
  readonly path: string
  readonly read: () => Promise<Buffer | undefined>
  /** The only supported family; both if absent. */
  readonly family?: Family
}

/** The location of an address, from all sources. Never rejects because of a source. */
export type LookupGeo = (address: Ip) => Promise<Geo>

/**
 * Looks addresses up in MMDB databases; the first in `sources` take precedence. A database is opened with the first
 * address that needs it; if it is damaged after a change, its earlier content stays in use. Special-purpose addresses
 * are recognized without a database.
 */
export function createGeo(options: {
  readonly sources: readonly GeoSource[]
  readonly warn: (event: string, fields: Record<string, unknown>) => void
}): LookupGeo {
  const databases = options.sources.map((source) => ({ source, look: database(source, options.warn) }))
  return async (address) => {
    if (bogonOf(address) !== null) return mergeGeo(address, [])
    const family = familyOf(address)
    const asked = databases.filter(({ source }) => source.family === undefined || source.family === family)
    return mergeGeo(address, await Promise.all(asked.map(({ look }) => look(address))))
  }
}

function database(
  source: GeoSource,
  warn: (event: string, fields: Record<string, unknown>) => void,
): (address: Ip) => Promise<GeoRecord> {
  let opened: Buffer | undefined
  let reader: Reader<Response> | undefined
  let faulty: Buffer | undefined
  const fault = (event: string, error: unknown): void => {
    if (faulty === opened) return // once per content
    faulty = opened
    warn(event, { path: source.path, reason: messageOf(error).slice(0, 200) })
  }

  return async (address) => {
    const bytes = await source.read()
    if (bytes && bytes !== opened) {
      opened = bytes
      try {
        reader = new Reader(bytes)
      } catch (error) {
        fault('a geo database could not be opened', error)
      }
    }
    // A database with only IPv4 would read the first 32 bits of an IPv6 address as an IPv4 address.
    if (!reader || (reader.metadata.ipVersion === 4 && familyOf(address) === 6)) return {}
    try {
      return readGeoRecord(reader.get(address))
    } catch (error) {
      fault('a geo database could not be read', error)
      return {}
    }
  }
}

/**
 * The databases of a process: the operator's files in their order, then the shipped country data. None is read before
 * the first address that needs it.
 */
export function geoSources(
  paths: readonly string[],
  options: {
    readonly now: () => number
    readonly warn: (event: string, fields: Record<string, unknown>) => void
  },
): readonly GeoSource[] {
  return [
    ...paths.map((path) => watchedFile(path, options)),
    { ...shippedCountryFile(4, options.warn), family: 4 },
    { ...shippedCountryFile(6, options.warn), family: 6 },
  ]
}
