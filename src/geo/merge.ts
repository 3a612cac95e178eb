import type { GeoAnswer } from '../answers/peers.ts'
import type { Ip } from '../names/ip.ts'
import { type IpRange, rangeOf } from '../names/ip-range.ts'
import { continentOf, countryName, type GeoRecord } from './record.ts'

/** The location of an address; null is unknown. */
export type Geo = {
  readonly ip: Ip
  /** Whether any database knows the address. */
  readonly found: boolean
  /** ISO 3166-1, two letters. */
  readonly country: string | null
  readonly countryName: string | null
  readonly continent: string | null
  readonly region: string | null
  readonly city: string | null
  readonly latitude: number | null
  readonly longitude: number | null
  readonly timezone: string | null
  readonly asn: number | null
  readonly asOrg: string | null
  /** The kind of a special-purpose address (`private`, `loopback` …); null for an address of the internet. */
  readonly bogon: Exclude<IpRange, 'public'> | null
}

/** Whether an address is a special-purpose one, and of which kind. */
export function bogonOf(address: Ip): Exclude<IpRange, 'public'> | null {
  const range = rangeOf(address)
  return range === 'public' ? null : range
}

/**
 * Combines the records of several databases, the first of them first. The place comes from databases that agree on the
 * country, so that a city is never combined with the coordinates of another country; the network (AS) comes from the
 * first that knows it.
 */
export function mergeGeo(address: Ip, records: readonly GeoRecord[]): Geo {
  const country = records.find((record) => record.country !== undefined)?.country ?? null
  const agreeing = records.filter((record) => record.country === undefined || record.country === country)
  const place = <K extends keyof GeoRecord>(key: K): NonNullable<GeoRecord[K]> | null =>
    agreeing.find((record) => record[key] !== undefined)?.[key] ?? null
  const withPoint = agreeing.find((record) => record.latitude !== undefined)
  const withAs = records.find((record) => record.asn !== undefined)
  return {
    ip: address,
    found: records.some((record) => Object.keys(record).length > 0),
    country,
    countryName: country === null ? null : countryName(country),
    continent: place('continent') ?? (country === null ? null : continentOf(country)),
    region: place('region'),
    city: place('city'),
    latitude: withPoint?.latitude ?? null,
    longitude: withPoint?.longitude ?? null,
    timezone: place('timezone'),
    asn: withAs?.asn ?? null,
    asOrg: withAs?.asOrg ?? null,
    bogon: bogonOf(address),
  }
}

/** The answer of `GET /v1/peer/geo`: unknown fields are null; `bogon` names the kind of a special-purpose address. */
export const presentGeo = (geo: Geo): GeoAnswer => ({
  ip: geo.ip,
  found: geo.found,
  country: geo.country,
  country_name: geo.countryName,
  continent: geo.continent,
  region: geo.region,
  city: geo.city,
  latitude: geo.latitude,
  longitude: geo.longitude,
  timezone: geo.timezone,
  asn: geo.asn,
  as_org: geo.asOrg,
  bogon: geo.bogon,
})
