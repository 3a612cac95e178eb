import { expect, it } from 'vitest'
import { listDocument } from './list.ts'

it.each([
  {
    page: 'a further page: its cursor as the option and as the parameter',
    cursor: '6',
    line: ['Next page: ', { code: '--cursor 6' }, ', in a URL ', { code: 'cursor=6' }],
  },
  { page: 'the last page', cursor: null, line: undefined },
])('$page', ({ cursor, line }) => {
  const { blocks } = listDocument(
    { title: 'Runs', one: 'run' },
    { data: [1], has_more: cursor !== null, next_cursor: cursor },
    '0.0.0',
  )
  expect(blocks.slice(1)).toEqual(line ? [{ kind: 'text', line, quiet: true }] : [])
})
