import { expect, it } from 'vitest'
import { manyLookups } from '../../../test/lab/documents.ts'
import type { Answer } from './answer.ts'
import { whoMaySendBlocks } from './who-may-send.ts'

const nobody: Answer['spf'] = {
  ...manyLookups.spf,
  valid: true,
  passing: { ipv4: 0, ipv6_prefixes: 0, by: [], complete: true },
}
const marksOf = (dkim: Partial<Answer['dkim']>): readonly string[] =>
  whoMaySendBlocks({ ...manyLookups, spf: nobody, dkim: { ...manyLookups.dkim, keys: [], ...dkim } }).flatMap(
    (block) =>
      block.kind === 'alignment' ? block.alignment.paths.map(({ state }) => `${state.mark} ${state.text}`) : [],
  )

it.each([
  ['sends', { status: 'fail', discovery: 'proven_absent' }, ['bad no sender can pass', 'bad no usable key']],
  [
    'sends nothing',
    { status: 'not_applicable', discovery: 'proven_absent' },
    ['none no sender passes, as the domain declares', 'none not needed'],
  ],
] as const)('nobody passes at a domain that %s', (_, dkim, marks) => {
  expect(marksOf(dkim)).toEqual(marks)
})
