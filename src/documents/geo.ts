import type { GeoAnswer } from '../answers/geo.ts'
import type { Document, Line } from './block.ts'
import { footerOf } from './footer.ts'

/** The known location of an address. */
export function geoDocument(answer: GeoAnswer, version: string): Document {
  const { ip, found, bogon, city, region, country_name, country } = answer
  const place = [city, region, country_name ?? country].filter((part) => part !== null)
  const words =
    bogon !== null
      ? `This is not a public internet address: ${bogon}.`
      : place.length > 0
        ? `${place.join(', ')}.`
        : 'Its location is not in the database.'
  return {
    title: `Address: ${ip}`,
    blocks: [
      {
        kind: 'conclusion',
        conclusion: {
          subject: ip,
          mark: bogon !== null ? 'warn' : found ? 'good' : 'open',
          badge: bogon !== null ? 'Special' : found ? 'Found' : 'Not found',
          words,
          notes: [],
        },
      },
      { kind: 'facts', rows: rowsOf(answer) },
    ],
    footer: footerOf(version),
  }
}

function rowsOf({
  country,
  country_name,
  continent,
  region,
  city,
  latitude,
  longitude,
  timezone,
  asn,
  as_org,
}: GeoAnswer) {
  const rows: readonly (readonly [string, string | null])[] = [
    ['Country', country_name === null ? country : `${country_name}${country === null ? '' : ` (${country})`}`],
    ['Continent', continent],
    ['Region', region],
    ['City', city],
    ['Position', latitude === null || longitude === null ? null : `${latitude}, ${longitude}`],
    ['Time zone', timezone],
    ['Network', asn === null ? as_org : `AS${asn}${as_org === null ? '' : ` ${as_org}`}`],
  ]
  return rows.flatMap(([label, value]): (readonly [string, Line])[] => (value === null ? [] : [[label, [value]]]))
}
