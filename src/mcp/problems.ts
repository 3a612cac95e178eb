import { errorsOf } from '../base/errors.ts'
import { quoted, shown } from '../base/problem.ts'

export const toolError = errorsOf('tool', {
  unknown_parameter: {
    unknown_parameter: ({ name, tool }: { name: string; tool: string }) =>
      `${quoted(name)} is not a parameter of ${shown(tool, 60)}`,
  },
  invalid_parameter: {
    from_line: ({ text }: { text: string }) => `from_line is ${quoted(text, 40)}; it is the number of a line, from 1`,
  },
})
