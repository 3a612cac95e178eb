import fc from 'fast-check'
import { expect, it } from 'vitest'
import { labMmdb } from '../../test/lab/mmdb.ts'
import { ip, ipFromBytes } from '../names/ip.ts'
import { createGeo, type GeoSource, geoSources } from './geo.ts'
import { continentOf, countryName, mergeGeo, readGeoRecord } from './record.ts'

const quiet = () => {}
const source = (...contents: (Buffer | undefined)[]): GeoSource => ({
  path: 'lab.mmdb',
  read: async () => (contents.length > 1 ? contents.shift() : contents[0]),
})
const shipped = geoSources([], { now: () => 0, warn: quiet })

const CITY = {
  continent: { code: 'EU', names: { en: 'Europe' } },
  country: { iso_code: 'DE', names: { en: 'Germany' } },
  subdivisions: [{ iso_code: 'BE', names: { en: 'Land Berlin' } }],
  city: { names: { en: 'Berlin', de: 'Berlin' } },
  location: { latitude: 52.52, longitude: 13.405, time_zone: 'Europe/Berlin' },
}
const ASN = { autonomous_system_number: 64_500, autonomous_system_organization: 'Example Networks' }

it.each([
  ['8.8.8.8', 'US', 'United States', 'North America'],
  ['193.0.6.139', 'NL', 'Netherlands', 'Europe'],
  ['2001:67c:2e8:22::c100:68b', 'NL', 'Netherlands', 'Europe'],
])('the shipped data knows the country of %s', async (address, country, name, continent) => {
  const geo = await createGeo({ sources: shipped, warn: quiet })(ip(address))
  expect(geo).toEqual({
    ip: address,
    found: true,
    country,
    country_name: name,
    continent,
    region: null,
    city: null,
    latitude: null,
    longitude: null,
    timezone: null,
    asn: null,
    as_org: null,
    bogon: null,
  })
})

it.each([
  ['10.1.2.3', 'private'],
  ['127.0.0.1', 'loopback'],
  ['100.64.0.1', 'shared'],
  ['192.0.2.1', 'documentation'],
  ['169.254.1.1', 'link_local'],
  ['224.0.0.1', 'multicast'],
  ['::1', 'loopback'],
  ['fd00::1', 'private'],
  ['2002:a01:203::1', 'tunnel'],
  ['64:ff9b::a01:203', 'private'], // NAT64 to 10.1.2.3
])('%s is named (%s) and asked of no database', async (address, kind) => {
  let reads = 0
  const counted = { path: 'x', read: async () => void reads++ as undefined }
  const geo = await createGeo({ sources: [counted], warn: quiet })(ip(address))
  expect([geo.bogon, geo.found, geo.country, reads]).toEqual([kind, false, null, 0])
})

it("believes an operator's databases first, the country data after them", async () => {
  const sources = [source(labMmdb({ '45.53.5.0/24': CITY })), source(labMmdb({ '45.53.0.0/16': ASN })), ...shipped]
  expect(await createGeo({ sources, warn: quiet })(ip('45.53.5.1'))).toMatchObject({
    found: true,
    country: 'DE',
    country_name: 'Germany',
    continent: 'Europe',
    region: 'Land Berlin',
    city: 'Berlin',
    latitude: 52.52,
    longitude: 13.405,
    timezone: 'Europe/Berlin',
    asn: 64_500,
    as_org: 'Example Networks',
  })
})

it('says nothing of an IPv6 address from a database of IPv4', async () => {
  const sources = [source(labMmdb({ '42.0.0.0/8': CITY }))] // 2a00:: begins with the octet 42
  expect((await createGeo({ sources, warn: quiet })(ip('2a00::1'))).found).toBe(false)
})

it('takes new content up, and keeps the old when the new is damaged, said once', async () => {
  const warnings: string[] = []
  const damaged = Buffer.from('half a file')
  const sources = [
    source(
      labMmdb({ '45.53.5.0/24': { country_code: 'DE' } }),
      labMmdb({ '45.53.5.0/24': { country_code: 'FR' } }),
      damaged,
    ),
  ]
  const look = createGeo({ sources, warn: (event) => warnings.push(event) })
  const seen = []
  for (let i = 0; i < 5; i++) seen.push((await look(ip('45.53.5.1'))).country)
  expect(seen).toEqual(['DE', 'FR', 'FR', 'FR', 'FR'])
  expect(warnings).toEqual(['a geo database could not be opened'])
})

it.each([
  ['nothing there', undefined],
  ['an empty file', Buffer.alloc(0)],
  ['zeros', Buffer.alloc(1_000)],
])('goes on with %s', async (_, bytes) => {
  const geo = await createGeo({ sources: [source(bytes), ...shipped], warn: quiet })(ip('8.8.8.8'))
  expect(geo.country).toBe('US')
})

it('never mixes the places of two countries', () => {
  const geo = mergeGeo(ip('45.53.5.1'), [
    { country: 'DE', asn: 1 },
    { country: 'FR', city: 'Paris', latitude: 48.8, longitude: 2.3, asOrg: 'other' },
    { country: 'DE', city: 'Berlin' },
  ])
  expect(geo).toMatchObject({ country: 'DE', city: 'Berlin', latitude: null, longitude: null, asn: 1, as_org: null })
})

it.each([
  [{ country_code: 'us' }, { country: 'US' }],
  [
    { country_code: 'DE', state1: 'Hesse', city: 'Frankfurt', latitude: '50.1', longitude: '8.6' },
    { country: 'DE', region: 'Hesse', city: 'Frankfurt', latitude: 50.1, longitude: 8.6 },
  ], // ip-location-db
  [
    { country: 'US', continent: 'NA', asn: 'AS15169', as_name: 'Google' },
    { country: 'US', continent: 'North America', asn: 15_169, asOrg: 'Google' },
  ], // IPinfo
  [{ registered_country: { iso_code: 'CH' } }, { country: 'CH' }],
  [{ country_code: 'ZZ' }, {}],
  [{ country_code: 'USA' }, {}],
  [{ country_code: 7, city: 5, asn: -1, latitude: 91, longitude: 0 }, {}],
  [{ latitude: 1 }, {}], // a point has two numbers
  [{ latitude: Number.NaN, longitude: 1 }, {}],
  [{ city: '\u001b[31mX\u0000' }, { city: '[31mX' }],
  [{ city: '   ' }, {}],
  [{ timezone: '<script>' }, {}],
  [null, {}],
  ['text', {}],
  [[], {}],
])('reads %j', (value, record) => {
  expect(readGeoRecord(value)).toEqual(record)
})

it('reads anything without throwing', () => {
  fc.assert(fc.property(fc.anything(), (value) => void readGeoRecord(value)))
})

it('knows name and continent of every country of the shipped data', async () => {
  const look = createGeo({ sources: shipped, warn: quiet })
  const countries = new Set<string>()
  for (let i = 0; i < 65_536; i += 5) {
    const { country } = await look(ipFromBytes(Uint8Array.of(i >> 8, i & 255, 7, 7)))
    if (country !== null) countries.add(country)
  }
  expect(countries.size).toBeGreaterThan(100)
  const without = [...countries].filter((code) => countryName(code) === null || continentOf(code) === null)
  expect(without).toEqual([])
})
