import { z } from 'zod'

const strings = z.array(z.string())

const listAnswer = z.looseObject({
  blacklist: z.string(),
  listed: z.boolean(),
  zone: z.string(),
  status: z.enum(['listed', 'not_listed', 'blocked', 'timeout', 'error', 'unsupported']),
  codes: strings,
  meaning: strings,
  txt: z.string().optional(),
  delist_url: z.string(),
  duration_ms: z.int(),
  reason: z.string().optional(),
})

/** The answer of `/v1/blacklist`. */
export const blacklistAnswer = z.looseObject({
  ip: z.string(),
  total: z.literal(29),
  listed: z.int(),
  results: z.array(listAnswer).length(29),
  answered: z.int(),
  verdict: z.enum(['clean', 'listed', 'incomplete']),
  list_version: z.string(),
})
