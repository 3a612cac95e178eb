import type { CheckAnswer } from '../answers/check.ts'
import { type Block, code, type Inline, text } from './block.ts'

type Vantage = Pick<CheckAnswer, 'vantage' | 'agreement'>

/** The agreement of several nodes, if several were asked. */
export function vantageBlocks({ vantage, agreement }: Vantage): Block[] {
  const node = vantage === undefined ? [] : [text('Answer of the node ', code(vantage), '.')]
  if (agreement === undefined) return node
  const { verdict, agree, dissent } = agreement
  const words = verdict === null ? 'The nodes do not agree on a verdict' : `${agree} nodes: ${verdict}`
  const others = dissent.flatMap(({ node: name, verdict: other }, i): Inline[] => [
    i === 0 ? '; otherwise: ' : ', ',
    code(name),
    ` (${other ?? 'no answer'})`,
  ])
  return [...node, text({ strong: 'Nodes: ' }, words, ...others, '.')]
}
