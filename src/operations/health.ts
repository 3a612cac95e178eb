import { healthAnswer } from '../answers/health.ts'
import { healthDocument } from '../documents/service.ts'
import { defineOperation, ok } from './operation.ts'

/** Whether the server answers. Always exactly `{"status":"ok"}`, whatever the request contains. */
export const health = defineOperation({
  name: 'health',
  method: 'GET',
  path: '/v1/health',
  summary: 'Show whether the service is running',
  scope: undefined,
  params: {},
  answer: healthAnswer,
  document: healthDocument,
  example: { input: {}, output: { status: 'ok' } },
  uses: [],
  deadlineMs: 1_000,
  run: async () => OK,
})

const OK = ok({ status: 'ok' } as const)
