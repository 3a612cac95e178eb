import type { HealthAnswer, ReadyAnswer } from '../answers/health.ts'
import type { Document, Line } from './block.ts'
import { footerOf } from './footer.ts'
import { duration } from './times.ts'

/** Whether the service answers. */
export const healthDocument = (_answer: HealthAnswer, version: string): Document => ({
  title: 'Health',
  blocks: [
    {
      kind: 'conclusion',
      conclusion: { subject: 'mailsonde', mark: 'good', badge: 'ok', words: 'The service is running.', notes: [] },
    },
  ],
  footer: footerOf(version),
})

/** Whether the service is ready, and the state of its dependencies. */
export function readyDocument({ status, dependencies }: ReadyAnswer, version: string): Document {
  const failed = dependencies.filter((one) => one.status === 'failed').map(({ name }) => name)
  return {
    title: 'Ready',
    blocks: [
      {
        kind: 'conclusion',
        conclusion: {
          subject: 'mailsonde',
          mark: status === 'ready' ? 'good' : 'bad',
          badge: status === 'ready' ? 'Ready' : 'Not ready',
          words: status === 'ready' ? 'All dependencies work.' : `Not working: ${failed.join(', ')}.`,
          notes: [],
        },
      },
      {
        kind: 'table',
        table: {
          caption: 'Dependencies',
          head: ['Name', 'State', 'Time'],
          rows: dependencies.map((one): Line[] => [
            [one.name],
            [one.status === 'ok' ? { mark: 'good', text: 'ok' } : { mark: 'bad', text: one.reason ?? 'failed' }],
            [duration(one.duration_ms)],
          ]),
          numeric: [2],
        },
      },
    ],
    footer: footerOf(version),
  }
}
