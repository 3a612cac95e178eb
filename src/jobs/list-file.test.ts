import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { labFolder } from '../../test/lab/folder.ts'
import { openJournal } from '../store/files/journal.ts'
import type { Ask } from './engine/claims.ts'
import { answerList, isAnswer, type ListFile, resultsOf } from './list-file.ts'

const TEXT = `name,email\n${Array.from({ length: 120 }, (_, i) => `N${i},user${i}@a.example`).join('\n')}\nAgain,user3@a.example\n,\nBad\n"=cmd()",no\n`

const list: ListFile = {
  kind: 'verify',
  contentType: 'text/csv',
  open: async function* () {
    yield Buffer.from(TEXT)
  },
  maxUpload: 1e6,
  options: {},
  giveUpMs: 60_000,
}
const accepted = { result: 'accepted', reason: 'mailbox_exists', answer: { code: 250 } }

function lab() {
  const path = join(labFolder(), 'out.part')
  const asked: string[] = []
  const open = async () => (await openJournal(path, 'about', isAnswer))!
  const run = async (ask: Ask, signal = AbortSignal.timeout(10_000)) => {
    const answers = await open()
    const noted: Ask = (kind, input, ...rest) => {
      asked.push(input)
      return ask(kind, input, ...rest)
    }
    try {
      return await answerList(list, { ask: noted, answers, now: Date.now, tell: () => {}, onFault: () => {} }, signal)
    } finally {
      await answers.close()
    }
  }
  const results = async () => {
    const answers = await open()
    let text = ''
    for await (const piece of resultsOf(list, answers, 'csv')) text += piece
    await answers.close()
    return text.split('\r\n')
  }
  return { path, asked, run, results }
}

it('returns the list in its order with a verdict per row; verifies equal rows once, and reports bad ones', async () => {
  const { asked, run, results } = lab()
  const done = await run(async () => accepted)
  expect([asked.length, done.rows, done.badCount]).toEqual([121, 122, 2])
  expect(done.badRows.map(({ line }) => line)).toEqual([123, 124])
  const lines = await results()
  expect(lines.slice(0, 2)).toEqual([
    expect.stringMatching(/^name,email,line,result,reason/),
    expect.stringMatching(/^N0,user0@a.example,2,accepted,mailbox_exists/),
  ])
  expect(lines[121]).toMatch(/^Again,user3@a.example,122,accepted/)
  expect(lines[122]).toMatch(/^=cmd\(\),no,125,/)
})

it('a stopped run resumes where it stopped, even if its last line is incomplete', async () => {
  const { path, asked, run, results } = lab()
  const stop = new AbortController()
  const until = async (): Promise<typeof accepted> => {
    if (asked.length === 60) stop.abort(new DOMException('stopped', 'AbortError'))
    stop.signal.throwIfAborted()
    return accepted
  }
  await expect(run(until, stop.signal)).rejects.toThrow('stopped')
  appendFileSync(path, '[7,{"resul') // killed in the middle of a line
  const before = new Set(asked).size
  await run(async () => accepted)
  expect(new Set(asked).size).toBe(121)
  expect(asked.length - 121).toBeLessThanOrEqual(50) // rows in progress
  expect(before).toBeLessThan(121)
  expect(await results()).toHaveLength(124)
})

it('retries a row when it is due', async () => {
  const { asked, run, results } = lab()
  const ask: Ask = async (_kind, input) =>
    input === 'user5@a.example' && asked.filter((one) => one === input).length < 3
      ? { result: 'deferred', reason: 'greylisted', answer: {}, retryAfterMs: 20 }
      : accepted
  await run(ask)
  expect(asked.filter((one) => one === 'user5@a.example')).toHaveLength(3)
  expect((await results())[6]).toContain('accepted')
})

it('an unexpected error at a row is its result, and a file of another list is refused', async () => {
  const { path, run, results } = lab()
  await run(async (_kind, input) => {
    if (input === 'user5@a.example') throw new Error('a bug')
    return accepted
  })
  expect((await results())[6]).toContain('unreachable,internal_error')
  expect((await results())[7]).toContain('accepted')
  expect(await openJournal(path, 'another', isAnswer)).toBeUndefined()
})

it.each<[string, string]>([
  ['no answer', '[3,{"result":"accepted"}]'],
  ['a result with a line break', '[3,{"result":"a\\nb","reason":"","answer":{}}]'],
  ['another field', '[3,{"result":"accepted","reason":"","answer":{},"x":1}]'],
  ['no row', '["3",{"result":"accepted","reason":"","answer":{}}]'],
  ['no JSON', '[3,'],
])('a line of the journal that holds %s counts as missing', async (_, line) => {
  const path = join(labFolder(), 'out.part')
  writeFileSync(path, `about\n${line}\n[4,{"result":"accepted","reason":"","answer":{}}]\n`, { mode: 0o600 })
  const journal = (await openJournal(path, 'about', isAnswer))!
  expect([journal.has(3), journal.has(4)]).toEqual([false, true])
  await journal.close()
})
