import { describe, expect, it } from 'vitest'
import { exampleOf } from '../../test/lab/answer.ts'
import { type StoredAnswer, storedAnswer } from '../answers/stored.ts'
import { blacklistDocument } from '../documents/blacklist.ts'
import type { Document } from '../documents/block.ts'
import { checkDocument } from '../documents/check/check-document.ts'
import { verifyDocument } from '../documents/verify.ts'
import { whatIfDocument } from '../documents/what-if.ts'
import { blacklist } from './blacklist.ts'
import { check } from './check.ts'
import { report } from './report.ts'
import { storedDocument } from './stored.ts'
import { verify } from './verify.ts'
import { whatIf } from './what-if.ts'

const VERSION = '0.0.0'
const TIMES = { saved_at: '2026-01-02T03:04:05.000Z', expires_at: '2026-04-02T03:04:05.000Z' }
const stored = (kind: StoredAnswer['kind'], answer: object): StoredAnswer =>
  storedAnswer.parse({ ...answer, kind, id: 'AAAAAAAAAAAAAAAAAAAAAA', ...TIMES })
const DATE = [
  'Stored answer of ',
  { time: TIMES.saved_at },
  '; it expires at ',
  { time: TIMES.expires_at },
  '. It shows the state at that time.',
]

describe('the document of its kind', () => {
  it.each<[StoredAnswer['kind'], object, Document]>([
    ['check', exampleOf(check), checkDocument(exampleOf(check), VERSION)],
    ['report', exampleOf(report), checkDocument(exampleOf(report), VERSION)],
    ['verify', exampleOf(verify), verifyDocument(exampleOf(verify), VERSION)],
    ['blacklist', exampleOf(blacklist), blacklistDocument(exampleOf(blacklist), VERSION)],
    // Not as a check: its records are not published.
    ['what-if', exampleOf(whatIf), whatIfDocument(exampleOf(whatIf), VERSION)],
  ])('%s, with its date in quiet text below the conclusion', (kind, answer, plain) => {
    const { title, blocks } = storedDocument(stored(kind, answer), VERSION)
    expect([title, blocks[0]]).toEqual([plain.title, plain.blocks[0]])
    expect(blocks[1]).toEqual({ kind: 'text', quiet: true, line: DATE })
    expect(blocks.slice(2).map((block) => block.kind)).toEqual(plain.blocks.slice(1).map((block) => block.kind))
  })
  it.each<StoredAnswer['kind']>(['check', 'report', 'verify', 'blacklist', 'what-if'])(
    '%s of an earlier version, without all fields: a plain list',
    (kind) => {
      const { title, blocks } = storedDocument(stored(kind, { domain: 'a.example' }), VERSION)
      expect([title, blocks[1]]).toEqual(['Stored answer', { kind: 'text', quiet: true, line: DATE }])
      expect(JSON.stringify(blocks)).toContain('a.example')
    },
  )
})
