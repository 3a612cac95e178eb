import { spawnSync } from 'node:child_process'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { isGenuine } from '../examples/webhook.ts'
import { makeSecret, signedHeaders } from '../src/monitors/notify/send.ts'
import { labApp, labDeps } from './lab/app.ts'
import { labDial } from './lab/dial.ts'
import { labServer, zoneBehaviour } from './lab/dns-server.ts'
import { LIVE_LISTS } from './lab/lists.ts'
import { labWorld } from './lab/world.ts'

/** The programs of docs/library.md and docs/client.md, run as they stand there. */
const ZONE = {
  ...LIVE_LISTS,
  'example.org': { MX: [[0, '']], TXT: ['v=spf1 -all'], SOA: [], NS: [] },
  '_dmarc.example.org': { TXT: ['v=DMARC1; p=reject'] },
} as const

const argv = process.argv
afterEach(() => {
  process.argv = argv
  vi.restoreAllMocks()
})

async function printed(program: () => Promise<unknown>, argument: string): Promise<readonly string[]> {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((...words) => void lines.push(words.join(' ')))
  process.argv = [...argv.slice(0, 2), argument]
  await program()
  return lines
}

const dns = await labServer(zoneBehaviour(ZONE))
afterAll(() => dns.close())
const { dial } = labDial({})
const world = labWorld(ZONE, { dial })
const app = await labApp(world, { deps: labDeps(world) })
const url = await app.listen({ host: '127.0.0.1', port: 0 })
afterAll(() => app.close())

it('examples/library.ts', async () => {
  const lines = await printed(() => import('../examples/library.ts'), `127.0.0.1:${dns.server.port}`)
  expect(lines[0]).toMatch(/^\d+ \([A-F]\+?\)$/)
  expect(lines).toContain('undeliverable null_mx')
  expect(lines.at(-1)).toBe('incomplete 0 listed, 0 answered') // no list has test addresses
})

it('examples/client.ts', async () => {
  const lines = await printed(() => import('../examples/client.ts'), url)
  expect(lines[0]).toMatch(/^example\.org: \d+ \([A-F]\+?\) \S/)
  expect(lines.filter((line) => line.startsWith('known: ')).length).toBeGreaterThan(3)
  expect(lines.filter((line) => line.startsWith('done: '))).toHaveLength(1)
  expect(lines.filter((line) => line.startsWith('192.0.2.')).toSorted()).toEqual([
    '192.0.2.1 incomplete',
    '192.0.2.2 incomplete',
  ])
  expect(lines.at(-1)).toBe('400 bind_ip_not_local bind_ip')
})

it('examples/job.ts', async () => {
  const lines = await printed(() => import('../examples/job.ts'), url)
  expect(lines[0]).toMatch(/^\w+: \d+ of \d+$/)
})

describe('receiving a webhook', () => {
  const secret = makeSecret()
  const body = '{"type":"monitor.changed","data":{"title":"ü"}}'
  const now = Date.UTC(2026, 0, 2)
  const headers = (secrets: readonly string[]) => signedHeaders({ id: 'msg_1', body }, secrets, now)
  const rows: readonly (readonly [string, Readonly<Record<string, string>>, string, number, boolean])[] = [
    ['genuine', headers([secret]), body, now, true],
    ['of two secrets, while one is replaced', headers([makeSecret(), secret]), body, now, true],
    ['another secret', headers([makeSecret()]), body, now, false],
    ['another body', headers([secret]), `${body} `, now, false],
    ['another id', { ...headers([secret]), 'webhook-id': 'msg_2' }, body, now, false],
    ['six minutes old', headers([secret]), body, now + 360_000, false],
    ['no signature', {}, body, now, false],
  ]

  it.each(rows)('examples/webhook.ts: %s', (_, given, text, nowMs, wanted) =>
    expect(isGenuine(secret, given, Buffer.from(text), nowMs)).toBe(wanted),
  )

  const hasPython = spawnSync('python3', ['--version']).status === 0
  it.skipIf(!hasPython)('examples/webhook.py says the same', () => {
    const program = `import json, sys; sys.path.insert(0, 'examples'); from webhook import is_genuine
for secret, headers, body, now in json.load(sys.stdin): print(is_genuine(secret, headers, body.encode(), now / 1000))`
    const input = JSON.stringify(rows.map(([, given, text, nowMs]) => [secret, given, text, nowMs]))
    const { stdout, stderr } = spawnSync('python3', ['-c', program], { input, encoding: 'utf8' })
    expect([stdout.trim().split('\n'), stderr]).toEqual([
      rows.map(([, , , , wanted]) => (wanted ? 'True' : 'False')),
      '',
    ])
  })
})
