import { z } from 'zod'

const strings = z.array(z.string())

const attempt = z.looseObject({
  ip_used: z.string(),
  mx_server: z.string(),
  address: z.string(),
  code: z.int(),
  message: z.string(),
  reason: z.string(),
  duration_ms: z.int(),
})

/** The answer of `/v1/verify`. */
export const verifyAnswer = z.looseObject({
  email: z.string(),
  result: z.enum(['accepted', 'catch_all', 'rejected', 'deferred', 'blocked', 'unreachable', 'invalid']),
  code: z.int(),
  message: z.string(),
  mx_server: z.string(),
  disposable: z.boolean(),
  free: z.boolean(),
  ip_used: z.string(),
  is_role: z.boolean(),
  role: z.string(),
  suggestion: z.string(),
  reason: z.string(),
  deliverability: z.enum(['deliverable', 'risky', 'undeliverable', 'unknown']),
  confidence: z.int().min(0).max(100),
  enhanced_code: z.string().optional(),
  catch_all: z.boolean().nullable(),
  smtputf8: z.boolean(),
  starttls: z.boolean().nullable(),
  provider: z.string().optional(),
  mx_tried: strings,
  attempts: z.array(attempt),
  checked: strings,
  duration_ms: z.int(),
})
