import { parsed, problem } from '../base/parsed.ts'
import { valueProblem } from '../base/value-problems.ts'
import { NODE_ID } from '../names/node-id.ts'
import { textParam } from './params.ts'

/** Other nodes that get the same question: `all`, or the id of one (vantage.ts). */
export const vantageParam = textParam<string>(
  'invalid_parameter',
  (text) => (NODE_ID.test(text) ? parsed(text) : problem(valueProblem('node_or_word', { text, word: 'all' }))),
  {
    description: 'also query other nodes: all, or the id of one',
    example: 'all',
    group: 'nodes',
  },
)
