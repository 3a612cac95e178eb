import { describe, expect, it } from 'vitest'
import { labProblem } from '../../../test/lab/problem.ts'
import { domain } from '../../names/domain.ts'
import { aligned } from './facts.ts'
import { judgeWalk, type WalkAnswer, walkDomains } from './walk.ts'

describe('the names of the walk (RFC 9989 §4.10)', () => {
  it.each([
    ['example.com', ['example.com', 'com']],
    ['a.mail.example.com', ['a.mail.example.com', 'mail.example.com', 'example.com', 'com']],
    [
      'a.b.c.d.e.f.g.h.i.j.mail.example.com', // the example of §4.10
      [
        'a.b.c.d.e.f.g.h.i.j.mail.example.com',
        'g.h.i.j.mail.example.com',
        'h.i.j.mail.example.com',
        'i.j.mail.example.com',
        'j.mail.example.com',
        'mail.example.com',
        'example.com',
        'com',
      ],
    ],
  ])('%s', (name, names) => expect(walkDomains(name)).toEqual(names))

  it.each([
    [7, 7],
    [8, 8],
    [9, 8],
    [60, 8],
  ])('%i labels: %i questions', (labels, questions) => {
    expect(walkDomains(Array.from({ length: labels }, (_, i) => `l${i}`).join('.'))).toHaveLength(questions)
  })
})

const yes = (...texts: string[]): WalkAnswer => ({ kind: 'found', texts })
const no: WalkAnswer = { kind: 'nxdomain', texts: [] }
const fault: WalkAnswer = { kind: 'unknown', reason: labProblem('SERVFAIL') }
const P = 'v=DMARC1; p=reject'

describe('the record that applies and the organizational domain', () => {
  // a.b.example.com: its own name, b.example.com, example.com, com
  it.each<[string, WalkAnswer[], string | undefined, string | undefined]>([
    ['none at all: the name itself is the organization', [no, no, no, no], undefined, 'a.b.example.com'],
    ['its own', [yes(P), no, no, no], 'a.b.example.com', 'a.b.example.com'],
    ['its own, and an organization above', [yes(P), no, yes(P), no], 'a.b.example.com', 'example.com'],
    ['the fewest labels win', [no, yes(P), yes(P), no], 'example.com', 'example.com'],
    ['psd=n stops the walk', [no, yes(`${P}; psd=n`), yes(P), no], 'b.example.com', 'b.example.com'],
    ['psd=y: one label below', [no, no, yes(P), yes(`${P}; psd=y`)], 'example.com', 'example.com'],
    [
      'psd=y and nothing below: the policy of the public suffix',
      [no, no, no, yes(`${P}; psd=y`)],
      'com',
      'example.com',
    ],
    ['psd=y in the middle', [no, no, yes(`${P}; psd=y`), yes(P)], 'example.com', 'b.example.com'],
    [
      'psd=y at the name itself is no boundary for it',
      [yes(`${P}; psd=y`), no, yes(P), no],
      'a.b.example.com',
      'a.b.example.com',
    ],
    ['several records are discarded and the walk goes on', [yes(P, P), no, yes(P), no], 'example.com', 'example.com'],
    ['other texts do not count', [yes('hello', 'v=spf1 -all'), no, yes(P, 'x'), no], 'example.com', 'example.com'],
    ['its own name did not answer', [fault, no, yes(P), no], undefined, undefined],
    ['a name above did not answer and it has none of its own', [no, fault, yes(P), no], undefined, undefined],
    ['a name above did not answer, but it has its own', [yes(P), fault, no, no], 'a.b.example.com', undefined],
    [
      'no answer above the boundary does no harm',
      [no, yes(`${P}; psd=n`), fault, fault],
      'b.example.com',
      'b.example.com',
    ],
  ])('%s', (_, answers, applied, organizational) => {
    const walk = judgeWalk(domain('a.b.example.com'), answers)
    expect([walk.applied?.domain, walk.organizationalDomain]).toEqual([applied, organizational])
    expect(walk.unknown !== undefined).toBe(applied === undefined && organizational === undefined)
  })

  it('tells what each step came to', () => {
    const walk = judgeWalk(domain('a.b.example.com'), [yes(P, P), yes('v=dmarc1'), no, yes(`${P}; psd=y`)])
    expect(walk.steps.map((step) => `${step.name} ${step.answer} ${step.count} ${step.decision}`)).toEqual([
      '_dmarc.a.b.example.com found 2 discarded_several',
      '_dmarc.b.example.com found 1 discarded_malformed',
      '_dmarc.example.com nxdomain 0 no_record',
      '_dmarc.com found 1 boundary_psd_y',
    ])
  })

  it('keeps few of very many records', () => {
    const walk = judgeWalk(domain('a.example'), [yes(...Array.from({ length: 500 }, () => P)), no])
    expect([walk.steps[0]!.records.length, walk.steps[0]!.count]).toEqual([10, 500])
  })
})

describe('alignment (RFC 9989 §4.4)', () => {
  const at = (name: string, organizationalDomain = name) => ({ domain: name, organizationalDomain })
  it.each([
    [at('a.example'), at('A.example.'), 's', true],
    [at('a.example'), at('m.a.example', 'a.example'), 's', false],
    [at('a.example'), at('m.a.example', 'a.example'), 'r', true],
    [at('a.example'), at('b.example'), 'r', false],
  ] as const)('%j and %j, %s: %j', (author, identifier, mode, expected) =>
    expect(aligned(author, identifier, mode)).toBe(expected),
  )
})
