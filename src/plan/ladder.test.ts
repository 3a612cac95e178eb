import { describe, expect, it } from 'vitest'
import { labCtx } from '../../test/lab/world.ts'
import { dmarc } from '../checks/dmarc/index.ts'
import { domain } from '../names/domain.ts'
import { type LadderInput, nextStage, strengthOf } from './ladder.ts'

const A = domain('a.example')
const factsOf = (text: string) => dmarc.lookup(labCtx({ 'a.example': {}, '_dmarc.a.example': { TXT: [text] } }), A, {})

/** Every stage after a record, with a mark on what is optional. */
async function ladderFrom(text: string, over: Partial<LadderInput> = {}): Promise<readonly string[]> {
  const stages: string[] = []
  for (let now = text; stages.length < 10; ) {
    const stage = nextStage(await factsOf(now), { isSilent: false, governs: true, ...over })
    if (!stage) return stages
    stages.push(`${stage.value.replace('v=DMARC1; ', '')}${stage.optional ? ' (optional)' : ''}`)
    now = stage.value
  }
  return stages
}

describe('the ladder after', () => {
  it.each<[record: string, stages: readonly string[], over?: Partial<LadderInput>]>([
    ['p=none', ['p=quarantine', 'p=reject (optional)']],
    ['p=quarantine', ['p=reject (optional)']],
    ['p=reject', []],
    // What stands beside p=none stays in the step to quarantine, and goes in a step of its own.
    ['p=none; pct=20', ['p=quarantine; pct=20', 'p=quarantine', 'p=reject (optional)']],
    ['p=none; t=y', ['p=quarantine; t=y', 'p=quarantine', 'p=reject (optional)']],
    // Partial stages: quarantine first, reject as the last stage.
    ['p=quarantine; t=y', ['p=quarantine', 'p=reject (optional)']],
    ['p=quarantine; pct=0', ['p=quarantine', 'p=reject (optional)']],
    ['p=reject; t=y', ['p=reject (optional)']],
    ['p=reject; pct=20', ['p=reject (optional)']],
    ['p=reject; t=y; pct=0', ['p=reject (optional)']],
    // A written sp rises after p, in steps of its own.
    [
      'p=none; sp=none',
      [
        'p=quarantine; sp=none',
        'p=quarantine; sp=quarantine',
        'p=reject; sp=quarantine (optional)',
        'p=reject; sp=reject (optional)',
      ],
    ],
    ['p=none; sp=reject', ['p=quarantine; sp=reject', 'p=reject; sp=reject (optional)']],
    // Names that do not exist need no wait.
    [
      'p=quarantine; np=none',
      [
        'p=quarantine; np=quarantine (optional)',
        'p=reject; np=quarantine (optional)',
        'p=reject; np=reject (optional)',
      ],
    ],
    // Below the organizational domain sp and np are ignored (RFC 9989 §4.7).
    ['p=none; sp=none', ['p=quarantine; sp=none', 'p=reject; sp=none (optional)'], { governs: false }],
    // Nothing is sent: at once.
    ['p=none; sp=none; pct=10', ['p=reject'], { isSilent: true }],
    ['p=reject', [], { isSilent: true }],
    // A public suffix governs others.
    ['p=none; psd=y', []],
  ])('%s', async (record, stages, over) => expect(await ladderFrom(`v=DMARC1; ${record}`, over)).toEqual(stages))
})

it.each<[string, readonly [number, number]]>([
  ['p=none', [0, 0]],
  ['p=quarantine; t=y', [0, 1]],
  ['p=quarantine; pct=0', [1, 0]],
  ['p=quarantine; pct=40', [1, 0.4]],
  ['p=reject; t=y; pct=0', [1, 1]],
  ['p=reject; t=y', [1, 2]],
  ['p=reject; pct=50', [2, 1.5]],
  ['p=reject', [2, 2]],
])('receivers of RFC 9989 and RFC 7489 apply of %s: %j', async (record, strengths) =>
  expect(strengthOf(await factsOf(`v=DMARC1; ${record}`))).toEqual(strengths),
)
