import { beforeEach, expect, it, vi } from 'vitest'
import type * as own from '../src/own-files.ts'

/**
 * A file of the program that is missing or cut: what it would have decided is not known, and the answer says so. Each
 * row loads the modules anew, because they keep what they have read.
 */
let lost: readonly string[] = []
let isCut = false
vi.mock('../src/own-files.ts', async (original) => {
  const real = await original<typeof own>()
  const gone = (name: string): boolean => lost.some((one) => name.includes(one))
  const missing = (name: string): never => {
    throw new Error(`ENOENT: no such file or directory, open '/srv/${name}'`)
  }
  return {
    ...real,
    loadPackage: (name: string) => (gone(name) ? missing(name) : real.loadPackage(name)),
    packageFile: (name: string) => {
      if (gone(name) && !isCut) return missing(name)
      const whole = real.packageFile(name)
      return gone(name) ? whole.subarray(0, whole.length / 2) : whole
    },
  } satisfies typeof own
})
beforeEach(() => vi.resetModules())

it.each([
  ['missing', false, 'ipv4', '8.8.8.8', null],
  ['cut', true, 'ipv4', '8.8.8.8', null],
  ['that of the other family missing', false, 'ipv6', '8.8.8.8', true],
  ['missing', false, 'ipv6', '2001:67c:2e8:22::c100:68b', null],
  ['missing', false, 'ipv4', '10.0.0.1', false], // a private address: no database is asked
])('country data %s (cut: %s, %s): %s is found: %s', async (_, cut, name, address, found) => {
  lost = [name]
  isCut = cut
  const { createGeo, geoSources } = await import('../src/geo/geo.ts')
  const { geoDocument } = await import('../src/documents/peers.ts')
  const { ip } = await import('../src/names/ip.ts')
  const said: string[] = []
  const warn = (event: string): void => void said.push(event)
  const look = createGeo({ sources: geoSources([], { now: () => 0, warn }), warn })
  const answer = await look(ip(address))
  await look(ip(address))
  const reason = 'a geo database cannot be read; the log of the service says why'
  expect([answer.found, answer.reason, said.length]).toEqual(found === null ? [null, reason, 1] : [found, undefined, 0])
  if (found === null) expect(JSON.stringify(geoDocument(answer, '1'))).not.toMatch(/not found|not in the database/i)
})

it.each([
  ['no list', [], 'mailinator.com', [], [true, true, ['disposable', 'free', 'role', 'suggestion']]],
  [
    'one of two lists',
    ['mailchecker'],
    'mailinator.com',
    [],
    [true, true, ['disposable', 'free', 'role', 'suggestion']],
  ],
  ['one of two lists', ['mailchecker'], 'example.org', [], [false, false, ['free', 'role', 'suggestion']]],
  [
    'both lists',
    ['mailchecker', 'disposable'],
    'gmail.com',
    [],
    [false, true, ['disposable', 'free', 'role', 'suggestion']],
  ],
  [
    'both lists',
    ['mailchecker', 'disposable'],
    'example.org',
    ['mx.mailinator.com'],
    [true, false, ['disposable', 'free', 'role', 'suggestion']],
  ],
  ['the list of providers', ['all.json'], 'example.org', [], [false, false, ['disposable', 'role', 'suggestion']]],
  ['the known providers', ['common.json'], 'example.org', [], [false, false, ['free', 'role']]],
] as const)('without %s %j what was checked of %s with the hosts %j', async (_, names, domain, hosts, wanted) => {
  lost = names
  const { sideData } = await import('../src/mailbox/side-data/side-data.ts')
  const { parseEmail } = await import('../src/names/email.ts')
  const email = parseEmail(`joe@${domain}`)
  const asker = { resolve: async () => ({ records: [] }), signal: new AbortController().signal } as never
  const flags = { disposable: true, free: true, role: true, suggestion: true }
  const found = await sideData(asker, flags, email.ok ? email.value : undefined)(hosts)
  expect([found.disposable, found.free, found.checked]).toEqual(wanted)
})

it('an international name without its tables is not called invalid', async () => {
  lost = ['tr46']
  const { parseDomain, unicodeOf } = await import('../src/names/domain.ts')
  expect(() => parseDomain('b\u00fccher.example')).toThrow('the file tr46 of this program is missing or damaged')
  expect(parseDomain('example.org')).toMatchObject({ ok: true })
  expect(unicodeOf('xn--bcher-kva.example')).toBe('xn--bcher-kva.example')
})

it('an Outlook item without its reader is not called damaged', async () => {
  lost = ['cfb']
  const { transportHeader } = await import('../src/message/outlook.ts')
  expect(() => transportHeader(Buffer.alloc(512))).toThrow('the file cfb of this program is missing or damaged')
})

it.each([
  ['install', 500],
  ['nonsense', 404],
])('the document %s that is not there is answered with %d', async (name, status) => {
  lost = []
  const { docsPages } = await import('../src/pages/docs.ts')
  const { ERRORS } = await import('../src/base/errors.ts')
  const page = docsPages({} as never, {}).find(({ path }) => path === '/docs/:name')!
  const code = await (page.visit({ params: { name } } as never) as Promise<unknown>).catch((error) => error.code)
  expect(ERRORS[code as keyof typeof ERRORS].status).toBe(status)
})
