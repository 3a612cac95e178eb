import { z } from 'zod'
import { healthAnswer } from '../answers/health.ts'
import { defineOperation } from './operation.ts'

/** Whether the server answers. Exactly `{"status":"ok"}`, whatever is asked with it. */
export const health = defineOperation({
  name: 'health',
  method: 'GET',
  path: '/v1/health',
  summary: 'Health of the service itself',
  scope: undefined,
  input: z.object({}),
  output: healthAnswer,
  example: { input: {}, output: { status: 'ok' } },
  needs: [],
  deadlineMs: 1_000,
  run: async () => ({ status: 'ok' }),
})
