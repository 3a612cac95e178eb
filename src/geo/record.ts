import type { GeoAnswer } from '../answers/peers.ts'
import { printable } from '../base/text.ts'
import type { Ip } from '../names/ip.ts'
import { type IpRange, rangeOf } from '../names/ip-range.ts'

/** The record of a database about a network; unusable fields are absent. */
export type GeoRecord = {
  /** ISO 3166-1, two letters, upper case. */
  readonly country?: string
  /** In English words. */
  readonly continent?: string
  readonly region?: string
  readonly city?: string
  readonly latitude?: number
  readonly longitude?: number
  /** A name of the IANA time zone database. */
  readonly timezone?: string
  readonly asn?: number
  readonly asOrg?: string
}

/**
 * Reads a record of an MMDB file: the shapes of MaxMind (and DB-IP), ip-location-db and IPinfo. Total: values of
 * another type or out of range are omitted; text is cut at 128 characters and cleaned.
 */
export function readGeoRecord(value: unknown): GeoRecord {
  const at = (path: string): unknown => path.split('.').reduce<unknown>(step, value)
  const first = <T>(read: (found: unknown) => T | undefined, ...paths: string[]): T | undefined =>
    paths.map((path) => read(at(path))).find((found) => found !== undefined)

  const latitude = first(within(90), 'location.latitude', 'latitude', 'lat')
  const longitude = first(within(180), 'location.longitude', 'longitude', 'lng')
  const both = latitude !== undefined && longitude !== undefined
  return present({
    country: first(country, 'country.iso_code', 'country_code', 'country', 'registered_country.iso_code'),
    continent: first(continent, 'continent.code', 'continent_code', 'continent'),
    region: first(words, 'subdivisions.0.names.en', 'state1', 'region', 'region_name'),
    city: first(words, 'city.names.en', 'city', 'city_name'),
    latitude: both ? latitude : undefined,
    longitude: both ? longitude : undefined,
    timezone: first(timezone, 'location.time_zone', 'timezone', 'time_zone'),
    asn: first(asn, 'autonomous_system_number', 'asn', 'traits.autonomous_system_number'),
    asOrg: first(words, 'autonomous_system_organization', 'as_name', 'as_org', 'traits.autonomous_system_organization'),
  })
}

const step = (found: unknown, key: string): unknown =>
  typeof found === 'object' && found !== null && Object.hasOwn(found, key)
    ? (found as Record<string, unknown>)[key]
    : undefined

function words(found: unknown): string | undefined {
  if (typeof found !== 'string') return undefined
  const clean = printable(found, 128).trim()
  return clean === '' ? undefined : clean
}

const country = (found: unknown): string | undefined =>
  typeof found === 'string' && /^[a-z]{2}$/i.test(found) && !/^ZZ$/i.test(found) ? found.toUpperCase() : undefined

const continent = (found: unknown): string | undefined =>
  typeof found === 'string' ? (continentName(found.slice(0, 2).toUpperCase()) ?? undefined) : undefined

const timezone = (found: unknown): string | undefined =>
  typeof found === 'string' && /^[A-Za-z0-9_+-]{1,32}(?:\/[A-Za-z0-9_+-]{1,32}){0,2}$/.test(found) ? found : undefined

const within =
  (limit: number) =>
  (found: unknown): number | undefined => {
    const number = typeof found === 'string' && found !== '' && found.length < 24 ? Number(found) : found
    return typeof number === 'number' && Math.abs(number) <= limit ? number : undefined
  }

function asn(found: unknown): number | undefined {
  const number =
    typeof found === 'string' && /^(?:AS)?\d{1,10}$/i.test(found) ? Number(found.replace(/^AS/i, '')) : found
  return typeof number === 'number' && Number.isInteger(number) && number > 0 && number < 2 ** 32 ? number : undefined
}

const present = (record: { readonly [K in keyof GeoRecord]: GeoRecord[K] | undefined }): GeoRecord =>
  Object.fromEntries(Object.entries(record).filter(([, found]) => found !== undefined)) as GeoRecord

/** The English name of a country by its ISO 3166-1 code (upper case), or null. */
export function countryName(code: string): string | null {
  names ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  return names.of(code) ?? null
}

let names: Intl.DisplayNames | undefined // created on demand: it loads the names of all regions

/** The name of a country's continent, or null. */
export const continentOf = (country: string): string | null => CONTINENT_OF.get(country) ?? null

/** The name for a continent's two letters, or null. */
const continentName = (code: string): string | null =>
  (Object.hasOwn(CONTINENTS, code) ? CONTINENTS[code] : undefined) ?? null

const CONTINENTS: Readonly<Record<string, string>> = {
  AF: 'Africa',
  AN: 'Antarctica',
  AS: 'Asia',
  EU: 'Europe',
  NA: 'North America',
  OC: 'Oceania',
  SA: 'South America',
}

/** ISO 3166-1 codes by continent (UN M.49; the Caribbean and Central America count as North America). */
const COUNTRIES: Readonly<Record<string, string>> = {
  AF: 'AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW IO KE KM LR LS LY MA MG ML MR MU MW MZ NA NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TF TG TN TZ UG YT ZA ZM ZW',
  AN: 'AQ BV GS HM',
  AS: 'AE AF AM AZ BD BH BN BT CN CY GE HK ID IL IN IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV MY NP OM PH PK PS QA SA SG SY TH TJ TL TM TR TW UZ VN YE',
  EU: 'AD AL AT AX BA BE BG BY CH CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK',
  NA: 'AG AI AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PM PR SV SX TC TT US VC VG VI',
  OC: 'AS AU CC CK CX FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TO TV UM VU WF WS',
  SA: 'AR BO BR CL CO EC FK GF GY PE PY SR UY VE',
}

const CONTINENT_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(COUNTRIES).flatMap(([code, countries]) =>
    countries.split(' ').map((country) => [country, CONTINENTS[code]!] as const),
  ),
)

/** Whether an address is a special-purpose one, and of which kind. */
export function bogonOf(address: Ip): Exclude<IpRange, 'public'> | null {
  const range = rangeOf(address)
  return range === 'public' ? null : range
}

/**
 * Combines the records of several databases, the first of them first. The place comes from databases that agree on the
 * country, so that a city is never combined with the coordinates of another country; the network (AS) comes from the
 * first that knows it. `fault`: why a database could not be read.
 */
export function mergeGeo(address: Ip, records: readonly GeoRecord[], fault?: string): GeoAnswer {
  const found = records.some((record) => Object.keys(record).length > 0)
  const country = records.find((record) => record.country !== undefined)?.country ?? null
  const agreeing = records.filter((record) => record.country === undefined || record.country === country)
  const place = <K extends keyof GeoRecord>(key: K): NonNullable<GeoRecord[K]> | null =>
    agreeing.find((record) => record[key] !== undefined)?.[key] ?? null
  const withPoint = agreeing.find((record) => record.latitude !== undefined)
  const withAs = records.find((record) => record.asn !== undefined)
  return {
    ip: address,
    found: found || fault === undefined ? found : null,
    country,
    country_name: country === null ? null : countryName(country),
    continent: place('continent') ?? (country === null ? null : continentOf(country)),
    region: place('region'),
    city: place('city'),
    latitude: withPoint?.latitude ?? null,
    longitude: withPoint?.longitude ?? null,
    timezone: place('timezone'),
    asn: withAs?.asn ?? null,
    as_org: withAs?.asOrg ?? null,
    bogon: bogonOf(address),
    ...(!found && fault !== undefined && { reason: fault }),
  }
}
