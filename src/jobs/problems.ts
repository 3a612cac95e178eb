import { errorsOf } from '../base/errors.ts'
import { quoted, shown } from '../base/problem.ts'
import { counted } from '../base/text.ts'

const PARTICIPLES = { pause: 'paused', resume: 'resumed', cancel: 'canceled' } as const

/** Refusals of a list before the store is full. */
export const storageError = errorsOf('storage', {
  open_rows: {
    code: 'too_many_rows',
    detail: ({ rows, max }: { rows: number; max: number }) =>
      `the open jobs of this key have ${counted(rows, 'row')} of at most ${max} (--max-open-rows): wait until some have ended`,
  },
  key: {
    code: 'too_much_stored',
    detail: ({ max }: { max: number }) =>
      `the jobs of this key take up ${mebibytes(max)} (--max-key-storage): delete some, or wait until some expire`,
  },
  database: {
    code: 'storage_full',
    detail: ({ max }: { max: number }) =>
      `the database takes up ${mebibytes(max)} (--max-storage): delete jobs, or wait until some expire`,
  },
  disk: {
    code: 'storage_full',
    detail: ({ min }: { min: number }) =>
      `less than ${mebibytes(min)} are free on the disk (--min-free-disk): delete jobs, or make room`,
  },
})
const mebibytes = (octets: number): string => `${Math.round(octets / 1024 / 1024)} MiB`

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
