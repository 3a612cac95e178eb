import { z } from 'zod'
import type { AnswerOf } from './answer.ts'

/** The answer of `/v1/health`. */
export const healthAnswer = z.strictObject({ status: z.literal('ok') })
export type HealthAnswer = AnswerOf<typeof healthAnswer>
