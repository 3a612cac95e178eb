import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { askedField, savedField } from './stored.ts'

const strings = z.array(z.string())

/** One attempt at one address of one mail host. */
const attempt = z.strictObject({
  ip_used: z.string(),
  mx_server: z.string(),
  address: z.string(),
  stage: z.string(),
  code: z.int(),
  enhanced_code: z.string().optional(),
  message: z.string(),
  reason: z.string(),
  duration_ms: z.int(),
  proxy: z.string().optional().meta({ description: 'the proxy that was used, without its credentials' }),
  peer: z.string().optional().meta({ description: 'the node that made the attempt, if it was not this one' }),
})

/** The answer of `/v1/verify`. */
export const verifyAnswer = z.strictObject({
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
  skipped_sources: z.array(z.strictObject({ address: z.string(), reason: z.string() })).optional(),
  checked: z.array(z.enum(['disposable', 'free', 'role', 'suggestion'])),
  retry_after_ms: z.int().optional(),
  observed_at: z.iso.datetime(),
  cached: z.boolean(),
  duration_ms: z.int(),
  transcript: z
    .array(z.strictObject({ at_ms: z.int(), from: z.enum(['client', 'server', 'note']), text: z.string() }))
    .optional(),
  peer: z.string().optional().meta({ description: 'the node that verified, if it was not this one' }),
  ...askedField,
  ...savedField,
})
export type VerifyAnswer = AnswerOf<typeof verifyAnswer>
