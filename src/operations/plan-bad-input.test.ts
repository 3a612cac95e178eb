import { expect, it } from 'vitest'
import { answerTo } from '../../test/lab/answer.ts'
import { type LabZone, labDns } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import type { PlanAnswer } from '../answers/plan.ts'
import { htmlBody } from '../documents/html/html.ts'
import { formatMarkdown } from '../documents/markdown/markdown.ts'
import { planDocument } from '../documents/plan.ts'
import { DnsError, type Resolve } from '../net/dns/resolver.ts'
import { formatPlan, PLAN_FORMATS } from '../plan/formats/formats.ts'
import { planSetup } from './plan.ts'

/** Plans of domains about which nothing can be said, and files of any size. */
const DEPS = { smtpPort: 25, heloName: async () => 'sonde.example' }
const ask = (body: object, zone: LabZone, resolve?: Resolve): Promise<PlanAnswer> =>
  answerTo(planSetup, labCtx(zone, resolve && { resolve }), DEPS, { domain: 'a.example', ...body })
const words = (plan: PlanAnswer): string => formatMarkdown(planDocument(plan, '1.0.0'))

it('a name that does not exist is first registered: its step has no record', async () => {
  const plan = await ask({}, { 'b.example': { A: ['45.53.5.1'] } })
  expect(plan.steps).toMatchObject([{ findings: ['mx.no_domain'], by: 'registrar', records: [] }])
  expect(words(plan)).toContain('a.example')
  for (const format of PLAN_FORMATS) expect(formatPlan(plan, format, 'cloudflare').text).not.toMatch(/IN TXT/)
})

it('of a domain of which nothing is known there is no step, and that is said', async () => {
  const plan = await ask({}, { 'a.example': 'SERVFAIL', '_dmarc.a.example': 'SERVFAIL' })
  expect([plan.steps, plan.end]).toEqual([[], { score: plan.score, grade: null, grade_because: null }])
  expect(words(plan)).toMatch(/Too little is known|not known/)
})

it('at a name server that answers each time otherwise, it ends, and each step is one of the first look', async () => {
  const faces: readonly LabZone[] = [
    { 'a.example': { MX: [[10, 'm.a.example']], TXT: ['v=spf1 mx ?all'] }, 'm.a.example': { A: ['45.53.5.1'] } },
    { 'a.example': { TXT: ['v=spf1 -all', 'v=spf1 +all'] }, '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject'] } },
    { 'a.example': 'SERVFAIL' },
  ]
  let asked = 0
  const shown = faces.map((zone) => labDns(zone).resolve)
  const resolve: Resolve = (name, type, signal, options) => {
    if (asked > 2_000) throw new DnsError('timeout', { name, type })
    return shown[asked++ % shown.length]!(name, type, signal, options)
  }
  const plan = await ask({}, {}, resolve)
  expect(asked).toBeLessThan(300)
  expect(plan.end.score).toBeGreaterThanOrEqual(plan.score)
  expect(plan.end.score).toBeLessThanOrEqual(100)
})

/** A plan that has as many steps as there are findings. */
const LONG: PlanAnswer = {
  ...{ domain: 'a.example', score: 1, grade: 'F', end: { score: 99, grade: 'A', grade_because: null } },
  steps: Array.from({ length: 100 }, (_, i) => ({
    ...{
      title: `Step of finding ${i}`,
      findings: [`spf.number_${i}`],
      by: 'dns' as const,
      why: '',
      before: [],
      grade_because: null,
      score: i,
      grade: 'F' as const,
    },
    records: [
      {
        action: 'add' as const,
        name: `n${i}.a.example`,
        type: 'TXT',
        ttl: 3_600,
        value: `v=spf1 ip4:45.53.5.${i} -all`,
        was: [],
      },
    ],
  })),
  left: Array.from({ length: 100 }, (_, i) => ({ finding: `dkim.number_${i}`, why: 'no record helps' })),
  observed_at: '2026-01-02T03:04:05.000Z',
}

it('100 findings: each has its step or its reason, in every form', () => {
  const html = htmlBody(planDocument(LONG, '1.0.0'))
  expect(html.match(/id="step-\d+"/g)).toHaveLength(100)
  expect(html.match(/<code>dkim\.number_/g)).toHaveLength(100)
  for (const format of PLAN_FORMATS)
    expect([format, formatPlan(LONG, format, 'route53').text.match(/v=spf1 ip4:/g)?.length]).toEqual([format, 100])
})

it('a file of 5,000 names is refused with the limit; of 1,000, several are asked at a time', async () => {
  const lines = (n: number): string =>
    Array.from({ length: n }, (_, i) => `n${i}.a.example. 3600 IN TXT "v=spf1 -all"`).join('\n')
  const zone: LabZone = { 'a.example': { TXT: ['v=spf1 -all'] }, 'n0.a.example': { TXT: ['v=spf1 -all'] } }
  await expect(ask({ expect: lines(5_000) }, zone)).rejects.toThrow(/at most 1000/)
  const { resolve } = labDns(zone)
  let [now, most] = [0, 0]
  const slow: Resolve = async (...question) => {
    most = Math.max(most, ++now)
    await new Promise((done) => setTimeout(done, 2))
    now--
    return resolve(...question)
  }
  const plan = await ask({ expect: lines(1_000) }, zone, slow)
  expect([plan.expected, plan.published, plan.missing?.length]).toEqual([1_000, 1, 999])
  expect(plan.missing?.map(({ name }) => name).slice(0, 2)).toEqual(['n1.a.example', 'n2.a.example'])
  expect(most).toBeGreaterThan(8)
})

/** Texts in published records; each stands in the plan, as a value that it replaces or beside it. */
const HOSTILE: readonly (readonly [why: string, text: string])[] = [
  ['a script', '<script>alert(1)</script>'],
  ['an attribute that is left', '"><img src=x onerror=alert(1)>'],
  ['the end of what it stands in', '</code></pre></details><h1>owned</h1>'],
  ['a link and an image of Markdown', '[a](https://a.example/x) ![x](https://a.example/x.png)'],
  ['the end of a block of Markdown', '```\n# owned'],
  ['escape sequences and lines', '\u001b[31mred\r\nowned'],
  ['text that runs backwards', '\u202egnp.exe'],
]
it.each(HOSTILE)('%s in a record is text in the plan, as HTML and as Markdown', async (_, text) => {
  const plan = await ask(
    {},
    {
      'a.example': {
        MX: [[10, 'mx.a.example']],
        TXT: [`v=spf1 mx ?all ${text}`, `v=spf1 mx exp=${text} -all`, `v=verify ${text}`],
      },
      'mx.a.example': { A: ['45.53.5.1'] },
      '1.5.53.45.in-addr.arpa': { PTR: ['mx.a.example'] },
      '_dmarc.a.example': { TXT: [`v=DMARC1; p=none; x=${text}`] },
    },
  )
  expect(JSON.stringify(plan.steps)).toContain(JSON.stringify(text).slice(1, -1))
  const page = htmlBody(planDocument(plan, '1.0.0'))
  expect(page).not.toMatch(/<script|<img|<h1>owned|\son\w+=[^<>]*>/i)
  for (const shown of [page, words(plan)]) {
    expect(shown.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(shown).not.toMatch(/^(?:# )?owned/m)
  }
  const prose = words(plan)
    .replace(/^(`{3,})\n[\s\S]*?\n\1$/gm, '')
    .replace(/(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, '')
  expect(prose).not.toMatch(/(?<!\\)<[a-z!/?]|(?<!\\)!?\[(?!RFC)[^\]]*\]\(https:\/\/a\.example/i)
})
