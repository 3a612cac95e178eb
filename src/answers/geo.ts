import { z } from 'zod'
import type { AnswerOf } from './answer.ts'

const text = z.string().nullable()
const number = z.number().nullable()

/** The answer of `/v1/peer/geo`; unknown values are null. */
export const geoAnswer = z
  .strictObject({
    ip: z.string(),
    found: z.boolean(),
    country: text,
    country_name: text,
    continent: text,
    region: text,
    city: text,
    latitude: number,
    longitude: number,
    timezone: text,
    asn: number,
    as_org: text,
    bogon: text.meta({ description: 'kind of a special-purpose address' }),
  })
  .meta({ id: 'Geo' })
export type GeoAnswer = AnswerOf<typeof geoAnswer>
