import { errorsOf } from '../base/errors.ts'
import { quoted, shown } from '../base/problem.ts'

/** Errors of calls of tools. */
export const toolError = errorsOf('tool', {
  unknown_parameter: {
    code: 'unknown_parameter',
    detail: ({ name, tool }: { name: string; tool: string }) =>
      `${quoted(name)} is not a parameter of ${shown(tool, 60)}`,
  },
})
