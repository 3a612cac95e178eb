import { z } from 'zod'
import { change } from './changes.ts'
import { jobAnswer } from './jobs.ts'
import { monitorKind, monitorPoint, monitorState } from './monitors.ts'

/** The content of a message about a monitor: the body of a webhook, and the input of the other templates. */
export const monitorEvent = z.strictObject({
  type: z.enum(['monitor.changed', 'monitor.recovered', 'monitor.failing']),
  timestamp: z.iso.datetime(),
  data: z.strictObject({
    monitor: z.strictObject({
      id: z.string(),
      name: z.string(),
      kind: monitorKind,
      target: z.string(),
      state: monitorState,
    }),
    title: z.string(),
    lines: z.array(z.string()),
    changes: z.array(change),
    count: z.int(),
    last: monitorPoint.nullable(),
    test: z.literal(true).optional(),
  }),
})
export type MonitorEvent = z.output<typeof monitorEvent>

/** The body of a webhook about the end of a job. */
export const jobFinishedEvent = z.strictObject({
  type: z.literal('job.finished'),
  timestamp: z.iso.datetime(),
  data: jobAnswer,
})
