import { expect, it } from 'vitest'
import { moreBlocks } from './list.ts'

it.each([
  {
    page: 'a further page: its cursor as the option and as the parameter',
    cursor: '6',
    line: ['Next page: ', { code: '--cursor 6' }, ', in a URL ', { code: 'cursor=6' }],
  },
  { page: 'the last page', cursor: null, line: undefined },
])('$page', ({ cursor, line }) => {
  expect(moreBlocks(cursor)).toEqual(line ? [{ kind: 'text', line, quiet: true }] : [])
})
