import fc from 'fast-check'
import { expect, it } from 'vitest'
import { adviceFaults, type PlannedAnswer } from '../../test/archetypes/plan-rules.ts'
import { runChecks } from '../../test/lab/checks.ts'
import { type LabNode, type LabZone, labDns } from '../../test/lab/dns.ts'
import { labCtx, labWorld } from '../../test/lab/world.ts'
import type { PlanRecord } from '../answers/plan.ts'
import { repeatable } from '../checks/repeatable.ts'
import type { SeenMail } from '../checks/seen-mail.ts'
import { checkHost } from '../checks/spf/index.ts'
import { type Domain, domain } from '../names/domain.ts'
import { ip } from '../names/ip.ts'
import type { Resolve } from '../net/dns/resolver.ts'
import type { World } from '../world.ts'
import { assumedKey } from './assumed.ts'
import { lenderOf } from './lender.ts'
import { planOf } from './plan.ts'
import { presentWithPlan } from './present.ts'
import { lookUp, type Snapshot, subjectOf } from './snapshot.ts'

const A = domain('a.example')
const fetch = () => Promise.reject(new Error('nothing is fetched here'))

/** The snapshot, the plan and the findings of a domain. */
async function planned(
  zone: LabZone,
  name: Domain = A,
  parts: Partial<World> = {},
  input: Parameters<typeof subjectOf>[2] = {},
) {
  const subject = subjectOf(repeatable(labCtx(zone, parts), name), name, input)
  const start = await lookUp(subject)
  const plan = await planOf(subject, start)
  return { start, plan, findings: presentWithPlan(start, plan) }
}

it('asks nothing twice, and nothing new for records that name nothing new', async () => {
  const zone: LabZone = {
    'a.example': { MX: [[10, 'm.example']], TXT: ['v=spf1 mx -all', 'v=spf1 mx ~all'] },
    'm.example': { A: ['45.53.5.1'] },
  }
  const world = labWorld(zone, { fetch })
  const ctx = repeatable({ ...world, signal: AbortSignal.timeout(5_000) }, A)
  await runChecks(ctx.anew(), A)
  const once = world.asked.length
  const subject = subjectOf(ctx, A, {})
  const { steps } = await planOf(subject, await lookUp(subject))
  expect(steps.length).toBeGreaterThan(2)
  expect(world.asked.slice(once)).toEqual([])
  expect(new Set(world.asked).size).toBe(world.asked.length)
})

const WEB = { A: ['45.53.8.1'] }
const ORG: LabZone = {
  'a.example': { MX: [[10, 'm.example']], TXT: ['v=spf1 mx -all'] },
  'm.example': { A: ['45.53.5.1'] },
  '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@a.example'] },
}

it.each<[string, string, LabZone, string | undefined]>([
  ['a name that only the wildcard has', 'www.a.example', { '*.a.example': WEB }, '*.a.example'],
  ['deeper', 'x.www.a.example', { '*.www.a.example': WEB }, '*.www.a.example'],
  ['a wildcard that is an alias', 'www.a.example', { '*.a.example': { CNAME: ['m.example'] } }, 'm.example'],
  ['an alias', 'www.a.example', { 'www.a.example': { CNAME: ['m.example'] } }, 'm.example'],
  ['an alias at the zone', 'b.example', { 'b.example': { CNAME: ['m.example'] } }, 'm.example'],
  ['records of its own', 'www.a.example', { '*.a.example': WEB, 'www.a.example': { A: ['45.53.8.2'] } }, undefined],
  ['text of its own', 'www.a.example', { '*.a.example': WEB, 'www.a.example': { ...WEB, TXT: ['x'] } }, undefined],
  ['no wildcard', 'www.a.example', { 'www.a.example': WEB }, undefined],
  ['a registrable domain', 'a.example', { '*.a.example': WEB }, undefined],
])('%s', async (_, name, zone, lender) => {
  expect((await lenderOf(labCtx({ ...ORG, ...zone }), domain(name)))?.name).toBe(lender)
})

it('does not show a key that only stands for what a provider will make', async () => {
  const mail = { MX: [[10, 'm.example'] as const], TXT: ['v=spf1 mx -all'] }
  const { findings, plan } = await planned({ ...ORG, '*.a.example': mail }, domain('www.a.example'))
  expect(JSON.stringify([findings, plan])).not.toContain('p=MII')
  expect(plan.left.find(({ finding }) => finding.startsWith('dkim.'))?.why).toContain('the TXT record together')
})

it('has a step for each selector that was asked for and has no key', async () => {
  const keys: LabZone = { 'k1._domainkey.a.example': { TXT: [String(assumedKey('a.example', 'k1').data)] } }
  const { plan } = await planned({ ...ORG, ...keys }, A, {}, { selectors: ['q7', 'q8', 'k1'] })
  const titles = plan.steps.map(({ title }) => title)
  expect(titles).toContain('Publish the DKIM key of the selector q7')
  expect(titles).toContain('Publish the DKIM key of the selector q8')
  expect(plan.left.filter(({ finding }) => finding === 'dkim.no_key')).toEqual([])
})

it.each<[string, LabZone, readonly string[], string]>([
  ['a live one', { 'site.example': WEB }, ['Replace the alias at the domain by addresses', 'Publish an MX record'], ''],
  ['a dead one', {}, ['Sign with DKIM'], 'CNAME MX TXT TXT'],
])(
  'an organizational domain that is an alias is asked first whether it has mail: %s',
  async (_, zone, titles, types) => {
    const { plan } = await planned({ 'a.example': { CNAME: ['site.example'] }, 'x.example': {}, ...zone })
    const [none, mail] = plan.choice!.options
    expect(mail!.steps.slice(0, titles.length).map(({ title }) => title)).toEqual(titles)
    expect(none!.steps.map(({ title }) => title)).toEqual(['Declare that the domain has no mail'])
    expect(none!.steps[0]!.records.map(({ type }) => type).join(' ')).toBe(types)
    expect(none!.end.score).toBe(96)
  },
)

const KEYED: LabZone = {
  'm.example': { A: ['45.53.5.1'] },
  's1._domainkey.a.example': { TXT: [String(assumedKey('a.example', 's1').data)] },
}
const tree = (...terms: string[]) => ({ TXT: [['v=spf1', ...terms].join(' ')] })
const MANY: LabZone = Object.fromEntries(
  [1, 2, 3, 4].flatMap((i) => [
    [`p${i}.example`, tree(`include:q${i}.example`, `include:r${i}.example`, '-all')],
    [`q${i}.example`, tree('ip4:45.53.6.1', '-all')],
    [`r${i}.example`, tree('ip4:45.53.6.2', '-all')],
  ]),
)
it.each<[string, string[], LabZone, string, string]>([
  [
    'a loop in a record of its own',
    ['include:_s.a.example', '-all'],
    { '_s.a.example': tree('mx:a.example', 'include:a.example', '-all') },
    'Correct the included SPF record of _s.a.example',
    'v=spf1 mx:a.example -all | v=spf1 include:_s.a.example ~all',
  ],
  [
    'a loop in the record of another',
    ['mx', 'include:b.other', '-all'],
    { 'b.other': tree('include:a.example', '-all') },
    'Correct the included SPF record of b.other',
    '',
  ],
  [
    'a broken record of another',
    ['mx', 'include:b.other', '~all'],
    { 'b.other': tree('ip4:1.2.3', '-all') },
    'Correct the included SPF record of b.other',
    '',
  ],
  [
    'more than ten lookups of services that live',
    ['include:p1.example', 'include:p2.example', 'include:p3.example', 'include:p4.example', '-all'],
    MANY,
    'Bring SPF within the limit of lookups',
    '',
  ],
])('a permerror has its step: %s', async (_, terms, zone, title, values) => {
  const own = { MX: [[10, 'm.example'] as const], ...tree(...terms) }
  const { plan } = await planned({ ...KEYED, ...zone, 'a.example': own })
  expect(plan.steps[0]?.title).toBe(title)
  expect(plan.steps[0]?.records.map(({ value }) => value).join(' | ')).toBe(values)
  expect(plan.steps.some(({ title: one }) => one === 'DMARC: reject')).toBe(values.includes(' | '))
})

it.each<[string, string, LabZone]>([
  ['IPv4', '2.0.192.in-addr.arpa', {}],
  ['one address', '1.2.0.192.in-addr.arpa', { '1.2.0.192.in-addr.arpa': { PTR: ['m.example'] } }],
  ['IPv6', '8.b.d.0.1.0.0.2.ip6.arpa', {}],
  [
    'with mail records',
    '2.0.192.in-addr.arpa',
    { '2.0.192.in-addr.arpa': { MX: [[10, 'm.example']], TXT: ['v=spf1 +all'] } },
  ],
])('a reverse zone is no mail domain, loses nothing and has no step: %s', async (_, name, zone) => {
  const { plan, findings, start } = await planned({ [name]: { NS: ['ns1.example'] }, ...zone }, domain(name))
  expect([plan.steps, plan.organization, start.score.score]).toEqual([[], undefined, 100])
  expect(start.context.because.text).toContain('no domain for mail')
  expect(findings.filter(({ id }) => !/^(?:ns|soa)\./.test(id)).map(({ id }) => id)).toEqual(['mx.reverse_zone'])
})

it.each<[string, LabZone, boolean, string]>([
  ['is offered at a name of its own', { 'www.a.example': WEB }, true, ''],
  ['is put in words where a wildcard would lose the name', { '*.a.example': WEB }, false, 'wildcard *.a.example'],
  [
    'is put in words beside an alias',
    { 'www.a.example': { CNAME: ['m.example'] } },
    false,
    'DMARC record that covers the name protects it',
  ],
  ['is not offered while that is not known', { 'www.a.example': WEB, '*.a.example': 'SERVFAIL' }, false, ''],
])('a fix at the domain itself %s', async (_, zone, isOffered, words) => {
  const { findings } = await planned({ ...ORG, ...zone }, domain('www.a.example'))
  const told = findings.find(({ id }) => id === 'spf.no_record_web')!
  expect(told.fix !== undefined).toBe(isOffered)
  expect(told.repair).toContain(words)
})

const HOSTS: LabZone = {
  'm.a.example': { A: ['45.53.5.1'] },
  'b.example': { TXT: ['v=spf1 ip4:45.53.8.0/24 ~all'] },
  'c.example': { TXT: ['v=spf1 include:b.example ip4:45.53.9.9 -all'] },
  'loop.example': { TXT: ['v=spf1 include:loop.example -all'] },
  '1.5.53.45.in-addr.arpa': { PTR: ['m.a.example'] },
}
/** Addresses in and beside every network of the zones. */
const ADDRESSES = ['45.53.5.1', '45.53.5.2', '45.53.6.7', '45.53.7.7', '45.53.8.8', '45.53.9.9', '8.8.8.8'].map(ip)
const MX = { MX: [[10, 'm.a.example']] } as const
const NULL_MX = { MX: [[0, '.']] } as const
const TERMS = [
  'ip4:45.53.5.1',
  'ip4:45.53.6.0/24',
  'a',
  'mx',
  'ptr',
  'include:b.example',
  'include:c.example',
  'include:gone.example',
  'include:loop.example',
  'exists:%{i}.x.example',
  'ip4:0.0.0.0/1',
  'ip4:128.0.0.0/1',
  '-ip4:45.53.8.8',
  'ipv4:45.53.7.7',
]
const spfText = fc
  .tuple(
    fc.shuffledSubarray(TERMS, { maxLength: 5 }),
    fc.constantFrom('-all', '~all', '?all', '+all', 'redirect=c.example', ''),
  )
  .chain(([terms, end]) =>
    fc.constantFrom(' ', '  ', '\t', '\u00a0').map((space) => ['v=spf1', ...terms, end].filter(Boolean).join(space)),
  )
const dmarcText = fc
  .record({
    p: fc.constantFrom('p=none', 'p=quarantine', 'p=reject', 'p=block', ''),
    sp: fc.constantFrom('', 'sp=none', 'sp=reject'),
    pct: fc.constantFrom('', 'pct=0', 'pct=10', 'pct=100'),
    t: fc.constantFrom('', 't=y'),
    rua: fc.constantFrom('', 'rua=mailto:d@a.example', 'rua=d@a.example', 'rua=mailto:d@b.test'),
    space: fc.constantFrom('; ', ';', ';\u00a0', ';; '),
  })
  .map(({ space, ...tags }) => ['v=DMARC1', ...Object.values(tags).filter(Boolean)].join(space))
const anyZone: fc.Arbitrary<LabZone> = fc
  .record({
    spf: fc.array(spfText, { maxLength: 2 }),
    dmarc: fc.array(dmarcText, { maxLength: 2 }),
    mail: fc.constantFrom<LabNode>(MX, NULL_MX, { A: ['45.53.7.7'] }, {}, { MX: [[10, 'gone.example']] }),
  })
  .map(({ spf, dmarc: texts, mail }) => ({
    ...HOSTS,
    'a.example': { ...mail, TXT: spf },
    ...(texts.length > 0 ? { '_dmarc.a.example': { TXT: texts } } : {}),
  }))

const passersIn = async (zone: LabZone) => {
  const results = await Promise.all(
    ADDRESSES.map((address) => checkHost(labCtx(zone), { ip: address, sender: 'x@a.example', helo: 'x.example' })),
  )
  return ADDRESSES.filter((_, i) => results[i]!.result === 'pass')
}

/** The zone after a step, published as its owner would. */
function published(zone: LabZone, records: readonly PlanRecord[]): LabZone {
  const next: Record<string, unknown> = { ...zone }
  for (const { action, name, type, value, was } of records) {
    const { CNAME: _alias, ...node } = (next[name] ?? {}) as Record<string, readonly unknown[]>
    const plain = (text: string): string => text.replace(/(\w)\.$/, '$1')
    const shown = (data: unknown): string => plain([data].flat().join(' '))
    const gone = new Set([...was, value].map(plain))
    const kept = (node[type] ?? []).filter((data) => !gone.has(shown(data)))
    const [preference, exchange = '.'] = value.split(' ')
    const data = type === 'MX' ? [Number(preference), exchange.replace(/(.)\.$/, '$1')] : value
    next[name] = { ...node, [type]: action === 'remove' ? kept : [...kept, data] }
  }
  return next as LabZone
}

/** Whether everybody passes SPF, or would if the record were evaluated to its end: its step names the known senders. */
function letsEverybodyPass({ outcomes: { spf } }: Snapshot): boolean {
  const reading = spf.facts?.reading
  return reading !== undefined && (reading.extent.everybody || reading.all === '+')
}

it('of random zones each step keeps its promise, and nobody who passes fails', () =>
  fc.assert(
    fc.asyncProperty(anyZone, async (zone) => {
      const { start, plan, findings } = await planned(zone)
      const answer = { domain: A, findings, plan, domain_role: { name: start.context.role }, ...start.score }
      const faults = adviceFaults({ ...answer, grade_because: start.score.because } as PlannedAnswer, zone as never)
      expect(faults).toEqual([])
      let now = zone
      let isEverybody = letsEverybodyPass(start)
      for (const { by, assumed, records, score, wait, title } of plan.steps) {
        if (assumed || by !== 'dns') return // what others do is not published here
        const then = published(now, records)
        const after = await planned(then)
        expect([title, after.start.score.score]).toEqual([title, score])
        if (!isEverybody && !wait) expect(await passersIn(then)).toEqual(expect.arrayContaining(await passersIn(now)))
        isEverybody = letsEverybodyPass(after.start)
        now = then
      }
    }),
    {
      numRuns: 60,
      examples: [
        // What nobody reads may have let somebody send: no reject at once.
        [{ ...HOSTS, 'a.example': { ...NULL_MX, TXT: ['v=spf1\u00a0+all'] } }],
        // Half of the internet passes before an include without a record, behind which everybody would.
        [{ ...HOSTS, 'a.example': { ...MX, TXT: ['v=spf1 -ip4:45.53.8.8 ip4:0.0.0.0/1 include:gone.example +all'] } }],
        // Until the loop is mended, the first of two includes of one name is the one that lets its hosts pass.
        [
          {
            ...HOSTS,
            'a.example': { ...MX, ...tree('include:b.example', 'include:loop.example', 'include:c.example', '?all') },
          },
        ],
      ],
    },
  ))

it('gives the same answer to the same zone, in whatever order and at whatever speed answers come', async () => {
  const zone: LabZone = { ...HOSTS, 'a.example': { ...MX, TXT: ['v=spf1 include:c.example ptr -all'] } }
  const { resolve } = labDns(zone)
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const late: World['resolve'] = async (...asked) => {
        await new Promise((done) => setTimeout(done, Math.random() * 5))
        return resolve(...asked)
      }
      const { plan, findings } = await planned(zone, A, { resolve: late })
      return JSON.stringify([plan, findings])
    }),
  )
  expect(new Set(answers).size).toBe(1)
})

const KEY = `k=rsa; p=${assumedKey('x', 'y').data}`.replace(/p=v=DKIM1; k=rsa; /, '')
const STARTED: LabZone = {
  'a.example': { MX: [[10, 'm.example']], TXT: ['v=spf1 mx ?all'] },
  'm.example': { A: ['45.53.5.1'] },
  'd._domainkey.a.example': { TXT: [`v=DKIM1; ${KEY}`] },
  '_dmarc.a.example': { TXT: ['v=DMARC1; p=none; rua=mailto:d@a.example'] },
}

it('is that of the first answers where the zone changes between the look-ups', async () => {
  const { resolve } = labWorld(STARTED)
  const counts = new Map<string, number>()
  const changing: Resolve = async (name, type, signal, options) => {
    const asked = `${name} ${type}`
    counts.set(asked, (counts.get(asked) ?? 0) + 1)
    const answer = await resolve(name, type, signal, options)
    if (counts.get(asked) === 1 || type !== 'TXT') return answer
    return { ...answer, kind: 'found', records: ['v=DMARC1; p=reject'] as never }
  }
  const { plan } = await planned(STARTED, A, { resolve: changing })
  expect(plan).toEqual((await planned(STARTED)).plan)
  expect([...counts.values()].filter((count) => count > 1)).toEqual([])
})

it('keeps the other steps where a record leads to a name without an answer, and says so', async () => {
  const zone: LabZone = {
    ...STARTED,
    'a.example': { MX: [[1, 'smtp.google.com']] },
    'smtp.google.com': { A: ['142.251.1.26'] },
    '_spf.google.com': 'SERVFAIL',
  }
  const { plan } = await planned(zone)
  expect(plan.steps.map(({ title }) => title)).toContain('DMARC: quarantine')
  expect(plan.steps.flatMap(({ findings }) => findings)).not.toContain('spf.no_record')
  expect(plan.left.find(({ finding }) => finding === 'spf.no_record')?.why).toMatch(/SPF record/)
})

it('leaves a key for TLS reports alone, also beside keys that are revoked', async () => {
  const zone = {
    ...STARTED,
    'bad._domainkey.a.example': { TXT: [`v=DKIM1; s=foo; ${KEY}`] },
    'tls._domainkey.a.example': { TXT: [`v=DKIM1; s=tlsrpt; ${KEY}`] },
  }
  const { plan, findings } = await planned(zone, A, {}, { selectors: ['bad', 'tls'] })
  const names = plan.steps.flatMap(({ records }) => records.map(({ name }) => name))
  expect(names.filter((name) => name.includes('_domainkey'))).toEqual(['bad._domainkey.a.example'])
  expect(findings.find(({ id }) => id === 'dkim.reports_key')).toMatchObject({ severity: 'info' })
})

it('mends many keys in one step, and has the other steps behind it', async () => {
  const selectors = Array.from({ length: 40 }, (_, i) => `s${i}`)
  const broken = Object.fromEntries(
    selectors.map((one) => [`${one}._domainkey.a.example`, { TXT: [`"v=DKIM1; ${KEY}"`] }]),
  )
  const { plan, findings } = await planned({ ...STARTED, ...broken }, A, {}, { selectors })
  const titles = plan.steps.map(({ title }) => title)
  expect(titles.filter((title) => title === 'Correct the DKIM record')).toHaveLength(1)
  expect(titles).toContain('DMARC: quarantine')
  // Each fault has its step, or says why it has none.
  const told = new Set([...plan.steps.flatMap((step) => step.findings), ...plan.left.map(({ finding }) => finding)])
  const open = findings.filter(({ severity }) => severity !== 'info').map(({ id }) => id)
  expect(open.filter((id) => !told.has(id))).toEqual([])
})

it('names which names below the domain send, and keeps what applies to them where the domain itself sends nothing', async () => {
  const subdomains = Array.from({ length: 30 }, (_, i) => `n${i}.a.example`)
  const seen: SeenMail = {
    subdomains,
    lostBySpf: () => undefined,
    stepUp: () => ({ isBlocked: false, words: '', days: 0 }),
  }
  const stages = async (zone: LabZone, given?: SeenMail) => {
    const subject = subjectOf(repeatable(labCtx(zone), A), A, {})
    const { steps } = await planOf(subject, await lookUp(subject), { seen: given })
    const records = steps.flatMap(({ records, ...step }) =>
      records.filter(({ name }) => name.startsWith('_dmarc.')).map(({ value }) => ({ value, ...step })),
    )
    return records.map(
      ({ value, wait, why, before }) => [value, wait !== undefined, [why, ...before].join(' ')] as const,
    )
  }
  const named = 'n0.a.example, n1.a.example, n2.a.example, n3.a.example, n4.a.example and 25 more'
  const sending = await stages(STARTED, seen)
  expect(sending[0]).toEqual(['v=DMARC1; p=quarantine; rua=mailto:d@a.example', true, expect.stringContaining(named)])
  const parked = { 'a.example': { MX: [[0, '.']], TXT: ['v=spf1 -all'] } } as LabZone
  expect((await stages(parked)).map(([value]) => value)).toEqual(['v=DMARC1; p=reject'])
  // Names below it are refused only where a key is known to sign.
  for (const [today, then] of [
    [undefined, ['v=DMARC1; p=reject; sp=none', 'v=DMARC1; p=reject; sp=quarantine']],
    ['v=DMARC1; p=none', ['v=DMARC1; p=reject; sp=none', 'v=DMARC1; p=reject; sp=quarantine']],
    ['v=DMARC1; p=quarantine', ['v=DMARC1; p=reject; sp=quarantine']],
    ['v=DMARC1; p=reject', []],
  ] as const) {
    const shown = await stages({ ...parked, ...(today && { '_dmarc.a.example': { TXT: [today] } }) } as LabZone, seen)
    expect(shown.map(([value]) => value)).toEqual(then)
    // The domain's own policy rises at once, that of the names below it after a month.
    expect(shown.map(([, waits]) => waits)).toEqual(then.map((_, i) => i > 0))
    if (shown.length > 0) expect(shown[0]![2]).toContain(named)
  }
  const silent = { 'a.example': { A: ['45.53.5.9'] } } as LabZone
  expect((await stages(silent, seen))[0]?.[0]).toBe('v=DMARC1; p=reject; sp=none')
})

it.each<[string, LabZone]>([
  ['a key', {}],
  ['a key beside a wildcard that has none', { '*._domainkey.a.example': { TXT: ['v=DKIM1; p='] } }],
])('begins without a policy where %s may have a sender, also at a domain that declares no mail', async (_, beside) => {
  const { plan } = await planned({ ...KEYED, ...beside, 'a.example': { MX: [[0, '.']], TXT: ['v=spf1 -all'] } })
  expect(plan.steps.map(({ title, wait }) => [title, wait !== undefined])).toEqual([
    ['Start DMARC', false],
    ['DMARC: quarantine', true],
    ['DMARC: reject', true],
  ])
})

it('says what to know before the address of the domain becomes its MX host', async () => {
  const { plan } = await planned({ 'a.example': { A: ['45.53.5.9'] } })
  const [, mail] = plan.choice!.options
  expect(mail!.steps[0]!.before).toEqual([expect.stringContaining('a mail server answers')])
})

it('proposes no SPF record on top of one that is only measured', async () => {
  const terms = ['include:p1.example', 'include:p2.example', 'include:p3.example', 'include:p4.example', 'a', '~all']
  const own = { MX: [[10, 'm.example'] as const], ...tree(...terms) }
  const { plan } = await planned({ ...KEYED, ...MANY, 'a.example': own })
  expect(plan.steps[0]!.title).toBe('Bring SPF within the limit of lookups')
  expect(plan.steps.flatMap(({ records }) => records).filter(({ name }) => name === 'a.example')).toEqual([])
})

it.each<[string, LabZone, string, RegExp]>([
  [
    'names the host',
    {
      'a.example': {
        MX: [
          [10, 'm.example'],
          [20, 'gone.a.example'],
        ],
        TXT: ['v=spf1 mx -all'],
      },
    },
    'mx.unresolvable',
    /^gone\.a\.example: Give the host an address/,
  ],
  [
    'names all hosts of one fault',
    {
      'a.example': {
        MX: [
          [10, 'm.example'],
          [20, 'gone.a.example'],
          [30, 'away.a.example'],
        ],
        TXT: ['v=spf1 mx -all'],
      },
    },
    'mx.unresolvable',
    /^(?:gone|away)\.a\.example, (?:gone|away)\.a\.example: Give the host/,
  ],
  [
    'names the term',
    { 'a.example': { MX: [[10, 'm.example']], TXT: ['v=spf1 ip4:45.53.5.1 typo=x.example ~all'] } },
    'spf.unknown_modifier',
    /^typo=x\.example: Correct or remove the term/,
  ],
  [
    'says what to do before it says why no record is proposed',
    { 'a.example': { MX: [[10, 'm.example']], TXT: ['v=spf1 ip4:10.0.0.1 -all'] } },
    'spf.names_nobody',
    /^Name the hosts that send the mail: .* No record is proposed, because with it /,
  ],
])('what is left %s', async (_, zone, id, words) => {
  const { plan } = await planned({ ...KEYED, ...zone })
  expect(plan.left.find(({ finding }) => finding === id)?.why).toMatch(words)
})

it('publishes the aliases of selectors in one step', async () => {
  const written = (selector: string) => [
    `${selector}._domainkey.a.example`,
    { TXT: [`${selector}-a-example._domainkey.t.onmicrosoft.com`] },
  ]
  const zone = { ...STARTED, ...Object.fromEntries([written('selector1'), written('selector2')]) } as LabZone
  const { 'd._domainkey.a.example': _key, ...rest } = zone
  const { plan } = await planned(rest)
  const aliases = plan.steps.filter(({ records }) => records.some(({ type }) => type === 'CNAME'))
  expect(aliases.map(({ title, records }) => [title, records.length])).toEqual([
    ['Publish the DKIM selectors as aliases', 4],
  ])
})

it('stops after 40 changes where a zone makes it try more, and says what was not tried', async () => {
  const many = <T>(n: number, of: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => of(i))
  const keys = many(60, (i) => [`s${i}._domainkey.a.example`, { TXT: [`"v=DKIM1; ${KEY}"`] }] as const)
  const receivers = many(12, (i) => [`r${i}.example`, { MX: [[1, 'm.example']] }] as const)
  const addresses = many(5, (i) => `45.53.${7 + i}.1`)
  const zone = {
    'a.example': {
      MX: [
        [10, 'm.example'],
        [20, 'm2.example'],
      ],
      TXT: ['v=spf1 ip4=45.53.5.1 include:g.example a:gone.a.example mx ?all', '"v=spf1 mx ?all"'],
    },
    'm.example': { A: ['45.53.5.1'] },
    'm2.example': { A: addresses },
    '_dmarc.a.example': {
      TXT: [`"v=DMARC1; p=none rua=mailto:d@a.example,${receivers.map(([name]) => `mailto:x@${name}`).join(',')}"`],
    },
    '_smtp._tls.a.example': { TXT: ['v=TLSRPTv1; rua=d@a.example'] },
    'default._bimi.a.example': { TXT: ['v=bimi1; l=https://a.example/x.svg'] },
    ...Object.fromEntries([...keys, ...receivers]),
  } as LabZone
  const world = labWorld(zone, { fetch })
  const ctx = repeatable({ ...world, signal: AbortSignal.timeout(60_000) }, A)
  const subject = subjectOf(ctx, A, { selectors: keys.map(([name]) => name.split('.')[0]!) })
  const { steps, left } = await planOf(subject, await lookUp(subject))
  expect(world.asked.length).toBeLessThanOrEqual(120)
  expect(steps[0]?.title).toBe('Correct the SPF record')
  const stopped = left.filter(({ why }) => why.startsWith('Not tried: one plan tries 40 changes.'))
  expect(stopped.map(({ finding }) => finding)).toContain('dmarc.policy_none')
})

it('of an SPF tree at its bounds each fault has its step or its reason', async () => {
  const parts = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `p${i}.a.example`,
      {
        TXT: [
          `v=spf1 ${i < 39 ? `include:p${i + 1}.a.example include:p${i + 2}.a.example ` : ''}ip4:45.53.${i}.0/24 -all`,
        ],
      },
    ]),
  )
  const terms = Array.from({ length: 80 }, (_, i) => `include:p${i % 40}.a.example a:h${i}.a.example`)
  const zone: LabZone = {
    ...STARTED,
    ...parts,
    'a.example': { MX: [[10, 'm.example']], TXT: [`v=spf1 ${terms.join(' ')} ~all`] },
  }
  const world = labWorld(zone, { fetch })
  const subject = subjectOf(repeatable({ ...world, signal: AbortSignal.timeout(60_000) }, A), A, {})
  const start = await lookUp(subject)
  const plan = await planOf(subject, start)
  expect(world.asked.length).toBeLessThanOrEqual(120)
  const told = new Set([...plan.steps.flatMap((step) => step.findings), ...plan.left.map(({ finding }) => finding)])
  const open = presentWithPlan(start, plan)
    .filter(({ severity }) => severity !== 'info')
    .map(({ id }) => id)
  expect(open).toContain('spf.too_many_lookups')
  expect(open.filter((id) => !told.has(id))).toEqual([])
})
