import type { GeoAnswer } from '../answers/geo.ts'
import type { Geo } from './merge.ts'

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
