import { Reader, type Response } from 'mmdb-lib'
import type { GeoAnswer } from '../answers/peers.ts'
import { messageOf } from '../base/errors.ts'
import { type Family, familyOf, type Ip } from '../names/ip.ts'
import { shippedCountryFile, watchedFile } from '../store/mmdb-files.ts'
import { bogonOf, type GeoRecord, mergeGeo, readGeoRecord } from './record.ts'

/** A database: its bytes, read on demand. The same buffer means the same content. */
export type GeoSource = {
  /** Shown in warnings. */
  readonly path: string
  readonly read: () => Promise<Buffer | undefined>
  /** The only supported family; both if absent. */
  readonly family?: Family
}

/** The location of an address, from all sources. Never rejects because of a source. */
export type LookupGeo = (address: Ip) => Promise<GeoAnswer>

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
    const looked = await Promise.all(asked.map(({ look }) => look(address)))
    return mergeGeo(
      address,
      looked.map(({ record }) => record),
      looked.find(({ fault }) => fault !== undefined)?.fault,
    )
  }
}

/** What a database has about an address, and why it could not be asked. */
type Looked = { readonly record: GeoRecord; readonly fault?: string }
/** The log has the path and the cause, which are not for every caller. */
const UNREADABLE: Looked = { record: {}, fault: 'a geo database cannot be read; the log of the service says why' }

function database(
  source: GeoSource,
  warn: (event: string, fields: Record<string, unknown>) => void,
): (address: Ip) => Promise<Looked> {
  let opened: Buffer | undefined
  let reader: Reader<Response> | undefined
  let faulty: Buffer | undefined
  /** Says once per content why it could not be read. */
  function fault(event: string, error: unknown): Looked {
    if (faulty !== opened) warn(event, { path: source.path, reason: messageOf(error).slice(0, 200) })
    faulty = opened
    return UNREADABLE
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
    if (!reader) return UNREADABLE
    // A database with only IPv4 would read the first 32 bits of an IPv6 address as an IPv4 address.
    if (reader.metadata.ipVersion === 4 && familyOf(address) === 6) return { record: {} }
    try {
      return { record: readGeoRecord(reader.get(address)) }
    } catch (error) {
      return fault('a geo database could not be read', error)
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
