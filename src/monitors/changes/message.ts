import type { MessageAnswer } from '../../answers/message.ts'
import { better, list, neutral, type Row, turned, worse } from './row.ts'

const GOOD = ['pass', 'passes', 'met']

/** Kinds of change between the analyses of two messages of one author domain. What is unknown in one of them is no change. */
export const MESSAGE_ROWS: readonly Row<MessageAnswer>[] = [
  resultRow('message.dmarc', 'DMARC', ({ dmarc }) => dmarc.result),
  resultRow('message.spf', 'SPF', ({ spf }) => spf.result),
  resultRow('message.dkim', 'DKIM', ({ dkim }) =>
    dkim.some(({ result }) => result === 'temperror')
      ? 'temperror'
      : ((dkim.find(({ result }) => result === 'pass') ?? dkim[0])?.result ?? 'none'),
  ),
  {
    id: 'message.findings',
    area: 'Findings',
    compare: (before, after) => {
      const ids = (answer: MessageAnswer) =>
        new Map(answer.findings.filter(({ severity }) => severity !== 'info').map(({ id, title }) => [id, title]))
      const [was, is] = [ids(before), ids(after)]
      const gone = [...was].filter(([id]) => !is.has(id)).map(([, title]) => title)
      const added = [...is].filter(([id]) => !was.has(id)).map(([, title]) => title)
      return [
        ...(gone.length > 0 ? [better(`gone: ${list(gone)}`)] : []),
        ...(added.length > 0 ? [worse(`new: ${list(added)}`)] : []),
      ]
    },
  },
]

function resultRow(id: string, area: string, result: (answer: MessageAnswer) => string): Row<MessageAnswer> {
  const known = (answer: MessageAnswer): string | undefined => {
    const word = result(answer)
    return word === 'unknown' || word === 'temperror' ? undefined : word
  }
  return {
    id,
    area,
    compare: (before, after) =>
      turned(known(before), known(after), (was, is) => {
        const text = `${is}, was ${was}`
        if (GOOD.includes(is)) return better(text)
        return GOOD.includes(was) ? worse(text) : neutral(text)
      }),
  }
}
