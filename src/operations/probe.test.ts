import { expect, it } from 'vitest'
import { labApp, labDeps, labKey } from '../../test/lab/app.ts'
import { labDial } from '../../test/lab/dial.ts'
import { listedAddress } from '../../test/lab/documents.ts'
import { LIVE_LISTS } from '../../test/lab/lists.ts'
import { labWorld } from '../../test/lab/world.ts'
import { createVerifier } from '../mailbox/verify.ts'
import { measureBlacklist } from './probe.ts'

const { dial } = labDial({ '45.53.5.1': { rcpt: { 'joe@a.example': '250 2.1.5 ok' } } })
const world = labWorld(
  {
    ...LIVE_LISTS,
    'a.example': { MX: [[10, 'mx.a.example']], TXT: ['v=spf1 mx -all'], SOA: [], NS: [] },
    'mx.a.example': { A: ['45.53.5.1'] },
    '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject'] },
    'down.example': 'SERVFAIL',
    '*.down.example': 'SERVFAIL',
  },
  { dial },
)
const deps = labDeps(world, { verifier: createVerifier(world, { noCourtesy: true }) })
const app = await labApp(world, { deps })
const probe = (query: string) => app.inject({ url: `/probe?${query}` })

/** The lines of the exposition format: each metric is described once, before its samples. */
function samplesOf(text: string): ReadonlyMap<string, number> {
  const samples = new Map<string, number>()
  let described = ''
  expect(text.endsWith('\n')).toBe(true)
  for (const line of text.trimEnd().split('\n')) {
    const type = /^# TYPE (\w+) gauge$/.exec(line)
    if (type) described = type[1]!
    if (line.startsWith('#')) continue
    const match = /^((\w+)(?:\{(?:\w+="[^"\\\n]*",?)+\})?) (\d+(?:\.\d+)?)$/.exec(line)
    expect(match, line).not.toBe(null)
    expect(match![2]).toBe(described)
    expect(samples.has(match![1]!), line).toBe(false)
    samples.set(match![1]!, Number(match![3]))
  }
  return samples
}

it.each<[query: string, expected: Readonly<Record<string, number>>]>([
  [
    'target=a.example',
    { probe_success: 0, mailsonde_probe_unknown: 0, 'mailsonde_check_status{check="spf",status="pass"}': 1 },
  ],
  ['target=down.example&module=domain', { probe_success: 0, mailsonde_probe_unknown: 1 }],
  [
    'target=joe@a.example&module=mailbox',
    { probe_success: 1, 'mailsonde_mailbox_deliverability{verdict="deliverable"}': 1 },
  ],
  [
    'target=nobody@a.example&module=mailbox',
    { probe_success: 0, 'mailsonde_mailbox_deliverability{verdict="undeliverable"}': 1 },
  ],
  ['target=45.53.9.9&module=ip', { probe_success: 1, mailsonde_blacklist_answered: 29 }],
])('%s', async (query, expected) => {
  const response = await probe(query)
  expect([response.statusCode, response.headers['content-type']]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  const samples = samplesOf(response.body)
  expect(Object.fromEntries(samples)).toMatchObject(expected)
  expect(samples.get('probe_duration_seconds')).toBeGreaterThanOrEqual(0)
  expect(response.body).not.toMatch(/a\.example|45\.53|joe/) // no label has a target
})

it.each<[query: string, code: string]>([
  ['', 'missing_parameter'],
  ['target=localhost', 'invalid_domain'],
  ['target=a.example&module=ip', 'invalid_ip'],
  ['target=a.example&module=http_2xx', 'invalid_parameter'],
  ['target=a.example&timeout=10ms', 'invalid_duration'],
])('%s is refused as %s', async (query, code) => expect((await probe(query)).json().code).toBe(code))

it('a mailbox needs the scope verify', async () => {
  const keys = [labKey('reader', ['read']), labKey('verifier', ['read', 'verify'])]
  const guarded = await labApp(world, { deps, keys: () => keys })
  const ask = async (key: string, target: string, module: string) =>
    (await guarded.inject({ url: `/probe?target=${target}&module=${module}`, headers: { 'x-api-key': key } }))
      .statusCode
  expect(await ask('reader', 'a.example', 'domain')).toBe(200)
  expect(await ask('reader', 'joe@a.example', 'mailbox')).toBe(403)
  expect(await ask('verifier', 'joe@a.example', 'mailbox')).toBe(200)
})

it('has a sample of each list that answered, and of no other', () => {
  const answered = listedAddress.results.filter(({ status }) => status === 'listed' || status === 'not_listed')
  const { samples } = measureBlacklist(listedAddress)
  const lists = samples.filter(({ name }) => name === 'mailsonde_blacklist_listed')
  expect(lists.map(({ labels, value }) => [labels?.zone, value])).toEqual(
    answered.map(({ zone, status }) => [zone, status === 'listed' ? 1 : 0]),
  )
  expect(lists.length).toBeLessThan(listedAddress.results.length)
})
