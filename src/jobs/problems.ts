import { errorsOf } from '../base/errors.ts'
import { quoted, shown } from '../base/problem.ts'
import { counted } from '../base/text.ts'

const PARTICIPLES = { pause: 'paused', resume: 'resumed', cancel: 'canceled' } as const

type State = { state: string }

/** Errors of bulk jobs. */
export const jobError = errorsOf('job', {
  unknown: { code: 'not_found', detail: ({ id }: { id: string }) => `there is no job ${quoted(id, 80)}` },
  complete: {
    code: 'wrong_state',
    detail: ({ state }: State) => `the job is ${shown(state, 60)}: its list is complete`,
  },
  wrong_offset: {
    code: 'wrong_offset',
    detail: ({ received }: { received: number }) =>
      `${counted(received, 'record was', 'records were')} received: send those after ${received === 1 ? 'it' : 'them'}, with from=${received}`,
  },
  wrong_state: {
    code: 'wrong_state',
    detail: ({ state, action }: State & { action: keyof typeof PARTICIPLES }) =>
      `the job is ${shown(state, 60)}: it cannot be ${PARTICIPLES[action]}`,
  },
})
