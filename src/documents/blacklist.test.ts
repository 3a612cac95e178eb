import { expect, it } from 'vitest'
import { listedAddress } from '../../test/lab/documents.ts'
import type { ListEntry } from '../answers/blacklist.ts'
import { blacklistBulkDocument, blacklistDocument, combinedGrid, listingBlocks } from './blacklist.ts'
import { formatMarkdown } from './markdown/markdown.ts'

const REASONS: Partial<Record<ListEntry['status'], string>> = { unsupported: 'no_ipv6', blocked: 'public_resolver' }
/** What a list answered about each address of a domain. */
const entryOf = (status: ListEntry['status']): ListEntry => ({
  ...{ blacklist: 'A', zone: 'a.example', tier: 'A', listed: status === 'listed', status, meaning: [], codes: [] },
  ...{ scope: 'ip', delist_url: '', duration_ms: 1 },
  ...(REASONS[status] && { reason: REASONS[status] }),
})

it.each<[statuses: ListEntry['status'][], mark: string, text: string]>([
  [['unsupported'], 'open', 'not for IPv6'],
  [['not_listed', 'not_listed', 'not_listed'], 'good', 'not listed'],
  [['listed', 'not_listed', 'unsupported'], 'bad', 'listed (1 of 3)'],
  // a list without IPv6 lists no such address
  [['not_listed', 'not_listed', 'unsupported'], 'good', 'not listed (2 of 3)'],
  [['unsupported', 'unsupported'], 'open', 'not for IPv6 (2 of 2)'],
  [['blocked', 'blocked', 'unsupported'], 'open', 'refused (2 of 3)'],
  [['blocked', 'timeout', 'not_listed'], 'open', 'refused (1 of 3)'],
  [['unsupported', 'timeout', 'not_listed'], 'open', 'no answer (1 of 3)'],
])('of all addresses of a domain: %j', (statuses, mark, text) => {
  const addresses = statuses.map((status) => ({ results: [entryOf(status)] }))
  expect(combinedGrid('', addresses)).toMatchObject([{ grid: { cells: [{ name: 'A', mark, text }] } }])
})

it('a private address beside a public one: only the public one is in the grid, and of the other it is said once why', () => {
  const hidden: ListEntry = { ...entryOf('unsupported'), reason: 'not_public' }
  const [none, both] = [[hidden], [hidden, entryOf('not_listed')]].map((entries) =>
    combinedGrid(
      '',
      entries.map((entry) => ({ results: [entry] })),
    ),
  )
  expect([none, both]).toMatchObject([[], [{ grid: { cells: [{ mark: 'good', text: 'not listed' }] } }]])
  expect(listingBlocks({ results: [hidden], total: 1, answered: 0 })).toMatchObject([
    { line: ['Blacklists contain only public addresses, so none was queried.'] },
  ])
})

it.each(['listed', 'incomplete'] as const)('what is %s says what comes before a removal, or nothing', (verdict) => {
  const text = formatMarkdown(blacklistDocument({ ...listedAddress, verdict }, '1'))
  expect(text.includes('**First:** Find and stop the source')).toBe(verdict === 'listed')
})

it('a document about one address says which lists were asked', () => {
  const text = formatMarkdown(blacklistBulkDocument({ data: [listedAddress], has_more: false, next_cursor: null }, '1'))
  expect(text).toContain(`blacklists ${listedAddress.list_version}`)
})
