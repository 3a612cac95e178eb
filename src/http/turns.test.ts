import { describe, expect, it } from 'vitest'
import { inTurns, turns } from './turns.ts'

it('lets one piece begin a turn of the event loop, in order, with others in between', async () => {
  const turn = turns()
  const seen: string[] = []
  const work = ['a', 'b', 'c'].map((name) => turn().then(() => seen.push(name)))
  setImmediate(() => seen.push('io'))
  await Promise.all(work)
  expect(seen.filter((name) => name !== 'io')).toEqual(['a', 'b', 'c'])
  expect(seen.at(-1)).toBe('c')
  expect(seen.indexOf('io')).toBeLessThan(seen.indexOf('c'))
})

it('begins at once after a pause', async () => {
  const turn = turns()
  await turn()
  await new Promise((resolve) => setTimeout(resolve, 5))
  await turn()
})

describe('so many pieces in one turn', () => {
  /** What was done, by turn. */
  async function turnsOf(pieces: readonly string[], perTurn: number): Promise<readonly string[]> {
    const done: string[] = ['']
    const doIt = inTurns((piece: string) => void (done[done.length - 1] += piece), perTurn)
    for (const piece of pieces) doIt(piece, piece === piece.toUpperCase())
    while (done.join('').length < pieces.length) {
      done.push('')
      await new Promise((resolve) => setImmediate(resolve))
    }
    return done
  }

  it.each<[string, string, number, readonly string[]]>([
    ['as many as may be done are done at once', 'abc', 3, ['abc']],
    ['one more waits for the next turn', 'abcd', 3, ['abc', 'd']],
    ['in order', 'abcdefg', 3, ['abc', 'def', 'g']],
    ['urgent ones first', 'abcdeFgH', 2, ['ab', 'FH', 'cd', 'eg']],
  ])('%s', async (_, pieces, perTurn, turn) => expect(await turnsOf([...pieces], perTurn)).toEqual(turn))

  it('what comes later in a turn in which others were done waits when the turn is full', async () => {
    const done: string[] = []
    const doIt = inTurns((piece: string) => void done.push(piece), 2)
    for (const piece of 'abcd') doIt(piece)
    await new Promise((resolve) => setImmediate(resolve))
    doIt('e')
    expect(done.join('')).toBe('abcd')
    await new Promise((resolve) => setImmediate(resolve))
    expect(done.join('')).toBe('abcde')
    await new Promise((resolve) => setImmediate(resolve))
    for (const piece of 'fgh') doIt(piece)
    expect(done.join('')).toBe('abcdefg')
  })
})
