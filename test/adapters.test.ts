import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { beforeAll, expect, it } from 'vitest'
import { operate } from '../src/cli/operate.ts'
import { runCommandLine } from '../src/cli/program.ts'
import { OPTIONS } from '../src/config-options.ts'
import { createVerifier } from '../src/mailbox/verify.ts'
import type { Deps } from '../src/operations/deps.ts'
import { routeOf } from '../src/operations/path.ts'
import { allOperations } from '../src/operations/registry.ts'
import { labActions } from './lab/actions.ts'
import { labApp, labDeps, labExecutor } from './lab/app.ts'
import { labDial } from './lab/dial.ts'
import { LIVE_LISTS } from './lab/lists.ts'
import { labSetting } from './lab/setting.ts'
import { labWorld } from './lab/world.ts'

const operations = await allOperations()

/** The same questions over HTTP and on the command line, in one lab world, give the same JSON and the same refusals. */
const { dial } = labDial({ '45.53.5.1': { rcpt: { 'joe@a.example': '250 2.1.5 ok' } } })
const world = labWorld(
  {
    ...LIVE_LISTS,
    'a.example': { MX: [[10, 'mx.a.example']], TXT: ['v=spf1 mx -all'], SOA: [], NS: [] },
    'mx.a.example': { A: ['45.53.5.1'] },
    '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject'] },
    'broken.example': 'SERVFAIL',
    'n1.example': { A: ['45.53.1.7'] },
  },
  { dial },
)
let deps: Deps
let app: FastifyInstance
beforeAll(async () => {
  deps = labDeps(world, { verifier: createVerifier(world, { noCourtesy: true }) })
  app = await labApp(world, { deps })
})

type Words = readonly string[]
const configFlags = Object.entries(OPTIONS).map(([key, { flag, repeatable, meaning, argument }]) => ({
  ...{ key, flag, repeatable, meaning },
  ...(argument ? { argument } : {}),
}))

/** Runs a command in the lab; gives what it printed (or complained of) and its status. */
async function run(words: Words): Promise<{ code: number; printed: string; complaint: string }> {
  let printed = ''
  const complaints: string[] = []
  const open = async () => ({ execute: labExecutor(world, deps), close: async () => {} })
  const write = async (text: string): Promise<void> => void (printed += text)
  const setting = { version: '0', ...labSetting, onTerminal: false, open, write, service: undefined }
  const actions = labActions({ operate: (asked) => operate(asked, setting) })
  const complain = (text: string): void => void complaints.push(text)
  const readFile = (path: string): string => readFileSync(path, 'utf8')
  const code = await runCommandLine(words, { operations, configFlags, version: '0', actions, complain, readFile })
  return { code, printed, complaint: complaints[0] ?? '' } // a hint may follow
}

type Request = { readonly url: string; readonly body?: unknown; readonly method?: 'POST' | 'PUT' }
const ask = async ({ url, body, method = 'POST' }: Request) =>
  body === undefined ? app.inject({ url }) : app.inject({ method, url, payload: body as object })

/** The second adapter that asks finds what the first one left: what was cached and counted is not compared. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, item) => (/^(?:duration_ms|answers|observed_at|cached)$/.test(key) ? undefined : item)),
  )

it.each<[string, Request, Words, number]>([
  ['health', { url: '/v1/health' }, ['api', 'health'], 0],
  ['ready', { url: '/v1/ready' }, ['api', 'ready'], 0],
  ['check', { url: '/v1/check?domain=A.example.' }, ['check', 'A.example.'], 1],
  [
    'check with selectors',
    { url: '/v1/check?domain=a.example&selector=s1,s2' },
    ['check', 'a.example', '--selector', 's1,s2'],
    1,
  ],
  ['check of what does not answer', { url: '/v1/check?domain=broken.example' }, ['check', 'broken.example'], 3],
  [
    'check over all nodes',
    { url: '/v1/check?domain=a.example&vantage=all' },
    ['check', 'a.example', '--vantage', 'all'],
    1,
  ],
  ['verify', { url: '/v1/verify?email=joe@a.example&role=true' }, ['verify', 'joe@a.example', '--role'], 0],
  ['verify a mailbox that is not', { url: '/v1/verify?email=nobody@a.example' }, ['verify', 'nobody@a.example'], 1],
  ['verify what is no address', { url: '/v1/verify?email=nobody' }, ['verify', 'nobody'], 1],
  ['verify what does not answer', { url: '/v1/verify?email=joe@broken.example' }, ['verify', 'joe@broken.example'], 3],
  [
    'verify with the pool',
    { url: '/v1/verify?email=joe@a.example&pool=true' },
    ['verify', 'joe@a.example', '--pool'],
    0,
  ],
  ['blacklist', { url: '/v1/blacklist?ip=::ffff:45.53.9.9' }, ['blacklist', '::ffff:45.53.9.9'], 0],
  ['report', { url: '/v1/report?domain=postmaster@a.example' }, ['report', 'postmaster@a.example'], 1],
  [
    'spf',
    { url: '/v1/spf?ip=45.53.5.1&sender=joe@a.example' },
    ['spf', '--ip', '45.53.5.1', '--sender', 'joe@a.example'],
    0,
  ],
  ['dmarc', { url: '/v1/dmarc?domain=a.example' }, ['dmarc', 'a.example'], 0],
  ['pool', { url: '/v1/pool' }, ['pool'], 0],
  [
    'probe',
    { url: '/probe?target=45.53.9.9&module=ip&format=json' },
    ['api', 'probe', '--target', '45.53.9.9', '--module', 'ip'],
    0,
  ],
  ['geo', { url: '/v1/peer/geo?ip=10.0.0.1' }, ['geo', '10.0.0.1'], 0],
  [
    'register',
    { url: '/v1/peer/register', body: { id: 'n1', url: 'https://n1.example', region: 'eu', addresses: ['45.53.1.7'] } },
    ['api', 'peer-register', '--id', 'n1', '--url', 'https://n1.example', '--region', 'eu', '--addresses', '45.53.1.7'],
    0,
  ],
  [
    'heartbeat',
    { url: '/v1/peer/heartbeat', body: { id: 'n1', load: { active: 1, capacity: 2 } } },
    ['api', 'peer-heartbeat', '--id', 'n1', '--load', '{"active":1,"capacity":2}'],
    0,
  ],
  [
    'forget in the memory of a node',
    { url: '/v1/peer/forget', body: { email: 'nobody@forget.example' } },
    ['api', 'peer-forget', '--email', 'nobody@forget.example'],
    0,
  ],
  ['peers', { url: '/v1/peer/peers' }, ['peers'], 0],
  [
    'a sender that is not ours',
    { url: '/v1/reports/senders/example.org:provider:mailchimp', body: { ours: false }, method: 'PUT' },
    ['reports', 'not-mine', 'example.org:provider:mailchimp'],
    0,
  ],
])('%s: the same answer', async (_, request, words, code) => {
  const response = await ask(request)
  expect(response.statusCode, response.body).toBeLessThan(300)
  const ran = await run(words)
  expect([ran.complaint, ran.code]).toEqual(['', code])
  expect(plain(JSON.parse(ran.printed))).toEqual(plain(response.json()))
})

it.each<[string, string, Request, Words]>([
  ['forgetting nothing', 'missing_parameter', { url: '/v1/forget', body: {} }, ['forget']],
  [
    'forgetting two things',
    'invalid_parameter',
    { url: '/v1/forget', body: { email: 'joe@a.example', domain: 'a.example' } },
    ['forget', '--email', 'joe@a.example', '--domain', 'a.example'],
  ],
  [
    'forgetting what is no mailbox',
    'invalid_parameter',
    { url: '/v1/forget', body: { email: 'joe' } },
    ['forget', '--email', 'joe'],
  ],
  [
    'a sender that nobody has seen',
    'not_found',
    { url: '/v1/reports/senders/example.org:provider:nobody', body: { ours: true }, method: 'PUT' },
    ['reports', 'mine', 'example.org:provider:nobody'],
  ],
  ['a single label', 'invalid_domain', { url: '/v1/check?domain=localhost' }, ['check', 'localhost']],
  ['an address', 'invalid_domain', { url: '/v1/check?domain=192.0.2.1' }, ['check', '192.0.2.1']],
  ['a URL', 'invalid_domain', { url: '/v1/check?domain=https://a.example' }, ['check', 'https://a.example']],
  ['a number as an address', 'invalid_ip', { url: '/v1/blacklist?ip=3232235777' }, ['blacklist', '3232235777']],
  ['a network', 'invalid_ip', { url: '/v1/blacklist?ip=192.0.2.0/24' }, ['blacklist', '192.0.2.0/24']],
  ['a zone id', 'invalid_ip', { url: '/v1/peer/geo?ip=fe80::1%25eth0' }, ['geo', 'fe80::1%eth0']],
  [
    'a bare number of seconds',
    'invalid_duration',
    { url: '/v1/verify?email=a@a.example&timeout=30' },
    ['verify', 'a@a.example', '--timeout', '30'],
  ],
  [
    'a time-out that is too long',
    'invalid_duration',
    { url: '/v1/verify?email=a@a.example&timeout=6m' },
    ['verify', 'a@a.example', '--timeout', '6m'],
  ],
  [
    'a time-out with a sign',
    'invalid_duration',
    { url: '/v1/verify?email=a@a.example&timeout=-1s' },
    ['verify', 'a@a.example', '--timeout=-1s'],
  ],
  [
    'no address of this machine',
    'bind_ip_not_local',
    { url: '/v1/verify?email=a@a.example&bind_ip=45.53.1.8' },
    ['verify', 'a@a.example', '--bind-ip', '45.53.1.8'],
  ],
  [
    'a port that is not allowed',
    'forbidden',
    { url: '/v1/verify?email=a@a.example&mx_port=26' },
    ['verify', 'a@a.example', '--mx-port', '26'],
  ],
  [
    'eleven selectors',
    'invalid_parameter',
    { url: `/v1/check?domain=a.example&selector=${'s,'.repeat(10)}s` },
    ['check', 'a.example', '--selector', `${'s,'.repeat(10)}s`],
  ],
  [
    'a node that is not known',
    'invalid_parameter',
    { url: '/v1/verify?email=a@a.example&peer=n9' },
    ['verify', 'a@a.example', '--peer', 'n9'],
  ],
  [
    'a private URL',
    'invalid_parameter',
    { url: '/v1/peer/register', body: { url: 'https://10.0.0.1' } },
    ['api', 'peer-register', '--url', 'https://10.0.0.1'],
  ],
  [
    'a target of another kind',
    'invalid_ip',
    { url: '/probe?target=a.example&module=ip' },
    ['api', 'probe', '--target', 'a.example', '--module', 'ip'],
  ],
  [
    'a module that is none',
    'invalid_parameter',
    { url: '/probe?target=a.example&module=tcp' },
    ['api', 'probe', '--target', 'a.example', '--module', 'tcp'],
  ],
  ['nobody to forget', 'missing_parameter', { url: '/v1/peer/forget', body: {} }, ['api', 'peer-forget']],
  [
    'a mailbox and a domain to forget',
    'invalid_parameter',
    { url: '/v1/peer/forget', body: { email: 'a@b.example', domain: 'b.example' } },
    ['api', 'peer-forget', '--email', 'a@b.example', '--domain', 'b.example'],
  ],
  [
    'a monitor that runs every minute',
    'invalid_duration',
    { url: '/v1/monitors', body: { target: 'a.example', every: '1m' } },
    ['monitors', 'create', 'a.example', '--every', '1m'],
  ],
  [
    'a monitor of an unknown kind',
    'invalid_parameter',
    { url: '/v1/monitors', body: { target: 'a.example', kind: 'spf' } },
    ['monitors', 'create', 'a.example', '--kind', 'spf'],
  ],
  [
    'a monitor whose target is of another kind',
    'invalid_ip',
    { url: '/v1/monitors', body: { target: 'a.example', kind: 'blacklist' } },
    ['monitors', 'create', 'a.example', '--kind', 'blacklist'],
  ],
  [
    'a monitor with a condition that is none',
    'invalid_parameter',
    { url: '/v1/monitors', body: { target: 'a.example', when: ['score_below:101'] } },
    ['monitors', 'create', 'a.example', '--when', 'score_below:101'],
  ],
  [
    'quiet hours in no time zone',
    'invalid_parameter',
    {
      url: '/v1/monitors',
      body: { target: 'a.example', quiet_hours: { from: '22:00', to: '07:00', timezone: 'Mars/Olympus' } },
    },
    [
      ...['monitors', 'create', 'a.example', '--quiet-hours'],
      '{"from": "22:00", "to": "07:00", "timezone": "Mars/Olympus"}',
    ],
  ],
  [
    'a monitor that tells a private address',
    'invalid_parameter',
    { url: '/v1/monitors', body: { target: 'a.example', notify: [{ type: 'webhook', url: 'https://10.0.0.1/' }] } },
    ['monitors', 'create', 'a.example', '--notify', '[{"type": "webhook", "url": "https://10.0.0.1/"}]'],
  ],
  [
    'a receiver of a kind that there is not',
    'invalid_parameter',
    { url: '/v1/monitors', body: { target: 'a.example', notify: [{ type: 'email', to: 'a@a.example' }] } },
    ['monitors', 'create', 'a.example', '--notify', '[{"type": "email", "to": "a@a.example"}]'],
  ],
  ['a monitor id that is none', 'not_found', { url: '/v1/monitors/1' }, ['monitors', 'show', '1']],
  [
    'a page that is too long',
    'invalid_parameter',
    { url: '/v1/monitors/mon_AAAAAAAAAAAAAAAAAAAAAA/history?limit=5001' },
    ['monitors', 'history', 'mon_AAAAAAAAAAAAAAAAAAAAAA', '--limit', '5001'],
  ],
  ['a cursor that is none', 'invalid_parameter', { url: '/v1/jobs?cursor=%2A' }, ['jobs', 'list', '--cursor', '*']],
  [
    'a webhook without TLS',
    'invalid_parameter',
    { url: '/v1/webhooks', body: { url: 'http://hooks.a.example/' } },
    ['webhooks', 'create', '--url', 'http://hooks.a.example/'],
  ],
  [
    'a webhook at a private address',
    'invalid_parameter',
    { url: '/v1/webhooks', body: { url: 'https://10.0.0.1/' } },
    ['webhooks', 'create', '--url', 'https://10.0.0.1/'],
  ],
  ['a webhook without URL', 'missing_parameter', { url: '/v1/webhooks', body: {} }, ['webhooks', 'create']],
  ['a webhook id that is none', 'not_found', { url: '/v1/webhooks/1' }, ['webhooks', 'show', '1']],
  [
    'one stored answer to compare',
    'missing_parameter',
    { url: `/v1/changes?from=${'A'.repeat(22)}` },
    ['changes', '--from', 'A'.repeat(22)],
  ],
  ['a stored answer whose id is none', 'not_found', { url: '/r/a' }, ['saved', 'show', 'a']],
  [
    'the history of a word',
    'invalid_domain',
    { url: '/v1/history?domain=a..example' },
    ['history', '--domain', 'a..example'],
  ],
  [
    'a stored answer that outlives two years',
    'invalid_duration',
    { url: '/v1/check?domain=a.example&save=true&expires_in=731d' },
    ['check', 'a.example', '--save', '--expires-in', '731d'],
  ],
  ['nothing to forget', 'missing_parameter', { url: '/v1/forget', body: {} }, ['forget']],
  ['a job id that is none', 'not_found', { url: '/v1/jobs/1' }, ['jobs', 'show', '1']],
  [
    'an unknown node',
    'not_found',
    { url: '/v1/peer/heartbeat', body: { id: 'n9' } },
    ['api', 'peer-heartbeat', '--id', 'n9'],
  ],
  [
    'a load that is no object',
    'invalid_parameter',
    { url: '/v1/peer/heartbeat', body: { id: 'n1', load: 'much' } },
    ['api', 'peer-heartbeat', '--id', 'n1', '--load', 'much'],
  ],
])('%s: refused as %s', async (_, code, request, words) => {
  const problem = (await ask(request)).json()
  expect(problem.code).toBe(code)
  const ran = await run(words)
  expect([ran.code, ran.printed, ran.complaint]).toEqual([2, '', `mailsonde: ${problem.detail}`])
})

it.each<[string, string, string]>([
  ['missing', 'missing_parameter', '/v1/check'],
  ['empty', 'missing_parameter', '/v1/check?domain='],
  ['unknown', 'unknown_parameter', '/v1/check?domain=a.example&selectors=s1'],
  ['given twice', 'invalid_parameter', '/v1/check?domain=a.example&domain=b.example'],
  ['neither true nor false', 'invalid_parameter', '/v1/verify?email=a@a.example&pool=yes'],
  ['in another case', 'unknown_parameter', '/v1/blacklist?IP=192.0.2.1'],
  ['of a POST in its query', 'unknown_parameter', 'POST /v1/peer/heartbeat?id=n1'],
])('a parameter that is %s is refused over HTTP: %s', async (_, code, at) => {
  const post = at.startsWith('POST ')
  const response = await ask(post ? { url: at.slice(5), body: { id: 'n1' } } : { url: at })
  expect([response.statusCode, response.json().code]).toEqual([400, code])
})

it('every operation has its route', () => {
  for (const { method, path } of operations) expect(app.hasRoute({ method, url: routeOf(path) }), path).toBe(true)
})
