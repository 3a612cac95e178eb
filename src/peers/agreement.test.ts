import { expect, it } from 'vitest'
import { agreementOf } from './agreement.ts'

const votes = (...verdicts: (string | undefined)[]) => verdicts.map((verdict, i) => ({ node: `n${i}`, verdict }))

it.each<[string, (string | undefined)[], string | undefined, string]>([
  ['alone', ['clean'], 'clean', '1/1'],
  ['alone and failed', [undefined], undefined, '0/1'],
  ['two that agree', ['clean', 'clean'], 'clean', '2/2'],
  ['two that differ: either could be the liar', ['clean', 'listed'], undefined, '1/2'],
  ['two, one dead', ['clean', undefined], 'clean', '1/2'],
  ['four, one dissents', ['clean', 'clean', 'listed', 'clean'], 'clean', '3/4'],
  ['four, one dead', ['clean', 'clean', undefined, 'clean'], 'clean', '3/4'],
  ['four, two apart', ['clean', 'clean', 'listed', undefined], undefined, '2/4'],
  ['six, two dissent', ['a', 'a', 'a', 'a', 'b', 'b'], 'a', '4/6'],
  ['six, three apart', ['a', 'a', 'a', 'b', 'b', undefined], undefined, '3/6'],
])('%s', (_, verdicts, verdict, agree) => {
  const agreement = agreementOf(votes(...verdicts))
  expect([agreement.verdict, agreement.agree]).toEqual([verdict, agree])
  expect(agreement.dissent).toHaveLength(Number(agree.split('/')[1]) - Number(agree.split('/')[0]))
})
