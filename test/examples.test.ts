import { afterAll, afterEach, expect, it, vi } from 'vitest'
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
