import { parsed, problem } from '../base/parsed.ts'
import { NODE_ID } from '../names/node-id.ts'
import { textParam } from './params.ts'

/** Other nodes that get the same question: `all`, or the id of one (vantage.ts). */
export const vantageParam = textParam<string>(
  'invalid_parameter',
  (text) => (NODE_ID.test(text) ? parsed(text) : problem('neither all nor the id of a node')),
  {
    description: 'also query other nodes: all, or the id of one',
    example: 'all',
    group: 'nodes',
  },
)
